/* The model of streamline weights (SIFT2), its solvers on the CPU and on devices, and the struct behind gls_weights.
 * Symbols are those of Smith et al. 2015: FD, the density of a fixel by the FOD; TD, the sum over streamlines of weight
 * times length in the fixel; TD0, this sum with weights of 1; PM, its mask; mu, the factor from TD to FD. */
#ifndef GLS_WEIGHTS_WEIGHT_MODEL_H
#define GLS_WEIGHTS_WEIGHT_MODEL_H

#include <glslines/weights.h>

#include "weights/fixel_rows_parts.h"

/* --- Values of fixels and streamlines. */

/* Constants of a fixel, in the layout of the kernels. */
typedef struct gls_model_constant {
    /* fd: FD, with the factor of rows->scale; mask: PM, 0 for a removed fixel */
    float fd, mask;
    float per_length; /* 1 / TD0, in units of length; 0: the mean coefficient of the fixel stays 0 */
    float unused;
} gls_model_constant;

/* State of a fixel. Iterations change `excess`, and set `share` to 0 for a fixel that they exclude. Four floats, as in
 * the buffer Fixels of weights/rows.comp. */
typedef struct gls_model_state {
    float excess;  /* mu TD - FD */
    float density; /* mu TD0 */
    float share;   /* PM / (mu TD0); 0: the fixel takes no part in the fit */
    float unit;    /* PM times the unit of length */
} gls_model_state;

/* Mean of the coefficients of the streamlines in a fixel, weighted by length. */
typedef struct gls_model_mean {
    float m, em; /* mean coefficient m, and e to the power of m */
} gls_model_mean;

/* Everything that the iterations start from. Owned by gls_weights; solvers only read it. */
typedef struct gls_weight_model {
    /* borrowed */
    const gls_rows *rows;
    size_t n;         /* fixels */
    double mu, scale; /* scale: factor of the regularisation, the sum of PM FD^2 divided by the number of streamlines */
    double unit;      /* unit of length, mm */
    uint64_t *length; /* TD0 of each fixel, in units */
    uint32_t *count;  /* entries of each fixel */
    gls_model_constant *constant;
    gls_model_state *state; /* state before the first iteration */
    float
        *variation; /* for each streamline: reg_tv times scale / contribution in remaining fixels; 0: no contribution */
    /* numbers of fixels without streamlines, of those that have streamlines but are excluded because of too small a
     * density or a single entry, and of those that the options remove */
    size_t n_untracked, n_excluded, n_removed;
} gls_weight_model;

/* Builds the model. rows is borrowed. GLS_ERR_EMPTY: no fixel or streamline can be used. Call gls_weight_model_finish()
 * even after a failure. */
gls_status gls_weight_model_create(const gls_rows *rows, const gls_weights_options *options, gls_weight_model *model);
/* Frees the arrays; the rows stay. */
void gls_weight_model_finish(gls_weight_model *model);

/* --- Solvers: the two passes of an iteration of SIFT2, on the CPU or on devices. */

/* Partial costs are summed as a tree over groups of this many streamlines or fixels: a work group of the kernels. */
#define GLS_SOLVER_GROUP GLS_ROW_GROUP

/* Sums over all streamlines: total variation times its factor, and squared coefficients. */
typedef struct gls_row_costs {
    double tv, squares;
} gls_row_costs;

/* Sums over all fixels: cost of the data, number of excluded fixels. */
typedef struct gls_fixel_costs {
    double data, excluded;
} gls_fixel_costs;

typedef struct gls_solver gls_solver;

/* Functions of a solver, on the CPU or on devices: the two passes of an iteration, reading, freeing. If a device fails,
 * they return its error. */
typedef struct gls_solver_kind {
    /* A solver has two arrays of coefficients, 0 and 1. Computes new coefficients from those of array `from`, stores
     * them in the other array, and adds length times weight and length times coefficient of each streamline to the sums
     * of its fixels. costs: of the coefficients of array `from`. */
    gls_status (*rows)(gls_solver *solver, int from, gls_row_costs *costs);
    /* Computes densities and means of fixels from the sums of the last rows(), before the first rows() from sums for
     * weights of 1. */
    gls_status (*fixels)(gls_solver *solver, gls_fixel_costs *costs);
    /* Reads the coefficients of all streamlines from array `which` (0 or 1). */
    gls_status (*read)(gls_solver *solver, int which, float *coefficient);
    /* Reads states and means of all fixels; either may be NULL. */
    gls_status (*read_fixels)(gls_solver *solver, gls_model_state *state, gls_model_mean *mean);
    /* Frees the solver, even if it was made only in part. */
    void (*destroy)(gls_solver *solver);
} gls_solver_kind;

struct gls_solver {
    /* functions of the CPU or of devices */
    const gls_solver_kind *kind;
    /* fixels and rows, borrowed */
    const gls_weight_model *model;
    /* options of the run, borrowed */
    const gls_weights_options *options;
    float unit, tikhonov; /* mu times the unit of length; reg_tikhonov times scale */
};

/* --- The struct behind gls_weights. */

struct gls_weights {
    /* a copy of the caller's options */
    gls_weights_options options;
    float *mask, *scale; /* factors for each voxel, see gls_rows; NULL: 1 */
    gls_rows rows;
    gls_row_queue *queue; /* set if a device maps the streamlines; NULL: threads on the CPU do */
    gls_weight_model model;
    /* weight of each streamline; SIFT: 1 for those that stay, else 0 */
    float *weight;
    float *coefficient;     /* SIFT2 only */
    gls_model_state *state; /* state of each fixel: SIFT2: after the last iteration; else as in the model */
    gls_model_mean *mean;   /* SIFT2 only */
    gls_weights_iteration *iteration;
    /* counts, costs and times */
    gls_weights_result result;
};

#endif
