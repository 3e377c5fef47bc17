/* Seed points. */
#ifndef GLSLINES_SEEDS_H
#define GLSLINES_SEEDS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of seeds that is made as it is read: a seed depends on nothing but the random seed and its index. Immutable
 * but for gls_seeds_restrict(), safe from several threads. */
typedef struct gls_seeds gls_seeds;

/* count > 0 seeds in the voxels of roi that are > 0 and finite (in mask, too; NULL: no further condition; one volume
 * each, same grid). Voxel i of the V eligible ones, in a random order fixed by rng_seed, holds seeds i, i + V, i + 2V
 * ...: every voxel gets count / V or one more. Inside its voxel a seed is uniform in (-0.5, 0.5)^3, and any way of
 * rounding its coordinates gives the voxel back. Random numbers: Philox4x32-10, key rng_seed, counter = index of the
 * seed; memory does not grow with count. GLS_ERR_INPUT if roi or its overlap with mask is empty or the grids differ. */
GLS_API gls_status gls_seeds_create_random(const gls_image *roi, const gls_image *mask, uint64_t count,
                                           uint64_t rng_seed, gls_seeds **seeds);
/* The same with per_voxel > 0 seeds in each voxel: gls_seeds_create_random() with count = per_voxel V. */
GLS_API gls_status gls_seeds_create_per_voxel(const gls_image *roi, const gls_image *mask, uint32_t per_voxel,
                                              uint64_t rng_seed, gls_seeds **seeds);
/* From points; world: mm by the grid's affine, else voxel coordinates. Points are copied, in their order, so that index
 * i stays point i: those outside the grid are kept (tracking counts them as seeds without a direction) and one warning
 * tells their number and the first. GLS_ERR_INPUT if all are outside (the wrong space, mostly), for a coordinate that
 * is not finite, and for an empty list. */
GLS_API gls_status gls_seeds_create_list(const double (*point)[3], size_t n, bool world, const gls_grid *grid,
                                         gls_seeds **seeds);
/* The same from a text file, "x y z" a line, blanks, tabs or commas, '#' comments. Messages name the file and the line
 * (of what is not a number) or the number of the seed. */
GLS_API gls_status gls_seeds_read(const char *path, bool world, const gls_grid *grid, gls_seeds **seeds);
/* Accepts NULL. */
GLS_API void gls_seeds_destroy(gls_seeds *seeds);

/* Leaves seeds first .. first + n - 1 (n may be 0), which keep their indices and so their random numbers: what tracking
 * them gives is a part of what tracking all of them gives. GLS_ERR_ARGUMENT if they are not all in the list. */
GLS_API gls_status gls_seeds_restrict(gls_seeds *seeds, uint64_t first, uint64_t n);

GLS_API uint64_t gls_seeds_count(const gls_seeds *seeds);
/* Index of the first seed: 0 but for gls_seeds_restrict(). */
GLS_API uint64_t gls_seeds_first(const gls_seeds *seeds);
/* Voxel coordinates (voxel centres at integers) of seeds first .. first + n - 1, which must be in the list. */
GLS_API void gls_seeds_get(const gls_seeds *seeds, uint64_t first, size_t n, float (*point)[3]);

#ifdef __cplusplus
}
#endif
#endif
