/* Seed points. */
#ifndef GLSLINES_SEEDS_H
#define GLSLINES_SEEDS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of seeds that is made as it is read: a seed depends on nothing but the random seed and its index. Immutable, safe from several threads. */
typedef struct gls_seeds gls_seeds;

/* count seeds in the voxels of roi that are > 0 (and in mask > 0; NULL: no further condition). Voxel i of the V eligible ones, in a random order fixed by rng_seed, holds seeds
 * i, i + V, i + 2V ...: every voxel gets count / V or one more. Inside its voxel a seed is uniform in [-0.5, 0.5)^3.
 * Random numbers: Philox4x32-10, key rng_seed, counter = index of the seed. GLS_ERR_INPUT if roi or its overlap with mask is empty. */
GLS_API gls_status gls_seeds_create_random(const gls_image *roi, const gls_image *mask, uint64_t count, uint64_t rng_seed, gls_seeds **seeds);
/* The same with per_voxel seeds in each voxel. */
GLS_API gls_status gls_seeds_create_per_voxel(const gls_image *roi, const gls_image *mask, uint32_t per_voxel, uint64_t rng_seed, gls_seeds **seeds);
/* From points; world: mm by the grid's affine, else voxel coordinates. Points are copied. */
GLS_API gls_status gls_seeds_create_list(const double (*point)[3], size_t n, bool world, const gls_grid *grid, gls_seeds **seeds);
/* Text file, "x y z" a line, blanks, tabs or commas, '#' comments. GLS_ERR_INPUT names file and line. */
GLS_API gls_status gls_seeds_read(const char *path, bool world, const gls_grid *grid, gls_seeds **seeds);
GLS_API void gls_seeds_destroy(gls_seeds *seeds);

GLS_API uint64_t gls_seeds_count(const gls_seeds *seeds);
/* Voxel coordinates (voxel centres at integers) of seeds first .. first + n - 1. */
GLS_API void gls_seeds_get(const gls_seeds *seeds, uint64_t first, size_t n, float (*point)[3]);

#ifdef __cplusplus
}
#endif
#endif
