/* The struct behind gls_density, and sums in 128 bits. */
#ifndef GLS_TRACTS_DENSITY_PARTS_H
#define GLS_TRACTS_DENSITY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <glslines/density.h>

#include "track/engine/visited.h"
#include "tracts/visits_parts.h"

/* --- Fixed-point sums with 64 bits on each side of the point. Every value is a multiple of the last bit, so the order
 * of additions does not matter. */

/* A signed sum of 128 bits: high * 2^64 + low, in units of 2^-64. */
typedef struct gls_wide {
    /* the fraction, in units of 2^-64 */
    uint64_t low;
    /* the whole part, rounded down */
    int64_t high;
} gls_wide;

/* Adds a value whose magnitude is below 2^63; keeps 63 bits behind the point. shared: other threads may add to *to at
 * the same time. */
static inline void gls_wide_add(gls_wide *to, double value, bool shared)
{
    /* splits the value into floor and fraction; 63 bits of the fraction, since doubles convert to int64_t faster
     * than to uint64_t */
    int64_t high = 0;
    uint64_t low = 0, before;
    if (value >= 0 && value < 1) {
        low = (uint64_t)(int64_t)(value * 0x1p63) << 1;
    } else {
        high = (int64_t)value;
        high -= value < (double)high;
        double rest = value - (double)high;
        high += rest >= 1; /* a negative value so close to 0 that value + 1 rounds to 1 */
        low = rest < 1 ? (uint64_t)(int64_t)(rest * 0x1p63) << 1 : 0;
    }
    /* the carry of low goes to high */
    if (!shared) {
        before = to->low;
        to->low += low;
        to->high += high + (before > UINT64_MAX - low);
        return;
    }
/* Both halves are added by atomic steps of their own, so the sum is right only when no thread adds any more. */
#pragma omp atomic capture
    {
        before = to->low;
        to->low += low;
    }
    high += before > UINT64_MAX - low;
    if (high == 0) return;
#pragma omp atomic
    to->high += high;
}

/* Adds another sum. */
static inline void gls_wide_join(gls_wide *to, const gls_wide *other)
{
    to->high += other->high + (to->low > UINT64_MAX - other->low);
    to->low += other->low;
}

/* The sum as a double. Whole parts up to 2^53 are exact. */
static inline double gls_wide_value(const gls_wide *sum)
{
    return (double)sum->high + (double)sum->low * 0x1p-64;
}

/* --- A map while streamlines are added. */

/* Kinds of values of a voxel. NARROW: sums of counts, mm or weights in 64-bit fixed point. WIDE: sums of any values.
 * EXTREME: the smallest or largest value. */
typedef enum gls_density_kind { NARROW, WIDE, EXTREME } gls_density_kind;

/* Counts of one thread during one call that adds streamlines. */
typedef struct gls_density_sums {
    /* partial: streamlines with points outside the grid; places, places_outside: lookups of voxels, and how many of
     * them were outside the grid, see gls_visits */
    uint64_t partial, places, places_outside;
    /* sum over streamlines of the most that each may have added to one voxel, in the unit of gls_density.total */
    double total;
} gls_density_sums;

struct gls_density {
    /* grid of the map */
    gls_grid grid;
    /* the grid of the map, prepared for finding visited voxels */
    gls_visit_grid visit_grid;
    /* a copy of the caller's options; strings and lists belong to the caller */
    gls_density_options options;
    /* how values are summed */
    gls_density_kind kind;
    int bits; /* kind NARROW: binary digits behind the point of a sum */
    /* numbers of voxels, of maps (one for each group, or 1), and of sums for a voxel (1 to 4) */
    size_t n_voxels, n_maps, n_planes;
    double unit;     /* 2^bits */
    int n_copies;    /* copies of sum and wide: one for each thread, or one that all threads share */
    int64_t **sum;   /* NARROW: n_maps x n_voxels for each copy */
    gls_wide **wide; /* WIDE: for each copy and map, n_planes sums for each voxel: of w f (w: weight of the streamline,
                        f: value to be mapped); for means, of w f and w; with directions, of x, y, z and w f */
    double *extreme; /* EXTREME: n_maps x n_voxels; +-INFINITY without visits */
    /* upper bound of the sum of all additions to any one voxel, in units of 2^-bits; WIDE: in units of 1 */
    double total;
    /* factor of all values on output */
    double scale;
    /* streamlines that were counted, left out and so on */
    gls_density_counts counts;
    size_t capacity; /* allocated elements of `used` */
    /* for each streamline of the current call: UNUSED, USED or ZERO, see density_map.c */
    uint8_t *used;
    /* largest number of threads of a call */
    int n_threads;
    gls_visits *visits;          /* one for each thread */
    gls_density_sums *sums;      /* one for each thread */
    const gls_visited **visited; /* see gls_density_use_visited(); NULL: the host finds all visits */
};

/* Whether the map sums lengths, mm, instead of counting visits. */
static inline bool gls_density_is_in_mm(const gls_density_options *o)
{
    return o->mapping == GLS_DENSITY_LENGTH || o->mapping == GLS_DENSITY_PRECISE;
}

#endif
