/* Inside of <glslines/image.h>. */
#ifndef GLS_IMAGE_IMAGE_H
#define GLS_IMAGE_IMAGE_H

#include <glslines/image.h>

/* As gls_image_create() for a grid from gls_grid_init(); without zeroed the contents are undefined. */
gls_status gls_image_allocate(const gls_grid *grid, size_t n_volumes, bool zeroed, gls_image **image);

/* A direction along the world's axes as a unit vector along those of voxels; false, and 0, where it is 0. */
bool gls_grid_direction(const gls_grid *grid, const double world[3], double along[3]);
/* Whether gls_grid_require_equal() takes them for equal without a warning. */
bool gls_grid_same(const gls_grid *a, const gls_grid *b);
/* If the grid of the image differs from this one in the order and the directions of its axes alone, replaces it by an
 * image on this grid, with the same values in the same places of the world; else leaves it as it is. */
gls_status gls_image_reorient(gls_image **image, const char *name, const gls_grid *grid);

#endif
