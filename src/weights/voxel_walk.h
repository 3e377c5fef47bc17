/* Walks streamlines through voxels on the CPU, with the same text (glsl/weights/walk.glsl) as the kernel. */
#ifndef GLS_WEIGHTS_VOXEL_WALK_H
#define GLS_WEIGHTS_VOXEL_WALK_H

#include <glslines/image.h>

#include "weights/fixel_rows_parts.h"

/* Fills *walk. ratio: pieces of each segment. straight: straight segments instead of a cubic curve. unit: unit of
 * length, mm. */
void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight, double unit);
/* Frees the visits. */
void gls_walk_finish(gls_walk *walk);
/* Finds the visits of n points, in order; parts outside the grid are left out. With fewer than two points there are no
 * visits. Points must be finite, and no coordinate may change by more than GLS_WALK_MAX_STEP from point to point. */
void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n);

#endif
