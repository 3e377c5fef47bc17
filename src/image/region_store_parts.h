/* Regions, for tracking and for filters of streamlines: reading a region, and looking up which regions a position lies
 * in. */
#ifndef GLS_IMAGE_REGION_STORE_PARTS_H
#define GLS_IMAGE_REGION_STORE_PARTS_H

#include <glslines/image.h>
#include <glslines/regions.h>

#include "util/maths.h"

/* --- Single regions, from text or from images. */

/* A spherical region. */
typedef struct gls_region_sphere {
    double centre[3], radius; /* world mm */
    uint32_t bits;            /* in a complete gls_regions: bits of the regions that are this sphere */
} gls_region_sphere;

/* A single region: voxels of a grid, or a sphere. A box is a grid of one voxel. */
typedef struct gls_region_area {
    uint8_t *inside; /* 1 for voxels of the region, one byte for each voxel of the grid; NULL: a sphere */
    gls_grid grid;
    uint64_t voxels; /* number of voxels in the region; 0: a sphere */
    bool is_graded; /* true: some values of the image lie between 0 and 1, so that it may not be a mask; false if labels
                       are named */
    bool is_box;
    gls_region_sphere sphere;
} gls_region_area;

/* --- All regions, by grid. */

/* All regions on one grid, or one sphere. Each voxel has the index of a set: the regions that the voxel belongs to; 0:
 * none. */
typedef struct gls_region_layer {
    gls_grid grid;
    double inverse[3][4];   /* world mm to voxels */
    uint32_t *voxel;        /* index of the set of each voxel; NULL: a sphere */
    double low[3], high[3]; /* corners of the box of voxels with regions; voxel i reaches from i to i + 1 */
    int low_voxel[3], high_voxel[3];
    gls_region_sphere sphere;
    uint32_t sphere_set; /* index of the set that consists of this sphere */
} gls_region_layer;

/* All regions, as layers: one for each grid that regions have, and one for each sphere. */
typedef struct gls_region_store {
    double slack; /* corners of equal grids may differ by this much, mm; 0: equal grids have equal matrices */
    size_t n_layers, n_sets;
    gls_region_layer *layer;
    /* set s consists of the regions set[first[s]] .. set[first[s + 1] - 1]; set 0 is empty; all layers refer to these
     * sets */
    size_t *first;
    uint32_t *set;
} gls_region_store;

/* Whether the set with index `set` of the store contains the region with index `region`. */
static inline bool gls_region_set_has(const gls_region_store *s, uint32_t set, size_t region)
{
    for (size_t i = s->first[set]; i < s->first[set + 1]; i++)
        if (s->set[i] == region) return true;
    return false;
}

/* Index of the set of the voxel v, three whole numbers; 0 outside the box of voxels with regions. */
static inline uint32_t gls_region_layer_voxel(const gls_region_layer *p, const double v[3])
{
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= p->low[a] && v[a] < p->high[a])) return 0;
    return p->voxel[((size_t)v[2] * (size_t)p->grid.dim[1] + (size_t)v[1]) * (size_t)p->grid.dim[0] + (size_t)v[0]];
}

/* Coordinates of a point, world mm, in the grid of a layer: voxel i reaches from i to i + 1. */
static inline void gls_region_layer_corner(const gls_region_layer *p, const float point[3], double c[3])
{
    const double at[3] = {point[0], point[1], point[2]};
    gls_affine_apply((const double(*)[4])p->inverse, at, c);
    for (int a = 0; a < 3; a++) c[a] += 0.5;
}

#endif
