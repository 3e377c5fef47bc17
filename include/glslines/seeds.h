/* Seed points of tracking. */
#ifndef GLSLINES_SEEDS_H
#define GLSLINES_SEEDS_H

#include <glslines/image.h>
#include <glslines/tissue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of seeds. Random seeds are computed when they are read, from the random seed and their index alone. Several
 * threads may read a list; only gls_seeds_restrict() changes it. */
typedef struct gls_seeds gls_seeds;

/* Makes count > 0 random seeds in the voxels in which roi and mask (NULL: roi alone) are > 0 and finite; both are one
 * volume on the same grid. There are V such voxels, put in a random order by rng_seed; voxel i of this order gets the
 * seeds i, i + V, i + 2V ..., so that every voxel gets count / V seeds or one more. Inside its voxel a seed is uniform
 * in (-0.5, 0.5)^3; rounding its coordinates to the nearest integers gives the voxel. Random numbers: Philox4x32-10
 * (Salmon et al. 2011), key rng_seed, counter = index of the seed. Memory does not grow with count. GLS_ERR_INPUT: roi
 * or its overlap with mask is empty, or the grids differ. GLS_ERR_UNSUPPORTED: the grid has 2^32 voxels or more. */
GLS_API gls_status gls_seeds_create_random(const gls_image *roi, const gls_image *mask, uint64_t count,
                                           uint64_t rng_seed, gls_seeds **seeds);
/* Makes per_voxel > 0 random seeds in each voxel of roi and mask (NULL: roi alone): gls_seeds_create_random() with
 * count = per_voxel V. */
GLS_API gls_status gls_seeds_create_per_voxel(const gls_image *roi, const gls_image *mask, uint32_t per_voxel,
                                              uint64_t rng_seed, gls_seeds **seeds);
/* Makes per_voxel > 0 seeds for each of the V voxels of gls_seeds_create_random() (mask NULL: roi alone), uniform
 * within `radius` mm of the voxel's centre (radius 0: at the centre). With a large radius seeds may lie in neighbouring
 * voxels. Seed i belongs to voxel i modulo V. Since 0.2.0. */
GLS_API gls_status gls_seeds_create_around_centres(const gls_image *roi, const gls_image *mask, uint32_t per_voxel,
                                                   double radius, uint64_t rng_seed, gls_seeds **seeds);
/* Makes a grid of side x side x side seeds (side 1 to 1000) in each of the V voxels of gls_seeds_create_random() (mask
 * NULL: roi alone): along each axis at -0.5 + (2 k + 1) / (2 side) from the centre, k = 0 .. side - 1. Seed i lies in
 * voxel i modulo V and has the index i / V in this voxel's grid, in which x changes slowest. */
GLS_API gls_status gls_seeds_create_grid(const gls_image *roi, const gls_image *mask, uint32_t side, uint64_t rng_seed,
                                         gls_seeds **seeds);
/* Makes count > 0 seeds, uniform in a sphere. centre and radius: world mm. grid: of the streamlines. */
GLS_API gls_status gls_seeds_create_sphere(const double centre[3], double radius, const gls_grid *grid, uint64_t count,
                                           uint64_t rng_seed, gls_seeds **seeds);
/* Makes count > 0 seeds from an image of weights >= 0 on any grid: the number in a voxel is proportional to its weight,
 * and seeds are uniform inside the voxel. name: for messages. GLS_ERR_INPUT: a weight below 0 or not finite, or all
 * weights are 0. */
GLS_API gls_status gls_seeds_create_weighted(const gls_image *weights, const char *name, const gls_grid *grid,
                                             uint64_t count, uint64_t rng_seed, gls_seeds **seeds);
/* Makes count > 0 seeds on the interface of grey and white matter: random positions are moved to the interface, along
 * it, and to it again (the rule of MRtrix3, with the gradient in closed form). weights, name: of an image in proportion
 * to which the positions are drawn, as for gls_seeds_create_weighted(). A seed for which 1000 positions failed lies
 * outside every grid. The tissue, on whose grid the seeds are, must outlive them. GLS_ERR_INPUT: as for
 * gls_seeds_create_weighted(), or no interface was found. */
GLS_API gls_status gls_seeds_create_interface(const gls_tissue *tissue, const gls_image *weights, const char *name,
                                              uint64_t count, uint64_t rng_seed, gls_seeds **seeds);
/* Coordinates in which seeds are listed. */
typedef enum gls_seed_space {
    GLS_SEEDS_VOXEL, /* voxel coordinates, with voxel centres at integers */
    GLS_SEEDS_WORLD  /* world coordinates: mm, RAS+ */
} gls_seed_space;

/* Makes seeds from a list of points; seed i is point i. Points outside the grid are kept: tracking counts them as seeds
 * without a direction, and one warning gives their number and the first of them. GLS_ERR_INPUT: all points are outside
 * (probably given in the other space), a coordinate is not finite, or the list is empty. */
GLS_API gls_status gls_seeds_create_list(const double (*point)[3], size_t n, gls_seed_space space, const gls_grid *grid,
                                         gls_seeds **seeds);
/* Like gls_seeds_create_list(), from a text file: "x y z" in a line, separated by blanks, tabs or commas; '#' comments.
 * Messages name the file, and the line or the number of the seed. */
GLS_API gls_status gls_seeds_read(const char *path, gls_seed_space space, const gls_grid *grid, gls_seeds **seeds);
/* Frees `seeds`, which may be NULL. */
GLS_API void gls_seeds_destroy(gls_seeds *seeds);

/* Keeps the seeds first .. first + n - 1 (n may be 0) and removes all others. The kept seeds have the same indices, and
 * so the same random numbers, as before: tracking them gives the streamlines that tracking the whole list gives for
 * them. GLS_ERR_ARGUMENT if they are not all in the list. */
GLS_API gls_status gls_seeds_restrict(gls_seeds *seeds, uint64_t first, uint64_t n);

/* Number of seeds in the list; after gls_seeds_restrict(), of the seeds that are left. */
GLS_API uint64_t gls_seeds_count(const gls_seeds *seeds);
/* Index of the first seed: 0 unless gls_seeds_restrict() was called. */
GLS_API uint64_t gls_seeds_first(const gls_seeds *seeds);
/* Voxel coordinates (voxel centres at integers) of seeds first .. first + n - 1, which must be in the list. */
GLS_API void gls_seeds_get(const gls_seeds *seeds, uint64_t first, size_t n, float (*point)[3]);

#ifdef __cplusplus
}
#endif
#endif
