/* Checks tissue images (five tissue types), crops them to their tissue, interpolates, and joins them from tissue maps.
 */
#include "image/tissue_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* Fractions outside 0 .. 1 by more than this are an error; sums other than 0 that differ from 1 by more than this, a
 * warning. */
#define SUM_TOLERANCE 0.001
/* Smallest sum of fractions of a point with valid tissue. */
#define MIN_SUM 0.5f

/* --- from an image -------------------------------------------------------- */

/* Faults of an image. not_a_number, sum: number of voxels with a value that is not finite, and with a wrong sum;
 * largest: the largest error of a sum; outside: a fraction outside 0 .. 1, or 0 if there is none. has_gm, has_wm:
 * whether a voxel has grey matter, and whether one has at least 0.5 white matter. */
typedef struct faults {
    size_t not_a_number, sum;
    double largest, outside;
    bool has_gm, has_wm;
} faults;

/* Value of a voxel in one volume of a tissue image. */
static float value_at(const gls_image *image, size_t volume, size_t voxel)
{
    return image->data[volume * gls_grid_voxels(&image->grid) + voxel];
}

/* Adds the faults of one voxel: a value that is not a number, or outside 0 .. 1, or a sum other than 0 and 1. Also
 * notes grey matter, and white matter of at least 0.5. */
static void inspect(const gls_image *image, size_t voxel, faults *f)
{
    double sum = 0;
    for (int t = 0; t < GLS_TISSUE_TYPES; t++) {
        double v = value_at(image, (size_t)t, voxel);
        if (!isfinite(v)) {
            f->not_a_number++;
            return;
        }
        if (v < -SUM_TOLERANCE || v > 1 + SUM_TOLERANCE) f->outside = v;
        sum += v;
    }
    f->has_gm = f->has_gm || value_at(image, GLS_TISSUE_CGM, voxel) > 0 || value_at(image, GLS_TISSUE_SGM, voxel) > 0;
    f->has_wm = f->has_wm || value_at(image, GLS_TISSUE_WM, voxel) >= 0.5f;
    double error = sum == 0 ? 0 : fabs(sum - 1);
    f->sum += error > SUM_TOLERANCE;
    if (error > f->largest) f->largest = error;
}

/* Requires an image of five tissues (cortical grey, deep grey, white matter, CSF, pathology), with fractions from 0 to
 * 1, grey matter, and a voxel of at least 0.5 white matter. Warns of voxels without a number and of wrong sums. */
static gls_status check_values(const gls_image *image, const char *name)
{
    faults f = {0};
    if (image->n_volumes == 3)
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: has 3 volumes, whose order programs do not agree on; give an image of 5 tissues or, to track, a "
            "file for each tissue: --pve-wm, --pve-gm and --pve-csf",
            name);
    if (image->n_volumes != GLS_TISSUE_TYPES)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: a tissue image has 5 volumes (cortical and deep grey matter, white matter, CSF, "
                        "pathology), but this one has %zu",
                        name, image->n_volumes);
    for (size_t v = 0, n = gls_grid_voxels(&image->grid); v < n; v++) inspect(image, v, &f);
    if (f.outside != 0)
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: has the value %g, but fractions of tissue lie between 0 and 1: an image that was resampled "
            "by a cubic has such values; resample it linearly, or give it as it was",
            name, f.outside);
    if (!f.has_wm || !f.has_gm)
        return gls_fail(GLS_ERR_INPUT, "%s: has no voxel of %s: are its volumes in another order?", name,
                        f.has_wm ? "grey matter" : "white matter of at least 0.5");
    if (f.not_a_number > 0)
        gls_log(GLS_LOG_WARNING, "%s: %zu voxels with a value that is not a number count as outside the brain", name,
                f.not_a_number);
    if (f.sum > 0)
        gls_log(GLS_LOG_WARNING, "%s: in %zu voxels the fractions do not add up to 1; the largest error is %.3g", name,
                f.sum, f.largest);
    return GLS_OK;
}

/* Whether a voxel has any tissue; one with a value that is not a number has none. */
static bool has_tissue(const gls_image *image, size_t voxel)
{
    bool any = false;
    for (int t = 0; t < GLS_TISSUE_TYPES; t++) {
        float v = value_at(image, (size_t)t, voxel);
        if (!isfinite(v)) return false;
        any = any || v != 0;
    }
    return any;
}

/* Finds the box of voxels with tissue, with a margin of one voxel. Rules other than GLS_TISSUE_RULE_ACT keep all
 * voxels. */
