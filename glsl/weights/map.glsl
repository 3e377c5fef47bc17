// Inputs of the kernels that walk along streamlines and find fixels, and the fixel of a direction. The file that
// includes this one defines note(), which gets each visit, and includes walk_along.glsl behind it.
layout(std140, binding = 0) uniform Grid {
    dvec4 to_grid[3]; // rows of a matrix from mm to the grid
    dvec4 axis[3];    // rows of a matrix from the grid to mm, without translation
    dvec4 metric[2];  // factors of squared lengths in mm2: xx, yy, zz, 2 xy, 2 xz, 2 yz; square of the precision in
                      // mm2; 1 / ratio
    dvec4 shape[3];   // coefficients of curves, see walk.glsl
    ivec4 size;       // size of the grid; number of pieces of a segment
    dvec2 unit;       // number of units of length in a mm; length, in mm, above which joined visits count
};
layout(location = 0) uniform uint n_streamlines;

layout(std430, binding = 0) readonly buffer Points { float point[]; };
// 1281 directions in words; six neighbours of each; starting directions for cells of a cube; for each voxel its first
// fixel, the offset of its lobes, and mask bits; lobes of 1281 directions, four bits each
layout(std430, binding = 1) readonly buffer Lobes { uint lobes[]; };
// first point of each streamline, and the end of the last
layout(std430, binding = 5) readonly buffer Starts { uint start[]; };

// Stands for an index where there is none. The numbers below are the indices at which parts of Lobes begin.
const uint nothing = 0xffffffffu;
const uint neighbours_at = 6u * 1281u, starts_at = 12u * 1281u, voxels_at = 12u * 1281u + 3072u;

// The streamline of this invocation: the index of its first point, and the number of its visits.
uint begins, n_visits;

#define GRID_PARAMETER
#define GRID
#define WALK_PARAMETERS
#define RATIO uint(size.w)
#define TO_GRID(r, c) to_grid[r][c]
#define AXIS(r, c) axis[r][c]
#define METRIC(i) metric[(i) / 4][(i) % 4]
#define PRECISION metric[1].z
#define PIECE metric[1].w
#define SHAPE(k, i) shape[k][i]
#define VERTEX(i) vertex(i)
#define VISIT(c, e, l, d) note(c, e, l, d)
#define DIRECTION(i, r) from_words(lobes[6u * (i) + 2u * uint(r)], lobes[6u * (i) + 2u * uint(r) + 1u])
#define NEIGHBOUR(i, k) lobes[neighbours_at + 6u * (i) + (k)]
#define START(i) lobes[starts_at + (i)]

#include "weights/walk.glsl"

// Point i of this invocation's streamline, in grid coordinates.
Spot vertex(uint i)
{
    uint at = 3u * (begins + i);
    return spot_of(double(point[at]), double(point[at + 1u]), double(point[at + 2u]));
}

// Fixel of a direction in a voxel, or `nothing`. Each direction has four bits: the index of its lobe in the voxel, 15
// for none.
uint fixel_at(uint voxel, uint direction)
{
    uint at = lobes[voxels_at + 3u * voxel + 1u];
    if (at == nothing) return nothing;
    uint lobe = lobes[at + direction / 8u] >> (direction % 8u * 4u) & 15u;
    return lobe == 15u ? nothing : lobes[voxels_at + 3u * voxel] + lobe;
}
