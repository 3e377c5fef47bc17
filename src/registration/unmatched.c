/* A lesion misleads a registration that does not know of it. It shows where the residuals of both images have one sign
 * over several millimetres, because those of structures that do not quite meet change theirs from voxel to voxel. */
#include "registration/unmatched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/morphology.h"
#include "registration/smooth.h"
#include "util/maths.h"
#include "util/status.h"

#define EMPTY_SHARE 0.3    /* an image of the brain alone is 0 in more than this share of its box */
#define OUTSIDE_SHARE 0.25 /* and less than this share of what is not 0 lies outside of its mask */

#define RIM 8.0         /* mm: nearer to the rim of the brain skull and fluid differ between any two heads */
#define SMOOTH 5.0      /* mm, standard deviation */
#define BIAS 25.0       /* mm, that of what is taken for a bias field */
#define EDGE 4.0        /* mm, of the voxels */
#define DARKEST 0.15    /* of the 99th percentile: what is darker is no brain */
#define CLOSING 6.0     /* mm, by which the brain is closed */
#define BINS 32         /* of intensity */
#define FAR 5.0         /* standard deviations from which on a residual counts */
#define MIN_VOXELS 1000 /* away from the rim, 64 ml */

bool gls_image_is_brain_alone(const gls_image *image, size_t volume, const gls_image *mask)
{
    const int32_t *dim = image->grid.dim;
    const size_t n = gls_grid_voxels(&image->grid);
    const float *value = image->data + volume * n;
    size_t full = 0, outside = 0;
    for (size_t v = 0; v < n; v++) {
        full += value[v] > 0;
        outside += mask && value[v] > 0 && !(mask->data[v] > 0);
    }
    for (int k = 0; k < 8; k++) {
        const size_t x = k & 1 ? (size_t)dim[0] - 1 : 0, y = k & 2 ? (size_t)dim[1] - 1 : 0,
                     z = k & 4 ? (size_t)dim[2] - 1 : 0;
        if (value[(z * (size_t)dim[1] + y) * (size_t)dim[0] + x] > 0) return false;
    }
    return (double)(n - full) > EMPTY_SHARE * (double)n && (double)outside < OUTSIDE_SHARE * (double)full;
}

/* Quantiles of the values of a set. */
static void quantiles_in(const float *value, const uint8_t *set, size_t n, float *room, const double *q, size_t n_q,
                         double *out)
{
    size_t counted = 0;
    for (size_t v = 0; v < n; v++)
        if (set[v]) room[counted++] = value[v];
    gls_quantiles_of_floats(room, counted, q, n_q, out);
}

/* The residual of `a` in the brain, 0 outside: less the mean of `a` where `b` has such a value. */
static void subtract_expected(const float *a, const float *b, const uint8_t *brain, size_t n, float *room, float *out)
{
    static const double ends[2] = {0.01, 0.99};
    double edge[2], sum[BINS] = {0}, count[BINS] = {0}, mean[BINS];
    quantiles_in(b, brain, n, room, ends, 2, edge);
    const double scale = edge[1] > edge[0] ? BINS / (edge[1] - edge[0]) : 0;
#define BIN(v) ((int)fmin(fmax(((double)b[v] - edge[0]) * scale, 0), BINS - 1))
    for (size_t v = 0; v < n; v++) {
        if (!brain[v]) continue;
        sum[BIN(v)] += (double)a[v];
        count[BIN(v)]++;
    }
    for (int k = 0; k < BINS; k++) {
        double all = 0, weights = 0;
        for (int i = k > 3 ? k - 3 : 0; i <= k + 3 && i < BINS; i++) {
            const double weight = exp(-0.5 * (i - k) * (i - k));
            all += weight * sum[i];
            weights += weight * count[i];
        }
        mean[k] = weights > 0 ? all / weights : 0;
    }
    for (size_t v = 0; v < n; v++) out[v] = brain[v] ? (float)((double)a[v] - mean[BIN(v)]) : 0;
#undef BIN
}

/* Smooths a volume; the Gaussian reaches beyond the brain, where values are 0. sd: mm. */
static void smooth(const gls_grid *grid, const float *value, double sd, float *room, float *out)
{
    memcpy(out, value, gls_grid_voxels(grid) * sizeof *out);
    for (int axis = 0; axis < 3; axis++) {
        const gls_smooth_taps taps = gls_smooth_gauss(fmin(sd / grid->voxel_size[axis], 16));
        gls_smooth_axis(out, grid->dim, axis, &taps, false, room);
        memcpy(out, room, gls_grid_voxels(grid) * sizeof *out);
    }
}

/* Memory of the work, each of one value a voxel. */
typedef struct work {
    float *residual, *fine, *coarse, *room, *near, *wide; /* near, wide: the share of brain around */
    uint8_t *brain, *deep, *part;
} work;

static void finish(work *w)
{
    float *const floats[] = {w->residual, w->fine, w->coarse, w->room, w->near, w->wide};
    uint8_t *const bytes[] = {w->brain, w->deep, w->part};
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) free(floats[k]);
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) free(bytes[k]);
}

static gls_status begin(work *w, size_t n)
{
    float **const floats[] = {&w->residual, &w->fine, &w->coarse, &w->room, &w->near, &w->wide};
    uint8_t **const bytes[] = {&w->brain, &w->deep, &w->part};
    bool all = true;
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) all &= (*floats[k] = malloc(n * sizeof(float))) != NULL;
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) all &= (*bytes[k] = malloc(n)) != NULL;
    return all ? GLS_OK : gls_no_memory();
}

