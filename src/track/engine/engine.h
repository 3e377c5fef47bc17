/* An engine: what tracks on one device: kernels, fields and buffers. */
#ifndef GLS_TRACK_ENGINE_ENGINE_H
#define GLS_TRACK_ENGINE_ENGINE_H

#include "gpu/objects.h"
#include "track/engine/kernels.h"
#include "track/engine/timed.h"
#include "track/engine/visitor_kernel.h"

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
    } turn[GLS_TRACK_TURNS];
    gls_buffer **buffer; /* by gls_track_buffer; of the turn of gls_engine_turn(), as is: */
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
void gls_engine_turn(gls_engine *engine, unsigned turn);
/* gls_kernel_run() in one dimension, timed where that is wanted. */
gls_status gls_engine_run(gls_engine *engine, gls_kernel *kernel, gls_engine_time time, uint32_t groups,
                          const gls_arg *args, size_t n_args);
/* Accepts NULL. */
void gls_engine_destroy(gls_engine *engine);

#endif
