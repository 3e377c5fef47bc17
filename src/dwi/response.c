/* The response function of single-shell deconvolution: estimates it from the most anisotropic voxels, and converts its
 * tensor to zonal coefficients. */
#include <glslines/csd.h>

#include <glslines/sh.h>
#include <glslines/tensor.h>

#include "dwi/csd_shell.h"
#include "dwi/units.h"
#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_VOXELS 30 /* smallest number of voxels for a reliable response */
/* Where too few voxels have FA above the threshold: the share of the voxels to take, those of highest FA, and the
 * lowest FA of a voxel that may hold a bundle. */
#define BEST_SHARE 0.02
#define LOWEST_FA 0.15

gls_response_options gls_response_options_default(void)
{
    return (gls_response_options){
        .size = sizeof(gls_response_options), .roi_radius = 10, .fa_threshold = 0.7, .min_voxels = MIN_VOXELS};
}

/* First voxel and size of the central cube along each axis: 2 radius + 1 voxels around voxel dim / 2, fewer where the
 * grid is smaller (as DIPY's auto_response). radius 0: the whole grid. */
static void central_cube(const int32_t dim[3], int radius, int32_t first[3], int32_t size[3])
{
    for (int a = 0; a < 3; a++) {
        int32_t centre = dim[a] / 2, r = radius;
        if (radius == 0) {
            first[a] = 0;
            size[a] = dim[a];
            continue;
        }
        if (centre - r < 0 || centre + r >= dim[a]) r = centre < dim[a] - centre ? centre : dim[a] - centre;
        int32_t last = centre + r < dim[a] ? centre + r : dim[a] - 1;
        first[a] = centre - r;
        size[a] = last - first[a] + 1;
    }
}

/* Copies the volumes volume[] (NULL: all in their order) inside the cube to a new image with one volume for each entry
 * of the table. The affine of the copy is that of the whole grid: only values are used. The caller destroys *part. */
static gls_status crop(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                       const int32_t first[3], const int32_t size[3], gls_image **part)
{
    gls_grid grid = dwi->grid;
    memcpy(grid.dim, size, sizeof grid.dim);
    gls_status status = gls_image_create(&grid, gradients->n, part);
    if (status) return status;
    float *to = (*part)->data;
    const size_t nx = (size_t)dwi->grid.dim[0], ny = (size_t)dwi->grid.dim[1], nz = (size_t)dwi->grid.dim[2];
    for (size_t t = 0; t < gradients->n; t++)
        for (size_t z = 0; z < (size_t)size[2]; z++)
            for (size_t y = 0; y < (size_t)size[1]; y++, to += size[0]) {
                size_t row = ((volume ? volume[t] : t) * nz + (size_t)first[2] + z) * ny + (size_t)first[1] + y;
                memcpy(to, dwi->data + row * nx + first[0], (size_t)size[0] * sizeof *to);
            }
    return GLS_OK;
}

/* The least FA of n voxels, n > 0. */
static double lowest_fa(const gls_image *fa, const size_t *chosen, size_t n)
{
    double lowest = fa->data[chosen[0]];
    for (size_t i = 1; i < n; i++) lowest = fmin(lowest, fa->data[chosen[i]]);
    return lowest;
}

/* Sets FA to 0 outside the mask. first: voxel of the mask at which the FA image begins. */
static void apply_mask(const gls_image *mask, const int32_t first[3], gls_image *fa)
{
    const int32_t *dim = mask->grid.dim, *size = fa->grid.dim;
    float *at = fa->data;
    for (int32_t z = 0; z < size[2]; z++)
        for (int32_t y = 0; y < size[1]; y++)
            for (int32_t x = 0; x < size[0]; x++, at++) {
                size_t row = (size_t)(first[2] + z) * (size_t)dim[1] + (size_t)(first[1] + y);
                if (!(mask->data[row * (size_t)dim[0] + (size_t)(first[0] + x)] > 0)) *at = 0;
            }
}

