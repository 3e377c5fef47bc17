/* Inside of <glslines/seeds.h>. */
#ifndef GLS_TRACK_SEEDS_H
#define GLS_TRACK_SEEDS_H

#include <glslines/seeds.h>

#define GLS_SEED_FAR_AWAY 1e30f /* voxels: outside of any grid, and still a float */

struct gls_seeds {
    uint64_t first, count;
    float (*point)[3]; /* of a list, else NULL */
    /* of drawn seeds: seed i in voxel coordinates */
    void (*draw)(const gls_seeds *seeds, uint64_t i, float point[3]);
    uint64_t rng_seed;
    gls_grid grid;   /* of the streamlines */
    uint32_t *voxel; /* voxels with seeds in random order */
    uint64_t n_voxels;
    uint32_t dim[2], side; /* side: seeds along the axes of a voxel, on a grid */
    double sphere[4];      /* voxel coordinates of the centre, radius in mm */
    double *sum;           /* n_voxels sums of weights up to each of the voxels of an image */
    gls_grid image;
    const gls_tissue *tissue;
};

/* The float nearest to position that any rule of rounding to the nearest integer maps to centre. */
float gls_seed_inside_voxel(double position, int32_t centre);

#endif
