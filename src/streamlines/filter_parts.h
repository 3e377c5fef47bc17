/* Functions and structs that the filters of streamlines share. */
#ifndef GLS_STREAMLINES_FILTER_PARTS_H
#define GLS_STREAMLINES_FILTER_PARTS_H

#include <stddef.h>

#include <glslines/filters.h>
#include <glslines/streamlines.h>

/* --- Builder: makes new streamlines from incoming ones, with their columns, and hands them on in blocks of bounded
 * size. */

/* A block that the builder hands on has at most so many streamlines, and so many points unless one streamline has
 * more. */
#define GLS_BUILDER_LINES 16384
#define GLS_BUILDER_POINTS ((uint64_t)1 << 17)

/* Collects new streamlines and passes them on in blocks. Several threads may set points at the same time, by
 * gls_builder_copy() and gls_builder_mix(); all other functions are for one thread. */
typedef struct gls_builder {
    /* receives the blocks; owned */
    gls_sink next;
    void (*discard)(void *user); /* discards the state of the filter, see gls_builder_sink() */
    const gls_streamlines *in;   /* block of input, from gls_builder_begin() to gls_builder_flush() */
    /* number of streamlines in the block, and of streamlines for which memory is allocated */
    size_t n, line_capacity;
    /* number of points in the block, and of points for which memory is allocated */
    uint64_t n_points, point_capacity;
    /* n + 1 elements: first point of each streamline, and the end */
    uint64_t *offset;
    /* world mm */
    float (*point)[3];
    size_t n_columns, n_dps, n_groups; /* numbers of columns, fixed by the first block */
    gls_column *column; /* columns in the order dps, groups, dpv as in `in`; their data are the memory below */
    /* for each column its values, n rows or n_points rows */
    void **memory;
} gls_builder;

/* Whether a streamline of n points still fits into the block. */
static inline bool gls_builder_fits(const gls_builder *b, uint64_t n)
{
    return b->n < GLS_BUILDER_LINES && (b->n == 0 || b->n_points + n <= GLS_BUILDER_POINTS);
}

#endif
