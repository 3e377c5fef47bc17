/* The tracker's parts. */
#ifndef GLS_TRACK_INTERNAL_H
#define GLS_TRACK_INTERNAL_H

#include <glslines/track.h>

#include "track/run/order.h"
#include "track/engine/pace.h"
#include "track/engine/plan.h"
#include "track/field/volume.h"

#define GLS_MAX_DIRECTIONS 32
#define GLS_MAX_STEPS 1000000
#define GLS_MAX_ENGINES GLS_TRACKER_MAX_DEVICES
/* How often a device may be lost over the same seeds. */
#define GLS_MAX_LOSSES 3

/* Uniform blocks, laid out as in GLSL: scalars of four bytes. */
typedef uint32_t uint_field;
#define uint uint_field
#define FIELD(type, name) type name;
typedef struct gls_track_uniforms {
#include "layout/track_params.h"
} gls_track_uniforms;
typedef struct gls_gather_uniforms {
#include "layout/gather_params.h"
} gls_gather_uniforms;
#undef FIELD
#undef uint

/* Definitions of a kernel, with the texts that they own. */
typedef struct gls_define_list {
    gls_define define[96];
    char *owned[96];
    size_t n;
    bool failed;
    const char *odf; /* where an ODF comes from: the files of this name with _looped.glsl, and _unrolled.glsl where
                        every step needs one; a constant */
} gls_define_list;
void gls_define_int(gls_define_list *list, const char *name, int64_t value);
void gls_define_float(gls_define_list *list, const char *name, double value);
/* Fills a slot with text (from malloc; NULL counts as memory that ran out). */
void gls_define_slot(gls_define_list *list, const char *name, char *text);
/* Fills a slot with the file base_looped.glsl, which any number of invocations can share, or base_unrolled.glsl, source
 * written out for a single one. */
void gls_define_mapped(gls_define_list *list, const char *name, const char *base, bool loops);
void gls_define_finish(gls_define_list *list);

/* What a direction getter needs on the device. */
typedef struct gls_model {
    gls_volume volume;
    gls_buffer *buffer; /* vertices and the tables of loops: "Model" in the shaders */
    bool uniform;       /* it is a uniform block */
    double min_signal;  /* in units of the volume */
} gls_model;

struct gls_sections;
/* Plans the volume, makes the contents of the model buffer and adds the direction getter's definitions; nothing on a
 * device. The caller finishes the sections. */
gls_status gls_model_plan(const gls_device_info *limits, const gls_track_params *params, const gls_track_plan *plan,
                          const gls_track_input *input, gls_define_list *defines, gls_volume_plan *volume,
                          struct gls_sections *sections);
gls_status gls_boot_model_plan(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_define_list *defines,
                               gls_volume_plan *volume, struct gls_sections *sections);
gls_status gls_odf_model_plan(const gls_device_info *limits, const gls_track_params *params, const gls_track_plan *plan,
                              const gls_track_input *input, gls_define_list *defines, gls_volume_plan *volume,
                              struct gls_sections *sections);
/* Makes the volume, empty, and the model buffer. */
gls_status gls_model_create(gls_device *device, const gls_volume_plan *volume, struct gls_sections *sections,
                            gls_model *model);
/* Fill the volumes of models of the same input and parameters, each on a device of its own: what the CPU computes for
 * them, it computes once. *failed tells which model a failure is of; it stays as it was for one of the input or of the
 * host. */
gls_status gls_boot_model_fill(gls_model *const *models, size_t n, const gls_track_input *input, size_t *failed);
gls_status gls_odf_model_fill(gls_model *const *models, size_t n, const gls_track_params *params,
                              const gls_track_input *input, size_t *failed);
void gls_model_finish(gls_model *model);

/* Writes the channels of bootstrap volumes (coefficients, mean b0, residuals), slice by slice. */
gls_status gls_boot_volume_fill(gls_volume *const *volumes, size_t n_volumes, const gls_track_input *input,
                                double scale, size_t *failed);
/* Channels in front of the residuals, a multiple of 4, and in all. */
uint32_t gls_boot_coefficient_channels(const gls_qball *qball);
uint32_t gls_boot_channels(const gls_qball *qball);

/* What tracks on one device. */
typedef struct gls_engine {
    gls_device *device;
    gls_track_params params;
    gls_track_plan plan;
    gls_grid grid;
    gls_model model;
    gls_texture *stop_map;
    gls_kernel *initial;                      /* pass 1 in one kernel */
    gls_kernel *track;                        /* pass 2 in one kernel */
    gls_kernel *step;                         /* staged: some turns of pass 2 */
    gls_kernel *sample, *first_sample, *turn; /* split: both passes; first_sample is that of pass 1 where it differs */
    gls_kernel *gather;
    float (*vertex)[3]; /* of the sphere */
    gls_buffer *uniforms, *gather_uniforms;
    gls_buffer *seeds, *directions, *lines, *work, *pool, *state, *output;
    double seconds_upload, seconds_compile;
    gls_track_shape shape;
    double turn_cost;  /* of drawing a direction, a guess: in times of a seed's search for peaks */
    uint32_t halvings; /* of the batch, for want of memory */
    bool owns_device;  /* opened in place of one that was lost */
    bool complete;
    gls_define_list defines; /* until it is complete */
} gls_engine;
/* The parts of gls_engine_create(): all that does not depend on the values of the input; the volumes, of several
 * engines at once; buffers, for a smaller batch where memory demands it, and kernels. */
