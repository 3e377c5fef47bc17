/* Regions of interest that streamlines have to meet, have to avoid, or end at. */
#ifndef GLSLINES_REGIONS_H
#define GLSLINES_REGIONS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a region does: the list in regions.def, and the mask of a run. A point lies in an image's region if the voxel
 * nearest to it does (floor(v + 0.5) of voxel coordinates v in the image's own grid); outside that grid it does not. It
 * lies in a sphere if its distance from the centre is at most the radius. The points of a streamline are tested, not
 * the lines between them. */
typedef enum gls_region_role {
    GLS_REGION_MASK = 4, /* as GLS_REGION_TRACKING_MASK, and tested before the stop map */
#define GLS_REGION_ROW(symbol, value, ...) symbol = value,
#include <glslines/regions.def>
#undef GLS_REGION_ROW
#define GLS_REGION_ROW(...) +1
    GLS_REGION_ROLES = 1
#include <glslines/regions.def>
#undef GLS_REGION_ROW
} gls_region_role;
/* The option of glslines track, e.g. "stop-at"; that of GLS_REGION_MASK is "mask". */
GLS_API const char *gls_region_role_name(gls_region_role role);

#define GLS_REGION_MAX_BITS \
    32 /* one for each region to include, to meet in order or to end in; one for each other role */
#define GLS_REGION_MAX_SPHERES 64
#define GLS_REGION_MAX_GRIDS 16 /* different ones among the images */

/* The regions of a run on one grid. Made on one thread; a tracker may read them from several. */
typedef struct gls_regions gls_regions;

/* Regions of streamlines on this grid. */
GLS_API gls_status gls_regions_create(const gls_grid *grid, gls_regions **regions);
/* Accepts NULL. */
GLS_API void gls_regions_destroy(gls_regions *regions);

/* Adds a region given as text: "x,y,z,r", a sphere in world mm; "image.nii.gz", its voxels > 0 that are finite; or
 * "labels.nii.gz:3,7,1000-1035", the voxels of these labels, whole numbers from 1 to 16777216, each of which (of a
 * range one at least) must occur. Four numbers are a sphere whatever files there are; a file of the whole name goes
 * before labels. mask (NULL: the whole grid), on the grid: where streamlines may be. A region that lies wholly outside
 * of it is an error if streamlines need it (NEEDED in regions.def), else a warning. GLS_ERR_ARGUMENT for text that is
 * neither and for too many regions, GLS_ERR_INPUT for files and what is in them, GLS_ERR_UNSUPPORTED for too many
 * grids; after a failure the set can only be destroyed. */
GLS_API gls_status gls_regions_add(gls_regions *regions, gls_region_role role, const char *text, const gls_image *mask);
/* Adds the voxels > 0 of an image of one volume. name: for messages. */
GLS_API gls_status gls_regions_add_image(gls_regions *regions, gls_region_role role, const gls_image *image,
                                         const char *name, const gls_image *mask);
/* Ends the adding, before tracking. GLS_ERR_INPUT where an include region lies wholly in exclude regions. */
GLS_API gls_status gls_regions_complete(gls_regions *regions);

/* A region as it was added. */
typedef struct gls_region_info {
    gls_region_role role;
    const char *text;
    uint32_t bit;    /* of gls_regions_at() */
    uint64_t voxels; /* 0: a sphere */
    double smallest; /* mm: its smallest voxel side, or the radius. Longer steps can jump over it */
} gls_region_info;
GLS_API size_t gls_regions_count(const gls_regions *regions);
GLS_API gls_region_info gls_regions_get(const gls_regions *regions, size_t i);
/* The regions at a point of a complete set, voxel coordinates of the grid, as bits; in single precision, as a device
 * computes it. */
GLS_API uint32_t gls_regions_at(const gls_regions *regions, const float point[3]);
/* The bits of a role. */
GLS_API uint32_t gls_regions_bits(const gls_regions *regions, gls_region_role role);
/* A hash of a complete set: equal for equal regions, whatever their files are called. */
GLS_API uint64_t gls_regions_hash(const gls_regions *regions);

#ifdef __cplusplus
}
#endif
#endif
