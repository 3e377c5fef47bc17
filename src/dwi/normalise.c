/* Intensity normalisation of the compartments of multi-tissue deconvolution, as mtnormalise of MRtrix3 (Raffelt et al.
 * 2017). */
#include <glslines/normalise.h>

#include "util/maths.h"
#include "util/threads.h"
#include "util/lapack.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 20, PASSES = 15, BALANCE_PASSES = 7, MAX_TISSUES = 4 };
#define REFERENCE 0.28209479177f /* 1 / sqrt(4 pi) in single precision, as in MRtrix3 */
#define WIDE_RANGE 3.0   /* limit of the first search for outliers, in interquartile ranges beyond the quartiles */
#define NARROW_RANGE 1.5 /* limit of later searches, in the same unit */

/* State of the normalisation. density, position, field, log_sum, sorted and counts have one entry for each of the n
 * voxels of the mask that have a signal. */
typedef struct normalisation {
    size_t n, n_tissues;
    double (*density)[MAX_TISSUES]; /* first coefficient of each tissue, not negative */
    double (*position)[3];          /* voxel centres in the scanner frame, less `centre`, divided by `width` */
    /* field: intensity field; log_sum: logarithm of the weighted sum of densities divided by the field; sorted: work
     * space */
    double *field, *log_sum, *sorted;
    bool *counts;           /* true: the voxel is no outlier */
    bool used[MAX_TISSUES]; /* true: the tissue gets a balance factor */
    /* balance: factor of each tissue; polynomial: coefficients of the monomials in the logarithm of the field; centre,
     * width: in mm, the centre of the grid and half of its largest extent along a scanner axis, at least 1 */
    double balance[MAX_TISSUES], polynomial[TERMS], centre[3], width;
} normalisation;

/* Frees the arrays; they may be NULL. */
static void finish(normalisation *s)
{
    free(s->density);
    free(s->position);
    free(s->field);
    free(s->counts);
}

/* Allocates arrays for n voxels. finish() frees them, also after a failure. */
static gls_status allocate(normalisation *s, size_t n)
{
    s->density = malloc(n * sizeof *s->density);
    s->position = malloc(n * sizeof *s->position);
    s->field = malloc(3 * n * sizeof *s->field);
    s->counts = calloc(n, sizeof *s->counts);
    if (!s->density || !s->position || !s->field || !s->counts)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the normalisation of %zu voxels", n);
    s->log_sum = s->field + n;
    s->sorted = s->field + 2 * n;
    return GLS_OK;
}

