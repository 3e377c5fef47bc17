/* Brain masks: one that lies beside the brain is brought there, and the rim of each is moved by what tissue the T1
 * image shows there. */
#include "anat/brain_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/morphology.h"
#include "registration/smooth.h"
#include "registration/trilinear.h"
#include "util/lapack.h"
#include "util/maths.h"
#include "util/status.h"

#define REACH 3.0 /* mm, how far the rim may move */
#define FAR 3.0   /* standard deviations beyond which an intensity is of no class */
#define OPENING 1 /* voxels */
#define CLOSING 2
/* A mask lies far beside the brain if a shift of MIN_SHIFT to MAX_SHIFT mm makes its rim darker by DARKER. On the one
 * real head that was tried the darkest rim lies about 4 mm beside the right mask, so that a lower limit would move
 * right masks. Nearer masks are found by where the intensity falls. */
#define MIN_SHIFT 5.0
#define MAX_SHIFT 15.0
#define DARKER 0.93
#define FIRST_STEP 4.0 /* mm */

/* Where the intensity falls across the rim, mm: normals from a mask smoothed by NORMAL; profiles from -PROFILE to
 * PROFILE by steps of 1 mm, smoothed; falls of less than MIN_FALL of white matter a mm, or farther than FARTHEST, do
 * not count. Right masks of three heads gave shifts of up to 1.1 mm, masks 3 mm off those of 1.5 to 3.0
 * (test/bench/experiments.md). */
#define NORMAL 4.0
#define PROFILE 12
#define FARTHEST 8
#define MIN_FALL 0.03
#define MIN_NEAR 2.0
#define MIN_POINTS 500
#define ROUNDS 20

/* The class of a voxel by its intensity; GLS_CLASSES: none. */
static int class_of(const gls_image *t1, const gls_tissue_classes *c, size_t v)
{
    if (!(isfinite(t1->data[v]) && t1->data[v] > 0)) return GLS_CLASSES;
    const double y = log((double)t1->data[v]) - (double)c->bias[v];
    double best = INFINITY;
    int found = GLS_CLASSES;
    if (y < c->mean[GLS_CLASS_CSF] - FAR * c->sd[GLS_CLASS_CSF] ||
        y > c->mean[GLS_CLASS_WM] + FAR * c->sd[GLS_CLASS_WM])
        return GLS_CLASSES;
    for (int k = 0; k < GLS_CLASSES; k++) {
        const double z = (y - c->mean[k]) / c->sd[k], cost = 0.5 * z * z + log(c->sd[k]);
        if (cost < best) best = cost, found = k;
    }
    return found;
}

/* Opens the set, keeps its largest part, fills its holes, and closes it. */
static gls_status tidy(const int32_t dim[3], uint8_t *set)
{
    gls_status status = gls_morphology_erode(dim, set, OPENING);
    if (!status) status = gls_morphology_keep_largest(dim, set);
    if (!status) status = gls_morphology_dilate(dim, set, OPENING);
    if (!status) status = gls_morphology_fill_holes(dim, set);
    if (!status) status = gls_morphology_dilate(dim, set, CLOSING);
    return status ? status : gls_morphology_erode(dim, set, CLOSING);
}

gls_status gls_brain_mask_correct(const gls_image *t1, const gls_tissue_classes *c, const uint8_t *first, uint8_t *mask)
{
    const size_t n = gls_grid_voxels(&t1->grid);
    uint8_t *outer = malloc(n), *rim = malloc(n);
    gls_status status = outer && rim ? GLS_OK : gls_no_memory();
    if (!status) {
        memcpy(outer, first, n);
        for (size_t v = 0; v < n; v++) rim[v] = !first[v];
        status = gls_morphology_dilate_mm(&t1->grid, outer, REACH);
    }
    if (!status) status = gls_morphology_dilate_mm(&t1->grid, rim, REACH);
    if (!status) {
#pragma omp parallel for schedule(static)
        for (size_t v = 0; v < n; v++) {
            mask[v] = first[v];
            if (!outer[v] || !rim[v]) continue;
            const int k = class_of(t1, c, v);
            mask[v] = first[v] ? k != GLS_CLASSES : k == GLS_CLASS_GM || k == GLS_CLASS_WM;
        }
        status = tidy(t1->grid.dim, mask);
    }
    if (!status && gls_morphology_count(t1->grid.dim, mask) == 0)
        status = gls_fail(GLS_ERR_INPUT, "brain mask: nothing is left of it: compare the T1 with the template by eye");
    free(outer);
    free(rim);
    return status;
}

