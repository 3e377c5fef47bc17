/* Brings images to the grid of a run: reorders the voxels of a grid that differs only in the order and direction of its
 * axes, as MRtrix3 may write it, and turns images of any grid into masks. */
#ifndef GLS_IMAGE_REORIENT_H
#define GLS_IMAGE_REORIENT_H

#include <glslines/common.h>
#include <glslines/image.h>

/* If the image's grid differs from `grid` only in the order and directions of its axes, replaces the image by one on
 * `grid` that has the same values at the same world positions. Otherwise leaves the image as it is. name: name of the
 * image for messages. */
gls_status gls_image_reorient(gls_image **image, const char *name, const gls_grid *grid);

/* Which positions of an image count. */
typedef struct gls_image_choice {
    bool interpolated;    /* true: take values between voxels, where voxels outside are 0; else of the nearest voxel */
    float above;          /* a position counts if its value is above this limit; unused with labels */
    const int32_t *label; /* a position counts if its nearest voxel has one of these values; NULL: no labels */
    size_t n_labels;
} gls_image_choice;

/* Reads an image of one volume and of any grid, and makes an image on `grid` that is 1 where the centre of a voxel
 * counts, else 0. */
gls_status gls_image_choose(const char *path, const gls_image_choice *choice, const gls_grid *grid, gls_image **chosen);
/* Reads an image of one volume onto `grid`: as by gls_image_reorient(), and then its grid must be equal to `grid`.
 * name_of_grid: the file with that grid, for messages. */
gls_status gls_image_read_on_grid(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **image);
/* Reads a mask, whose voxels above 0 count, onto `grid`: as gls_image_read_on_grid() where the grids are equal; else
 * the mask is resampled to `grid` by the nearest voxel, with a warning. GLS_ERR_INPUT: less than half of its volume
 * would be left. */
gls_status gls_image_read_mask(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **mask);
/* Reads the grid of an image. */
gls_status gls_grid_read(const char *path, gls_grid *grid);
/* Fills in *count: number of voxels above 0. GLS_ERR_INPUT if there are none; name and kind are for the message. */
gls_status gls_image_count_voxels(const gls_image *image, const char *name, const char *kind, uint64_t *count);
/* Returns GLS_ERR_INPUT if every value is 0 or not finite. what: the word for what is missing in the message, such as
 * "peak". */
gls_status gls_image_require_values(const gls_image *image, const char *name, const char *what);

#endif
