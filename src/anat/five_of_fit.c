/* Five tissue types from the densities of a fit with several tissues: they lie where the series lies, so nothing has to
 * be registered. */
#include "anat/five_of_fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/tissue.h>

#include "image/morphology.h"
#include "util/maths.h"
#include "util/status.h"

#define SHARE 0.5 /* of the median sum of densities, above which a voxel is in the brain */
#define CLOSING 3 /* voxels */
/* Share of the grid above which a brain is doubted: an ellipsoid that touches all sides of its grid has 0.52. */
#define MAX_SHARE 0.65
/* Share of all marked voxels below which their largest part is doubted. */
#define MIN_PART 0.5

/* Density of a tissue in a voxel: 0 where it is negative or not finite. Three of them add up to a finite float. */
static double density(const gls_image *image, size_t v)
{
    const double x = (double)image->data[v];
    return isfinite(x) && x > 0 ? fmin(x, (double)FLT_MAX / 4) : 0;
}

/* Marks voxels whose sum is above a share of the median of those that have any. */
static gls_status mark(const double *sum, size_t n, const char *name, uint8_t *set)
{
    static const double q = 0.5;
    double median;
    size_t some = 0;
    float *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted) return gls_no_memory();
    for (size_t v = 0; v < n; v++)
        if (sum[v] > 0) sorted[some++] = (float)sum[v];
    if (some > 0) gls_quantiles_of_floats(sorted, some, &q, 1, &median);
    free(sorted);
    if (some == 0) return gls_fail(GLS_ERR_INPUT, "%s: no voxel has a tissue: is it of a fit of this series?", name);
    for (size_t v = 0; v < n; v++) set[v] = sum[v] > SHARE * median;
    return GLS_OK;
}

/* Warns of a brain that is not that of a fit in a mask, where the background has no densities. marked: number of voxels
 * of which the brain is the largest part. */
static void warn_of_size(const gls_grid *grid, const uint8_t *set, size_t marked, const char *name)
{
    const size_t n = gls_grid_voxels(grid), brain = gls_morphology_count(grid->dim, set);
    const double share = (double)brain / (double)n, part = (double)brain / (double)marked;
    if (share <= MAX_SHARE && part >= MIN_PART) return;
    gls_log(GLS_LOG_WARNING,
            "%s: the brain that the densities give has %.0f ml, which is %.0f %% of the grid and %.0f %% of the voxels "
            "with large densities: it is probably wrong: fit with --mask, or look at the mask",
            name, (double)brain * fabs(gls_grid_determinant(grid)) / 1000, 100 * share, 100 * part);
}

/* Makes the brain of what is marked: its largest part, and in `closed` the same without gaps. */
static gls_status close_gaps(const gls_grid *grid, const char *name, uint8_t *set, uint8_t *closed)
{
    const int32_t *dim = grid->dim;
    const size_t n = gls_grid_voxels(grid), marked = gls_morphology_count(dim, set);
    gls_status status = gls_morphology_keep_largest(dim, set);
    if (status) return status;
    warn_of_size(grid, set, marked, name);
    memcpy(closed, set, n);
    status = gls_morphology_dilate(dim, closed, CLOSING);
    if (!status) status = gls_morphology_erode(dim, closed, CLOSING);
    /* at the border of the grid more was removed than added */
    for (size_t v = 0; v < n && !status; v++) closed[v] |= set[v];
    return status;
}

gls_status gls_five_tissues_of_fit(const gls_image *const tissue[GLS_FIT_TISSUES], const gls_image *deep,
                                   const char *name, gls_image **five, gls_image **mask)
{
    static const int type[GLS_FIT_TISSUES] = {
        [GLS_FIT_WM] = GLS_TISSUE_WM, [GLS_FIT_GM] = GLS_TISSUE_CGM, [GLS_FIT_CSF] = GLS_TISSUE_CSF};
    const gls_grid *grid = &tissue[0]->grid;
    const size_t n = gls_grid_voxels(grid);
    double *sum = calloc(n, sizeof *sum);
    uint8_t *set = malloc(n), *closed = malloc(n);
    *five = *mask = NULL;
    gls_status status = sum && set && closed ? GLS_OK : gls_no_memory();
    for (int t = 0; t < GLS_FIT_TISSUES && !status; t++)
        for (size_t v = 0; v < n; v++) sum[v] += density(tissue[t], v);
    if (!status) status = mark(sum, n, name, set);
    if (!status) status = close_gaps(grid, name, set, closed);
    if (!status) status = gls_image_create(grid, GLS_TISSUE_TYPES, five);
    if (!status) status = gls_image_create(grid, 1, mask);
    for (size_t v = 0; v < n && !status; v++) {
        (*mask)->data[v] = closed[v];
        for (int t = 0; t < GLS_FIT_TISSUES && set[v]; t++)
            (*five)->data[(size_t)type[t] * n + v] = (float)(density(tissue[t], v) / sum[v]);
        if (deep && set[v]) {
            const float grey = (*five)->data[GLS_TISSUE_CGM * n + v];
            (*five)->data[GLS_TISSUE_SGM * n + v] = deep->data[v] * grey;
            (*five)->data[GLS_TISSUE_CGM * n + v] = (1 - deep->data[v]) * grey;
        }
        if (closed[v] && !set[v]) (*five)->data[GLS_TISSUE_CSF * n + v] = 1;
    }
    if (status) {
        gls_image_destroy(*five);
        gls_image_destroy(*mask);
        *five = *mask = NULL;
    }
    free(sum);
    free(set);
    free(closed);
    return status;
}