/* The rim of a mask, and the image in which it is to be dark. */
typedef struct rim {
    const gls_grid *grid;
    float *value;      /* intensity without bias as a share of that of white matter, 1 at most */
    float (*point)[3]; /* voxel coordinates */
    size_t n;
} rim;

/* Lists the voxels of a mask with a neighbour outside. */
static gls_status find_rim(const gls_image *t1, const gls_tissue_classes *c, const uint8_t *mask, rim *r)
{
    const int32_t *dim = t1->grid.dim;
    const size_t n = gls_grid_voxels(&t1->grid), nx = (size_t)dim[0], nxy = nx * (size_t)dim[1];
    uint8_t *inner = malloc(n);
    *r = (rim){.grid = &t1->grid, .value = malloc(n * sizeof *r->value)};
    if (inner) memcpy(inner, mask, n);
    gls_status status = inner && r->value ? gls_morphology_erode(dim, inner, 1) : gls_no_memory();
    for (size_t v = 0; v < n && !status; v++) {
        const double y = (double)t1->data[v] / exp((double)c->bias[v] + c->mean[GLS_CLASS_WM]);
        r->value[v] = y > 0 ? (float)fmin(y, 1) : 0;
        r->n += mask[v] && !inner[v];
    }
    if (!status && !(r->point = malloc((r->n + 1) * sizeof *r->point))) status = gls_no_memory();
    for (size_t v = 0, k = 0; v < n && !status; v++) {
        if (!mask[v] || inner[v]) continue;
        r->point[k][0] = (float)(v % nx);
        r->point[k][1] = (float)(v % nxy / nx);
        r->point[k++][2] = (float)(v / nxy);
    }
    free(inner);
    return status;
}

/* Mean intensity along the rim after a shift, mm. */
static double brightness(const rim *r, const double shift[3])
{
    double sum = 0;
    for (size_t k = 0; k < r->n; k++) {
        float p[3];
        for (int a = 0; a < 3; a++) p[a] = r->point[k][a] + (float)(shift[a] / r->grid->voxel_size[a]);
        const gls_corners c = gls_corners_at(r->grid->dim, p);
        sum += (double)gls_corners_value(&c, r->value);
    }
    return sum / (double)r->n;
}

static double length_of(const double shift[3])
{
    return sqrt(shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2]);
}

/* Goes to the darkest place, by steps along the axes that halve from FIRST_STEP to 1 mm, or until it is so far away
 * that it does not count. Returns the brightness there. */
static double climb(const rim *r, double shift[3])
{
    double best = brightness(r, shift);
    for (double step = FIRST_STEP; step >= 1 && length_of(shift) <= MAX_SHIFT + FIRST_STEP;) {
        double found[3], least = best;
        for (int k = 0; k < 6; k++) {
            double next[3] = {shift[0], shift[1], shift[2]};
            next[k / 2] += k % 2 ? step : -step;
            const double value = brightness(r, next);
            if (value < least) {
                least = value;
                memcpy(found, next, sizeof next);
            }
        }
        if (least < best)
            memcpy(shift, found, sizeof found);
        else
            step /= 2;
        best = least;
    }
    return best;
}

/* A point of the rim: the direction outwards, mm, and how far from the rim the intensity falls most. */
typedef struct fall {
    double row[4]; /* 1 and the direction */
    double at, residual;
} fall;

