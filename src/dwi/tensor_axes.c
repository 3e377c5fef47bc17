/* FA and principal direction of single voxels, fitted as dwi2tensor of MRtrix3 does. */
#include "dwi/tensor_plan.h"

#include "util/threads.h"
#include "util/lapack.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P = 7, PASSES = 3 };
#define MIN_SHARE 1e-6 /* smaller signals are raised to this share of the largest signal of the voxel */

/* Parameters: xx yy zz xy xz yz and the logarithm of S0. */
static void set_design(const gls_gradients *gradients, double (*design)[P])
{
    for (size_t i = 0; i < gradients->n; i++) {
        const double b = gradients->bval[i], *g = gradients->bvec[i];
        const double row[P] = {-b * g[0] * g[0],
                               -b * g[1] * g[1],
                               -b * g[2] * g[2],
                               -2 * b * g[0] * g[1],
                               -2 * b * g[0] * g[2],
                               -2 * b * g[1] * g[2],
                               1};
        memcpy(design[i], row, sizeof row);
    }
}

/* One weighted fit; columns are first scaled to equal weight. */
static bool fit(const double (*design)[P], const double *log_signal, const double *weight, size_t n, double *parameter)
{
    double normal[P * P] = {0}, right[P] = {0}, scale[P];
    for (size_t i = 0; i < n; i++) {
        double w = weight[i] * weight[i];
        for (int a = 0; a < P; a++) {
            right[a] += w * design[i][a] * log_signal[i];
            for (int b = 0; b <= a; b++) normal[a * P + b] += w * design[i][a] * design[i][b];
        }
    }
    for (int a = 0; a < P; a++) scale[a] = 1 / sqrt(normal[a * P + a]);
    for (int a = 0; a < P; a++) {
        right[a] *= scale[a];
        for (int b = 0; b <= a; b++) normal[a * P + b] *= scale[a] * scale[b];
    }
    if (gls_lapack()->dposv(LAPACK_ROW_MAJOR, 'L', P, 1, normal, P, right, 1) != 0) return false;
    for (int a = 0; a < P; a++) parameter[a] = scale[a] * right[a];
    return true;
}

static void fit_voxel(const gls_image *dwi, const double (*design)[P], size_t n, size_t voxel, double *work, float *fa,
                      double axis[3])
{
    size_t voxels = gls_grid_voxels(&dwi->grid);
    double *log_signal = work, *weight = work + n, most = 0, p[P] = {0}, evals[3];
    for (size_t i = 0; i < n; i++) {
        /* not fmax(), which crashes gcc 12 for arm64 as a reduction */
        double value = dwi->data[i * voxels + voxel];
        if (value > most) most = value;
    }
    for (size_t i = 0; i < n; i++) {
        weight[i] = fmax(dwi->data[i * voxels + voxel], MIN_SHARE * most);
        log_signal[i] = log(weight[i]);
    }
    bool good = most > 0;
    for (int pass = 0; pass < PASSES && good; pass++) {
        good = fit(design, log_signal, weight, n, p);
        for (size_t i = 0; i < n && good; i++) {
            double y = 0;
            for (int a = 0; a < P; a++) y += design[i][a] * p[a];
            weight[i] = exp(y);
        }
    }
    double matrix[9] = {p[0], 0, 0, p[3], p[1], 0, p[4], p[5], p[2]};
    if (!good || gls_lapack()->dsyev(LAPACK_ROW_MAJOR, 'V', 'L', 3, matrix, 3, evals) != 0) {
        *fa = 0;
        axis[0] = axis[1] = 0;
        axis[2] = 1;
        return;
    }
    for (int a = 0; a < 3; a++) axis[a] = matrix[3 * a + 2];
    const double descending[3] = {evals[2], evals[1], evals[0]};
    *fa = (float)gls_tensor_fa(descending);
}

gls_status gls_tensor_axes(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                           float *fa, double (*axis)[3])
{
    gls_status status = gls_blas_check("tensor fit");
    if (status) return status;
    double(*design)[P] = malloc(gradients->n * sizeof *design);
    if (!design) return gls_fail(GLS_ERR_MEMORY, "out of memory for tensors of %zu volumes", gradients->n);
    set_design(gradients, design);
    int failed = 0;
    gls_blas_begin();
#pragma omp parallel num_threads(gls_blas_team()) reduction(|| : failed)
    {
        double *work = malloc(2 * gradients->n * sizeof *work);
        failed = !work;
#pragma omp for schedule(dynamic, 256)
        for (long long i = 0; i < (long long)n; i++)
            if (work) fit_voxel(dwi, (const double(*)[P])design, gradients->n, voxel[i], work, &fa[i], axis[i]);
        free(work);
    }
    gls_blas_end();
    free(design);
    return failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for tensors of %zu volumes", gradients->n) : GLS_OK;
}
