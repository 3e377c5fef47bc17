/* Grids of voxels, and images in memory: checks, voxel orders, comparison, allocation. */
#ifndef GLS_IMAGE_GRID_H
#define GLS_IMAGE_GRID_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Allocates an image, like gls_image_create(), on a grid from gls_grid_init(). zeroed = false leaves the values
 * undefined. */
gls_status gls_image_allocate(const gls_grid *grid, size_t n_volumes, bool zeroed, gls_image **image);
/* Converts a direction along the axes of the world to a unit vector along the voxel axes. Returns false, and zeros, if
 * the direction is 0. */
bool gls_grid_direction(const gls_grid *grid, const double world[3], double along[3]);
/* Voxel coordinates of the centre of the voxel with this index; x varies fastest. */
void gls_grid_centre(const gls_grid *grid, size_t voxel, int32_t centre[3]);
/* The smallest box along the axes of the world that holds all voxels of a grid, mm. */
void gls_grid_extent(const gls_grid *grid, double low[3], double high[3]);
/* Whether two grids are the same, so that gls_grid_require_equal() accepts them without a warning. */
bool gls_grid_same(const gls_grid *a, const gls_grid *b);
/* Requires one volume for GLS_IMAGE_3D, and two or more for GLS_IMAGE_4D. GLS_ERR_INPUT names the file. */
gls_status gls_image_kind_check(const char *path, gls_image_kind kind, const gls_grid *grid, size_t n_volumes);
/* Length of a path without the suffix of an image: .nii, .nii.gz, .mif or a similar one. */
size_t gls_image_stem(const char *path);

/* Arguments of a message for "%zu volume%s". */
#define GLS_VOLUMES(n) (size_t)(n), (n) == 1 ? "" : "s"
/* Whether an affine map can be used: its numbers and those of its inverse are at most 1e15, as an image's must be. */
bool gls_affine_is_usable(const double affine[3][4]);
/* Whether a row is the last one of an affine map, 0 0 0 1, to within what programs lose that compute in float32. */
bool gls_affine_has_last_row(const double row[4]);

#endif
