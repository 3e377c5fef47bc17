/* Regions, for tracking and for filters of streamlines: reading a region, and looking up which regions a position lies
 * in. */
#ifndef GLS_IMAGE_REGION_STORE_H
#define GLS_IMAGE_REGION_STORE_H

#include <glslines/regions.h>

#include "util/maths.h"

/* --- Single regions, from text or from images. */

/* A spherical region. */
typedef struct gls_region_sphere {
    double centre[3], radius; /* world mm */
    uint32_t bits;            /* in a complete gls_regions: bits of the regions that are this sphere */
} gls_region_sphere;

/* A single region: voxels of a grid, or a sphere. */
typedef struct gls_region_area {
    uint8_t *inside; /* 1 for voxels of the region, one byte for each voxel of the grid; NULL: a sphere */
    gls_grid grid;
    uint64_t voxels; /* number of voxels in the region; 0: a sphere */
    bool is_graded; /* true: some values of the image lie between 0 and 1, so that it may not be a mask; false if labels
                       are named */
    gls_region_sphere sphere;
} gls_region_area;
/* Reads a region from its text, see gls_regions_add(). option: for messages. Call gls_region_area_finish() even after a
 * failure. */
gls_status gls_region_area_read(const char *option, const char *text, gls_region_area *area);
/* Makes a region of the voxels > 0 of an image. option, name: for messages. GLS_ERR_INPUT: no voxel is > 0. Call
 * gls_region_area_finish() even after a failure. */
gls_status gls_region_area_mark(const char *option, const gls_image *image, const char *name, gls_region_area *area);
/* Centre of a region, world mm: mean of its voxel centres, or the centre of the sphere. */
void gls_region_area_centre(const gls_region_area *area, double centre[3]);
/* Frees the voxels of the region. */
void gls_region_area_finish(gls_region_area *area);

/* *voxel: index of the voxel nearest to p, which is in voxel coordinates. Returns false outside the grid. */
bool gls_region_voxel_at(const gls_grid *grid, const double p[3], size_t *voxel);
/* Voxel coordinates of the voxel with this index. */
void gls_region_centre(const gls_grid *grid, size_t voxel, double p[3]);

/* A range of labels of an image. */
typedef struct gls_label_range {
    int32_t first, last;
} gls_label_range;
/* Largest number of labels and ranges of labels in the text of a region. */
#define GLS_REGION_MAX_RANGES 256

/* The parts of a region's text. */
typedef struct gls_region_text {
    bool is_sphere;
    double number[4]; /* of a sphere: x, y, z, radius */
    char *path;       /* path of an image; from malloc */
    gls_label_range range[GLS_REGION_MAX_RANGES];
    size_t n_ranges; /* 0: the region is all voxels > 0 */
} gls_region_text;
/* Splits the text of a region. GLS_ERR_ARGUMENT for an invalid text. option: for messages. */
gls_status gls_region_text_parse(const char *option, const char *text, gls_region_text *parsed);
/* Checks the text of a region, and whether its image can be read (GLS_ERR_INPUT). */
gls_status gls_region_text_check(const char *option, const char *text);

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

/* Makes an empty store. Call gls_region_store_finish() even after a failure, which is GLS_ERR_MEMORY. */
gls_status gls_region_store_init(gls_region_store *store, double slack);
/* Frees the layers and the sets. The store may be zeroed. */
void gls_region_store_finish(gls_region_store *store);
/* Whether two grids are equal. slack: see gls_region_store. */
bool gls_region_same_grid(const gls_grid *a, const gls_grid *b, double slack);
/* Index of the layer with this grid; n_layers: the store has none. */
size_t gls_region_store_find(const gls_region_store *store, const gls_grid *grid);
/* Adds an area as the region with index `region`. *layer: index of the layer that holds this region. Returns false if
 * memory ran out. */
bool gls_region_store_add(gls_region_store *store, const gls_region_area *area, uint32_t region, size_t *layer);
/* Index, in the store, of the set of all regions of this layer that contain a point, world mm; 0: the set without
 * regions. */
uint32_t gls_region_layer_at(const gls_region_layer *layer, const float point[3]);

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
