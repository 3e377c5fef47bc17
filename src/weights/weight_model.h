/* The model of streamline weights, and its solvers on the CPU and on devices. */
#ifndef GLS_WEIGHTS_WEIGHT_MODEL_H
#define GLS_WEIGHTS_WEIGHT_MODEL_H

#include <glslines/weights.h>

#include "weights/fixel_rows.h"

/* --- What the iterations of SIFT2 work on: numbers of fixels and streamlines that stay as they are. */

/* Of each fixel; as the kernels read it. */
typedef struct gls_model_constant {
    float fd, mask;
    float per_length; /* 1 / TD0 in units of length; 0 where the mean coefficient is 0 */
    float unused;
} gls_model_constant;
typedef struct gls_model_state {
    float excess;  /* mu TD - FD */
    float density; /* mu TD0 */
    float share;   /* PM / (mu TD0); 0: the fixel is excluded */
    float unit;    /* PM times the unit of length */
} gls_model_state;
typedef struct gls_model_mean {
    float m, em; /* mean coefficient, and e to it */
} gls_model_mean;

typedef struct gls_weight_model {
    const gls_rows *rows;
    size_t n;         /* fixels */
    double mu, scale; /* scale: A, of the regularisation */
    double unit;      /* of length, mm */
    uint64_t *length; /* TD0 of each fixel, in units */
    uint32_t *count;  /* entries of each */
    gls_model_constant *constant;
    gls_model_state *state; /* at the start: density 0 */
    float *variation;       /* of each streamline: lambda' / contribution; 0 where it has none */
    size_t n_untracked, n_excluded, n_removed;
} gls_weight_model;

gls_status gls_weight_model_create(const gls_rows *rows, const gls_weights_options *options, gls_weight_model *model);
void gls_weight_model_finish(gls_weight_model *model);

/* --- The two passes of an iteration of SIFT2, on the CPU or on devices. */

/* Parts of costs are summed over this many streamlines or fixels, as a tree: a work group of the kernels. */
#define GLS_SOLVER_GROUP GLS_ROW_GROUP

/* What a pass sums up over all streamlines: total variation with its factor, and squares of the coefficients. */
typedef struct gls_row_costs {
    double tv, squares;
} gls_row_costs;
/* Over all fixels. */
typedef struct gls_fixel_costs {
    double data, excluded;
} gls_fixel_costs;

typedef struct gls_solver gls_solver;
typedef struct gls_solver_kind {
    /* From the coefficients `from` (0 or 1), whose costs are found on the way, to the others, and to sums in fixels. */
    gls_status (*rows)(gls_solver *solver, int from, gls_row_costs *costs);
    /* From those sums to densities and means. */
    gls_status (*fixels)(gls_solver *solver, gls_fixel_costs *costs);
    /* Coefficients of all streamlines. */
    gls_status (*read)(gls_solver *solver, int which, float *coefficient);
    /* States and means of the fixels; either may be NULL. */
    gls_status (*read_fixels)(gls_solver *solver, gls_model_state *state, gls_model_mean *mean);
    void (*destroy)(gls_solver *solver);
} gls_solver_kind;

struct gls_solver {
    const gls_solver_kind *kind;
    const gls_weight_model *model;
    const gls_weights_options *options;
    float unit, tikhonov; /* mu times the unit of length; lambda' */
};

/* Coefficients 0 are all 0; fixels() is to be called first. */
gls_status gls_host_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                  gls_solver **solver);
gls_status gls_device_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                    gls_device *const *devices, size_t n, gls_solver **solver);

/* e^x as the passes have it. */
float gls_weights_exponential(float x);
/* The members above. */
void gls_solver_init(gls_solver *solver, const gls_solver_kind *kind, const gls_weight_model *model,
                     const gls_weights_options *options);

/* --- The inside of gls_weights. */

struct gls_weights {
    gls_weights_options options;
    float *mask, *scale; /* of each voxel; NULL: 1 */
    gls_rows rows;
    gls_row_queue *queue; /* of a device that maps; NULL: threads do */
    gls_weight_model model;
    float *weight;
    float *coefficient;     /* SIFT2 */
    gls_model_state *state; /* at the end */
    gls_model_mean *mean;   /* SIFT2 */
    gls_weights_iteration *iteration;
    gls_weights_result result;
};

/* Loads the kernels that the method needs, and on a device that maps that one, into the device's cache: where it fails,
 * it fails and is told when they are used. */
void gls_weights_load_kernels(gls_device *device, gls_weights_method method, bool maps);
gls_status gls_weights_run_sift2(gls_weights *weights, gls_device *const *devices, size_t n,
                                 gls_weights_progress progress, void *user);
gls_status gls_weights_run_sift(gls_weights *weights, gls_weights_progress progress, void *user);

#endif
