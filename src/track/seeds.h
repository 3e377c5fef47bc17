/* Seeds from lists and files, and random or regular seeds in the voxels of a region. */
#ifndef GLS_TRACK_SEEDS_H
#define GLS_TRACK_SEEDS_H

#include <stdint.h>

#include <glslines/seeds.h>

#define GLS_SEED_FAR_AWAY 1e30f /* voxel coordinate outside any grid, for "no position found" */

/* The float nearest to `position` that rounds to `centre` under any rule for ties. */
float gls_seed_inside_voxel(double position, int32_t centre);

/* Turns three random words into an offset that is uniform in a ball: the cube root makes the radius uniform in volume,
 * and z is uniform on the sphere (Archimedes). */
void gls_seeds_in_ball(double radius, const uint32_t word[3], double offset[3]);

/* Makes a list of `count` seeds that come in rounds, because what became of earlier seeds decides where later ones lie.
 * It begins without seeds. */
gls_status gls_seeds_create_in_rounds(uint64_t count, gls_seeds **seeds);
/* Adds a round of n seeds, which takes the place of the last one, all seeds of which must be tracked. position: in
 * voxels; direction: of unit length, along the voxel axes; both are borrowed until the next round. */
void gls_seeds_add_round(gls_seeds *seeds, size_t n, const float (*position)[3], const float (*direction)[3]);
/* Whether the seeds come in rounds, and so have directions. */
bool gls_seeds_are_in_rounds(const gls_seeds *seeds);
/* Index behind the last seed that has come. For seeds that do not come in rounds: behind the last of all. */
uint64_t gls_seeds_end(const gls_seeds *seeds);
/* Directions of seeds of the last round, as for gls_seeds_get(). */
void gls_seeds_get_directions(const gls_seeds *seeds, uint64_t first, size_t n, float (*direction)[3]);

#endif
