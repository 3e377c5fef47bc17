/* Plan and kernels of the tensor fit, and what other parts of the library use of it. */
#ifndef GLS_DWI_TENSOR_PLAN_H
#define GLS_DWI_TENSOR_PLAN_H

#include <glslines/gradients.h>
#include <glslines/image.h>

#include "util/threads.h"

/* Parameters in this order: Dxx Dxy Dyy Dxz Dyz Dzz -ln(S0). */
enum {
    GLS_TENSOR_PARAMETERS = 7,
    GLS_TENSOR_STRIDE = 8,    /* length of a padded row of parameters */
    GLS_TENSOR_PRODUCTS = 28, /* number of distinct entries of a symmetric 7 x 7 matrix */
    GLS_TENSOR_LANES = 16     /* number of voxels fitted together */
};

/* Matrices and limits that the fits of all voxels share. Unknowns: the six tensor elements in mm2/s, and -ln S0. */
typedef struct gls_tensor_plan {
    size_t n;                            /* number of volumes */
    double min_signal;                   /* lower signals count as this one; > 0 */
    double min_eigenvalue;               /* mm2/s; lower eigenvalues are raised to it */
    double scale[GLS_TENSOR_PARAMETERS]; /* largest magnitude of each column of the design matrix, by which the columns
                                            are divided */
    double *design;  /* n x 8: scaled design matrix, last column 0. All three matrices are 64-byte aligned */
    double *inverse; /* n x 8: transposed pseudo-inverse of design, last column 0 */
    double *product; /* n x 28: in each row the product of columns a and b <= a of design, at a (a + 1) / 2 + b */
} gls_tensor_plan;

/* Makes the plan. GLS_ERR_INPUT if the table does not determine the seven parameters. */
gls_status gls_tensor_plan_init(gls_tensor_plan *plan, const gls_gradients *gradients, double min_signal);
/* Frees the three matrices. Accepts a zeroed plan. */
void gls_tensor_plan_finish(gls_tensor_plan *plan);

/* Parameters of GLS_TENSOR_LANES voxels; divide them by scale. */
typedef struct gls_tensor_solution {
    double ols[GLS_TENSOR_STRIDE][GLS_TENSOR_LANES];
    double wls[GLS_TENSOR_PARAMETERS][GLS_TENSOR_LANES];
    double trusted[GLS_TENSOR_LANES]; /* 1 if the normal equations were well conditioned; 0: wls is meaningless, use
                                         gls_tensor_fit_svd() */
} __attribute__((aligned(64))) gls_tensor_solution;

/* Fits GLS_TENSOR_LANES voxels. signal[i * stride + lane]: volume i, 64-byte aligned; stride: a multiple of 16.
 * scratch: 2 n GLS_TENSOR_LANES doubles, 64-byte aligned. */
typedef void (*gls_tensor_kernel)(const gls_tensor_plan *plan, const float *signal, size_t stride, double *scratch,
                                  gls_tensor_solution *solution);

/* The kernel for each value of gls_cpu_level(); the last is the fastest. */
extern const gls_tensor_kernel gls_tensor_kernels[GLS_CPU_LEVELS];
/* Fits one voxel with badly conditioned weights by singular values. signal[i * stride]: volume i. ols, wls: scaled
 * parameters. scratch: 8 n + 7 doubles. Returns false if LAPACK failed. */
bool gls_tensor_fit_svd(const gls_tensor_plan *plan, const float *signal, size_t stride,
                        const double ols[GLS_TENSOR_PARAMETERS], double *scratch, double wls[GLS_TENSOR_PARAMETERS]);

#endif
