/* Regions inside the library, for <glslines/regions.h>: the set of a run as devices look it up. */
#ifndef GLS_IMAGE_REGION_SET_H
#define GLS_IMAGE_REGION_SET_H

#include <glslines/image.h>
#include <glslines/regions.h>

#include "image/region_store_parts.h"

/* Which points of a streamline are looked up in regions of a role, see regions.def. GLS_REGION_BORDER: all points; the
 * streamline ends before its first point outside. */
typedef enum gls_region_where {
    GLS_REGION_POINTS,
    GLS_REGION_BORDER,
    GLS_REGION_ENDS,
    GLS_REGION_FILTERS /* the role is not used in tracking */
} gls_region_where;
/* A row of regions.def. option: name without "--". needed: true if streamlines must reach regions of the role. */
typedef struct gls_region_kind {
    const char *option;
    bool apart; /* true: each region has its own bit; false: all regions of the role share a bit */
    gls_region_where where;
    bool needed;
} gls_region_kind;
/* The row of a role in regions.def. */
const gls_region_kind *gls_region_kind_of(gls_region_role role);
/* Bits of the regions of all roles that are tested at this kind of point. */
uint32_t gls_regions_bits_where(const gls_regions *regions, gls_region_where where);

/* Whether a streamline whose ends lie in the regions of bits a and b fits the roles that look at ends. role_bits: bits
 * of each role; GLS_REGION_INCLUDE_END has two at most. */
bool gls_region_ends_fit(const uint32_t role_bits[GLS_REGION_ROLES], uint32_t a, uint32_t b);

/* Adds a region that was read from the text, as gls_regions_add() does. */
gls_status gls_regions_add_area(gls_regions *regions, gls_region_role role, const gls_region_area *area,
                                const char *text, const gls_image *mask);

/* The regions on one grid, as a device looks them up: a word for each voxel, with the bits of the regions that the
 * voxel belongs to. */
typedef struct gls_region_group {
    gls_grid grid;
    int32_t origin[3], size[3]; /* box of the voxels that are in a region: its first voxel and its size */
    float map[3][4];            /* from voxel coordinates of the run to voxel coordinates of the box */
    size_t first;               /* index of the group's first word in gls_regions.word */
} gls_region_group;

/* A region of a run. text: as the user named it, owned. */
typedef struct gls_region {
    gls_region_info info;
    char *text;
    bool is_box;
    bool is_outside; /* true: no streamline can meet it, because it lies outside the mask */
    size_t layer;    /* index of its layer in the store of regions, see region_store.h */
    size_t index;    /* in a complete set: index of the region's group, or of its sphere */
} gls_region;

struct gls_regions {
    gls_grid grid;
    gls_region *region;
    size_t n, n_groups, n_spheres;
    uint32_t n_bits, role_bits[GLS_REGION_ROLES];
    float world[3][4]; /* affine of the run's grid */
    bool complete;
    gls_region_store *store; /* NULL once the set is complete */
    /* The members below have values once `complete` is true. */
    gls_region_group group[GLS_REGION_MAX_GRIDS];
    gls_region_sphere sphere[GLS_REGION_MAX_SPHERES];
    uint32_t *word; /* a word for each voxel of the box of each group; boxes one after the other, x fastest */
    size_t n_words;
};

#endif
