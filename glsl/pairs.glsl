// ODFs in a buffer, voxel by voxel: all directions of a voxel lie together, each with the value of the next voxel along x beside it, as two half floats in a word. On hardware
// samples along many directions near one place are found faster here than in textures, where each direction has a tile of its own.
layout(std430, binding = 4) readonly buffer Pairs { uint pairs[]; };

struct Cell {
    uint corner; // of the voxel with the lowest indices
    vec3 f;      // place in the cell, 0 .. 1
};

const uint PAIR_Y = GRID_NY > 1 ? uint(GRID_NX * N_VERTICES) : 0u, PAIR_Z = GRID_NZ > 1 ? uint(GRID_NX * GRID_NY * N_VERTICES) : 0u;

Cell pair_cell(vec3 p)
{
    vec3 q = clamp(p, vec3(0.0), GRID - 1.0), c = min(floor(q), max(GRID - 2.0, vec3(0.0)));
    return Cell(((uint(c.z) * uint(GRID_NY) + uint(c.y)) * uint(GRID_NX) + uint(c.x)) * uint(N_VERTICES), q - c);
}

float pair_value(Cell cell, int slot)
{
    uint at = cell.corner + uint(slot);
    vec2 near = mix(unpackHalf2x16(pairs[at]), unpackHalf2x16(pairs[at + PAIR_Y]), cell.f.y);
    vec2 far = mix(unpackHalf2x16(pairs[at + PAIR_Z]), unpackHalf2x16(pairs[at + PAIR_Y + PAIR_Z]), cell.f.y);
    vec2 row = mix(near, far, cell.f.z);
    return mix(row.x, row.y, cell.f.x);
}

int slot_of_vertex(int v) { return MODEL_INT(MODEL_SLOTS + v); }
