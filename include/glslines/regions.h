/* Regions of interest that streamlines must visit, must avoid, must not leave, or end at. */
#ifndef GLSLINES_REGIONS_H
#define GLSLINES_REGIONS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The role of a region: one of the roles in regions.def, or the mask of a run. A point lies in the region of an image
 * if its nearest voxel (floor(v + 0.5) of its voxel coordinates v in the image's own grid) belongs to the region;
 * points outside that grid do not. A point lies in a sphere if its distance from the centre is at most the radius.
 * Tracking tests the points of a streamline, not the lines between them. */
typedef enum gls_region_role {
    GLS_REGION_MASK = 4, /* like GLS_REGION_TRACKING_MASK, but tested before the stop map; not for gls_selection */
#define GLS_REGION_ROW(symbol, value, ...) symbol = value,
#include <glslines/regions.def>
    GLS_REGION_ALL = 9, /* only for gls_selection: the whole streamline lies in the region */
#define GLS_REGION_ROW(...) +1
    GLS_REGION_ROLES = 2
#include <glslines/regions.def>
} gls_region_role;
/* Option of glslines track for a role, e.g. "stop-at"; for GLS_REGION_MASK "mask", for GLS_REGION_ALL "all". */
GLS_API const char *gls_region_role_name(gls_region_role role);

#define GLS_REGION_MAX_BITS \
    32 /* one bit for each region of a role that is APART in regions.def; one for each other role */
#define GLS_REGION_MAX_SPHERES 64
#define GLS_REGION_MAX_GRIDS 16 /* number of different grids of the images, and of boxes */

/* The regions of a run whose streamlines lie on one grid. One thread makes the set; afterwards several threads of a
 * tracker may read it. */
typedef struct gls_regions gls_regions;

/* Creates an empty set of regions for streamlines on this grid. */
GLS_API gls_status gls_regions_create(const gls_grid *grid, gls_regions **regions);
/* Frees `regions`, which may be NULL. */
GLS_API void gls_regions_destroy(gls_regions *regions);

/* Adds a region given as text: "x,y,z,r" is a sphere in world mm, "x,y,z,X,Y,Z" the box between two corners;
 * "image.nii.gz" is the voxels > 0 that are finite; "labels.nii.gz:3,7,1000-1035" is the voxels with these labels,
 * whole numbers from 1 to 2147483647. Each label, and at least one label of a range, must occur. Four or six numbers
 * are never the name of a file; text with a
 * ':' names a file if a file with the whole text as its name exists. mask: one volume on the grid, > 0 where
 * streamlines may be; NULL: the whole grid. A region that lies wholly outside the mask is GLS_ERR_INPUT if its
 * role is NEEDED in regions.def, else a warning. GLS_ERR_ARGUMENT: the text is not a region, or there are too many
 * regions. GLS_ERR_INPUT: a file cannot be read or has the wrong contents. GLS_ERR_UNSUPPORTED: too many grids. After a
 * failure the set can only be destroyed. */
GLS_API gls_status gls_regions_add(gls_regions *regions, gls_region_role role, const char *text, const gls_image *mask);
/* Adds the voxels > 0 of an image of one volume. name: for messages. */
GLS_API gls_status gls_regions_add_image(gls_regions *regions, gls_region_role role, const gls_image *image,
                                         const char *name, const gls_image *mask);
/* Completes the set, before tracking. GLS_ERR_INPUT if an include region lies completely inside exclude regions, or if
 * each region of GLS_REGION_INCLUDE_ANY does or lies outside the mask. */
GLS_API gls_status gls_regions_complete(gls_regions *regions);

/* A region that was added. */
typedef struct gls_region_info {
    gls_region_role role;
    const char *text;
    uint32_t bit;    /* index of the region's bit in gls_regions_at(), once all regions are added */
    uint64_t voxels; /* number of voxels; 0: a sphere. A box is one voxel of its own grid */
    double smallest; /* in mm: smallest voxel side, or the radius. Longer steps can jump over the region */
} gls_region_info;
/* Number of regions in the set. */
GLS_API size_t gls_regions_count(const gls_regions *regions);
/* Region i of the set, in the order of adding; i is below gls_regions_count(). Its text is valid as long as the set. */
GLS_API gls_region_info gls_regions_get(const gls_regions *regions, size_t i);
/* Bits of the regions at a point, in voxel coordinates of the grid, of a complete set; computed in single precision as
 * on a device. */
GLS_API uint32_t gls_regions_at(const gls_regions *regions, const float point[3]);
/* Bits of all regions of a role. */
GLS_API uint32_t gls_regions_bits(const gls_regions *regions, gls_region_role role);
/* Hash of a complete set: equal for equal regions, whatever the names of their files. */
GLS_API uint64_t gls_regions_hash(const gls_regions *regions);

#ifdef __cplusplus
}
#endif
#endif
