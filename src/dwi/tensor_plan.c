/* Matrices that all voxels of the tensor fit share, the fit by SVD for badly conditioned voxels, and the kernels of the
 * fit, compiled for several instruction sets. */
#include "dwi/tensor_plan.h"

#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smallest singular value, relative to the largest, with which the gradient table determines the parameters. */
#define MIN_SINGULAR 1e-6

void gls_tensor_plan_finish(gls_tensor_plan *plan)
{
    free(plan->design);
    plan->design = plan->inverse = plan->product = NULL;
}

/* Row -(b gx^2, 2 b gx gy, b gy^2, 2 b gx gz, 2 b gy gz, b gz^2, 1) of the design matrix. */
static void design_row(double b, const double g[3], double row[GLS_TENSOR_PARAMETERS])
{
    row[0] = -b * g[0] * g[0];
    row[1] = -2 * b * g[0] * g[1];
    row[2] = -b * g[1] * g[1];
    row[3] = -2 * b * g[0] * g[2];
    row[4] = -2 * b * g[1] * g[2];
    row[5] = -b * g[2] * g[2];
    row[6] = -1;
}

/* Computes the design matrix with columns scaled to a largest magnitude of 1, and the limit to which lower eigenvalues
 * are raised, which follows from the most negative entry of the unscaled matrix. */
static void set_design(gls_tensor_plan *plan, const gls_gradients *gradients)
{
    enum { P = GLS_TENSOR_PARAMETERS };
    double most = 0;
    for (int p = 0; p < P; p++) plan->scale[p] = DBL_MIN;
    for (size_t i = 0; i < plan->n; i++) {
        double *row = plan->design + i * GLS_TENSOR_STRIDE;
        design_row(gradients->bval[i], gradients->bvec[i], row);
        for (int p = 0; p < P; p++) {
            plan->scale[p] = fmax(plan->scale[p], fabs(row[p]));
            most = fmax(most, -row[p]);
        }
    }
    /* as in DIPY: 1e-6 divided by the magnitude of the most negative entry of the design, about 1e-9 mm2/s */
    plan->min_eigenvalue = 1e-6 / most;
    for (size_t i = 0; i < plan->n; i++) {
        double *row = plan->design + i * GLS_TENSOR_STRIDE;
        for (int p = 0; p < P; p++) row[p] /= plan->scale[p];
        for (int a = 0, k = 0; a < P; a++)
            for (int b = 0; b <= a; b++, k++) plan->product[i * GLS_TENSOR_PRODUCTS + (size_t)k] = row[a] * row[b];
    }
}

/* Computes the pseudo-inverse of the scaled design matrix by singular values. GLS_ERR_INPUT if the directions and
 * b-values do not determine a tensor and S0. */
static gls_status set_inverse(gls_tensor_plan *plan)
{
    enum { P = GLS_TENSOR_PARAMETERS };
    double s[P], vt[P * P];
    size_t n = plan->n;
    if (n < P)
        return gls_fail(GLS_ERR_INPUT,
                        "gradient table: a tensor and S0 are %d unknowns, but there are only %zu volumes", P, n);
    gls_status status = gls_blas_check("tensor fit");
    if (status) return status;
    double *x = malloc(2 * n * P * sizeof *x);
    if (!x) return gls_fail(GLS_ERR_MEMORY, "out of memory for a design matrix of %zu volumes", n);
    double *u = x + n * P;
    for (size_t i = 0; i < n; i++) memcpy(x + i * P, plan->design + i * GLS_TENSOR_STRIDE, P * sizeof *x);
    lapack_int info = gls_lapack()->dgesdd(LAPACK_ROW_MAJOR, 'S', (lapack_int)n, P, x, P, s, u, P, vt, P);
    int rank = 0;
    while (info == 0 && rank < P && s[rank] > MIN_SINGULAR * s[0]) rank++;
    if (info != 0)
        status = gls_fail(info < 0 ? GLS_ERR_MEMORY : GLS_ERR_INPUT,
                          "gradient table: the singular value decomposition of %zu volumes failed (LAPACK info %d)", n,
                          (int)info);
    else if (rank < P)
        status = gls_fail(GLS_ERR_INPUT,
                          "gradient table: its %zu volumes determine only %d of the %d unknowns of a tensor fit: too "
                          "few different directions",
                          n, rank, P);
    /* transposed pseudo-inverse: U S^-1 V' */
    for (size_t i = 0; i < n && !status; i++) {
        for (int p = 0; p < P; p++) {
            double sum = 0;
            for (int k = 0; k < P; k++) sum += u[i * P + (size_t)k] / s[k] * vt[k * P + p];
            plan->inverse[i * GLS_TENSOR_STRIDE + (size_t)p] = sum;
        }
    }
    free(x);
    return status;
}

