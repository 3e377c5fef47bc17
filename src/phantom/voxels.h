/* What is in a voxel of the phantom: tissues and fibres by sampling it at 27 points. */
#ifndef GLS_PHANTOM_VOXELS_H
#define GLS_PHANTOM_VOXELS_H

#include "phantom/parts.h"

typedef struct phantom_scene {
    const phantom_tube *tube;
    size_t n_tubes;
    double scale[3];      /* reference frame to world */
    double map[3][4];     /* voxel to reference frame */
    double offset[27][3]; /* of the sample points from the voxel's centre, reference frame */
    double radius;        /* of the sphere that holds them */
    gls_phantom *phantom; /* whose images are filled */
} phantom_scene;

void gls_phantom_scene_init(phantom_scene *scene, gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                            const double scale[3]);

/* Storage of a row for gls_phantom_row_sample() and the scratch of gls_phantom_signal(). */
typedef struct phantom_bench {
    phantom_row row;
    float *scratch;
    uint16_t *slab; /* candidate slabs of all tubes, one after another */
    struct phantom_share *share;
} phantom_bench;

/* False if memory ran out; finish it in either case. */
bool gls_phantom_bench_init(phantom_bench *bench, const phantom_scene *scene);
void gls_phantom_bench_finish(phantom_bench *bench);

/* Samples the voxels (., y, z): fills bench->row and these voxels of the phantom's mask, roi, tissue, peaks and
 * bundles. */
void gls_phantom_row_sample(const phantom_scene *scene, int y, int z, phantom_bench *bench);

#endif
