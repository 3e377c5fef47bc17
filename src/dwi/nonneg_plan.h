/* Makes the plan of a least-squares fit under inequalities (nonneg.h): the matrices that all voxels share. */
#ifndef GLS_DWI_NONNEG_PLAN_H
#define GLS_DWI_NONNEG_PLAN_H

#include <glslines/common.h>

#include "dwi/nonneg.h"

/* Makes the plan. design: H, n x k; with standard_form, H'H (k x k, n = k), and the data of a voxel are then H' s
 * instead of s. rows: A, n_rows x k, none of them 0. what: names the caller in messages.
 * GLS_ERR_INPUT if H'H with its ridge is singular. */
gls_status gls_nonneg_plan_init(gls_nonneg_plan *plan, const char *what, const double *design, size_t n, size_t k,
                                bool standard_form, const double *rows, size_t n_rows);
/* Frees the matrices of the plan. */
void gls_nonneg_plan_finish(gls_nonneg_plan *plan);

#endif
