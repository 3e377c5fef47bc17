/* Scores voxels by how much they look like a single bundle of white matter (Dhollander et al. 2019): the sharper and
 * stronger the largest peak of the ODF, the higher the score. */
#include "dwi/response_parts.h"

#include <glslines/sh.h>
#include <glslines/sphere.h>

#include "dwi/nonneg.h"
#include "dwi/odf_parts.h"
#include "dwi/voxel_sets.h"
#include "util/maths.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARP_ORDER = 6, MAX_COUNT = 28 }; /* MAX_COUNT: number of coefficients of order SHARP_ORDER */

/* Makes the response of highest contrast, scaled to the median of the mean signals of the n voxels: zonal coefficients
 * of one magnitude and alternating sign for weighted shells, only a mean at b = 0. The caller destroys *response. */
static gls_status sharp_response(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                                 const gls_tissue_response *csf, gls_tissue_response **response)
{
    size_t voxels = gls_grid_voxels(&dwi->grid);
    double *mean = calloc(n, sizeof *mean);
    if (!mean) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu voxels", n);
    for (size_t i = 0; i < n; i++) {
        for (size_t t = 0; t < dwi->n_volumes; t++) mean[i] += dwi->data[t * voxels + voxel[i]];
        mean[i] /= (double)dwi->n_volumes;
    }
    double c = sqrt(4 * M_PI) * gls_median(mean, n);
    free(mean);
    gls_status status = gls_tissue_response_create(csf->n_shells, SHARP_ORDER, response);
    for (size_t s = 0; s < csf->n_shells && !status; s++)
        for (size_t l = 0; l <= SHARP_ORDER / 2; l++)
            (*response)->zonal[s * (SHARP_ORDER / 2 + 1) + l] = l == 0                          ? c
                                                                : s == 0 && gradients->n_b0 > 0 ? 0
                                                                : l % 2                         ? -c
                                                                                                : c;
    return status;
}

/* Returns the largest amplitude of an SH function: over the vertices of the sphere, and at the peak that is uphill from
 * the best vertex. matrix: a row of SH basis functions for each vertex. */
static double largest(int order, const double *sh, const gls_sphere *sphere, const double *matrix)
{
    size_t k = gls_sh_count(order), best = 0;
    double most = -INFINITY;
    for (size_t v = 0; v < sphere->n; v++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += matrix[v * k + j] * sh[j];
        if (sum > most) best = v;
        most = fmax(most, sum);
    }
    double u[3] = {sphere->vertex[best][0], sphere->vertex[best][1], sphere->vertex[best][2]};
    return fmax(most, gls_peak_climb(order, sh, u));
}

/* Fits white matter and CSF to the n listed voxels, in blocks that threads share, and scores them: the largest
 * amplitude of white matter, divided by the sum of the first coefficients of white matter and CSF. */
static gls_status score_all(const gls_image *dwi, const gls_msmt_plan *plan, const size_t *voxel, size_t n,
                            const gls_sphere *sphere, double *score)
{
    const gls_nonneg_plan *fit = &plan->fit;
    size_t voxels = gls_grid_voxels(&dwi->grid), k = gls_sh_count(plan->order[0]);
    int order = plan->order[0], failed = 0;
    gls_nonneg_kernel kernel = gls_nonneg_kernels[gls_cpu_level()];
    double *matrix = malloc(sphere->n * k * sizeof *matrix);
    if (!matrix) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", sphere->n);
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])sphere->vertex, sphere->n, matrix);
    size_t scratch_bytes = (gls_nonneg_scratch_bytes(fit) + 63) / 64 * 64;
    size_t bytes = scratch_bytes + (fit->n + fit->k) * GLS_NONNEG_BLOCK * sizeof(double);
#pragma omp parallel reduction(|| : failed)
    {
        char *memory = aligned_alloc(64, bytes);
        failed = !memory;
#pragma omp for schedule(dynamic)
        for (long long first = 0; first < (long long)n; first += GLS_NONNEG_BLOCK) {
            if (!memory) continue;
            size_t count = n - (size_t)first < GLS_NONNEG_BLOCK ? n - (size_t)first : GLS_NONNEG_BLOCK;
            double *data = (double *)(memory + scratch_bytes), *f = data + fit->n * GLS_NONNEG_BLOCK, sh[MAX_COUNT];
            memset(data, 0, fit->n * GLS_NONNEG_BLOCK * sizeof *data);
            for (size_t i = 0; i < fit->n; i++)
                for (size_t v = 0; v < count; v++)
                    data[i * GLS_NONNEG_BLOCK + v] = dwi->data[plan->volume[i] * voxels + voxel[(size_t)first + v]];
            kernel(fit, data, count, memory, f);
            for (size_t v = 0; v < count; v++) {
                for (size_t j = 0; j < k; j++) sh[j] = f[j * GLS_NONNEG_BLOCK + v];
                score[(size_t)first + v] = largest(order, sh, sphere, matrix) / (sh[0] + f[k * GLS_NONNEG_BLOCK + v]);
            }
        }
        free(memory);
    }
    free(matrix);
    return failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for the fit of %zu voxels", n) : GLS_OK;
}

gls_status gls_dhollander_score(const gls_image *dwi, const gls_gradients *gradients,
                                const gls_responses_options *options, const size_t *voxel, size_t n,
                                const gls_tissue_response *csf, int order, double *score)
{
    GLS_REQUIRE(order <= SHARP_ORDER);
    gls_tissue_response *sharp = NULL;
    gls_msmt_plan plan = {.n_tissues = 0};
    gls_sphere *sphere = NULL;
    double(*direction)[3] = NULL;
    size_t n_directions = 0;
    const int orders[2] = {order, 0};
    gls_status status = sharp_response(dwi, gradients, voxel, n, csf, &sharp);
    if (!status)
        status = gls_msmt_directions(&dwi->grid, options->direction, options->n_directions, &direction, &n_directions);
    const gls_tissue_response *const response[2] = {sharp, csf};
    if (!status)
        status = gls_msmt_plan_init(&plan, gradients, response, orders, 2, (const double(*)[3])direction, n_directions);
    if (!status) status = gls_sphere_create("default", &sphere);
    if (!status) status = score_all(dwi, &plan, voxel, n, sphere, score);
    gls_msmt_plan_finish(&plan);
    gls_sphere_destroy(sphere);
    gls_tissue_response_destroy(sharp);
    free(direction);
    return status;
}
