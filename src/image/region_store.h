/* Where regions lie, for all that looks them up: a set of regions for each voxel of each grid, and spheres. */
#ifndef GLS_IMAGE_REGION_STORE_H
#define GLS_IMAGE_REGION_STORE_H

#include "image/region_set.h"
#include "util/maths.h"

/* The regions of one grid, or one sphere. Each voxel holds the number of the set of its regions, 0 for none. */
typedef struct gls_region_place {
    gls_grid grid;
    double inverse[3][4];   /* world mm to voxels */
    uint32_t *voxel;        /* NULL: a sphere */
    double low[3], high[3]; /* box of voxels with regions; corners at whole numbers */
    int low_voxel[3], high_voxel[3];
    gls_region_sphere sphere;
    uint32_t sphere_set; /* the set of the sphere's region */
} gls_region_place;

typedef struct gls_region_store {
    double slack; /* corners of equal grids may differ by this much, mm; 0: equal grids have equal matrices */
    size_t n_places, n_sets;
    gls_region_place *place;
    /* set s consists of set[first[s]] .. set[first[s + 1] - 1]; set 0 is empty; the list serves all places */
    size_t *first;
    uint32_t *set;
} gls_region_store;

/* GLS_ERR_MEMORY. Call gls_region_store_finish() even after a failure. */
gls_status gls_region_store_init(gls_region_store *store, double slack);
void gls_region_store_finish(gls_region_store *store);
/* Whether two grids are equal, but for the slack of a store. */
bool gls_region_same_grid(const gls_grid *a, const gls_grid *b, double slack);
/* Number of the place of this grid; n_places: the store has none. */
size_t gls_region_store_find(const gls_region_store *store, const gls_grid *grid);
/* Adds an area as the region of this number, at *place. Returns false if memory runs out. */
bool gls_region_store_add(gls_region_store *store, const gls_region_area *area, uint32_t region, size_t *place);
/* Set of a point, world mm, among the regions of this place. */
uint32_t gls_region_place_at(const gls_region_place *place, const float point[3]);

static inline bool gls_region_set_has(const gls_region_store *s, uint32_t set, size_t region)
{
    for (size_t i = s->first[set]; i < s->first[set + 1]; i++)
        if (s->set[i] == region) return true;
    return false;
}

/* Set of the voxel whose indices are these whole numbers; 0 outside the box of voxels with regions. */
static inline uint32_t gls_region_place_voxel(const gls_region_place *p, const double v[3])
{
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= p->low[a] && v[a] < p->high[a])) return 0;
    return p->voxel[((size_t)v[2] * (size_t)p->grid.dim[1] + (size_t)v[1]) * (size_t)p->grid.dim[0] + (size_t)v[0]];
}

/* Coordinates of a point, world mm, in the grid of a place: voxel i reaches from i to i + 1. */
static inline void gls_region_place_corner(const gls_region_place *p, const float point[3], double c[3])
{
    const double at[3] = {point[0], point[1], point[2]};
    gls_affine_apply((const double(*)[4])p->inverse, at, c);
    for (int a = 0; a < 3; a++) c[a] += 0.5;
}

#endif
