/* Inside of <glslines/image.h>. */
#ifndef GLS_IMAGE_IMAGE_H
#define GLS_IMAGE_IMAGE_H

#include <glslines/image.h>

/* As gls_image_create() for a grid from gls_grid_init(); without zeroed the contents are undefined. */
gls_status gls_image_allocate(const gls_grid *grid, size_t n_volumes, bool zeroed, gls_image **image);

#endif
