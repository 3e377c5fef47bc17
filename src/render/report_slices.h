/* Slices in the pictures of a report: where they lie, which point of the world each pixel shows, and a row of them. */
#ifndef GLS_RENDER_REPORT_SLICES_H
#define GLS_RENDER_REPORT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/image.h>

#include "render/drawing.h"
#include "render/report_parts.h"
#include "render/scene_parts.h"

#define GLS_SLICE_SIDE 300 /* pixels of a side of a slice */
#define GLS_N_SLICES 4     /* slices beside each other in a picture */

/* Box, world mm, of the centres of the voxels above 0; that of the first voxel if there are none. */
void gls_slice_box(const gls_image *inside, gls_box *box);
/* Position of pixel i: in the slice, mm from its centre to the right and up, and in the world. */
void gls_slice_point(const gls_tile *tile, int i, double plane[2], double world[3]);
/* The voxel with the nearest centre; SIZE_MAX outside. to_voxel: inverse of the affine of the grid. */
size_t gls_slice_voxel(const gls_grid *grid, const double to_voxel[3][4], const double world[3]);

/* Whether a place in a slice lies in every second square of a checkerboard of 16 mm. */
bool gls_slice_is_odd(const double plane[2]);
/* Brightness of a value, 0 to 1; of one that is not a number 0. */
float gls_slice_grey(float value, const gls_window *window);
/* Whether pixel i of a slice lies on a border: another value is at its right or below. */
bool gls_slice_is_border(const int32_t *set, int i);

/* Paints one slice into the square of GLS_SLICE_SIDE pixels whose upper left corner is at left, top of the canvas. The
 * tile has the name of its slice, which the function may change. */
typedef void gls_slice_painter(void *user, gls_tile *tile, gls_canvas *canvas, int left, int top);
/* Makes a picture of rows of slices through a box: two axial ones, a coronal and a sagittal one, all of one scale. */
gls_status gls_slices_draw(const gls_box *box, int n_rows, gls_slice_painter *paint, void *user,
                           gls_report_picture *picture);

#endif
