/* The two passes of an iteration of SIFT2, on the CPU or on devices. */
#ifndef GLS_WEIGHTS_SOLVER_H
#define GLS_WEIGHTS_SOLVER_H

#include "weights/model.h"

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

#endif
