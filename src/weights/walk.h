/* The voxels through which a streamline passes, with length and direction inside each. */
#ifndef GLS_WEIGHTS_WALK_H
#define GLS_WEIGHTS_WALK_H

#include <stdint.h>

#include <glslines/image.h>

#include "weights/sphere.h"

#define GLS_WALK_MAX_RATIO 32
#define GLS_WALK_MAX_STEP 1e5 /* mm between two points */

/* A passage through a voxel of the grid. */
typedef struct gls_visit {
    size_t voxel;
    uint32_t direction; /* of the sphere of lobes */
    double length;      /* along the curve, mm */
} gls_visit;

/* The grid as walks need it; the kernel reads the same block (glsl/weights/map.comp). */
typedef struct gls_walk_block {
    double to_grid[3][4], axis[3][4];
    double metric[2][4]; /* xx, yy, zz, 2 xy, 2 xz, 2 yz of squared lengths, mm2; square of the precision; 1 / ratio */
    double shape[3][4];  /* of each coefficient of a curve: of the ways to the point before, the next, the one behind */
    int32_t size[4];     /* voxels; pieces of each segment, 1 .. GLS_WALK_MAX_RATIO */
    double unit[2];      /* units of length in a mm; mm: sums of this or less make no entry */
} gls_walk_block;

typedef struct gls_walk_grid {
    gls_walk_block block;
    const gls_lobe_sphere *sphere;
} gls_walk_grid;
/* unit: of lengths, mm */
void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight, double unit);

/* Room for one streamline; all zero at first. */
typedef struct gls_walk {
    size_t n, capacity;
    gls_visit *visit;
    bool failed; /* memory ran out */
} gls_walk;
void gls_walk_finish(gls_walk *walk);

/* The visits of n points (any number; one or none has no visits), in order; what lies outside the grid is left out.
 * Points are finite and at most GLS_WALK_MAX_STEP apart. */
void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n);

#endif
