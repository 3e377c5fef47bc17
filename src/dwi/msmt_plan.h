/* Inside multi-tissue deconvolution: the least-squares problem of a table and responses. */
#ifndef GLS_DWI_MSMT_PLAN_H
#define GLS_DWI_MSMT_PLAN_H

#include <glslines/msmt.h>

#include "dwi/nonneg.h"

typedef struct gls_msmt_plan {
    gls_nonneg_plan fit;
    size_t *volume; /* fit.n: of the series, those that belong to a shell */
    size_t n_tissues;
    int order[GLS_MSMT_MAX_TISSUES];
    size_t first[GLS_MSMT_MAX_TISSUES + 1]; /* coefficient of each tissue */
} gls_msmt_plan;

/* order: of each tissue; direction: n along the voxel axes. */
gls_status gls_msmt_plan_init(gls_msmt_plan *plan, const gls_gradients *gradients,
                              const gls_tissue_response *const *response, const int *order, size_t n_tissues,
                              const double (*direction)[3], size_t n_directions);
void gls_msmt_plan_finish(gls_msmt_plan *plan);

/* The directions of a constraint along the voxel axes: those given along the scanner axes, or for NULL the built-in
 * ones. From malloc. */
gls_status gls_msmt_directions(const gls_grid *grid, const double (*given)[3], size_t n_given, double (**direction)[3],
                               size_t *n);

#endif
