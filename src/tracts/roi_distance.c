/* Distances from a region: of voxels, to widen the region; and of streamlines, by a map of the distances of voxels, or
 * to the centre of a sphere. */

#include <glslines/image.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/roi_distance.h"
#include "image/region_area.h"
#include "image/region_store_parts.h"
#include "tracts/walk.h"
#include "util/maths.h"
#include "util/status.h"

/* Distance transform of one line of n values in place: lower envelope of the parabolas square[q] + (side (p - q))^2
 * (Felzenszwalb and Huttenlocher 2012). apex, from, out: memory for n, n + 1 and n items. */
static void transform_line(double *square, size_t n, double side, size_t *apex, double *from, double *out)
{
    size_t k = 0, first = 0;
    while (first < n && isinf(square[first])) first++;
    if (first == n) return;
    apex[0] = first;
    from[0] = -INFINITY;
    from[1] = INFINITY;
    for (size_t q = first + 1; q < n; q++) {
        if (isinf(square[q])) continue;
        double s;
        for (;; k--) {
            double a = (double)apex[k], b = (double)q;
            s = ((square[q] - square[apex[k]]) / (side * side) + b * b - a * a) / (2 * (b - a));
            if (s > from[k] || k == 0) break;
        }
        apex[++k] = q;
        from[k] = s;
        from[k + 1] = INFINITY;
    }
    for (size_t p = 0, i = 0; p < n; p++) {
        while (from[i + 1] < (double)p) i++;
        double d = side * ((double)p - (double)apex[i]);
        out[p] = square[apex[i]] + d * d;
    }
    memcpy(square, out, n * sizeof *out);
}

/* Replaces the squared distances along each line of voxels parallel to `axis` by their distance transform. Returns
 * false if memory ran out. */
static bool transform_axis(double *square, const gls_grid *grid, int axis)
{
    const size_t stride[3] = {1, (size_t)grid->dim[0], (size_t)grid->dim[0] * (size_t)grid->dim[1]};
    const size_t n = (size_t)grid->dim[axis], voxels = gls_grid_voxels(grid);
    double *line = malloc((3 * n + 1) * sizeof *line);
    size_t *apex = malloc(n * sizeof *apex);
    for (size_t first = 0; line && apex && first < voxels; first++) {
        if (first / stride[axis] % n != 0) continue;
        for (size_t i = 0; i < n; i++) line[i] = square[first + i * stride[axis]];
        transform_line(line, n, grid->voxel_size[axis], apex, line + n, line + 2 * n + 1);
        for (size_t i = 0; i < n; i++) square[first + i * stride[axis]] = line[i];
    }
    bool done = line && apex;
    free(line);
    free(apex);
    return done;
}

gls_status gls_voxel_distances(const gls_grid *grid, const uint8_t *inside, double **square)
{
    size_t n = gls_grid_voxels(grid);
    double *s = malloc(n * sizeof *s);
    bool done = s;
    for (size_t v = 0; v < n && done; v++) s[v] = inside[v] ? 0 : INFINITY;
    for (int axis = 0; axis < 3 && done; axis++) done = transform_axis(s, grid, axis);
    *square = done ? s : NULL;
    if (done) return GLS_OK;
    free(s);
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a region");
}

/* Whether gls_region_area_widen() adds a voxel at this squared distance. */
static bool is_within(double square, double mm)
{
    return square <= mm * mm * (1 + 1e-12);
}

gls_status gls_region_area_widen(gls_region_area *area, double mm)
{
    double *square;
    if (!area->inside) {
        area->sphere.radius += mm;
        return GLS_OK;
    }
    if (area->is_box) {
        double affine[3][4];
        memcpy(affine, area->grid.affine, sizeof affine);
        for (int a = 0; a < 3; a++) affine[a][a] += 2 * mm;
        return gls_grid_init(&area->grid, area->grid.dim, (const double(*)[4])affine);
    }
    gls_status status = gls_voxel_distances(&area->grid, area->inside, &square);
    if (status) return status;
    area->voxels = 0;
    for (size_t v = 0, n = gls_grid_voxels(&area->grid); v < n; v++) {
        area->inside[v] = is_within(square[v], mm);
        area->voxels += area->inside[v];
    }
    free(square);
    return GLS_OK;
}

/* Finds the box of the voxels of the widened region. square: squared distance from the region, mm2, for each voxel. */
static void find_box(gls_roi_distance *d, const gls_region_area *area, const double *square)
{
    int high[3] = {-1, -1, -1};
    for (int a = 0; a < 3; a++) d->low[a] = area->grid.dim[a];
    for (size_t v = 0, n = gls_grid_voxels(&area->grid); v < n; v++) {
        double at[3];
        if (!is_within(square[v], d->widened)) continue;
        gls_region_centre(&area->grid, v, at);
        for (int a = 0; a < 3; a++) {
            if ((int)at[a] < d->low[a]) d->low[a] = (int)at[a];
            if ((int)at[a] > high[a]) high[a] = (int)at[a];
        }
    }
    for (int a = 0; a < 3; a++) d->size[a] = high[a] - d->low[a] + 1;
}

