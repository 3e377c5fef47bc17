/* The tracker's parts. */
#ifndef GLS_TRACK_INTERNAL_H
#define GLS_TRACK_INTERNAL_H

#include <glslines/track.h>

#include "track/plan.h"
#include "track/volume.h"

#define GLS_MAX_DIRECTIONS 32
#define GLS_MAX_STEPS 1000000
#define GLS_MAX_ENGINES 64

/* Uniform blocks, laid out as in GLSL: scalars of four bytes. */
typedef uint32_t uint_field;
#define uint uint_field
#define FIELD(type, name) type name;
typedef struct gls_track_uniforms {
#include "track_params.h"
} gls_track_uniforms;
typedef struct gls_gather_uniforms {
#include "gather_params.h"
} gls_gather_uniforms;
#undef FIELD
#undef uint

/* Definitions of a kernel, with the texts that they own. */
typedef struct gls_define_list {
    gls_define define[96];
    char *owned[96];
    size_t n;
    bool failed;
} gls_define_list;
void gls_define_int(gls_define_list *list, const char *name, int64_t value);
void gls_define_float(gls_define_list *list, const char *name, double value);
/* Takes text (from malloc; NULL counts as memory that ran out) as the replacement of an include. */
void gls_define_include(gls_define_list *list, const char *name, char *text);
/* The include name is the file base_single.glsl or base_lanes.glsl. */
void gls_define_mapped(gls_define_list *list, const char *name, const char *base, bool lanes);
void gls_define_finish(gls_define_list *list);

/* What a direction getter needs on the device. */
typedef struct gls_model {
    gls_volume volume;
    gls_buffer *buffer; /* vertices and, for subgroups, matrices: "Model" in the shaders */
    double min_signal;  /* in units of the volume */
} gls_model;

/* Makes the volume, empty, and the model buffer, and adds the direction getter's definitions. */
gls_status gls_boot_model_create(gls_device *device, const gls_track_params *params, const gls_track_plan *plan, const gls_track_input *input, gls_define_list *defines,
                                 gls_model *model);
gls_status gls_odf_model_create(gls_device *device, const gls_track_params *params, const gls_track_plan *plan, const gls_track_input *input, gls_define_list *defines,
                                gls_model *model);
/* Fill the volumes of models of the same input and parameters, each on a device of its own: what the CPU computes for them, it computes once. *failed tells which model a failure is
 * of; it stays as it was for one of the input or of the host. */
gls_status gls_boot_model_fill(gls_model *const *models, size_t n, const gls_track_input *input, size_t *failed);
gls_status gls_odf_model_fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input, size_t *failed);
void gls_model_finish(gls_model *model);

/* Writes the channels of bootstrap volumes (coefficients, mean b0, residuals), slice by slice. */
gls_status gls_boot_volume_fill(gls_volume *const *volumes, size_t n_volumes, const gls_track_input *input, double scale, size_t *failed);
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
    uint32_t coefficients;  /* of the plan */
    uint32_t halvings;      /* of the batch, for want of memory */
    bool owns_device;       /* opened in place of one that was lost */
    gls_define_list defines; /* until it is complete */
} gls_engine;
/* The parts of gls_engine_create(): all that does not depend on the values of the input; the volumes, of several engines at once; buffers, for a smaller batch where memory
 * demands it, and kernels. */
gls_status gls_engine_begin(gls_device *device, const gls_track_params *params, const gls_track_input *input, gls_engine **engine);
gls_status gls_engine_fill(gls_engine *const *engines, size_t n, const gls_track_input *input, size_t *failed);
gls_status gls_engine_complete(gls_engine *engine, const gls_track_input *input);
/* Builds kernels and uploads volumes; params and input have been checked. */
gls_status gls_engine_create(gls_device *device, const gls_track_params *params, const gls_track_input *input, gls_engine **engine);
/* Accepts NULL. */
void gls_engine_destroy(gls_engine *engine);

struct gls_tracker {
    gls_engine *engine;
};

gls_status gls_track_params_check(const gls_track_params *params);

/* Counts and lengths of a run, in constant memory. */
typedef struct gls_track_stats {
    gls_track_result result;
    uint64_t *histogram; /* kept streamlines by number of steps, 0 .. 2 max_steps */
    size_t n_bins;
    double sum_steps;
} gls_track_stats;
gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps);
void gls_track_stats_add(gls_track_stats *stats, uint32_t steps);
/* Means, medians and extremes from the histogram. */
void gls_track_stats_complete(gls_track_stats *stats, double step_size);
void gls_track_stats_finish(gls_track_stats *stats);

/* Streamlines of a batch on the host, on their way to the sink. */
typedef struct gls_parcel {
    size_t n, capacity;
    uint64_t *offset;
    uint32_t *seed_index;
    float (*seed)[3];
    float (*point)[3];
    size_t point_capacity;
} gls_parcel;
gls_status gls_parcel_reserve(gls_parcel *parcel, size_t n, size_t n_points);
void gls_parcel_finish(gls_parcel *parcel);

/* Hands parcels to the sink on a thread of its own, in order, two at most at a time. */
typedef struct gls_courier gls_courier;
gls_status gls_courier_create(gls_track_sink sink, void *user, gls_courier **courier);
/* An empty parcel to fill; waits for one. NULL after a failure of the sink. */
gls_parcel *gls_courier_take(gls_courier *courier);
/* Sends the parcel taken last. */
void gls_courier_send(gls_courier *courier);
/* Waits until all is delivered, frees the courier and returns the sink's first failure with its message. */
gls_status gls_courier_destroy(gls_courier *courier);

/* One batch: seeds first .. first + n - 1 of the list. */
typedef struct gls_batch_context {
    gls_engine *engine;
    const gls_seeds *seeds;
    const double (*space)[4];
    gls_courier *courier; /* NULL: nobody wants the streamlines */
    gls_track_stats *stats;
    uint32_t *direction;  /* batch_seeds x (max directions + 1) */
    uint32_t *line;       /* batch_lines x GLS_LINE_WORDS */
    uint32_t *state;      /* 2 x batch_lines */
    uint32_t *work;       /* staged: what the host writes of the work buffer */
    float (*seed)[3];     /* batch_seeds */
    uint64_t steps;         /* made so far, those of rejected streamlines too */
    double points_per_line; /* running estimate of what the pool must hold */
    gls_track_progress progress; /* may be NULL */
    void *progress_user;
    uint64_t seeds_done;
    double polled;          /* when progress was last called */
} gls_batch_context;
/* Pass 1: directions of seeds first .. first + n - 1 (positions in c->seed) into c->direction. */
gls_status gls_pass_initial(gls_batch_context *context, uint64_t first, uint32_t n);
/* Pass 2: tracks n_lines streamlines of c->line; afterwards c->state says how each half ended (values >= GLS_HALF_LOST: it did not). */
gls_status gls_pass_track(gls_batch_context *context, uint32_t n_lines);
#define GLS_HALF_LOST 0xfffffffeu

/* The random stream of a seed's direction: the fourth word of its counters. */
static inline uint32_t gls_draw_stream(uint64_t seed, uint32_t direction)
{
    return ((uint32_t)(seed >> 32) & 0xffffu) | direction << 16 | 0x80000000u;
}

/* Calls progress if the last call is some time ago; GLS_ERR_CANCELLED if it asks to stop. */
gls_status gls_batch_poll(gls_batch_context *context);
gls_status gls_batch_run(gls_batch_context *context, uint64_t first, uint32_t n);

double gls_seconds(void);

#endif
