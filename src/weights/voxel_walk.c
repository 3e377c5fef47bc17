/* Walks streamlines through voxels on the CPU, with the same text (glsl/weights/walk.glsl) as the kernel. */

#include <glslines/image.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weights/voxel_walk.h"
#include "util/allocation.h"
#include "weights/fixel_rows_parts.h"
#include "weights/lobe_sphere.h"
#include "weights/shared.h"

typedef struct Spot Spot;
typedef struct Cell Cell;
typedef struct Curve Curve;
typedef struct Exit Exit;

/* Names that the shared text uses. */
#define GRID_PARAMETER const gls_walk_grid *grid,
#define GRID grid,
#define WALK_PARAMETERS gls_walk *walk, const gls_walk_grid *grid, const float(*point)[3],
#define RATIO ((uint32_t)grid->block.size[3])
#define TO_GRID(r, c) grid->block.to_grid[r][c]
#define AXIS(r, c) grid->block.axis[r][c]
#define METRIC(i) grid->block.metric[(i) / 4][(i) % 4]
#define PRECISION grid->block.metric[1][2]
#define PIECE grid->block.metric[1][3]
#define SHAPE(k, i) grid->block.shape[k][i]
#define VERTEX(i) spot_of(grid, (double)point[i][0], (double)point[i][1], (double)point[i][2])
#define VISIT(cell, entry, leave, length) add_visit(walk, grid, cell, entry, leave, length)
#define DIRECTION(i, r) grid->sphere->direction[i][r]
#define NEIGHBOUR(i, k) grid->sphere->neighbour[i][k]
#define START(i) (&grid->sphere->start[0][0][0])[i]

#include "weights/walk.glsl"

/* Stores a visit to a voxel; visits outside the grid are left out. walk->failed: memory ran out. */
static void add_visit(gls_walk *walk, const gls_walk_grid *grid, Cell at, Spot entry, Spot leave, double length)
{
    const int32_t *size = grid->block.size;
    if (at.x < 0 || at.y < 0 || at.z < 0 || at.x >= size[0] || at.y >= size[1] || at.z >= size[2]) return;
    if (!gls_list_reserve(&walk->visit, walk->n, &walk->capacity, 256, sizeof *walk->visit)) {
        walk->failed = true;
        return;
    }
    walk->visit[walk->n++] =
        (gls_visit){((size_t)at.z * (size_t)size[1] + (size_t)at.y) * (size_t)size[0] + (size_t)at.x,
                    direction_of(grid, entry, leave), length};
}

#include "weights/walk_along.glsl"
#undef uint
#undef abs

/* Sets the metric M with d' M d = |A d|^2, where A is the affine of the grid. */
static void set_metric(const gls_grid *grid, double metric[2][4])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int r = 0; r < 3; r++) sum += grid->affine[r][row[i]] * grid->affine[r][column[i]];
        metric[i / 4][i % 4] = i < 3 ? sum : 2 * sum;
    }
}

void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight, double unit)
{
    /* cubic: Hermite spline of tension 0.1; line: straight */
    static const double cubic[3][4] = {{-0.45, 0.45, 0}, {0.9, 2.1, -0.45}, {-0.45, -1.55, 0.45}},
                        line[3][4] = {{0, 1, 0}};
    /* the walk finds the face between two voxels to 0.005 of the smallest side */
    const double *side = grid->voxel_size, precision = 0.005 * fmin(side[0], fmin(side[1], side[2]));
    gls_walk_block *b = &walk->block;
    *walk = (gls_walk_grid){.sphere = gls_lobe_sphere_get()};
    gls_grid_inverse(grid, b->to_grid);
    for (int r = 0; r < 3; r++) memcpy(b->axis[r], grid->affine[r], 3 * sizeof(double));
    set_metric(grid, b->metric);
    b->metric[1][2] = precision * precision;
    b->metric[1][3] = 1 / (double)ratio;
    memcpy(b->shape, straight ? line : cubic, sizeof b->shape);
    for (int a = 0; a < 3; a++) b->size[a] = grid->dim[a];
    /* 1 / unit turns mm into units; portions of up to half a unit round to 0 and make no entry */
    b->size[3] = (int32_t)ratio;
    b->unit[0] = 1 / unit;
    b->unit[1] = 0.5 * unit;
}

void gls_walk_finish(gls_walk *walk)
{
    free(walk->visit);
    *walk = (gls_walk){0};
}

void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n)
{
    walk->n = 0;
    if (n >= 2) walk_along(walk, grid, point, (uint32_t)n);
}
