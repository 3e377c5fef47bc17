/* An engine tracks on one device: it owns the kernels, the fields and the buffers there. */
#ifndef GLS_TRACK_ENGINE_ENGINE_H
#define GLS_TRACK_ENGINE_ENGINE_H

#include <glslines/track.h>

#include "gpu/objects.h"
#include "track/engine/timed.h"
#include "track/engine/track_plan.h"
#include "track/engine/visitor_kernel.h"

/* --- The model of a direction getter on a device: field, tables and definitions, handled alike for all getters. */

/* Kernels that the plan does not need are NULL. */
typedef struct gls_kernels {
    gls_kernel *initial;                      /* runs pass 1 in one kernel */
    gls_kernel *track;                        /* pass 2 in one kernel */
    gls_kernel *step;                         /* staged plans: a few iterations of pass 2 */
    gls_kernel *sample, *first_sample, *turn; /* split plans: passes 1 and 2; an iteration runs sample,
                                                 then turn. Pass 1 runs first_sample, if it is not NULL, in
                                                 place of sample */
    gls_kernel *gather;                       /* pass 3 */
} gls_kernels;

/* --- The engine. */

/* Owns everything in it but the device, which belongs to the caller unless owns_device is set. Used by one thread at a
 * time. */
typedef struct gls_engine {
    gls_device *device;
    gls_track_params params;
    gls_track_plan plan;
    gls_grid grid;
    gls_model model;
    gls_guide guide; /* stop map, regions and tissue */
    gls_kernels kernels;
    gls_visitor visitor; /* counts visited voxels, where that pays */
    float (*vertex)[3];  /* unit vectors of the sphere's vertices */
    uint32_t n_vertices;
    bool antipodal;           /* true: each vertex stands for both senses of its axis */
    bool has_direction;       /* true: the user gave a seed direction */
    double seed_direction[3]; /* unit vector along the voxel axes, if has_direction */
    struct {
        gls_buffer *buffer[GLS_TRACK_BUFFERS];
        gls_fetch *fetch[GLS_TRACK_FETCHES];
    } buffer_set[GLS_TRACK_BUFFER_SETS];
    gls_buffer **buffer; /* indexed by gls_track_buffer; points into the buffer set in use */
    gls_fetch **fetch;   /* indexed by gls_track_fetch; points into the buffer set in use */
    /* Wall time, s: of making fields and buffers; of loading kernels. */
    double seconds_upload, seconds_compile;
    double iteration_cost; /* cost of drawing a direction, as a multiple of the search for the peaks of a seed */
    uint32_t halvings;     /* how often batches were halved because memory was short */
    bool owns_device;      /* true: the engine opened the device itself after the old context was lost */
    bool complete;         /* gls_engine_complete() has succeeded */
    bool timed;            /* true: sum up the times of kernels in kernel_seconds */
    double kernel_seconds[GLS_ENGINE_TIMES];
    gls_model_plan model_plan; /* in use until the engine is complete */
} gls_engine;

/* gls_engine_create() in three steps. First step: makes the plan, the guide, the model's buffer, and its field without
 * values, and announces the kernels to the driver. */
gls_status gls_engine_begin(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                            gls_engine **engine);
/* Second step: fills the fields of n engines at once. *failed: index of the engine that failed; SIZE_MAX: no device is
 * at fault. */
gls_status gls_engine_fill(gls_engine *const *engines, size_t n, const gls_track_input *input, size_t *failed);
/* Third step: creates the buffers, with smaller batches if memory is short, and loads the kernels. */
gls_status gls_engine_complete(gls_engine *engine, const gls_track_input *input);
/* Creates an engine. params and input must have been checked. */
gls_status gls_engine_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                             gls_engine **engine);
/* Makes engine->buffer and engine->fetch point to this set (modulo GLS_TRACK_BUFFER_SETS). */
void gls_engine_use_buffer_set(gls_engine *engine, unsigned set);
/* Runs a kernel in one dimension, and adds its time to kernel_seconds if the engine is timed. */
gls_status gls_engine_run(gls_engine *engine, gls_kernel *kernel, gls_engine_time time, uint32_t groups,
                          const gls_arg *args, size_t n_args);
/* Frees `engine`, which may be NULL. */
void gls_engine_destroy(gls_engine *engine);

/* Number of points that an invocation of pass 3 packs: on a CPU renderer a whole block of the pool, so that the record
 * of the block is read once; on a GPU one point, so that neighbouring invocations access neighbouring memory. */
static inline uint32_t gls_gather_run(const gls_device_info *device)
{
    return device->software ? POOL_BLOCK : 1;
}

#endif