/* Finds the steepest fall of the intensity along a normal. Returns false if there is none near the rim. */
static bool find_fall(const rim *r, const float point[3], fall *f)
{
    static const double taps[7] = {0.036, 0.111, 0.217, 0.272, 0.217, 0.111, 0.036}; /* sd of 1.5 mm */
    double raw[2 * PROFILE + 1], even[2 * PROFILE + 1], steepest = -MIN_FALL;
    int where = -FARTHEST;
    for (int k = -PROFILE; k <= PROFILE; k++) {
        float p[3];
        for (int a = 0; a < 3; a++) p[a] = point[a] + (float)(k * f->row[a + 1] / r->grid->voxel_size[a]);
        const gls_corners c = gls_corners_at(r->grid->dim, p);
        raw[k + PROFILE] = (double)gls_corners_value(&c, r->value);
    }
    for (int k = 3; k <= 2 * PROFILE - 3; k++) {
        even[k] = 0;
        for (int i = 0; i < 7; i++) even[k] += taps[i] * raw[k + i - 3];
    }
    for (int k = -FARTHEST; k <= FARTHEST; k++) {
        const double slope = (even[k + PROFILE + 1] - even[k + PROFILE - 1]) / 2;
        if (slope >= steepest) continue;
        steepest = slope;
        where = k;
    }
    f->at = where;
    return abs(where) < FARTHEST;
}

/* Lists the falls along the normals of all points of the rim. *falls comes from malloc, also after a failure. */
static gls_status find_falls(const rim *r, const uint8_t *mask, fall **falls, size_t *n)
{
    const int32_t *dim = r->grid->dim;
    const size_t voxels = gls_grid_voxels(r->grid), stride[3] = {1, (size_t)dim[0], (size_t)dim[0] * (size_t)dim[1]};
    float *soft = malloc(voxels * sizeof *soft), *room = malloc(voxels * sizeof *room);
    *n = 0;
    *falls = malloc((r->n + 1) * sizeof **falls);
    const bool all = soft && room && *falls;
    for (size_t v = 0; v < voxels && all; v++) soft[v] = mask[v];
    for (int axis = 0; axis < 3 && all; axis++) {
        const gls_smooth_taps taps = gls_smooth_gauss(fmin(NORMAL / r->grid->voxel_size[axis], 16));
        gls_smooth_axis(soft, dim, axis, &taps, false, room);
        memcpy(soft, room, voxels * sizeof *soft);
    }
    for (size_t k = 0; k < r->n && all; k++) {
        fall *f = &(*falls)[*n];
        size_t v = 0;
        double square = 0;
        for (int a = 0; a < 3; a++) v += (size_t)r->point[k][a] * stride[a];
        for (int a = 0; a < 3; a++) {
            const int at = (int)r->point[k][a];
            const float low = at > 0 ? soft[v - stride[a]] : 0, high = at + 1 < dim[a] ? soft[v + stride[a]] : 0;
            f->row[a + 1] = (double)(low - high) / r->grid->voxel_size[a];
            square += f->row[a + 1] * f->row[a + 1];
        }
        if (!(square > 0)) continue;
        f->row[0] = 1;
        for (int a = 1; a < 4; a++) f->row[a] /= sqrt(square);
        *n += find_fall(r, r->point[k], f);
    }
    free(soft);
    free(room);
    return all ? GLS_OK : gls_no_memory();
}

/* Fits the shift that explains where the intensity falls, besides a distance that is the same all around: least
 * squares, in which what lies far from the fit weighs little. Falls are few, or all on one side: the shift is 0. So it
 * is where the fit is longer than FARTHEST: both sides of a rim so far from the brain would show no fall, so that falls
 * on one side alone were drawn out. */
