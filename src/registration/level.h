/* Images as registration compares them: without values that are not finite, and on the coarser grids of its levels. */
#ifndef GLS_REGISTRATION_LEVEL_H
#define GLS_REGISTRATION_LEVEL_H

#include <glslines/image.h>

/* One volume, and which of its voxels count. */
typedef struct gls_level {
    gls_grid grid;
    float *value;         /* values; a value that is not finite in the image is 0 here, and its voxel does not count */
    uint8_t *mask;        /* 1: the voxel counts, else 0 */
    double to_full[3][4]; /* voxel coordinates of this level to those of the image itself */
} gls_level;

/* Takes one volume of an image. mask: an image on the same grid; only its voxels above 0 count. without: an image on
 * the same grid; its voxels above 0 do not count. Either may be NULL. *n_bad: voxels whose value is not finite.
 * GLS_ERR_INPUT, with the name: more than half of them are not finite, none counts, or all that count have the same
 * value. */
gls_status gls_level_init(gls_level *level, const gls_image *image, size_t volume, const gls_image *mask,
                          const gls_image *without, const char *name, uint64_t *n_bad);
/* Makes a level with voxels of `voxel` mm: smooths each axis by a Gaussian of half a new voxel, then samples. Axes
 * whose voxels would grow by less than 1.5 times stay as they are. */
gls_status gls_level_shrink(const gls_level *full, double voxel, gls_level *level);
/* Makes a level with voxels half as long (parts 2), from the first centre to the last one: the values of `from`, and
 * between them those of cubic curves through four neighbours. A voxel counts if all voxels between which it lies do.
 * With parts 1 it is a copy. */
gls_status gls_level_refine(const gls_level *from, int parts, gls_level *level);
/* Frees the memory of the level, which may be all 0. */
void gls_level_finish(gls_level *level);

/* Computes the quantiles q[0 .. n - 1] of the values that count and are above `above`, by a histogram of 65,536 bins.
 * All are 0 if there are no such values. */
void gls_level_quantiles(const gls_level *level, double above, const double *q, size_t n, double *out);
/* Computes the centre of mass, world mm, of the values above 0, which are cut at their 99th percentile; without such
 * values, the centre of the grid. */
void gls_level_centre(const gls_level *level, double centre[3]);

#endif
