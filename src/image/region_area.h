/* Reads one region, from an image, as a sphere or as a box: for tracking and for filters of streamlines. */
#ifndef GLS_IMAGE_REGION_AREA_H
#define GLS_IMAGE_REGION_AREA_H

#include <glslines/common.h>
#include <glslines/image.h>

#include "image/label_ranges.h"
#include "image/region_store_parts.h"

/* Reads a region from its text, see gls_regions_add(). option: for messages. Call gls_region_area_finish() even after a
 * failure. */
gls_status gls_region_area_read(const char *option, const char *text, gls_region_area *area);
/* Makes a region of the voxels > 0 of an image. option, name: for messages. GLS_ERR_INPUT: no voxel is > 0. Call
 * gls_region_area_finish() even after a failure. */
gls_status gls_region_area_mark(const char *option, const gls_image *image, const char *name, gls_region_area *area);
/* Centre of a region, world mm: mean of its voxel centres, or the centre of the sphere or box. */
void gls_region_area_centre(const gls_region_area *area, double centre[3]);
/* Frees the voxels of the region. */
void gls_region_area_finish(gls_region_area *area);
/* *voxel: index of the voxel nearest to p, which is in voxel coordinates. Returns false outside the grid. */
bool gls_region_voxel_at(const gls_grid *grid, const double p[3], size_t *voxel);
/* Voxel coordinates of the voxel with this index. */
void gls_region_centre(const gls_grid *grid, size_t voxel, double p[3]);

/* The parts of a region's text. */
typedef struct gls_region_text {
    bool is_sphere, is_box;
    double number[6];   /* x, y, z and radius of a sphere; two opposite corners of a box, the lower numbers first */
    char *path;         /* path of an image; from malloc; NULL: a sphere or a box */
    const char *labels; /* text for gls_label_ranges_parse(), in the memory of path; NULL: all voxels > 0 */
} gls_region_text;

/* Splits the text of a region. GLS_ERR_ARGUMENT for an invalid text. option: for messages. */
gls_status gls_region_text_parse(const char *option, const char *text, gls_region_text *parsed);
/* Checks the text of a region, and whether its image can be read (GLS_ERR_INPUT). */
gls_status gls_region_text_check(const char *option, const char *text);

#endif
