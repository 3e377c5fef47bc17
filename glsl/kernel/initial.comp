// Pass 1: the initial directions of each seed.
#include "base/common.glsl"
#include "base/volume.glsl"
#include <initial_directions>

// four words a seed: position (3 floats), index of the seed (low)
layout(std430, binding = 0) readonly buffer Seeds { uint seed[]; };
// for each seed: number of directions, then their vertices
layout(std430, binding = 1) writeonly buffer Directions { uint direction[]; };

layout(location = 0) uniform uint seed_hi;

void main()
{
    for (uint i = gl_WorkGroupID.x * GROUP_SLOTS + SLOT; i < params.n_items; i += gl_NumWorkGroups.x * GROUP_SLOTS) {
        vec3 p = vec3(uintBitsToFloat(seed[i * 4u]), uintBitsToFloat(seed[i * 4u + 1u]), uintBitsToFloat(seed[i * 4u + 2u]));
        uint vertex[MAX_DIRECTIONS];
        for (int k = 0; k < MAX_DIRECTIONS; k++) vertex[k] = 0u;
        uint n = initial_directions(p, Draw(0u, 0u, seed[i * 4u + 3u], draw_stream(seed_hi, 0u)), vertex);
        if (LANE == 0) {
            uint at = i * uint(MAX_DIRECTIONS + 1);
            direction[at] = n;
            for (uint k = 0u; k < min(n, uint(MAX_DIRECTIONS)); k++) direction[at + 1u + k] = vertex[k];
        }
    }
}
