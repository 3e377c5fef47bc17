/* Point sets sorted by the cell in which their barycentres lie. The distance of two barycentres is at most the mean
 * distance of the points, in either sense, so that whatever is near enough lies in cells near by. */
#ifndef GLS_GEOMETRY_SORTED_CELLS_H
#define GLS_GEOMETRY_SORTED_CELLS_H

#include <glslines/common.h>

#include "geometry/kernels.h"

/* Copies point set `id` in expanded form to out. Called by several threads. */
typedef void (*gls_cells_source)(const void *user, size_t id, float *out);

/* n point sets in the order of their cells; place: the number of a set in this order. All zero: none. */
typedef struct gls_cells {
    size_t n, points, pad;
    /* side of the cubic cells, mm; least corner of the first one; numbers along each axis */
    float side, low[3];
    size_t size[3];
    /* first place of each cell, and the end */
    uint32_t *start;
    /* for each place the number of the set; for each set its place */
    uint32_t *id, *place;
    /* barycentres, n each */
    float *mean[3];
    float *point; /* n x 3 pad */
    float *part;  /* n x GLS_PARTS: gls_points_parts() of each set, twice */
    float extent; /* largest coordinate in size */
    /* sets and cells for which memory is allocated */
    size_t capacity, cell_capacity;
} gls_cells;

/* Sorts n sets of `points` points, which source() gives, into cells with sides of about `side` mm. Replaces the former
 * contents. */
gls_status gls_cells_fill(gls_cells *cells, size_t n, size_t points, float side, gls_cells_source source,
                          const void *user, int n_threads);
/* Frees everything. */
void gls_cells_finish(gls_cells *cells);

/* Finds the places of sets whose barycentres lie within `radius` of mean; more may be found, by rounding. place, gap:
 * memory for n, get the places, ascending, and the squared distances of barycentres. Returns their number. */
size_t gls_cells_near(const gls_cells *cells, const float mean[3], float radius, uint32_t *place, float *gap);

#endif