/* World position of a voxel, in units that keep the polynomial well conditioned. */
static void locate(const normalisation *s, const gls_grid *grid, size_t v, double p[3])
{
    const size_t nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    const double voxel[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
    gls_affine_apply(grid->affine, voxel, p);
    for (int a = 0; a < 3; a++) p[a] = (p[a] - s->centre[a]) / s->width;
}

/* The 20 monomials of x, y and z up to degree 3. The logarithm of the intensity field is a weighted sum of them. */
static void monomials(const double p[3], double term[TERMS])
{
    const double x = p[0], y = p[1], z = p[2];
    const double all[TERMS] = {1,         x,         y,         z,         x * x,     y * y,     z * z,
                               x * y,     x * z,     y * z,     x * x * x, y * y * y, z * z * z, x * x * y,
                               x * x * z, y * y * x, y * y * z, z * z * x, z * z * y, x * y * z};
    memcpy(term, all, sizeof all);
}

/* Lists the voxels of the mask that have a signal, with their densities, negative ones as 0, and their positions, in
 * the units of locate(). */
static gls_status gather(normalisation *s, gls_image *const *tissue, const gls_image *mask)
{
    const gls_grid *grid = &mask->grid;
    size_t voxels = gls_grid_voxels(grid);
    const double corner[2][3] = {{0, 0, 0}, {grid->dim[0] - 1.0, grid->dim[1] - 1.0, grid->dim[2] - 1.0}};
    double end[2][3];
    for (int i = 0; i < 2; i++) gls_affine_apply(grid->affine, corner[i], end[i]);
    s->width = 1;
    for (int a = 0; a < 3; a++) {
        s->centre[a] = 0.5 * (end[0][a] + end[1][a]);
        s->width = fmax(s->width, 0.5 * fabs(end[1][a] - end[0][a]));
    }
    for (size_t v = 0; v < voxels; v++) {
        if (!(mask->data[v] > 0)) continue;
        double sum = 0;
        for (size_t t = 0; t < s->n_tissues; t++) {
            double value = tissue[t]->data[v];
            s->density[s->n][t] = value > 0 ? value : 0;
            sum += isfinite(value) ? s->density[s->n][t] : NAN;
        }
        if (!(sum > 0)) continue;
        locate(s, grid, v, s->position[s->n]);
        s->field[s->n++] = 1;
    }
    if (s->n < TERMS)
        return gls_fail(GLS_ERR_INPUT,
                        "normalisation: %zu voxels of the mask have a tissue density above 0, but at least %d are "
                        "needed: give a larger mask or --no-normalise",
                        s->n, TERMS);
    return GLS_OK;
}

/* Sum of the densities of voxel i, with the balance factors as weights. */
static double weighted_sum(const normalisation *s, size_t i)
{
    double sum = 0;
    for (size_t t = 0; t < s->n_tissues; t++) sum += s->balance[t] * s->density[i][t];
    return sum;
}

/* Marks the voxels that count: the logarithm of the weighted sum divided by the field lies within `range` interquartile
 * ranges of the quartiles. Returns whether a mark changed. */
static bool find_outliers(normalisation *s, double range)
{
    for (size_t i = 0; i < s->n; i++) {
        s->log_sum[i] = log(weighted_sum(s, i) / s->field[i]);
        s->sorted[i] = isnan(s->log_sum[i]) ? -INFINITY : s->log_sum[i];
    }
    gls_sort(s->sorted, s->n);
    double first = s->sorted[(size_t)round((double)s->n * 0.25)], third = s->sorted[(size_t)round((double)s->n * 0.75)];
    double low = first - range * (third - first), high = third + range * (third - first);
    bool changed = false;
    for (size_t i = 0; i < s->n; i++) {
        bool counts = isfinite(s->log_sum[i]) && s->log_sum[i] >= low && s->log_sum[i] <= high;
        changed = changed || counts != s->counts[i];
        s->counts[i] = counts;
    }
    return changed;
}

/* Finds the balance factors for which the weighted sum of the densities, divided by the field, is nearest to 1 in the
 * least-squares sense over the voxels that count. Then scales the factors to a geometric mean of 1. A tissue whose
 * factor is not positive is left out from then on and gets the factor 1; if fewer than two tissues are left, all
 * factors are 1. GLS_ERR_INPUT if the data do not determine the factors. */
static gls_status find_balance(normalisation *s)
{
    for (;;) {
        double normal[MAX_TISSUES * MAX_TISSUES] = {0}, right[MAX_TISSUES] = {0}, mean = 0;
        size_t index[MAX_TISSUES], k = 0;
        for (size_t t = 0; t < s->n_tissues; t++)
            if (s->used[t]) index[k++] = t;
        if (k < 2) break;
        for (size_t i = 0; i < s->n; i++) {
            if (!s->counts[i]) continue;
            for (size_t a = 0; a < k; a++) {
                double x = s->density[i][index[a]] / s->field[i];
                right[a] += x;
                for (size_t b = 0; b <= a; b++) normal[a * k + b] += x * s->density[i][index[b]] / s->field[i];
            }
        }
        if (gls_lapack()->dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)k, 1, normal, (lapack_int)k, right, 1) != 0)
            return gls_fail(
                GLS_ERR_INPUT,
                "normalisation: inside the mask the densities of the tissues are proportional to each other, so that "
                "their factors are not determined: check that the responses are of different tissues");
        bool positive = true;
        for (size_t a = 0; a < k; a++) {
            if (right[a] > 0) {
                mean += log(right[a]) / (double)k;
                continue;
            }
            gls_log(GLS_LOG_WARNING, "normalisation: tissue %zu is not balanced, because its factor would be %g",
                    index[a] + 1, right[a]);
            s->used[index[a]] = positive = false;
            s->balance[index[a]] = 1;
        }
        if (!positive) continue;
        for (size_t a = 0; a < k; a++) s->balance[index[a]] = right[a] / exp(mean);
        return GLS_OK;
    }
    for (size_t t = 0; t < s->n_tissues; t++) s->balance[t] = 1;
    return GLS_OK;
}

/* Fits the logarithm of the field by least squares over the voxels that count: a polynomial in the position to the
 * logarithm of the weighted sum of densities divided by REFERENCE. */
static gls_status find_field(normalisation *s)
{
    double normal[TERMS * TERMS] = {0}, term[TERMS];
    memset(s->polynomial, 0, sizeof s->polynomial);
    for (size_t i = 0; i < s->n; i++) {
        if (!s->counts[i]) continue;
        monomials(s->position[i], term);
        double value = log(weighted_sum(s, i)) - log((double)REFERENCE);
        for (int a = 0; a < TERMS; a++) {
            s->polynomial[a] += term[a] * value;
            for (int b = 0; b <= a; b++) normal[a * TERMS + b] += term[a] * term[b];
        }
    }
    /* a grid of one or two slices does not determine all terms of the polynomial */
    double singular[TERMS];
    lapack_int rank;
    for (int a = 0; a < TERMS; a++)
        for (int b = a + 1; b < TERMS; b++) normal[a * TERMS + b] = normal[b * TERMS + a];
    if (gls_lapack()->dgelsd(LAPACK_ROW_MAJOR, TERMS, TERMS, 1, normal, TERMS, s->polynomial, 1, singular, 1e-13,
                             &rank) != 0)
        return gls_fail(GLS_ERR_INPUT, "normalisation: the fit of the field failed: give --no-normalise");
    /* updates the field at each voxel of the list */
    for (size_t i = 0; i < s->n; i++) {
        double sum = 0;
        monomials(s->position[i], term);
        for (int a = 0; a < TERMS; a++) sum += s->polynomial[a] * term[a];
        s->field[i] = exp(sum);
    }
    return GLS_OK;
}

