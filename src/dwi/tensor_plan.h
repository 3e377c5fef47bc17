/* Inside the tensor fit. */
#ifndef GLS_DWI_TENSOR_PLAN_H
#define GLS_DWI_TENSOR_PLAN_H

#include <glslines/gradients.h>

#include "util/threads.h"

/* --- Inside the tensor module: what is common to all voxels, and the fits of a few voxels at a time. */

/* Parameters: Dxx Dxy Dyy Dxz Dyz Dzz -ln(S0). */
enum {
    GLS_TENSOR_PARAMETERS = 7,
    GLS_TENSOR_STRIDE = 8,    /* a row of parameters, padded */
    GLS_TENSOR_PRODUCTS = 28, /* distinct entries of a symmetric 7 x 7 matrix */
    GLS_TENSOR_LANES = 16     /* voxels fitted together */
};

typedef struct gls_tensor_plan {
    size_t n;                            /* volumes */
    double min_signal;                   /* > 0 */
    double min_eigenvalue;               /* mm2/s */
    double scale[GLS_TENSOR_PARAMETERS]; /* largest magnitude of each column of the design matrix; divides the columns
                                            below */
    double *design;  /* n x 8: the scaled design matrix, last column 0; 64-byte aligned like the next two */
    double *inverse; /* n x 8: transposed pseudo-inverse of design, last column 0 */
    double *product; /* n x 28: design[a] design[b] at a (a + 1) / 2 + b, b <= a */
} gls_tensor_plan;

/* GLS_ERR_INPUT if the table does not determine the seven parameters. */
gls_status gls_tensor_plan_init(gls_tensor_plan *plan, const gls_gradients *gradients, double min_signal);
void gls_tensor_plan_finish(gls_tensor_plan *plan);

/* Parameters of GLS_TENSOR_LANES voxels, to be divided by scale. */
typedef struct gls_tensor_solution {
    double ols[GLS_TENSOR_STRIDE][GLS_TENSOR_LANES];
    double wls[GLS_TENSOR_PARAMETERS][GLS_TENSOR_LANES];
    double trusted[GLS_TENSOR_LANES]; /* 1 where the normal equations were well conditioned, else 0 and wls is
                                         meaningless */
} __attribute__((aligned(64))) gls_tensor_solution;

/* signal[i * stride + lane] for volume i, 64-byte aligned, stride a multiple of 16; scratch has 2 n GLS_TENSOR_LANES
 * doubles, 64-byte aligned. */
typedef void (*gls_tensor_kernel)(const gls_tensor_plan *plan, const float *signal, size_t stride, double *scratch,
                                  gls_tensor_solution *solution);

/* By gls_cpu_level(): the last is the fastest. */
extern const gls_tensor_kernel gls_tensor_kernels[GLS_CPU_LEVELS];

/* The same fit for one voxel by singular values, for ill-conditioned weights: signal[i * stride]; ols: scaled OLS
 * parameters; scratch: 8 n + 7 doubles. Writes scaled parameters. False if LAPACK failed. */
bool gls_tensor_fit_svd(const gls_tensor_plan *plan, const float *signal, size_t stride,
                        const double ols[GLS_TENSOR_PARAMETERS], double *scratch, double wls[GLS_TENSOR_PARAMETERS]);

/* Eigenvalues of the symmetric matrix xx xy yy xz yz zz, descending. */
void gls_tensor_eigenvalues(const double d[6], double evals[3]);
/* Fractional anisotropy, 0 .. 1; 0 for three zeros. */
double gls_tensor_fa(const double evals[3]);

/* --- FA and direction of the tensors of some voxels, fitted as MRtrix3's dwi2tensor does. */

/* Weighted least squares of the logarithm with the signal as weight, then twice with the prediction as weight, over all
 * volumes. fa[i] and axis[i] (unit vector along the voxel axes) of voxel[i]. */
gls_status gls_tensor_axes(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                           float *fa, double (*axis)[3]);

#endif
