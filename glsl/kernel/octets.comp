// Makes octets (the values of one vertex at the eight corners of a cell) from pairs (its values at two voxels along x),
// for n_layers layers of cells along z; odf/cells.glsl reads the octets. Where the grid goes on behind these layers,
// the last one needs one more layer of pairs.
//
// Dispatched by src/track/field/cells.c while the field is filled. One invocation makes several octets: the loop
// strides by the size of the dispatch. Reads Pairs (binding 0) and writes Octets (binding 1).
layout(local_size_x = GROUP_SIZE) in;
// Pairs of half floats: the low 16 bits of a word are the value of a voxel for one vertex, the high 16 bits the value
// of the next voxel along x.
layout(std430, binding = 0) readonly buffer Pairs { uint pairs[]; };
// An octet is four pairs: at (y, z), (y + 1, z), (y, z + 1) and (y + 1, z + 1). At the upper border of the grid the
// last voxel repeats.
layout(std430, binding = 1) writeonly buffer Octets { uvec4 octets[]; };
layout(location = 0) uniform uint first; // index in Octets of the first octet to make
layout(location = 1) uniform uint n_layers; // layers of octets to make
layout(location = 2) uniform uint n_pair_layers; // layers in Pairs: n_layers, or one more

// Words of a row along x, and of a layer: each voxel has N_VERTICES words.
const uint ROW = uint(GRID_NX * N_VERTICES), LAYER = uint(GRID_NY) * ROW;

void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < n_layers * LAYER; i += gl_NumWorkGroups.x * uint(GROUP_SIZE)) {
        uint y = i / ROW % uint(GRID_NY), z = i / LAYER;
        uint up = y + 1u < uint(GRID_NY) ? ROW : 0u, over = z + 1u < n_pair_layers ? LAYER : 0u;
        octets[first + i] = uvec4(pairs[i], pairs[i + up], pairs[i + over], pairs[i + up + over]);
    }
}
