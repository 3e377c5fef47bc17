/* Checks whether an image looks like SH coefficients or like peaks, by the signs and sizes of its values. */
#include "dwi/image_kind.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/sh.h>

#include "util/status.h"

/* An image with a larger share_unlike() holds no SH coefficients. Images of peaks have 0.6 or more, ODFs by OPDT at
 * high b-values up to 0.25, FODs 0. */
#define MAX_UNLIKE 0.5

/* Returns the share of voxels, among those that are finite and not 0, whose values cannot be SH coefficients of an ODF;
 * NAN: there is no such voxel, or the image has too few volumes. In an ODF the norm of the coefficients of degree l is
 * at most sqrt(2 l + 1) times the first one, the value for a single direction. Twice this limit is accepted, because
 * some bases scale by sqrt(2) and noise makes small negative lobes. The first coefficient, which is the integral, has
 * the same sign in all voxels unless all coefficients are small. */
static double share_unlike(const gls_image *sh)
{
    const size_t voxels = gls_grid_voxels(&sh->grid);
    /* compare the first coefficient with those of degree 2, or, in full bases, which have odd degrees, of degree 1 */
    const int l = gls_sh_order(sh->n_volumes) >= 0 ? 2 : 1;
    uint64_t there = 0, unlike = 0, turned[2] = {0};
    if (sh->n_volumes <= 2 * (size_t)l + 1) return NAN;
#pragma omp parallel for schedule(static) reduction(+ : there, unlike, turned)
    for (size_t v = 0; v < voxels; v++) {
        const double first = (double)sh->data[v];
        double square = 0;
        for (int m = 1; m <= 2 * l + 1; m++) {
            const double c = (double)sh->data[(size_t)m * voxels + v];
            square += c * c;
        }
        if (!isfinite(first) || !isfinite(square) || (first == 0 && square == 0)) continue;
        there++;
        /* Voxels with coefficients too large for SH of a positive function do not hold an ODF. Voxels with less clear
         * coefficients are counted by the sign of their first coefficient. */
        if (square > 4 * (2 * l + 1) * first * first)
            unlike++;
        else if (square > first * first)
            turned[first > 0]++;
    }
    /* the first coefficient of ODFs has the same sign everywhere, that of peaks has both: count the rarer sign */
    unlike += turned[0] < turned[1] ? turned[0] : turned[1];
    return there > 0 ? (double)unlike / (double)there : (double)NAN;
}

/* Counts of voxels by the signs of their values. */
typedef struct image_signs {
    uint64_t there;    /* number of voxels that have a finite value other than 0 */
    uint64_t full;     /* number of voxels in which every volume is finite and not 0 */
    uint64_t positive; /* number of voxels in which all volumes are above 0 */
} image_signs;

/* Counts the voxels in which some volume is finite and not 0, the voxels in which every volume is, and the voxels in
 * which every volume is positive. The counts show whether an image is of another kind than asked for. */
static image_signs look_at_signs(const gls_image *image)
{
    enum { BLOCK = 512 }; /* voxels whose counts stay in the cache while volume after volume is read */
    const size_t voxels = gls_grid_voxels(&image->grid);
    uint64_t there = 0, full = 0, positive = 0;
#pragma omp parallel for schedule(static) reduction(+ : there, full, positive)
    for (size_t at = 0; at < voxels; at += BLOCK) {
        const size_t n = voxels - at < BLOCK ? voxels - at : BLOCK;
        uint32_t other[BLOCK] = {0}, above[BLOCK] = {0};
        for (size_t k = 0; k < image->n_volumes; k++) {
            const float *x = image->data + k * voxels + at;
            for (size_t i = 0; i < n; i++) {
                other[i] += (fabsf(x[i]) <= FLT_MAX) & (x[i] != 0);
                above[i] += (x[i] <= FLT_MAX) & (x[i] > 0);
            }
        }
        for (size_t i = 0; i < n; i++) {
            there += other[i] > 0;
            full += other[i] == image->n_volumes;
            positive += above[i] == image->n_volumes;
        }
    }
    return (image_signs){there, full, positive};
}

