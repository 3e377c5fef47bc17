/* Images as registration compares them: masks, quantiles, coarser grids. */
#include "registration/level.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "registration/smooth.h"
#include "registration/trilinear.h"
#include "util/maths.h"
#include "util/status.h"

#define BINS 65536
#define KEPT_BELOW 1.5 /* axes whose voxels would grow by less than this stay as they are */

static gls_status allocate(gls_level *level)
{
    const size_t n = gls_grid_voxels(&level->grid);
    level->value = malloc(n * sizeof *level->value);
    level->mask = malloc(n);
    if (level->value && level->mask) return GLS_OK;
    gls_level_finish(level);
    return gls_no_memory();
}

void gls_level_finish(gls_level *level)
{
    free(level->value);
    free(level->mask);
    *level = (gls_level){.value = NULL};
}

gls_status gls_level_init(gls_level *level, const gls_image *image, size_t volume, const gls_image *mask,
                          const gls_image *without, const char *name, uint64_t *n_bad)
{
    const size_t n = gls_grid_voxels(&image->grid);
    const float *from = image->data + volume * n;
    uint64_t bad = 0, counted = 0;
    float low = INFINITY, high = -INFINITY;
    *level = (gls_level){.grid = image->grid, .to_full = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    gls_status status = allocate(level);
    if (status) return status;
#pragma omp parallel for schedule(static) reduction(+ : bad, counted) reduction(min : low) reduction(max : high)
    for (size_t v = 0; v < n; v++) {
        const bool finite = isfinite(from[v]);
        const bool counts = finite && !(mask && !(mask->data[v] > 0)) && !(without && without->data[v] > 0);
        level->value[v] = finite ? from[v] : 0;
        level->mask[v] = counts;
        bad += !finite;
        counted += counts;
        if (counts) low = fminf(low, from[v]);
        if (counts) high = fmaxf(high, from[v]);
    }
    *n_bad = bad;
    if (2 * bad > n)
        status = gls_fail(GLS_ERR_INPUT, "%s: %" PRIu64 " of %zu voxels are not finite: give an image with values",
                          name, bad, n);
    else if (counted == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: its mask leaves no voxel: give a mask that lies on the image", name);
    else if (!(low < high))
        status = gls_fail(GLS_ERR_INPUT, "%s: all voxels%s have the value %g: there is nothing to align", name,
                          mask || without ? " of its mask" : "", (double)low);
    if (status) gls_level_finish(level);
    return status;
}

/* Values of a level at the voxel centres of a coarser one. */
static void take(const gls_level *full, const float *value, gls_level *level, float *out)
{
    const int32_t *dim = level->grid.dim;
    const double(*map)[4] = (const double(*)[4])level->to_full;
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < dim[2]; z++)
        for (int32_t y = 0; y < dim[1]; y++)
            for (int32_t x = 0; x < dim[0]; x++) {
                const float p[3] = {(float)(map[0][0] * x + map[0][3]), (float)(map[1][1] * y + map[1][3]),
                                    (float)(map[2][2] * z + map[2][3])};
                const gls_corners c = gls_corners_at(full->grid.dim, p);
                out[((size_t)z * (size_t)dim[1] + (size_t)y) * (size_t)dim[0] + (size_t)x] =
                    gls_corners_value(&c, value);
            }
}

/* Whether every voxel counts. */
static bool counts_all(const gls_level *level)
{
    return !memchr(level->mask, 0, gls_grid_voxels(&level->grid));
}

gls_status gls_level_shrink(const gls_level *full, double voxel, gls_level *level)
{
    const size_t n = gls_grid_voxels(&full->grid);
    gls_smooth_taps taps[3];
    double affine[3][4];
    int32_t dim[3];
    const bool all = counts_all(full);
    *level = (gls_level){.value = NULL};
    memcpy(affine, full->grid.affine, sizeof affine);
    for (int a = 0; a < 3; a++) {
        double ratio = voxel / full->grid.voxel_size[a];
        if (ratio < KEPT_BELOW) ratio = 1;
        taps[a] = gls_smooth_gauss(ratio > 1 ? fmin(0.5 * ratio, 16) : 0);
        dim[a] = (int32_t)ceil(full->grid.dim[a] / ratio - 1e-6);
        level->to_full[a][a] = ratio;
        level->to_full[a][3] = (ratio - 1) / 2;
        for (int r = 0; r < 3; r++) {
            affine[r][3] += full->grid.affine[r][a] * level->to_full[a][3];
            affine[r][a] *= ratio;
        }
    }
    gls_status status = gls_grid_init(&level->grid, dim, (const double(*)[4])affine);
    if (!status) status = allocate(level);
    float *one = status ? NULL : malloc(n * sizeof *one), *two = status ? NULL : malloc(n * sizeof *two);
    if (!status && (!one || !two)) status = gls_no_memory();
    float *made = status ? NULL : malloc(gls_grid_voxels(&level->grid) * sizeof *made);
    if (!status && !made) status = gls_no_memory();
    for (int pass = 0; pass < (all ? 1 : 2) && !status; pass++) { /* the values, then the mask */
#pragma omp parallel for schedule(static)
        for (size_t v = 0; v < n; v++) one[v] = pass == 0 ? full->value[v] : full->mask[v];
        for (int a = 0; a < 3; a++) {
            if (taps[a].radius == 0) continue;
            gls_smooth_axis(one, full->grid.dim, a, &taps[a], true, two);
            float *other = one;
            one = two;
            two = other;
        }
        take(full, one, level, pass == 0 ? level->value : made);
    }
    for (size_t v = 0; !status && v < gls_grid_voxels(&level->grid); v++) level->mask[v] = all || made[v] > 0.5f;
    free(one);
    free(two);
    free(made);
    if (status) gls_level_finish(level);
    return status;
}

/* Puts a value between every two along an axis: that of the cubic curve through the four around it. dim: number of
 * values before. Curves through six follow sharp images better, and align one of the heads that were tried worse. */
static void refine_axis(const float *from, const int32_t dim[3], int axis, float *to)
{
    size_t inner = 1, outer = 1;
    const size_t n = (size_t)dim[axis], fine = 2 * n - 1;
    for (int a = 0; a < axis; a++) inner *= (size_t)dim[a];
    for (int a = axis + 1; a < 3; a++) outer *= (size_t)dim[a];
#pragma omp parallel for schedule(static)
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < n; i++) {
            const float *row[4];
            float *out = to + (o * fine + 2 * i) * inner;
            for (size_t k = 0; k < 4; k++) {
                const size_t at = i + k < 1 ? 0 : i + k - 1 < n ? i + k - 1 : n - 1;
                row[k] = from + (o * n + at) * inner;
            }
            memcpy(out, row[1], inner * sizeof *out);
            for (size_t v = 0; v < inner && i + 1 < n; v++)
                out[inner + v] = (9 * (row[1][v] + row[2][v]) - (row[0][v] + row[3][v])) / 16;
        }
}