static void find_box(gls_tissue *t, const gls_image *image)
{
    const int32_t *dim = image->grid.dim;
    int32_t low[3] = {dim[0], dim[1], dim[2]}, high[3] = {-1, -1, -1};
    size_t v = 0;
    for (int32_t z = 0; z < dim[2]; z++)
        for (int32_t y = 0; y < dim[1]; y++)
            for (int32_t x = 0; x < dim[0]; x++, v++) {
                const int32_t at[3] = {x, y, z};
                if (t->rule == GLS_TISSUE_RULE_ACT && !has_tissue(image, v)) continue;
                for (int a = 0; a < 3; a++) {
                    if (at[a] < low[a]) low[a] = at[a];
                    if (at[a] > high[a]) high[a] = at[a];
                }
            }
    for (int a = 0; a < 3; a++) {
        t->origin[a] = low[a] > 0 ? low[a] - 1 : 0;
        t->size[a] = (high[a] < dim[a] - 1 ? high[a] + 2 : dim[a]) - t->origin[a];
    }
}

/* Makes the map from voxel coordinates of the run to voxel coordinates of the cropped tissue image; between equal grids
 * the map is an exact shift. */
static void find_map(gls_tissue *t)
{
    double inverse[3][4];
    gls_grid_inverse(&t->image, inverse);
    bool same = memcmp(t->image.dim, t->grid.dim, sizeof t->grid.dim) == 0 &&
                memcmp(t->image.affine, t->grid.affine, sizeof t->grid.affine) == 0;
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 4; c++) {
            double sum = c == 3 ? inverse[a][3] : 0;
            for (int k = 0; k < 3; k++) sum += inverse[a][k] * t->grid.affine[k][c];
            if (same) sum = a == c;
            t->exact[a][c] = c == 3 ? sum - t->origin[a] : sum;
            t->map[a][c] = (float)t->exact[a][c];
        }
}

/* Copies the cropped values, rounded to half precision unless the run uses single precision, so that host and device
 * see the same numbers. */
static void copy_values(gls_tissue *t, const gls_image *image)
{
    const int32_t *dim = image->grid.dim;
    float(*out)[GLS_TISSUE_TYPES] = t->value;
    for (int32_t z = 0; z < t->size[2]; z++)
        for (int32_t y = 0; y < t->size[1]; y++)
            for (int32_t x = 0; x < t->size[0]; x++, out++) {
                size_t v = ((size_t)(z + t->origin[2]) * (size_t)dim[1] + (size_t)(y + t->origin[1])) * (size_t)dim[0] +
                           (size_t)(x + t->origin[0]);
                bool valid = has_tissue(image, v);
                for (int k = 0; k < GLS_TISSUE_TYPES; k++) {
                    float value = valid ? value_at(image, (size_t)k, v) : 0;
                    (*out)[k] = t->single ? value : gls_half_value(gls_half(value));
                }
                t->has_sgm = t->has_sgm || (*out)[GLS_TISSUE_SGM] != 0;
                t->has_path = t->has_path || (*out)[GLS_TISSUE_PATH] != 0;
            }
}

gls_status gls_tissue_create(const gls_grid *grid, const gls_image *image, const char *name, gls_tissue_rule rule,
                             gls_precision precision, gls_tissue **out)
{
    GLS_REQUIRE(grid && image && name && out);
    gls_status status = check_values(image, name);
    if (status) return status;
    gls_tissue *t = calloc(1, sizeof *t);
    if (t) {
        *t =
            (gls_tissue){.rule = rule, .image = image->grid, .grid = *grid, .single = precision == GLS_PRECISION_FLOAT};
        t->name = gls_text_copy(name);
        find_box(t, image);
        t->value = malloc((size_t)t->size[0] * (size_t)t->size[1] * (size_t)t->size[2] * sizeof *t->value);
    }
    if (!t || !t->value || !t->name) {
        gls_tissue_destroy(t);
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for the tissue", name);
    }
    find_map(t);
    copy_values(t, image);
    *out = t;
    return GLS_OK;
}

void gls_tissue_destroy(gls_tissue *t)
{
    if (!t) return;
    free(t->value);
    free(t->name);
    free(t);
}

gls_status gls_tissue_join(const gls_image *wm, const gls_image *gm, const gls_image *csf, const gls_image *deep,
                           gls_image **image)
{
    GLS_REQUIRE(gm && csf && image);
    gls_status status = gls_image_create(&gm->grid, GLS_TISSUE_TYPES, image);
    if (status) return status;
    size_t n = gls_grid_voxels(&gm->grid);
    for (size_t v = 0; v < n; v++) {
        const float s = deep ? deep->data[v] : 0, w = wm ? wm->data[v] : fmaxf(0, 1 - gm->data[v] - csf->data[v]);
        float *value = (*image)->data + v;
        value[GLS_TISSUE_CGM * n] = gm->data[v] * (1 - s);
        value[GLS_TISSUE_SGM * n] = (gm->data[v] + w) * s;
        value[GLS_TISSUE_WM * n] = w * (1 - s);
        value[GLS_TISSUE_CSF * n] = csf->data[v];
    }
    return GLS_OK;
}

