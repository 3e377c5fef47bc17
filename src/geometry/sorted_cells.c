/* Point sets sorted by the cells of a grid, and the search for barycentres near a position. */
#include "geometry/sorted_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "util/threads.h"

void gls_cells_finish(gls_cells *c)
{
    free(c->start);
    free(c->id);
    free(c->place);
    free(c->mean[0]);
    free(c->point);
    free(c->part);
    *c = (gls_cells){.n = 0};
}

/* Allocates memory for n sets; what they held is lost. */
static gls_status reserve(gls_cells *c, size_t n)
{
    if (n <= c->capacity) return GLS_OK;
    const size_t capacity = n > c->capacity + c->capacity / 2 ? n : c->capacity + c->capacity / 2;
    free(c->id);
    free(c->place);
    free(c->mean[0]);
    free(c->point);
    free(c->part);
    c->capacity = 0;
    c->id = malloc(capacity * sizeof *c->id);
    c->place = malloc(capacity * sizeof *c->place);
    c->mean[0] = malloc(3 * capacity * sizeof *c->mean[0]);
    c->point = malloc(capacity * 3 * c->pad * sizeof *c->point);
    c->part = malloc(capacity * GLS_PARTS * sizeof *c->part);
    if (!c->id || !c->place || !c->mean[0] || !c->point || !c->part)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the points of %zu streamlines", n);
    c->mean[1] = c->mean[0] + capacity;
    c->mean[2] = c->mean[1] + capacity;
    c->capacity = capacity;
    return GLS_OK;
}

/* Index of the cell of a coordinate along an axis, kept inside the grid. */
static size_t cell_along(const gls_cells *c, int axis, float at)
{
    const float k = floorf((at - c->low[axis]) / c->side);
    if (!(k > 0)) return 0;
    return k < (float)c->size[axis] ? (size_t)k : c->size[axis] - 1;
}

/* Chooses the grid round the n barycentres, with no more than about two cells for each set. */
static gls_status choose_grid(gls_cells *c, const float (*mean)[3], float side)
{
    float high[3];
    for (int k = 0; k < 3; k++) c->low[k] = high[k] = c->n > 0 ? mean[0][k] : 0;
    for (size_t i = 1; i < c->n; i++)
        for (int k = 0; k < 3; k++) {
            c->low[k] = fminf(c->low[k], mean[i][k]);
            high[k] = fmaxf(high[k], mean[i][k]);
        }
    double cells;
    for (c->side = side > 0 && isfinite(side) ? side : 1;; c->side *= 1.26f) {
        cells = 1;
        for (int k = 0; k < 3; k++) cells *= floor((double)(high[k] - c->low[k]) / (double)c->side) + 1;
        if (cells <= 64 + 2 * (double)c->n) break;
    }
    for (int k = 0; k < 3; k++) c->size[k] = (size_t)((high[k] - c->low[k]) / c->side) + 1;
    const size_t n = c->size[0] * c->size[1] * c->size[2];
    if (n > c->cell_capacity) {
        free(c->start);
        c->cell_capacity = 0;
        c->start = malloc((n + 2) * sizeof *c->start);
        if (!c->start) return gls_no_memory();
        c->cell_capacity = n;
    }
    return GLS_OK;
}

/* Sorts the sets by cells; sets of a cell keep their order. mean: n barycentres. */
static void sort(gls_cells *c, const float (*mean)[3], uint32_t *cell)
{
    const size_t n = c->size[0] * c->size[1] * c->size[2];
    /* element k + 1 first counts the sets of cell k, then becomes the place of its next set, and at last its end */
    memset(c->start, 0, (n + 2) * sizeof *c->start);
    for (size_t i = 0; i < c->n; i++) {
        size_t at = 0;
        for (int k = 2; k >= 0; k--) at = at * c->size[k] + cell_along(c, k, mean[i][k]);
        cell[i] = (uint32_t)at;
        c->start[at + 2]++;
    }
    for (size_t k = 2; k < n + 2; k++) c->start[k] += c->start[k - 1];
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t place = c->start[cell[i] + 1]++;
        c->id[place] = (uint32_t)i;
        c->place[i] = place;
        for (int k = 0; k < 3; k++) c->mean[k][place] = mean[i][k];
    }
}