gls_status gls_tensor_plan_init(gls_tensor_plan *plan, const gls_gradients *gradients, double min_signal)
{
    size_t n = gradients->n, total = n * (2 * GLS_TENSOR_STRIDE + GLS_TENSOR_PRODUCTS) * sizeof(double),
           bytes = (total + 63) / 64 * 64;
    *plan = (gls_tensor_plan){.n = n, .min_signal = fmax(min_signal, DBL_MIN)};
    plan->design = aligned_alloc(64, bytes);
    if (!plan->design) return gls_fail(GLS_ERR_MEMORY, "out of memory for a design matrix of %zu volumes", n);
    memset(plan->design, 0, bytes);
    plan->inverse = plan->design + n * GLS_TENSOR_STRIDE;
    plan->product = plan->inverse + n * GLS_TENSOR_STRIDE;
    set_design(plan, gradients);
    gls_status status = set_inverse(plan);
    if (status) gls_tensor_plan_finish(plan);
    return status;
}

bool gls_tensor_fit_svd(const gls_tensor_plan *plan, const float *signal, size_t stride,
                        const double ols[GLS_TENSOR_PARAMETERS], double *scratch, double wls[GLS_TENSOR_PARAMETERS])
{
    enum { P = GLS_TENSOR_PARAMETERS };
    size_t n = plan->n;
    double *a = scratch, *y = scratch + n * P, s[P], most = -INFINITY; /* column-major */
    /* y = ln of the signal that the unweighted fit predicts; weights are relative to the largest predicted signal */
    for (size_t i = 0; i < n; i++) {
        const double *x = plan->design + i * GLS_TENSOR_STRIDE;
        y[i] = 0;
        for (int p = 0; p < P; p++) y[i] += x[p] * ols[p];
        most = fmax(most, y[i]);
    }
    for (size_t i = 0; i < n; i++) {
        const double *x = plan->design + i * GLS_TENSOR_STRIDE;
        double weight = exp(y[i] - most), value = signal[i * stride];
        /* Undo the scaling of the columns: dgelsd's cut-off is relative to the largest singular value of the unscaled
         * matrix. */
        for (size_t p = 0; p < P; p++) a[p * n + i] = weight * x[p] * plan->scale[p];
        y[i] = weight * log(value > plan->min_signal ? fmin(value, FLT_MAX) : plan->min_signal);
    }
    lapack_int rank;
    if (gls_lapack()->dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, P, 1, a, (lapack_int)n, y, (lapack_int)n, s, 1e-15,
                             &rank) != 0)
        return false;
    for (int p = 0; p < P; p++) wls[p] = y[p] * plan->scale[p];
    return true;
}

/* --- Kernels. The kernel is chosen at run time; results differ by rounding only. */

/* Fused multiply-add where the target has it. In ISO mode gcc fuses only on request; clang fuses by default. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast", "no-math-errno")
#endif

/* Smallest pivot relative to its diagonal entry. With it about 7 of the 16 digits of a double are left, which give FA
 * to 1e-6. */
#define MIN_PIVOT 1e-9

#define GLS_LEVEL_FILE "dwi/tensor_lanes.h"
#include "util/each_level.h"

const gls_tensor_kernel gls_tensor_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(fit);
