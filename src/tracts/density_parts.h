/* A density map in memory while streamlines are added. */
#ifndef GLS_TRACTS_DENSITY_PARTS_H
#define GLS_TRACTS_DENSITY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <glslines/density.h>

#include "track/engine/visited.h"
#include "tracts/visits.h"

/* --- Sums with 64 bits before and behind the point. The order of additions leaves no trace: they are whole numbers,
 * and a carry goes up whenever one occurs. */

typedef struct gls_wide {
    uint64_t low;
    int64_t high;
} gls_wide;

/* Adds a value below 2^63 in size, of which 63 bits behind the point count; shared: other threads add to it, too. */
static inline void gls_wide_add(gls_wide *to, double value, bool shared)
{
    int64_t high = 0;
    uint64_t low = 0, before;
    if (value >= 0 && value < 1) {
        low = (uint64_t)(int64_t)(value * 0x1p63) << 1;
    } else {
        high = (int64_t)value;
        high -= value < (double)high;
        double rest = value - (double)high;
        high += rest >= 1; /* less than nothing by less than the last bit */
        low = rest < 1 ? (uint64_t)(int64_t)(rest * 0x1p63) << 1 : 0;
    }
    if (!shared) {
        before = to->low;
        to->low += low;
        to->high += high + (before > UINT64_MAX - low);
        return;
    }
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

static inline void gls_wide_join(gls_wide *to, const gls_wide *other)
{
    to->high += other->high + (to->low > UINT64_MAX - other->low);
    to->low += other->low;
}

static inline double gls_wide_value(const gls_wide *sum)
{
    return (double)sum->high + (double)sum->low * 0x1p-64;
}

/* --- A map of density while it is made. */

/* What a voxel has. Narrow: sums of counts, mm or weights in one fixed point. Wide: sums of any values. */
typedef enum gls_density_kind { NARROW, WIDE, EXTREME } gls_density_kind;

/* Of a parcel, by one thread. */
typedef struct gls_density_sums {
    uint64_t partial, places, places_outside;
    double total;
} gls_density_sums;

struct gls_density {
    gls_grid grid;
    gls_visit_grid visit_grid;
    gls_density_options options;
    gls_density_kind kind;
    int bits; /* NARROW: of fixed point behind the point */
    size_t n_voxels, n_maps, n_planes;
    double unit;     /* 2 to the power of bits */
    int n_copies;    /* of the next two: one a thread, or one for all threads */
    int64_t **sum;   /* NARROW: for each map */
    gls_wide **wide; /* WIDE: planes for each map: sum of w f; of w with means; of x, y, z and w f with directions */
    double *extreme; /* EXTREME: for each map; +-INFINITY without visits */
    double total;    /* an upper bound of all that was added, in units of the last bit, WIDE: of 1 */
    double scale;
    gls_density_counts counts;
    size_t capacity; /* of a parcel */
    uint8_t *used;
    int n_threads;
    gls_visits *visits;          /* one for each thread */
    gls_density_sums *sums;      /* the same */
    const gls_visited **visited; /* what a device knows of the streamlines that come; NULL: nothing */
};

static inline bool gls_density_is_in_mm(const gls_density_options *o)
{
    return o->mapping == GLS_DENSITY_LENGTH || o->mapping == GLS_DENSITY_PRECISE;
}

#endif