gls_status gls_engine_begin(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                            gls_engine **engine);
gls_status gls_engine_fill(gls_engine *const *engines, size_t n, const gls_track_input *input, size_t *failed);
gls_status gls_engine_complete(gls_engine *engine, const gls_track_input *input);
/* Builds kernels and uploads volumes; params and input have been checked. */
gls_status gls_engine_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                             gls_engine **engine);
/* Accepts NULL. */
void gls_engine_destroy(gls_engine *engine);

/* Parcels of a tracker between runs; see courier.h. */
typedef struct gls_parcel_store {
    size_t n;
    struct gls_parcel *parcel;
} gls_parcel_store;
void gls_parcel_store_finish(gls_parcel_store *store);

struct gls_tracker {
    gls_parcel_store parcels;
    size_t n;
    gls_device *device[GLS_MAX_ENGINES];
    gls_engine *engine[GLS_MAX_ENGINES]; /* NULL: of a device that failed */
    bool failed[GLS_MAX_ENGINES];        /* while engines were made */
    gls_track_share share[GLS_MAX_ENGINES];
    gls_track_params params; /* in the precision that was possible */
    gls_track_input input;
};
/* Makes engine i anew, with batches of at most this many seeds, on a new context if the old one is lost. After a
 * failure there is no engine. */
gls_status gls_tracker_renew(gls_tracker *tracker, size_t i, bool lost, uint64_t batch);

/* Buffers of an engine besides the model's, and their sizes: the one place that knows them. */
typedef enum gls_track_buffer {
    GLS_TRACK_UNIFORMS,
    GLS_TRACK_GATHER_UNIFORMS,
    GLS_TRACK_SEEDS,
    GLS_TRACK_DIRECTIONS,
    GLS_TRACK_WORK,
    GLS_TRACK_LINES,
    GLS_TRACK_POOL,
    GLS_TRACK_STATE,
    GLS_TRACK_OUTPUT,
    GLS_TRACK_BUFFERS
} gls_track_buffer;
/* bytes of each; returns their sum. */
uint64_t gls_track_buffer_bytes(const gls_track_params *params, const gls_track_plan *plan,
                                uint64_t bytes[GLS_TRACK_BUFFERS]);

gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input);
gls_status gls_track_params_check(const gls_track_params *params);

/* Counts and lengths of a run, in constant memory. */
typedef struct gls_track_stats {
    gls_track_result result;
    uint64_t *histogram;   /* kept streamlines by number of steps, 0 .. 2 max_steps */
    size_t n_bins, n_used; /* in use: those from n_used on are 0 */
    double sum_steps;
} gls_track_stats;
gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps);
void gls_track_stats_add(gls_track_stats *stats, uint32_t steps);
/* Adds from to stats, and empties it. */
void gls_track_stats_move(gls_track_stats *stats, gls_track_stats *from);
/* Forgets the counts; times stay. */
void gls_track_stats_drop(gls_track_stats *stats);
/* Means, medians and extremes from the histogram. */
void gls_track_stats_complete(gls_track_stats *stats, double step_size);
void gls_track_stats_finish(gls_track_stats *stats);

typedef struct gls_courier gls_courier;
typedef struct gls_parcel gls_parcel;
typedef struct gls_run gls_run;
typedef struct gls_worker gls_worker;

/* One batch: seeds first .. first + n - 1 of the list. */
typedef struct gls_batch_context {
    gls_engine *engine;
    const gls_seeds *seeds;
    const double (*space)[4];
    gls_run *run; /* with the next two NULL where a pass runs by itself */
    gls_worker *worker;
    gls_track_stats *stats; /* of the round; see gls_batch_commit() */
    uint32_t *direction;    /* batch_seeds x (max directions + 1) */
    uint32_t *line;         /* batch_lines x GLS_LINE_WORDS */
    uint32_t *state;        /* 2 x batch_lines */
    uint32_t *work;         /* staged: what the host writes of the work buffer */
    gls_order_entry *order; /* 2 x batch_lines, where lines are ordered; else NULL */
    float (*seed)[3];       /* batch_seeds */
    uint64_t steps;         /* made so far, those of rejected streamlines too */
    double points_per_line; /* running estimate of what the pool must hold */
    gls_pace initial_pace;  /* seeds of pass 1 */
    gls_pace track_pace;    /* pass 2: lines; staged: halves, times their turns */
} gls_batch_context;
/* Pass 1: directions of seeds first .. first + n - 1 (positions in c->seed) into c->direction. */
gls_status gls_pass_initial(gls_batch_context *context, uint64_t first, uint32_t n);
/* Pass 2: tracks n_lines streamlines of c->line; afterwards c->state says how each half ended (values >= GLS_HALF_LOST:
 * it did not). */
gls_status gls_pass_track(gls_batch_context *context, uint32_t n_lines);
#define GLS_HALF_LOST 0xfffffffeu

/* The random stream of a seed's direction: the fourth word of its counters. */
static inline uint32_t gls_draw_stream(uint64_t seed, uint32_t direction)
{
    return ((uint32_t)(seed >> 32) & 0xffffu) | direction << 16 | 0x80000000u;
}

/* Between dispatches: reports progress if the last time is some time ago; GLS_ERR_CANCELLED if the run was stopped. */
gls_status gls_batch_poll(gls_batch_context *context);
/* Tracks seeds first .. first + n - 1. *done seeds were finished and committed, after a failure too; fewer than n
 * without one where earlier seeds wait for somebody. */
gls_status gls_batch_run(gls_batch_context *context, uint64_t first, uint32_t n, uint64_t *done);
/* All seeds before end are finished: counts them, and sends the parcel (NULL: none). */
void gls_batch_commit(gls_batch_context *context, uint64_t end, gls_parcel *parcel);

double gls_seconds(void);

#endif
