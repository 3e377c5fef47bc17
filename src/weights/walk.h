/* The voxels through which a streamline passes, with length and direction inside each. */
#ifndef GLS_WEIGHTS_WALK_H
#define GLS_WEIGHTS_WALK_H

#include <stdint.h>

#include <glslines/image.h>

#define GLS_WALK_MAX_RATIO 32
#define GLS_WALK_MAX_STEP 1e5 /* mm between two points */

/* A passage through a voxel of the grid. */
typedef struct gls_visit {
    size_t voxel;
    double chord[3]; /* from entry to exit, mm */
    double length;   /* along the curve, mm */
} gls_visit;

/* The grid as walks need it. */
typedef struct gls_walk_grid {
    int32_t dim[3];
    double to_voxel[3][4];
    double precision;                    /* mm: how exactly a curve is cut at the faces of voxels */
    uint32_t ratio;                      /* pieces of each segment, 1 .. GLS_WALK_MAX_RATIO */
    bool straight;                       /* straight segments; else a cubic through the points */
    double piece[GLS_WALK_MAX_RATIO][4]; /* weights of the four points round a segment at the start of each piece */
} gls_walk_grid;
void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight);

/* Room for one streamline; all zero at first. */
typedef struct gls_walk {
    size_t n, capacity;
    gls_visit *visit;
    size_t n_points, point_capacity;
    double (*point)[3];
    bool failed; /* memory ran out */
} gls_walk;
void gls_walk_finish(gls_walk *walk);

/* The visits of n points (any number; one or none has no visits), in order; what lies outside the grid is left out.
 * Points are finite and at most GLS_WALK_MAX_STEP apart. */
void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n);

#endif