static gls_status fit_shift(fall *f, size_t n, double shift[3])
{
    double *far = malloc((n + 1) * sizeof *far), fit[4] = {0};
    if (!far) return gls_no_memory();
    for (int round = 0; round < ROUNDS && n >= MIN_POINTS; round++) {
        double normal[16] = {0}, right[4] = {0};
        for (size_t k = 0; k < n; k++) {
            f[k].residual = f[k].at;
            for (int a = 0; a < 4; a++) f[k].residual -= fit[a] * f[k].row[a];
            far[k] = fabs(f[k].residual);
        }
        const double scale = 1.4826 * gls_median(far, n) + 0.2;
        for (size_t k = 0; k < n; k++) {
            const double share = f[k].residual / scale, weight = 1 / (1 + share * share);
            for (int a = 0; a < 4; a++) {
                right[a] += weight * f[k].row[a] * f[k].at;
                for (int b = 0; b < 4; b++) normal[4 * a + b] += weight * f[k].row[a] * f[k].row[b];
            }
        }
        if (gls_lapack()->dposv(LAPACK_ROW_MAJOR, 'L', 4, 1, normal, 4, right, 1) != 0) break;
        memcpy(fit, right, sizeof fit);
    }
    const bool seen = length_of(fit + 1) <= FARTHEST;
    for (int a = 0; a < 3; a++) shift[a] = seen ? fit[a + 1] : 0;
    free(far);
    return GLS_OK;
}

gls_status gls_brain_mask_find_shift(const gls_image *t1, const gls_tissue_classes *c, const uint8_t *mask,
                                     double shift[3])
{
    rim r;
    gls_status status = find_rim(t1, c, mask, &r);
    shift[0] = shift[1] = shift[2] = 0;
    if (!status && r.n > 0) {
        const double before = brightness(&r, shift), after = climb(&r, shift), length = length_of(shift);
        if (length < MIN_SHIFT || length > MAX_SHIFT || after > DARKER * before) {
            fall *falls = NULL;
            size_t n;
            shift[0] = shift[1] = shift[2] = 0;
            status = find_falls(&r, mask, &falls, &n);
            if (!status) status = fit_shift(falls, n, shift);
            free(falls);
            if (!status && length_of(shift) < MIN_NEAR) shift[0] = shift[1] = shift[2] = 0;
        }
    }
    free(r.value);
    free(r.point);
    return status;
}

gls_status gls_brain_mask_move(const gls_grid *grid, const double shift[3], uint8_t *mask)
{
    const size_t n = gls_grid_voxels(grid), nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    uint8_t *from = malloc(n);
    if (!from) return gls_no_memory();
    memcpy(from, mask, n);
    for (size_t v = 0; v < n; v++) {
        const size_t at[3] = {v % nx, v / nx % ny, v / nx / ny};
        size_t voxel = 0;
        bool inside = true;
        for (int a = 2; a >= 0; a--) {
            const double p = (double)at[a] - rint(shift[a] / grid->voxel_size[a]);
            inside = inside && p >= 0 && p < grid->dim[a];
            voxel = voxel * (size_t)grid->dim[a] + (inside ? (size_t)p : 0);
        }
        mask[v] = inside && from[voxel];
    }
    free(from);
    return GLS_OK;
}

gls_status gls_brain_mask_grow(const gls_grid *grid, double mm, uint8_t *mask)
{
    const size_t n = gls_grid_voxels(grid);
    for (size_t v = 0; v < n && mm < 0; v++) mask[v] = !mask[v];
    const gls_status status = gls_morphology_dilate_mm(grid, mask, fabs(mm));
    for (size_t v = 0; v < n && mm < 0; v++) mask[v] = !mask[v];
    return status;
}

double gls_brain_mask_dice(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t both = 0, sum = 0;
    for (size_t v = 0; v < n; v++) {
        both += a[v] && b[v];
        sum += (size_t)a[v] + b[v];
    }
    return sum > 0 ? 2 * (double)both / (double)sum : 1;
}
