/* The struct behind <glslines/seeds.h>. */
#ifndef GLS_TRACK_SEED_PARTS_H
#define GLS_TRACK_SEED_PARTS_H

#include <glslines/seeds.h>

/* Seeds first .. first + count - 1 of a list or of a sequence of drawn seeds. Immutable once made, except that
 * gls_seeds_restrict() changes the range; any thread may read. */
struct gls_seeds {
    uint64_t first, count;
    float (*point)[3]; /* points of a list; NULL: seeds are drawn */
    /* computes drawn seed i, in voxel coordinates of the grid of tracking */
    void (*draw)(const gls_seeds *seeds, uint64_t i, float point[3]);
    uint64_t rng_seed;
    gls_grid grid;         /* grid of tracking; set for the seeds of seeds_drawn.c only */
    uint32_t *voxel;       /* indices of voxels that get seeds: shuffled, or, with weights, in the order of the image */
    uint64_t n_voxels;     /* length of `voxel` */
    uint32_t dim[2], side; /* dim: numbers of voxels along x and y; side: number of seeds along each axis of a voxel,
                            for seeds on a grid */
    double sphere[4]; /* centre and radius, mm (world); for seeds around voxel centres: the three voxel sizes and the
                         radius, mm */
    double *sum;      /* with weights: sum[i] is the sum of the weights of voxel[0] .. voxel[i]; n_voxels values */
    gls_grid image;   /* grid of the image of weights; with weights, `voxel` has indices in this grid */
    const gls_tissue *tissue; /* seeds on the border of grey and white matter; else NULL. Not owned */
    /* Seeds that come in rounds: seeds fed .. fed + n_fed - 1 are those of the last round, whose positions and unit
     * directions along the voxel axes are borrowed; those before it are forgotten, those behind it have not come. */
    bool in_rounds;
    uint64_t fed, n_fed;
    const float (*position)[3], (*direction)[3];
};

#endif