/* Work of several threads on all sets. */
typedef struct filling {
    gls_cells *c;
    gls_cells_source source;
    const void *user;
    /* one for each set in find_means() */
    float (*mean)[3];
    float *extent; /* for each thread */
} filling;

/* Finds the barycentres of sets. */
static void find_means(void *user, int thread, size_t from, size_t until)
{
    const filling *f = user;
    const gls_cells *c = f->c;
    float point[3 * GLS_MAX_POINTS];
    for (size_t i = from; i < until; i++) {
        f->source(f->user, i, point);
        gls_points_mean(point, c->points, c->pad, f->mean[i]);
        f->extent[thread] = fmaxf(f->extent[thread], gls_points_extent(point, 3 * c->pad));
    }
}

/* Copies the points of sets to their places. */
static void copy_points(void *user, int thread, size_t from, size_t until)
{
    const filling *f = user;
    (void)thread;
    for (size_t k = from; k < until; k++) {
        float *point = f->c->point + k * 3 * f->c->pad;
        f->source(f->user, f->c->id[k], point);
        gls_points_parts(point, point, f->c->points, f->c->pad, f->c->part + k * GLS_PARTS);
    }
}

gls_status gls_cells_fill(gls_cells *c, size_t n, size_t points, float side, gls_cells_source source, const void *user,
                          int n_threads)
{
    if (n >= UINT32_MAX) return gls_fail(GLS_ERR_UNSUPPORTED, "%zu streamlines are too many to be sorted by place", n);
    c->points = points;
    c->pad = gls_point_pad(points);
    gls_status status = reserve(c, n);
    if (status) return status;
    c->n = n;
    filling f = {c, source, user, malloc((n + 1) * sizeof *f.mean), calloc((size_t)n_threads, sizeof *f.extent)};
    uint32_t *cell = malloc((n + 1) * sizeof *cell);
    if (!f.mean || !cell || !f.extent) status = gls_no_memory();
    if (!status) gls_parallel(n, 1024, n_threads, find_means, &f);
    if (!status) status = choose_grid(c, (const float(*)[3])f.mean, side);
    if (!status) {
        sort(c, (const float(*)[3])f.mean, cell);
        gls_parallel(n, 1024, n_threads, copy_points, &f);
        c->extent = 0;
        for (int k = 0; k < n_threads; k++) c->extent = fmaxf(c->extent, f.extent[k]);
    }
    free(cell);
    free(f.extent);
    free(f.mean);
    return status;
}

/* Appends those of places from .. until - 1 whose barycentres are near enough. Returns the new number. */
static size_t scan(const gls_cells *c, uint32_t from, uint32_t until, const float mean[3], float limit, uint32_t *place,
                   float *gap, size_t n)
{
    const size_t more = gls_geometry_kernels()->near(c->mean[0] + from, c->mean[1] + from, c->mean[2] + from,
                                                     until - from, mean, limit, place + n, gap + n);
    for (size_t k = n; k < n + more; k++) place[k] += from;
    return n + more;
}

size_t gls_cells_near(const gls_cells *c, const float mean[3], float radius, uint32_t *place, float *gap)
{
    if (c->n == 0) return 0;
    /* rounding of barycentres and of their distance */
    const float wide = radius + gls_distance_slack(c->extent), limit = wide * wide;
    size_t low[3], high[3], n = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = cell_along(c, k, mean[k] - wide);
        high[k] = cell_along(c, k, mean[k] + wide);
    }
    for (size_t z = low[2]; z <= high[2]; z++)
        for (size_t y = low[1]; y <= high[1]; y++) {
            /* cells along x follow each other */
            const size_t row = (z * c->size[1] + y) * c->size[0];
            n = scan(c, c->start[row + low[0]], c->start[row + high[0] + 1], mean, limit, place, gap, n);
        }
    return n;
}
