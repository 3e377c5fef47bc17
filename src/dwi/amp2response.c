/* Estimates a response from voxels with known fibre directions (Smith et al. 2017, amp2response of MRtrix3). */

#include <glslines/sh.h>

#include "dwi/amp2response.h"
#include "dwi/nonneg.h"
#include "dwi/nonneg_kernel.h"
#include "dwi/nonneg_plan.h"
#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Constraints are set at each degree from 0 to DEGREES. */
enum { DEGREES = 90, MAX_COLUMNS = GLS_MSMT_MAX_ORDER / 2 + 1 };

/* Zonal basis (m = 0) of even degrees at an angle to the fibre, and its derivative by the angle; slope may be NULL.
 * cosine: cosine of the angle. */
static void zonal(int order, double cosine, double *value, double *slope)
{
    double basis[(GLS_MSMT_MAX_ORDER + 1) * (GLS_MSMT_MAX_ORDER + 2) / 2];
    /* the derivative of Y_l0 is sqrt(l (l + 1)) times the function of m = 1 without its factor sqrt(2) */
    const double v[1][3] = {{sqrt(fmax(0, 1 - cosine * cosine)), 0, cosine}};
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, v, 1, basis);
    for (int l = 0; l <= order; l += 2) {
        value[l / 2] = basis[l * (l + 1) / 2];
        if (slope) slope[l / 2] = l > 0 ? sqrt(l * (l + 1)) * basis[l * (l + 1) / 2 - 1] / M_SQRT2 : 0;
    }
}

/* Fills the rows of the constraints: amplitudes at 0 .. 90 degrees are not negative, and slopes at 1 .. 89 degrees are
 * not negative, so that the signal rises from the fibre to the equator. Returns the number of rows, each of order / 2 +
 * 1 numbers. */
static size_t set_rows(int order, double *rows)
{
    size_t k = (size_t)order / 2 + 1, n = 0;
    double value[MAX_COLUMNS], slope[MAX_COLUMNS];
    for (int degree = 0; degree <= DEGREES; degree++) {
        zonal(order, cos(M_PI / 180 * degree), value, slope);
        memcpy(rows + n++ * k, value, k * sizeof *rows);
        if (degree > 0 && degree < DEGREES) memcpy(rows + n++ * k, slope, k * sizeof *rows);
    }
    return n;
}

/* Adds the volumes of a shell, in all voxels, to the lower triangle of the normal matrix and to the right side of the
 * least-squares problem. of[i]: shell of volume i. */
static void add_voxels(const gls_image *dwi, const gls_gradients *gradients, const size_t *of, size_t shell, int order,
                       const gls_fibres *fibres, double *normal, double *right)
{
    size_t k = (size_t)order / 2 + 1, voxels = gls_grid_voxels(&dwi->grid);
    double value[MAX_COLUMNS];
    for (size_t v = 0; v < fibres->n; v++)
        for (size_t i = 0; i < gradients->n; i++) {
            if (of[i] != shell) continue;
            const double *g = gradients->bvec[i];
            double cosine = 1, signal = dwi->data[i * voxels + fibres->voxel[v]];
            if (order > 0) {
                const double *u = fibres->axis[v];
                cosine = fabs(g[0] * u[0] + g[1] * u[1] + g[2] * u[2]);
            }
            zonal(order, cosine, value, NULL);
            for (size_t a = 0; a < k; a++) {
                right[a] += value[a] * signal;
                for (size_t b = 0; b <= a; b++) normal[a * k + b] += value[a] * value[b];
            }
        }
}

/* Solves a single problem: finds plan->k coefficients from plan->n data. */
static gls_status solve(const gls_nonneg_plan *plan, const double *data, double *coefficients)
{
    gls_status status = GLS_OK;
    void *scratch = aligned_alloc(64, (gls_nonneg_scratch_bytes(plan) + 63) / 64 * 64);
    double *block = gls_aligned_zeros((plan->n + plan->k) * GLS_NONNEG_BLOCK);
    if (!scratch || !block) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu coefficients", plan->k);
        goto fail;
    }
    double *solution = block + plan->n * GLS_NONNEG_BLOCK;
    for (size_t i = 0; i < plan->n; i++) block[i * GLS_NONNEG_BLOCK] = data[i];
    if (gls_nonneg_kernels[gls_cpu_level()](plan, block, 1, scratch, solution) > 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "response: the constrained fit of %zu coefficients does not converge: estimate the response "
                          "from other voxels",
                          plan->k);
    for (size_t j = 0; j < plan->k; j++) coefficients[j] = solution[j * GLS_NONNEG_BLOCK];
fail:
    free(scratch);
    free(block);
    return status;
}

/* Fits the zonal coefficients of one shell, l = 0, 2, ..., under the constraints of set_rows(). For order 0, an
 * isotropic response, the coefficient is the mean signal of volumes and voxels, divided by Y_00. */
static gls_status fit_shell(int order, const double *normal, const double *right, double *response)
{
    double rows[2 * (DEGREES + 1) * MAX_COLUMNS];
    if (order == 0) {
        response[0] = right[0] / normal[0];
        return GLS_OK;
    }
    gls_nonneg_plan plan;
    size_t k = (size_t)order / 2 + 1, n_rows = set_rows(order, rows);
    gls_status status = gls_nonneg_plan_init(&plan, "response", normal, k, k, true, rows, n_rows);
    if (status) return status;
    status = solve(&plan, right, response);
    gls_nonneg_plan_finish(&plan);
    return status;
}

gls_status gls_amp2response(const gls_image *dwi, const gls_gradients *gradients, const gls_fibres *fibres, int order,
                            size_t only, gls_tissue_response **response)
{
    GLS_REQUIRE(fibres->n > 0 && order >= 0 && order <= GLS_MSMT_MAX_ORDER && (order == 0 || fibres->axis));
    gls_tissue_response *made = NULL;
    gls_shell *shell = NULL;
    size_t n = 0, *of = malloc(gradients->n * sizeof *of), columns = (size_t)order / 2 + 1;
    gls_status status = of ? gls_gradients_cluster(gradients, &shell, &n, of)
                           : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu volumes", gradients->n);
    if (!status) status = gls_tissue_response_create(only == GLS_NO_SHELL ? n : 1, order, &made);
    if (!status && !(made->bval = malloc(made->n_shells * sizeof *made->bval)))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for a response");
    /* Each shell is fitted by itself to its volumes in all voxels, each volume at its angle to the fibre of the voxel.
     * The signal of b0 volumes does not depend on directions, so that its response has one coefficient. */
    for (size_t s = 0, row = 0; s < n && !status; s++) {
        if (only != GLS_NO_SHELL && only != s) continue;
        double normal[MAX_COLUMNS * MAX_COLUMNS] = {0}, right[MAX_COLUMNS] = {0};
        int own = shell[s].is_b0 ? 0 : order;
        add_voxels(dwi, gradients, of, s, own, fibres, normal, right);
        status = fit_shell(own, normal, right, made->zonal + row * columns);
        made->bval[row++] = shell[s].bval;
    }
    free(of);
    free(shell);
    if (status) {
        gls_tissue_response_destroy(made);
        return status;
    }
    made->n_voxels = fibres->n;
    *response = made;
    return GLS_OK;
}