/* Marks voxels of a refined level that lie between voxels that count: all of them, if all of the level do. */
static void refine_mask(const gls_level *from, size_t parts, gls_level *level)
{
    const int32_t *dim = level->grid.dim, *old = from->grid.dim;
    const size_t n = gls_grid_voxels(&level->grid), nx = (size_t)dim[0], ny = (size_t)dim[1];
    if (counts_all(from)) {
        memset(level->mask, 1, n);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        const size_t at[3] = {v % nx, v / nx % ny, v / nx / ny};
        bool counts = true;
        for (int k = 0; k < 8; k++) {
            size_t voxel = 0;
            for (int a = 2; a >= 0; a--)
                voxel = voxel * (size_t)old[a] + (at[a] + (parts - 1) * (size_t)(k >> a & 1)) / parts;
            counts = counts && from->mask[voxel];
        }
        level->mask[v] = counts;
    }
}

gls_status gls_level_refine(const gls_level *from, int parts, gls_level *level)
{
    int32_t dim[3], done[3];
    double affine[3][4];
    *level = (gls_level){.value = NULL};
    memcpy(affine, from->grid.affine, sizeof affine);
    memcpy(level->to_full, from->to_full, sizeof level->to_full);
    memcpy(done, from->grid.dim, sizeof done);
    for (int a = 0; a < 3; a++) {
        dim[a] = parts * (from->grid.dim[a] - 1) + 1;
        for (int r = 0; r < 3; r++) {
            affine[r][a] /= parts;
            level->to_full[r][a] /= parts;
        }
    }
    gls_status status = gls_grid_init(&level->grid, dim, (const double(*)[4])affine);
    if (!status) status = allocate(level);
    float *spare = status || parts == 1 ? NULL : malloc(gls_grid_voxels(&level->grid) * sizeof *spare);
    if (!status && !spare && parts > 1) status = gls_no_memory();
    if (!status) memcpy(parts > 1 ? spare : level->value, from->value, gls_grid_voxels(&from->grid) * sizeof *spare);
    for (int a = 0; a < 3 && !status && parts > 1; a++) {
        refine_axis(a == 1 ? level->value : spare, done, a, a == 1 ? spare : level->value);
        done[a] = dim[a];
    }
    if (!status) refine_mask(from, (size_t)parts, level);
    free(spare);
    if (status) gls_level_finish(level);
    return status;
}