/* Marks what one image of the brain alone shows as such: a closed part without holes. */
static gls_status mark_one(const gls_image *image, uint8_t *set)
{
    static const double high = 0.99;
    const size_t n = gls_grid_voxels(&image->grid);
    const int times = (int)rint(CLOSING / image->grid.voxel_size[0]);
    float *room = malloc(n * sizeof *room);
    double bright;
    if (!room) return gls_no_memory();
    for (size_t v = 0; v < n; v++) set[v] = image->data[v] > 0;
    quantiles_in(image->data, set, n, room, &high, 1, &bright);
    for (size_t v = 0; v < n; v++) set[v] = (double)image->data[v] > DARKEST * bright;
    free(room);
    gls_status status = gls_morphology_dilate(image->grid.dim, set, times);
    if (!status) status = gls_morphology_erode(image->grid.dim, set, times);
    if (!status) status = gls_morphology_fill_holes(image->grid.dim, set);
    return status ? status : gls_morphology_keep_largest(image->grid.dim, set);
}

/* Marks the brain, and what lies away from its rim. */
static gls_status mark_brain(const gls_image *fixed, const gls_image *moved, const gls_image *mask, work *w)
{
    const size_t n = gls_grid_voxels(&fixed->grid);
    gls_status status = GLS_OK;
    if (!mask) status = mark_one(fixed, w->brain);
    if (!mask && !status) status = mark_one(moved, w->part);
    for (size_t v = 0; v < n && !status; v++) {
        w->brain[v] = (mask ? mask->data[v] > 0 : w->brain[v] && w->part[v]) && isfinite(fixed->data[v]) &&
                      isfinite(moved->data[v]);
        w->deep[v] = !w->brain[v];
    }
    if (!status) status = gls_morphology_dilate_mm(&fixed->grid, w->deep, RIM);
    for (size_t v = 0; v < n && !status; v++) w->deep[v] = !w->deep[v];
    return status;
}

/* Marks the largest part of residuals far from 0, and takes it if it is larger than what was found. */
static gls_status take_part(const gls_grid *grid, work *w, gls_unmatched *found)
{
    static const double half = 0.5;
    const size_t n = gls_grid_voxels(grid);
    const double ml = fabs(gls_grid_determinant(grid)) / 1000;
    double middle, spread, sum[3] = {0};
    quantiles_in(w->residual, w->deep, n, w->room, &half, 1, &middle);
    for (size_t v = 0; v < n; v++) w->residual[v] = fabsf(w->residual[v] - (float)middle);
    quantiles_in(w->residual, w->deep, n, w->room, &half, 1, &spread);
    spread *= 1.4826; /* the median of the distances of a normal distribution to its standard deviation */
    if (!(spread > 0)) return GLS_OK;
    for (size_t v = 0; v < n; v++) w->part[v] = w->deep[v] && (double)w->residual[v] > FAR * spread;
    if (gls_morphology_count(grid->dim, w->part) == 0) return GLS_OK;
    const gls_status status = gls_morphology_keep_largest(grid->dim, w->part);
    const double voxels = status ? 0 : (double)gls_morphology_count(grid->dim, w->part);
    if (status || voxels * ml <= found->millilitre) return status;
    for (size_t v = 0; v < n; v++) {
        int32_t at[3];
        if (!w->part[v]) continue;
        gls_grid_centre(grid, v, at);
        for (int a = 0; a < 3; a++) sum[a] += at[a];
    }
    for (int a = 0; a < 3; a++) sum[a] /= voxels;
    gls_affine_apply(grid->affine, sum, found->at);
    found->millilitre = voxels * ml;
    return GLS_OK;
}

gls_status gls_unmatched_grid(const gls_grid *from, gls_grid *grid)
{
    double affine[3][4];
    int32_t dim[3];
    memcpy(affine, from->affine, sizeof affine);
    for (int a = 0; a < 3; a++) {
        const double times = fmax(EDGE / from->voxel_size[a], 1);
        dim[a] = (int32_t)ceil(from->dim[a] / times);
        for (int r = 0; r < 3; r++) {
            affine[r][3] += from->affine[r][a] * (times - 1) / 2;
            affine[r][a] *= times;
        }
    }
    return gls_grid_init(grid, dim, (const double(*)[4])affine);
}

gls_status gls_unmatched_find(const gls_image *fixed, const gls_image *moved, const gls_image *mask,
                              gls_unmatched *found)
{
    const gls_grid *grid = &fixed->grid;
    const size_t n = gls_grid_voxels(grid);
    work w = {.residual = NULL};
    gls_status status = begin(&w, n);
    *found = (gls_unmatched){.looked = false};
    if (!status) status = mark_brain(fixed, moved, mask, &w);
    if (!status) {
        found->looked = gls_morphology_count(grid->dim, w.deep) >= MIN_VOXELS;
        for (size_t v = 0; v < n; v++) w.residual[v] = w.brain[v];
        smooth(grid, w.residual, SMOOTH, w.room, w.near);
        smooth(grid, w.residual, BIAS, w.room, w.wide);
    }
    for (int k = 0; k < 2 && found->looked && !status; k++) {
        const float *a = k == 0 ? moved->data : fixed->data, *b = k == 0 ? fixed->data : moved->data;
        subtract_expected(a, b, w.brain, n, w.room, w.residual);
        smooth(grid, w.residual, SMOOTH, w.room, w.fine);
        smooth(grid, w.residual, BIAS, w.room, w.coarse);
        for (size_t v = 0; v < n; v++)
            w.residual[v] =
                w.brain[v] ? w.fine[v] / fmaxf(w.near[v], 1e-3f) - w.coarse[v] / fmaxf(w.wide[v], 1e-3f) : 0;
        status = take_part(grid, &w, found);
    }
    finish(&w);
    return status;
}
