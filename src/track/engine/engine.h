/* An engine: kernels, fields and buffers that track on one device. */
#ifndef GLS_TRACK_ENGINE_ENGINE_H
#define GLS_TRACK_ENGINE_ENGINE_H

#include <glslines/track.h>

#include "gpu/objects.h"
#include "track/engine/track_plan.h"
#include "track/engine/visitor_kernel.h"

/* --- The model of a direction getter on its way to a device: what all getters do alike. */

/* The field, the contents of the model buffer and the getter's definitions; nothing on a device. To be finished after a
 * failure, too. */
gls_status gls_model_plan_make(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_model_plan *model);
void gls_model_plan_finish(gls_model_plan *plan);
/* Makes the field, empty, and the model buffer; the plan's tables are gone then. */
gls_status gls_model_create(gls_device *device, gls_model_plan *plan, gls_model *model);
void gls_model_finish(gls_model *model);

/* --- The kernels of an engine: their definitions and slots, and how they are loaded. */

typedef struct gls_kernels {
    gls_kernel *initial;                      /* pass 1 in one kernel */
    gls_kernel *track;                        /* pass 2 in one kernel */
    gls_kernel *step;                         /* staged: some turns of pass 2 */
    gls_kernel *sample, *first_sample, *turn; /* split: both passes; first_sample is that of pass 1 where it differs */
    gls_kernel *gather;                       /* pass 3 */
} gls_kernels;

/* Adds definitions to the model's, and tells the driver what will be loaded: it may compile meanwhile. */
gls_status gls_kernels_announce(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                                const gls_track_input *input, gls_model_plan *model);
/* Loads those that the plan needs, which were announced. To be destroyed after a failure, too. */
gls_status gls_kernels_load(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                            gls_model_plan *model, gls_kernels *kernels);
void gls_kernels_destroy(gls_kernels *kernels);

/* --- Times of a tracker's kernels by the device's clock, for the benchmark. */

typedef enum gls_engine_time { GLS_TIME_INITIAL, GLS_TIME_TRACK, GLS_TIME_GATHER, GLS_ENGINE_TIMES } gls_engine_time;

/* Whether the host waits for each kernel and adds up the device's times, from 0 on; slows runs. */
void gls_tracker_time_kernels(gls_tracker *tracker, bool on);
/* Of all its devices. */
double gls_tracker_kernel_seconds(const gls_tracker *tracker, gls_engine_time time);

/* --- An engine: what tracks on one device: kernels, fields and buffers. */

typedef struct gls_engine {
    gls_device *device;
    gls_track_params params;
    gls_track_plan plan;
    gls_grid grid;
    gls_model model;
    gls_guide guide;
    gls_kernels kernels;
    gls_visitor visitor;
    float (*vertex)[3]; /* of the sphere */
    uint32_t n_vertices;
    bool antipodal;           /* each stands for both senses */
    bool has_direction;       /* streamlines start in one that was given: */
    double seed_direction[3]; /* a unit vector along the voxel axes */
    struct {
        gls_buffer *buffer[GLS_TRACK_BUFFERS];
        gls_fetch *fetch[GLS_TRACK_FETCHES];
    } buffer_set[GLS_TRACK_BUFFER_SETS];
    gls_buffer **buffer; /* by gls_track_buffer; of the turn of gls_engine_use_buffer_set(), as is: */
    gls_fetch **fetch;   /* by gls_track_fetch */
    double seconds_upload, seconds_compile;
    double turn_cost;  /* of drawing a direction, a guess: in times of a seed's search for peaks */
    uint32_t halvings; /* of the batch, for want of memory */
    bool owns_device;  /* opened in place of one that was lost */
    bool complete;
    bool timed; /* kernels are waited for, and their times added up: */
    double kernel_seconds[GLS_ENGINE_TIMES];
    gls_model_plan model_plan; /* until it is complete */
} gls_engine;
/* The parts of gls_engine_create(): all that does not depend on the values of the input; the fields, of several engines
 * at once, *failed telling which of them failed (SIZE_MAX: it is no fault of a device); buffers, for a smaller batch
 * where memory demands it, and kernels. */
gls_status gls_engine_begin(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                            gls_engine **engine);
gls_status gls_engine_fill(gls_engine *const *engines, size_t n, const gls_track_input *input, size_t *failed);
gls_status gls_engine_complete(gls_engine *engine, const gls_track_input *input);
/* Builds kernels and uploads fields; params and input have been checked. */
gls_status gls_engine_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                             gls_engine **engine);
/* From here on the buffers are those of this turn. */
void gls_engine_use_buffer_set(gls_engine *engine, unsigned set);
/* gls_kernel_run() in one dimension, timed where that is wanted. */
gls_status gls_engine_run(gls_engine *engine, gls_kernel *kernel, gls_engine_time time, uint32_t groups,
                          const gls_arg *args, size_t n_args);
/* Accepts NULL. */
void gls_engine_destroy(gls_engine *engine);

#endif
