// A field of ODFs in buffers, voxel by voxel: the values of all directions of a voxel lie together, in CELL_CORNERS
// half floats each. With 2 corners a word also holds the value of the next voxel along x; with 8 corners the values of
// a whole cell are one load. With 1 corner two directions share a word. On GPUs, samples along many directions near
// one position are faster from cells than from textures, where each direction has a tile of its own.
#include "odf/sphere.glsl"

#if CELL_CORNERS == 2
layout(std430, binding = 4) readonly buffer Pairs { uint pairs[]; };
#else
// Each buffer has CELL_LAYERS layers of voxels; with CELL_CORNERS 1 also the first layer of the next buffer.
#if CELL_CORNERS == 1
#define WORDS uint
#else
#define WORDS uvec4
#endif
layout(std430, binding = 4) readonly buffer Part0 { WORDS part0[]; };
#if CELL_BUFFERS > 1
layout(std430, binding = 5) readonly buffer Part1 { WORDS part1[]; };
#endif
#if CELL_BUFFERS > 2
layout(std430, binding = 6) readonly buffer Part2 { WORDS part2[]; };
#endif
#if CELL_BUFFERS > 3
layout(std430, binding = 7) readonly buffer Part3 { WORDS part3[]; };
#endif

// Returns word `at` of buffer `part`. The buffers are not an array, because the index of an array of buffers must be
// the same for all invocations, which may need different buffers.
WORDS words_at(uint part, uint at)
{
#if CELL_BUFFERS > 1
    if (part == 1u) return part1[at];
#endif
#if CELL_BUFFERS > 2
    if (part == 2u) return part2[at];
#endif
#if CELL_BUFFERS > 3
    if (part == 3u) return part3[at];
#endif
    return part0[at];
}
#endif

struct Cell {
    uint corner; // index of the first element of the voxel with the lowest coordinates, in its buffer
    uint part;   // index of the buffer
    vec3 f;      // position in the cell, 0 .. 1
};

const uint VOXEL = uint(CELL_CORNERS > 1 ? N_VERTICES : (N_VERTICES + 1) / 2); // elements of a voxel, see below
// Distances to the next voxel along each axis, in elements of the buffer: words, or with 8 corners uvec4, which hold
// eight values of half precision. 0 where the grid has one voxel.
const uint NEXT_X = GRID_NX > 1 ? VOXEL : 0u;
const uint NEXT_Y = GRID_NY > 1 ? uint(GRID_NX) * VOXEL : 0u;
const uint NEXT_Z = GRID_NZ > 1 ? uint(GRID_NX * GRID_NY) * VOXEL : 0u;

// The cell of eight voxel centres around p, which is first clamped to the outermost centres.
Cell cell_at(vec3 p)
{
    vec3 q = clamp(p, vec3(0.0), GRID - 1.0), c = min(floor(q), max(GRID - 2.0, vec3(0.0)));
    uint z = uint(c.z), part = CELL_BUFFERS > 1 ? z / uint(CELL_LAYERS) : 0u;
    uint voxel = ((z - part * uint(CELL_LAYERS)) * uint(GRID_NY) + uint(c.y)) * uint(GRID_NX) + uint(c.x);
    return Cell(voxel * VOXEL, part, q - c);
}

#if CELL_CORNERS == 1
// Returns a pair along x, made from two single values. shift: 0 or 16, if the lower or the upper 16 bits of a word hold
// the value of the direction.
uint pair_of(uint part, uint at, uint shift)
{
    return (words_at(part, at) >> shift & 0xffffu) | (words_at(part, at + NEXT_X) >> shift & 0xffffu) << 16;
}
#endif

// The eight values of one direction in a cell, as pairs along x at (y, z), (y + 1, z), (y, z + 1) and (y + 1, z + 1).
uvec4 corners(Cell cell, uint index)
{
#if CELL_CORNERS == 1
    uint at = cell.corner + index / 2u, shift = index % 2u * 16u;
    return uvec4(pair_of(cell.part, at, shift), pair_of(cell.part, at + NEXT_Y, shift),
                 pair_of(cell.part, at + NEXT_Z, shift), pair_of(cell.part, at + NEXT_Y + NEXT_Z, shift));
#elif CELL_CORNERS == 2
    uint at = cell.corner + index;
    return uvec4(pairs[at], pairs[at + NEXT_Y], pairs[at + NEXT_Z], pairs[at + NEXT_Y + NEXT_Z]);
#else
    return words_at(cell.part, cell.corner + index);
#endif
}

// Trilinear interpolation of the value of one direction in a cell.
float cell_value(Cell cell, int index)
{
    uvec4 words = corners(cell, uint(index));
    vec2 near = mix(unpackHalf2x16(words.x), unpackHalf2x16(words.y), cell.f.y);
    vec2 far = mix(unpackHalf2x16(words.z), unpackHalf2x16(words.w), cell.f.y);
    vec2 row = mix(near, far, cell.f.z);
    return mix(row.x, row.y, cell.f.x);
}

// Index of the value of vertex v among the values of a voxel; the host chooses the order (src/track/getter/ptt.c).
int index_of_vertex(int v) { return MODEL_INT(MODEL_VERTEX_INDEX + v); }
