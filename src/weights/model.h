/* What the iterations of SIFT2 work on: numbers of fixels and streamlines that stay as they are. */
#ifndef GLS_WEIGHTS_MODEL_H
#define GLS_WEIGHTS_MODEL_H

#include <glslines/weights.h>

#include "weights/rows.h"

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

#endif
