/* Solves for the unknowns of the signal by FISTA, under the rule that they are not negative, with a penalty on groups
 * of streamlines. */
#ifndef GLS_WEIGHTS_SIGNAL_SOLVER_H
#define GLS_WEIGHTS_SIGNAL_SOLVER_H

#include <stdint.h>

#include "weights/signal_products.h"

/* Why the solver stopped. */
typedef enum gls_signal_stop {
    GLS_SIGNAL_STOP_OBJECTIVE, /* the relative change of the objective fell below tol_fun */
    GLS_SIGNAL_STOP_X,         /* the relative change of the unknowns fell below tol_x */
    GLS_SIGNAL_STOP_STILL,     /* objective or unknowns did not change */
    GLS_SIGNAL_STOP_LIMIT,     /* max_iters */
    GLS_SIGNAL_STOP_INFINITE   /* the objective was not finite: the best x is taken */
} gls_signal_stop;

/* Groups of streamlines, each streamline in one group. */
typedef struct gls_signal_groups {
    uint32_t *of;   /* group of each streamline; UINT32_MAX: none */
    size_t n;       /* number of groups */
    double *factor; /* factor of each group in the penalty */
    double lambda;  /* strength of the penalty */
    bool peer;      /* shrink by the norm with negative values, then cut them; false: cut first, which is exact */
} gls_signal_groups;

/* When to stop, and whom to ask. */
typedef struct gls_signal_solver {
    double tol_fun, tol_x;
    int max_iters;
    bool (*progress)(void *user, uint64_t iteration, double objective); /* false: cancel; NULL: none */
    void *user;
} gls_signal_solver;

/* One iteration of a fit; the first has no step. */
typedef struct gls_signal_iteration {
    double objective, step;
} gls_signal_iteration;

/* The result of a fit. */
typedef struct gls_signal_fit {
    double objective, penalty; /* objective: with the penalty */
    size_t iterations, back_tracks;
    size_t restarts; /* times that the objective rose so often in a row that momentum began anew at the best x */
    gls_signal_stop why;
    gls_signal_iteration *iteration; /* iterations + 1 values, from the start on */
} gls_signal_fit;

/* Fills x, which begins with zeros, and r = A x - y. groups NULL: no penalty. GLS_ERR_CANCELLED: progress() returned
 * false. Call gls_signal_fit_finish() even after a failure. */
gls_status gls_signal_solve(gls_signal_products *products, const gls_signal_solver *solver,
                            const gls_signal_groups *groups, double *x, float *r, gls_signal_fit *fit);
/* Sets the factors of groups from a fit without penalty, sqrt(size) / norm, and lambda = share times the smallest
 * lambda that would make all weights 0 in a model without other compartments. Groups whose factor would be infinite
 * keep it finite. */
gls_status gls_signal_groups_weigh(gls_signal_groups *groups, const gls_signal_model *model, const double *x,
                                   double share);
/* Name of a reason to stop, for sidecars. */
const char *gls_signal_stop_name(gls_signal_stop why);
/* Frees the list of iterations. */
void gls_signal_fit_finish(gls_signal_fit *fit);

#endif
