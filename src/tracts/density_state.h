/* A map of density while it is made. */
#ifndef GLS_TRACTS_DENSITY_STATE_H
#define GLS_TRACTS_DENSITY_STATE_H

#include <glslines/density.h>

#include "track/engine/visited.h"
#include "tracts/visits.h"
#include "tracts/wide.h"

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