/* Whether six volumes look like a tensor: exactly three of them, the diagonal, are positive in over 99 % of the voxels
 * whose first value is not 0, and have sums within a factor of 3 of the sum of the first volume. */
static bool looks_like_tensor(const gls_image *image)
{
    const size_t voxels = gls_grid_voxels(&image->grid);
    double sum[6] = {0};
    uint64_t positive[6] = {0}, there = 0;
    for (size_t v = 0; v < voxels && image->n_volumes == 6; v++) {
        const float first = image->data[v];
        if (!isfinite(first) || first == 0) continue;
        there++;
        for (size_t k = 0; k < 6; k++) {
            const float x = image->data[k * voxels + v];
            positive[k] += x > 0;
            sum[k] += isfinite(x) ? (double)x : 0;
        }
    }
    int diagonal = 0;
    /* count the volumes that may be on the diagonal */
    for (int k = 0; k < 6 && there > 0; k++)
        diagonal += (double)positive[k] > 0.99 * (double)there && sum[k] > sum[0] / 3 && sum[k] < sum[0] * 3;
    return diagonal == 3;
}

/* SH coefficients and vectors have both signs. If more than nine voxels of ten have only positive values, returns what
 * kind of image this may be instead. NULL: fewer do, or the image has 1, 2 or 6 volumes. */
static const char *without_signs(const gls_image *image, const image_signs *signs)
{
    if (image->n_volumes < 3 || (double)signs->positive <= 0.9 * (double)signs->there) return NULL;
    /* for six volumes looks_like_tensor() decides */
    return image->n_volumes == 3 ? "a colour map" : image->n_volumes == 6 ? NULL : "a series";
}

gls_status gls_fod_check(const gls_image *sh, const char *name)
{
    /* one message for each test: a single volume, no SH coefficients, no negative values, a tensor */
    const double unlike = share_unlike(sh);
    const image_signs signs = look_at_signs(sh);
    if (sh->n_volumes == 1)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has one volume, as a map of FA or an isotropic tissue has: give an image of SH "
                        "coefficients, which has 6, 15, 28, 45 or more volumes",
                        name);
    if (unlike > MAX_UNLIKE)
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: holds no SH coefficients: in %.0f %% of its voxels the first volume has the wrong sign, or is too "
            "small beside the other volumes; if the image holds peaks, give it to 'glslines track --peaks FILE'",
            name, 100 * unlike);
    const char *other = without_signs(sh, &signs);
    if (other)
        gls_log(GLS_LOG_WARNING,
                "%s: may be %s: none of its %zu volumes is ever negative; SH coefficients of FODs are asked for, which "
                "'glslines fit' makes",
                name, other, sh->n_volumes);
    if (looks_like_tensor(sh))
        gls_log(GLS_LOG_WARNING,
                "%s: may be an image of tensors: three of its six volumes are positive everywhere; SH coefficients of "
                "FODs are asked for, which 'glslines fit' makes",
                name);
    return GLS_OK;
}

void gls_peaks_doubt(const gls_image *peaks, const char *name)
{
    const image_signs signs = look_at_signs(peaks);
    const double unlike = share_unlike(peaks);
    const char *other = without_signs(peaks, &signs);
    if (looks_like_tensor(peaks))
        gls_log(GLS_LOG_WARNING,
                "%s: may be an image of tensors instead of two peaks a voxel: three of its six volumes are positive "
                "everywhere; 'glslines peaks' makes peaks of FODs",
                name);
    else if (other)
        gls_log(GLS_LOG_WARNING,
                "%s: may be %s instead of peaks: none of its %zu volumes is ever negative, as if vectors pointed to "
                "one side alone",
                name, other, peaks->n_volumes);
    else if (gls_sh_order(peaks->n_volumes) > 0 &&
             (unlike < 0.02 || (unlike < MAX_UNLIKE && (double)signs.full > 0.9 * (double)signs.there)))
        gls_log(GLS_LOG_WARNING,
                "%s: may hold SH coefficients instead of peaks: the first of its %zu volumes is positive and large "
                "everywhere; --sh FILE reads them",
                name, peaks->n_volumes);
}
