/* The least-squares problem of multi-tissue deconvolution (Jeurissen et al. 2014): design matrix and constraints. */
#ifndef GLS_DWI_MSMT_PLAN_H
#define GLS_DWI_MSMT_PLAN_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/msmt.h>

#include "dwi/nonneg.h"

/* The plan of multi-tissue deconvolution: coefficients of all tissues one after the other. */
typedef struct gls_msmt_plan {
    gls_nonneg_plan fit;
    size_t *volume;                         /* fit.n indices of the volumes of the series that belong to a shell */
    size_t n_tissues;                       /* number of tissues */
    int order[GLS_MSMT_MAX_TISSUES];        /* SH order of each tissue */
    size_t first[GLS_MSMT_MAX_TISSUES + 1]; /* index of the first coefficient of each tissue */
} gls_msmt_plan;

/* Makes the plan. order: SH order of each tissue. direction: n_directions directions of the constraint, along the voxel
 * axes. */
gls_status gls_msmt_plan_init(gls_msmt_plan *plan, const gls_gradients *gradients,
                              const gls_tissue_response *const *response, const int *order, size_t n_tissues,
                              const double (*direction)[3], size_t n_directions);
/* Frees the matrices of the plan, also after a failure of gls_msmt_plan_init(). */
void gls_msmt_plan_finish(gls_msmt_plan *plan);

#endif