/* Repeats this PASSES times: finds balance factors, then outliers, again and again until the outliers stay the same, at
 * most BALANCE_PASSES times; then finds the field. */
static gls_status iterate(normalisation *s)
{
    for (size_t t = 0; t < s->n_tissues; t++) {
        s->balance[t] = 1;
        s->used[t] = true;
    }
    find_outliers(s, WIDE_RANGE);
    for (int pass = 0; pass < PASSES; pass++) {
        bool changed = true;
        for (int k = 0; k < BALANCE_PASSES && changed; k++) {
            gls_status status = find_balance(s);
            if (status) return status;
            changed = find_outliers(s, NARROW_RANGE);
        }
        gls_status status = find_field(s);
        if (status) return status;
    }
    return GLS_OK;
}

/* Divides the coefficients of all tissues by the field, in every voxel of the grid, also outside the mask. */
static void divide(const normalisation *s, gls_image *const *tissue, gls_image *field)
{
    size_t voxels = gls_grid_voxels(&field->grid);
#pragma omp parallel for schedule(static)
    for (long long v = 0; v < (long long)voxels; v++) {
        double p[3], term[TERMS], sum = 0;
        locate(s, &field->grid, (size_t)v, p);
        monomials(p, term);
        for (int a = 0; a < TERMS; a++) sum += s->polynomial[a] * term[a];
        double value = exp(sum);
        field->data[v] = (float)value;
        for (size_t t = 0; t < s->n_tissues; t++)
            for (size_t i = 0; i < tissue[t]->n_volumes; i++) {
                float *at = tissue[t]->data + i * voxels + v;
                *at = (float)(*at / value);
            }
    }
}

/* Stores the range of the field over the listed voxels, its geometric mean over the voxels that are no outliers, and
 * the balance factors. */
static void summarise(const normalisation *s, gls_normalise_result *result)
{
    double sum = 0, n = 0;
    *result = (gls_normalise_result){.n_voxels = s->n, .lowest = INFINITY, .highest = 0};
    for (size_t t = 0; t < s->n_tissues; t++) result->balance[t] = s->balance[t];
    for (size_t i = 0; i < s->n; i++) {
        result->lowest = fminf(result->lowest, (float)s->field[i]);
        result->highest = fmaxf(result->highest, (float)s->field[i]);
        if (!s->counts[i]) continue;
        sum += log(s->field[i]);
        n++;
    }
    result->n_outliers = s->n - (size_t)n;
    result->scale = exp(sum / n);
}

gls_status gls_normalise(gls_image *const *tissue, size_t n_tissues, const gls_image *mask, gls_image **field,
                         gls_normalise_result *result)
{
    GLS_REQUIRE(tissue && mask && result && n_tissues >= 1 && n_tissues <= MAX_TISSUES);
    for (size_t t = 0; t < n_tissues; t++) GLS_REQUIRE(tissue[t]);
    normalisation s = {.n_tissues = n_tissues};
    gls_image *made = NULL;
    size_t n = 0, voxels = gls_grid_voxels(&mask->grid);
    gls_status status = gls_blas_check("normalisation");
    for (size_t t = 0; t < n_tissues && !status; t++)
        status = gls_grid_require_equal(&tissue[t]->grid, "tissue image", &mask->grid, "mask");
    for (size_t v = 0; v < voxels; v++) n += mask->data[v] > 0;
    if (!status) status = allocate(&s, n + 1);
    if (!status) status = gather(&s, tissue, mask);
    gls_blas_begin();
    if (!status) status = iterate(&s);
    gls_blas_end();
    if (!status) status = gls_image_create(&mask->grid, 1, &made);
    if (status) goto fail;
    divide(&s, tissue, made);
    summarise(&s, result);
    gls_log(GLS_LOG_INFO, "normalisation: factors of %.4g to %.4g in the field, scale %.6g, from %zu of %zu voxels",
            result->lowest, result->highest, result->scale, s.n - result->n_outliers, s.n);
    if (field) {
        *field = made;
        made = NULL;
    }
fail:
    gls_image_destroy(made);
    finish(&s);
    return status;
}