/* Stores the distance to the region for each voxel of the box of the widened region. */
static gls_status keep_box(gls_roi_distance *d, const gls_region_area *area)
{
    double *square = NULL;
    gls_status status = gls_voxel_distances(&area->grid, area->inside, &square);
    if (status) return status;
    find_box(d, area, square);
    const size_t nx = (size_t)d->size[0], ny = (size_t)d->size[1], n = nx * ny * (size_t)d->size[2];
    d->mm = malloc(n * sizeof *d->mm);
    for (size_t i = 0; d->mm && i < n; i++) {
        const size_t x = i % nx + (size_t)d->low[0], y = i / nx % ny + (size_t)d->low[1],
                     z = i / nx / ny + (size_t)d->low[2];
        d->mm[i] = (float)sqrt(square[(z * (size_t)area->grid.dim[1] + y) * (size_t)area->grid.dim[0] + x]);
    }
    free(square);
    return d->mm ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the distances from a region");
}

gls_status gls_roi_distance_init(gls_roi_distance *d, const gls_region_area *area, double mm)
{
    *d = (gls_roi_distance){.widened = mm, .radius = area->inside ? -1 : area->sphere.radius};
    gls_region_area_centre(area, d->centre);
    if (!area->inside || mm <= 0) return GLS_OK;
    gls_grid_inverse(&area->grid, d->inverse);
    return keep_box(d, area);
}

void gls_roi_distance_finish(gls_roi_distance *d)
{
    free(d->mm);
    d->mm = NULL;
}

/* Square of the smallest distance between the line and a point, mm2. One point is a line of length 0. */
static double square_from(const double from[3], const float (*point)[3], size_t n)
{
    double least = INFINITY;
    for (size_t p = 0; p < n; p++) {
        const float *b = point[p], *a = p > 0 ? point[p - 1] : b;
        double along = 0, length = 0, square = 0;
        for (int r = 0; r < 3; r++) {
            along += (from[r] - a[r]) * ((double)b[r] - a[r]);
            length += ((double)b[r] - a[r]) * ((double)b[r] - a[r]);
        }
        const double share = length > 0 ? fmax(0, fmin(1, along / length)) : 0;
        for (int r = 0; r < 3; r++) square += pow(a[r] + share * ((double)b[r] - a[r]) - from[r], 2);
        least = fmin(least, square);
    }
    return least;
}

/* Voxel coordinates of a point, counted from the first voxel of the box, with corners of voxels at whole numbers. */
static void to_box(const gls_roi_distance *d, const float point[3], double c[3])
{
    const double at[3] = {point[0], point[1], point[2]};
    gls_affine_apply((const double(*)[4])d->inverse, at, c);
    for (int a = 0; a < 3; a++) c[a] += 0.5 - d->low[a];
}

/* Smallest stored distance among the voxels that the line passes, but at most d->widened. */
static double min_of_voxels(const gls_roi_distance *d, const float (*point)[3], size_t n)
{
    const double low[3] = {0}, high[3] = {d->size[0], d->size[1], d->size[2]};
    double a[3], b[3], v[3], from, until, least = d->widened; /* upper bound, since the line meets the widened region */
    /* the first point only starts the walk, unless it is the only one */
    to_box(d, point[0], a);
    for (size_t p = 0; p < n; p++, a[0] = b[0], a[1] = b[1], a[2] = b[2]) {
        gls_walk walk;
        to_box(d, point[p], b);
        if (p == 0 && n > 1) continue;
        if (!gls_walk_begin(&walk, a, b, low, high)) continue;
        while (gls_walk_next(&walk, v, &from, &until)) {
            const bool inside =
                v[0] >= 0 && v[0] < high[0] && v[1] >= 0 && v[1] < high[1] && v[2] >= 0 && v[2] < high[2];
            if (inside)
                least =
                    fmin(least,
                         d->mm[((size_t)v[2] * (size_t)d->size[1] + (size_t)v[1]) * (size_t)d->size[0] + (size_t)v[0]]);
        }
    }
    return least;
}

double gls_roi_distance_measure(const gls_roi_distance *d, const float (*point)[3], size_t n, double *from_centre)
{
    *from_centre = sqrt(square_from(d->centre, point, n));
    if (d->mm) return min_of_voxels(d, point, n);
    return d->radius < 0 || d->widened <= 0 ? 0 : fmax(0, *from_centre - d->radius);
}