void gls_level_quantiles(const gls_level *level, double above, const double *q, size_t n_q, double *out)
{
    const size_t n = gls_grid_voxels(&level->grid);
    double low = INFINITY, high = -INFINITY;
    uint64_t *bin = calloc(BINS, sizeof *bin), counted = 0;
    for (size_t i = 0; i < n_q; i++) out[i] = 0;
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high) reduction(+ : counted)
    for (size_t v = 0; v < n; v++)
        if (level->mask[v] && (double)level->value[v] > above) {
            low = fmin(low, (double)level->value[v]);
            high = fmax(high, (double)level->value[v]);
            counted++;
        }
    const double width = counted > 0 && high > low ? (high - low) / BINS : 1;
    for (size_t v = 0; bin && v < n; v++)
        if (level->mask[v] && (double)level->value[v] > above) {
            const double place = ((double)level->value[v] - low) / width;
            bin[place < BINS - 1 ? (size_t)place : BINS - 1]++;
        }
    for (size_t i = 0; bin && counted > 0 && i < n_q; i++)
        out[i] = low + width * ((double)gls_histogram_bin(bin, BINS, (uint64_t)(q[i] * (double)(counted - 1))) + 0.5);
    free(bin);
}

void gls_level_centre(const gls_level *level, double centre[3])
{
    static const double q = 0.99;
    const int32_t *dim = level->grid.dim;
    double most, sum = 0, at[3] = {(dim[0] - 1) / 2.0, (dim[1] - 1) / 2.0, (dim[2] - 1) / 2.0}, moment[3] = {0};
    gls_level_quantiles(level, 0, &q, 1, &most);
    size_t v = 0;
    for (int32_t z = 0; z < dim[2]; z++)
        for (int32_t y = 0; y < dim[1]; y++)
            for (int32_t x = 0; x < dim[0]; x++, v++) {
                const double w = level->mask[v] ? fmin(fmax((double)level->value[v], 0), most) : 0;
                sum += w;
                moment[0] += w * x;
                moment[1] += w * y;
                moment[2] += w * z;
            }
    for (int a = 0; a < 3 && sum > 0; a++) at[a] = moment[a] / sum;
    gls_affine_apply((const double(*)[4])level->grid.affine, at, centre);
}