gls_tissue_rule gls_tissue_get_rule(const gls_tissue *t)
{
    return t->rule;
}

uint64_t gls_tissue_hash(const gls_tissue *t)
{
    const uint64_t part[4] = {
        gls_hash(t->size, sizeof t->size), gls_hash(t->map, sizeof t->map), (uint64_t)t->rule,
        gls_hash(t->value, (size_t)t->size[0] * (size_t)t->size[1] * (size_t)t->size[2] * sizeof *t->value)};
    return gls_hash(part, sizeof part);
}

/* --- between voxels -------------------------------------------------------- */

/* Fractions of tissue of a voxel of the box; indices outside the box are clamped to its outermost voxels. */
static const float *voxel_of(const gls_tissue *t, const int32_t i[3])
{
    int32_t at[3];
    for (int a = 0; a < 3; a++) at[a] = i[a] < 0 ? 0 : i[a] >= t->size[a] ? t->size[a] - 1 : i[a];
    return t->value[((size_t)at[2] * (size_t)t->size[1] + (size_t)at[1]) * (size_t)t->size[0] + (size_t)at[0]];
}

static float row(const float m[4], const float p[3])
{
    return m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
}

/* Twin of tissue_at() in glsl/guide/tissue.glsl. */
bool gls_tissue_at(const gls_tissue *t, const float point[3], float value[GLS_TISSUE_TYPES])
{
    int32_t low[3], near[3];
    float w[3], sum[GLS_TISSUE_TYPES] = {0}, all = 0;
    memset(value, 0, GLS_TISSUE_TYPES * sizeof *value);
    for (int a = 0; a < 3; a++) {
        float q = row(t->map[a], point);
        if (!(q > -0.5f && q < (float)t->size[a] - 0.5f)) return false;
        low[a] = (int32_t)floorf(q);
        w[a] = q - floorf(q);
        near[a] = (int32_t)floorf(q + 0.5f);
    }
    for (int k = 0; k < 8; k++) {
        const int32_t at[3] = {low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2)};
        float weight = k & 1 ? w[0] : 1 - w[0];
        weight *= k >> 1 & 1 ? w[1] : 1 - w[1];
        weight *= k >> 2 ? w[2] : 1 - w[2];
        const float *v = voxel_of(t, at);
        for (int i = 0; i < GLS_TISSUE_TYPES; i++) sum[i] += weight * v[i];
    }
    const float *nearest = voxel_of(t, near);
    bool any = false;
    for (int i = 0; i < GLS_TISSUE_TYPES; i++) {
        any = any || nearest[i] != 0;
        sum[i] = sum[i] < 0 ? 0 : sum[i] > 1 ? 1 : sum[i];
        all += sum[i];
    }
    if (!any || all < MIN_SUM) return false;
    memcpy(value, sum, sizeof sum);
    return true;
}

bool gls_tissue_blend(const gls_tissue *t, const double p[3], double value[GLS_TISSUE_TYPES], double gradient[3])
{
    int32_t low[3];
    double w[3], sum[GLS_TISSUE_TYPES] = {0}, slope[3] = {0}, all = 0;
    memset(value, 0, GLS_TISSUE_TYPES * sizeof *value);
    if (gradient) memset(gradient, 0, 3 * sizeof *gradient);
    for (int a = 0; a < 3; a++) {
        if (!(p[a] > -0.5 && p[a] < t->size[a] - 0.5)) return false;
        low[a] = (int32_t)floor(p[a]);
        w[a] = p[a] - floor(p[a]);
    }
    /* k: corner of the cell, one bit an axis. gradient: of grey matter minus white matter. The derivative of a
     * trilinear blend along an axis is the difference between the two faces across it. */
    for (int k = 0; k < 8; k++) {
        const int bit[3] = {k & 1, k >> 1 & 1, k >> 2};
        const int32_t at[3] = {low[0] + bit[0], low[1] + bit[1], low[2] + bit[2]};
        const float *v = voxel_of(t, at);
        double part[3], difference = (double)v[GLS_TISSUE_CGM] + v[GLS_TISSUE_SGM] - v[GLS_TISSUE_WM];
        for (int a = 0; a < 3; a++) part[a] = bit[a] ? w[a] : 1 - w[a];
        for (int i = 0; i < GLS_TISSUE_TYPES; i++) sum[i] += part[0] * part[1] * part[2] * v[i];
        for (int a = 0; a < 3; a++) slope[a] += (bit[a] ? 1 : -1) * part[(a + 1) % 3] * part[(a + 2) % 3] * difference;
    }
    for (int i = 0; i < GLS_TISSUE_TYPES; i++) {
        sum[i] = fmax(0, fmin(1, sum[i]));
        all += sum[i];
    }
    if (all < MIN_SUM) return false;
    memcpy(value, sum, sizeof sum);
    if (gradient) memcpy(gradient, slope, sizeof slope);
    return true;
}