/* Comparison for qsort_r(): indices by falling FA; equal values in the order of the grid, so that the choice of voxels
 * does not depend on the sort. user: the FA values. */
static int higher_first(const void *a, const void *b, void *user)
{
    const float *fa = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (fa[x] != fa[y]) return fa[x] > fa[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Lists in *chosen, which the caller frees, the voxels with FA above the threshold. If the options ask for a number of
 * voxels, lists instead that many voxels of highest FA, or fewer if fewer have FA above 0. If too few have FA above the
 * threshold, as in phantoms of fibres, lists BEST_SHARE of the voxels, with a warning, unless their FA is too low.
 * *largest: largest FA of all voxels. */
static gls_status choose_voxels(const gls_image *fa, const gls_response_options *options, size_t **chosen, size_t *n,
                                double *largest)
{
    size_t voxels = gls_grid_voxels(&fa->grid), *list = malloc(voxels * sizeof *list), count = 0;
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", voxels);
    size_t wanted = options->n_voxels, above = 0, there = 0;
    *largest = 0;
    for (size_t v = 0; v < voxels; v++) {
        *largest = fmax(*largest, fa->data[v]);
        above += fa->data[v] > options->fa_threshold;
        if (fa->data[v] > 0) list[there++] = v;
    }
    const bool few = !wanted && above < options->min_voxels;
    if (few) {
        wanted = (size_t)(BEST_SHARE * (double)there);
        wanted = wanted < options->min_voxels ? options->min_voxels : wanted;
    }
    if (!wanted) wanted = above;
    if (wanted < there) qsort_r(list, there, sizeof *list, higher_first, fa->data);
    count = wanted < there ? wanted : there;
    if (few && count >= options->min_voxels && fa->data[list[count - 1]] > LOWEST_FA)
        gls_log(GLS_LOG_WARNING,
                "response: only %zu voxels have FA above %g: the %zu of highest FA, %.3g to %.3g, are taken instead "
                "(--response-fa, --response-voxels)",
                above, options->fa_threshold, count, fa->data[list[count - 1]], *largest);
    else if (few)
        count = above;
    *chosen = list;
    *n = count;
    return GLS_OK;
}

/* Averages the eigenvalues l1 and l2 (mm2/s) and the raw b0 signal over the n chosen voxels. Sums run in the order of
 * `chosen`. */
static void average(const gls_image *part, const gls_gradients *gradients, const gls_image *evals, const size_t *chosen,
                    size_t n, gls_response *mean)
{
    size_t voxels = gls_grid_voxels(&part->grid);
    *mean = (gls_response){.n_voxels = n};
    for (size_t i = 0; i < n; i++) {
        for (size_t e = 0; e < 2; e++) mean->evals[e] += evals->data[e * voxels + chosen[i]];
        for (size_t t = 0; t < gradients->n; t++)
            if (gradients->is_b0[t]) mean->s0 += part->data[t * voxels + chosen[i]];
    }
    for (int e = 0; e < 2; e++) mean->evals[e] /= (double)n;
    mean->s0 /= (double)(n * gradients->n_b0);
}

/* Requires at least min_voxels voxels. The message names the options that help and, if FA has a threshold, the largest
 * FA. */
static gls_status check_count(const gls_response_options *options, const int32_t size[3], size_t n, double largest)
{
    static const char larger[] = "enlarge the region (--response-radius, 0 for the whole grid) or ";
    const char *where = options->roi_radius ? "at the centre" : "of the whole grid";
    if (n >= options->min_voxels) return GLS_OK;
    if (options->n_voxels)
        return gls_fail(GLS_ERR_INPUT,
                        "response: %zu of the %d x %d x %d voxels %s have an FA above 0, but at least %zu are needed: "
                        "%sgive a response (--response)",
                        n, size[0], size[1], size[2], where, options->min_voxels, options->roi_radius ? larger : "");
    return gls_fail(
        GLS_ERR_INPUT,
        "response: %zu of the %d x %d x %d voxels %s have FA above %g, but at least %zu are needed; the largest "
        "is %.3g: lower the threshold (--response-fa), %stake the voxels of highest FA instead (--response-voxels) "
        "or give a response (--response)",
        n, size[0], size[1], size[2], where, options->fa_threshold, options->min_voxels, largest,
        options->roi_radius ? "enlarge the region (--response-radius, 0 for the whole grid), " : "");
}

gls_status gls_response_estimate(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                                 const gls_response_options *options, gls_response *response)
{
    GLS_REQUIRE_SIZE(options);
    const gls_response_options defaults = gls_response_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(dwi && gradients && response);
    GLS_REQUIRE_TABLE(gradients);
    GLS_REQUIRE(options->roi_radius >= 0 && options->fa_threshold >= 0 && options->fa_threshold < 1);
    GLS_REQUIRE(options->min_voxels >= 1);
    gls_image *part = NULL, *fa = NULL, *evals = NULL;
    gls_tensor_options tensor_options = gls_tensor_options_default();
    gls_response mean;
    double largest = 0;
    int32_t first[3], size[3];
    size_t *chosen = NULL, n = 0;
    gls_status status = gls_csd_check_series("response", dwi, gradients, volume);
    if (!status && options->mask)
        status = gls_grid_require_equal(&dwi->grid, "the series", &options->mask->grid, "the mask");
    if (status) return status;
    /* fit tensors in the cube; the voxels of the response are chosen by their FA */
    central_cube(dwi->grid.dim, options->roi_radius, first, size);
    status = crop(dwi, gradients, volume, first, size, &part);
    if (!status) status = gls_tensor_fit(part, gradients, NULL, &tensor_options, &fa, NULL, &evals);
    if (status) goto fail;
    if (options->mask) apply_mask(options->mask, first, fa);
    status = choose_voxels(fa, options, &chosen, &n, &largest);
    if (!status) status = check_count(options, size, n, largest);
    if (status) goto fail;
    /* the response is the mean over these voxels; its eigenvalues are checked against those of water */
    average(part, gradients, evals, chosen, n, &mean);
    if (!(mean.s0 > 0) || !isfinite(mean.s0))
        status =
            gls_fail(GLS_ERR_INPUT,
                     "response: the mean b0 signal of its %zu voxels is %g: it must be finite and above 0", n, mean.s0);
    if (!status) status = gls_units_check_eigenvalues("response", mean.evals, true);
    if (status) goto fail;
    gls_log(GLS_LOG_INFO,
            "response: eigenvalues %.6g %.6g mm2/s, S0 %.6g, from %zu voxels of FA %.3g or more in the %s %d x %d x %d",
            mean.evals[0], mean.evals[1], mean.s0, n, lowest_fa(fa, chosen, n),
            options->roi_radius ? "central" : "whole", size[0], size[1], size[2]);
    *response = mean;
fail:
    gls_image_destroy(part);
    gls_image_destroy(fa);
    gls_image_destroy(evals);
    free(chosen);
    return status;
}

/* Copies a zonal response without its coefficients above `order`. GLS_ERR_INPUT if the response has a lower order. */
static gls_status cut_zonal(const gls_response *response, int order, gls_response *zonal)
{
    if (response->order < order)
        return gls_fail(GLS_ERR_INPUT,
                        "the response has coefficients up to order %d, but CSD of order %d needs all up to order %d: "
                        "lower --sh-order, or give --csd-rule mrtrix",
                        response->order, order, order);
    gls_response cut = *response;
    cut.order = order;
    for (int l = order + 2; l <= GLS_CSD_MAX_ORDER; l += 2) cut.zonal[l / 2] = 0;
    *zonal = cut;
    return GLS_OK;
}

/* Checks that all coefficients are finite and not 0, because deconvolution divides by them, and that the mean is
 * positive. GLS_ERR_INPUT otherwise. */
static gls_status check_zonal(const gls_response *zonal)
{
    for (int l = 0; l <= zonal->order; l += 2)
        if (!isfinite(zonal->zonal[l / 2]) || zonal->zonal[l / 2] == 0)
            return gls_fail(GLS_ERR_INPUT,
                            "the response has the coefficient %g for l = %d: CSD needs finite numbers other than 0",
                            zonal->zonal[l / 2], l);
    if (zonal->zonal[0] < 0) return gls_fail(GLS_ERR_INPUT, "the response has a negative mean, %g", zonal->zonal[0]);
    return GLS_OK;
}

gls_status gls_response_to_zonal(const gls_response *response, const gls_gradients *gradients, int sh_order,
                                 gls_response *zonal)
{
    size_t k = gls_sh_count(sh_order);
    GLS_REQUIRE(response && gradients && zonal && k > 0 && sh_order <= GLS_CSD_MAX_ORDER);
    GLS_REQUIRE_TABLE(gradients);
    gls_status ready = gls_blas_check("SH fit of the response");
    if (ready != GLS_OK) return ready;
    gls_response made = {.is_zonal = true, .order = sh_order, .n_voxels = response->n_voxels};
    /* a zonal response already has the form that is asked for */
    if (response->is_zonal) {
        gls_status status = cut_zonal(response, sh_order, &made);
        if (!status) status = check_zonal(&made);
        if (!status) *zonal = made;
        return status;
    }
    if (!(response->evals[0] > response->evals[1] && response->evals[1] > 0 && response->s0 > 0) ||
        !isfinite(response->evals[0] * response->s0))
        return gls_fail(GLS_ERR_INPUT,
                        "the response has eigenvalues %g, %g mm2/s and S0 %g: the first eigenvalue must be above the "
                        "second, and all three must be finite and above 0",
                        response->evals[0], response->evals[1], response->s0);
    gls_status status = gls_units_check_eigenvalues("CSD", response->evals, false);
    if (status) return status;
    /* A tensor response: signal S0 exp(-b g'Dg) of a tensor along z at the weighted directions of the table, then a
     * least squares fit of SH, of which the coefficients of m = 0 are the response (as DIPY's AxSymShResponse and
     * estimate_response). Too few directions for a single solution give the shortest one. */
    size_t n = gradients->n - gradients->n_b0, rows = n > k ? n : k, i = 0;
    status = GLS_ERR_MEMORY;
    double *basis = malloc(n * k * sizeof *basis), *signal = calloc(rows, sizeof *signal),
           *singular = malloc(k * sizeof *singular);
    if (!basis || !signal || !singular) {
        gls_error_set("out of memory for a response of order %d", sh_order);
        goto fail;
    }
    for (size_t t = 0; t < gradients->n; t++) {
        if (gradients->is_b0[t]) continue;
        const double *g = gradients->bvec[t];
        double d = response->evals[0] * g[2] * g[2] + response->evals[1] * (g[0] * g[0] + g[1] * g[1]);
        signal[i] = response->s0 * exp(-gradients->bval[t] * d);
        status = gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, (const double(*)[3])gradients->bvec[t], 1,
                               basis + i++ * k);
        if (status) goto fail;
    }
    /* dgelsd() solves by a singular value decomposition, which gives the shortest of all best solutions where the
     * directions do not determine the coefficients; it overwrites `signal` with the solution */
    lapack_int rank;
    gls_blas_begin();
    lapack_int info = gls_lapack()->dgelsd(LAPACK_ROW_MAJOR, (lapack_int)n, (lapack_int)k, 1, basis, (lapack_int)k,
                                           signal, 1, singular, -1, &rank);
    gls_blas_end();
    if (info != 0) {
        status = gls_fail(info < 0 ? GLS_ERR_MEMORY : GLS_ERR_INPUT, "SH fit of the response failed (LAPACK info %d)",
                          (int)info);
        goto fail;
    }
    /* coefficient (l, 0) has the index l (l + 1) / 2 */
    for (int l = 0; l <= sh_order; l += 2) made.zonal[l / 2] = signal[l * (l + 1) / 2];
    status = check_zonal(&made);
    if (!status) *zonal = made;
fail:
    free(basis);
    free(signal);
    free(singular);
    return status;
}
