/* Streamlines on the CPU: the text of the kernel that maps them. */
#include "weights/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "weights/sphere.h"
#include "weights/shared.h"

typedef struct Spot Spot;
typedef struct Cell Cell;
typedef struct Blend Blend;
typedef struct Exit Exit;

/* What the walk is given, and how it names that. */
#define GRID_PARAMETER const gls_walk_grid *grid,
#define GRID grid,
#define WALK_PARAMETERS gls_walk *walk, const gls_walk_grid *grid, const float(*point)[3],
#define STRAIGHT (grid->block.shape[0] != 0)
#define RATIO ((uint32_t)grid->block.size[3])
#define TO_GRID(r, c) grid->block.to_grid[r][c]
#define AXIS(r, c) grid->block.axis[r][c]
#define METRIC(i) grid->block.metric[(i) / 4][(i) % 4]
#define PRECISION grid->block.metric[1][2]
#define PIECE(k) piece_of(grid, k)
#define VERTEX(i) spot_of(grid, point[i][0], point[i][1], point[i][2])
#define VISIT(cell, entry, leave, length) add_visit(walk, grid, cell, entry, leave, length)
#define DIRECTION(i, r) grid->sphere->rounded[i][r]
#define NEIGHBOUR(i, k) grid->sphere->neighbour[i][k]
#define START(i) (&grid->sphere->start[0][0][0])[i]

#include "weights/walk.glsl"

static Blend piece_of(const gls_walk_grid *grid, uint32_t k)
{
    const float *w = grid->piece[k];
    return (Blend){w[0], w[1], w[2]};
}

static void add_visit(gls_walk *walk, const gls_walk_grid *grid, Cell at, Spot entry, Spot leave, float length)
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

/* d' M d = |A d|^2 */
static void set_metric(const gls_grid *grid, float metric[2][4])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int r = 0; r < 3; r++) sum += grid->affine[r][row[i]] * grid->affine[r][column[i]];
        metric[i / 4][i % 4] = (float)(i < 3 ? sum : 2 * sum);
    }
}

void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight)
{
    const double *side = grid->voxel_size, precision = 0.005 * fmin(side[0], fmin(side[1], side[2]));
    gls_walk_block *b = &walk->block;
    double inverse[3][4];
    *walk = (gls_walk_grid){.sphere = gls_lobe_sphere_get()};
    gls_grid_inverse(grid, inverse);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            b->to_grid[r][c] = (float)inverse[r][c];
            b->axis[r][c] = c < 3 ? (float)grid->affine[r][c] : 0;
        }
    set_metric(grid, b->metric);
    b->metric[1][2] = (float)(precision * precision);
    b->metric[1][3] = 1 / (float)ratio;
    for (int a = 0; a < 3; a++) b->size[a] = grid->dim[a];
    b->size[3] = (int32_t)ratio;
    b->shape[0] = straight;
    b->shape[1] = (int32_t)gls_grid_voxels(grid);
    for (uint32_t k = 0; k < ratio; k++) {
        Blend w = blend_at(walk, (float)k * b->metric[1][3]);
        memcpy(walk->piece[k], &w, sizeof walk->piece[k]);
    }
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
