// Makes octets from pairs, see odf/cells.glsl: n_layers layers of voxels one after the other; one more layer of pairs
// is read where the grid goes on.
layout(local_size_x = GROUP_SIZE) in;
layout(std430, binding = 0) readonly buffer Pairs { uint pairs[]; };
layout(std430, binding = 1) writeonly buffer Octets { uvec4 octets[]; };
layout(location = 0) uniform uint first; // first octet of the first layer
layout(location = 1) uniform uint n_layers;
layout(location = 2) uniform uint n_pair_layers;

const uint ROW = uint(GRID_NX * N_VERTICES), LAYER = uint(GRID_NY) * ROW;

void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < n_layers * LAYER; i += gl_NumWorkGroups.x * uint(GROUP_SIZE)) {
        uint y = i / ROW % uint(GRID_NY), z = i / LAYER;
        uint up = y + 1u < uint(GRID_NY) ? ROW : 0u, over = z + 1u < n_pair_layers ? LAYER : 0u;
        octets[first + i] = uvec4(pairs[i], pairs[i + up], pairs[i + over], pairs[i + up + over]);
    }
}
