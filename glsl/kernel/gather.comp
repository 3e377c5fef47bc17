// Pass 3: from the pool of blocks to streamlines in output order and output space: backward half reversed, seed, forward half.
layout(local_size_x = GROUP_SIZE) in;

// eight words a streamline, see track.comp; the host has put in words 6, 7 and 3: first point in the output (NONE: rejected), points kept of the backward and forward half
layout(std430, binding = 0) readonly buffer Lines { uint line[]; };
layout(std430, binding = 1) readonly buffer Pool { float pool[]; };
layout(std430, binding = 2) readonly buffer State {
    uint queue;
    uint pool_head;
    uint state[];
};
layout(std430, binding = 3) writeonly buffer Output { float point[]; };

#define FIELD(type, name) type name;
layout(std140, binding = 0) uniform Params {
#include "layout/gather_params.h"
} params;

void write_point(uint at, vec3 p)
{
    point[at * 3u] = params.xx * p.x + params.xy * p.y + params.xz * p.z + params.xt;
    point[at * 3u + 1u] = params.yx * p.x + params.yy * p.y + params.yz * p.z + params.yt;
    point[at * 3u + 2u] = params.zx * p.x + params.zy * p.y + params.zz * p.z + params.zt;
}

void main()
{
    uint total = params.n_blocks * uint(POOL_BLOCK) + params.n_lines;
    for (uint i = gl_GlobalInvocationID.x; i < total; i += gl_NumWorkGroups.x * uint(GROUP_SIZE)) {
        if (i >= params.n_blocks * uint(POOL_BLOCK)) {
            uint s = i - params.n_blocks * uint(POOL_BLOCK);
            if (line[s * 8u + 6u] != 0xffffffffu)
                write_point(line[s * 8u + 6u] + line[s * 8u + 7u], vec3(uintBitsToFloat(line[s * 8u]), uintBitsToFloat(line[s * 8u + 1u]), uintBitsToFloat(line[s * 8u + 2u])));
            continue;
        }
        uint block = i / uint(POOL_BLOCK), item = state[params.n_items + 2u * block];
        if (item >= 2u * params.n_lines) continue;
        uint k = state[params.n_items + 2u * block + 1u] * uint(POOL_BLOCK) + i % uint(POOL_BLOCK);
        uint s = item / 2u, base = line[s * 8u + 6u], backward = line[s * 8u + 7u], forward = line[s * 8u + 3u];
        bool is_forward = (item & 1u) == 1u;
        if (base == 0xffffffffu || k >= (is_forward ? forward : backward)) continue;
        write_point(is_forward ? base + backward + 1u + k : base + backward - 1u - k, vec3(pool[i * 3u], pool[i * 3u + 1u], pool[i * 3u + 2u]));
    }
}
