// Pass 2 in one kernel: half-streamlines. Invocations stay and take one half after the other from a queue; every turn of the loop draws one direction for whatever half they
// hold, so that none is idle before the queue is empty.
#include "base/common.glsl"
#include "base/volume.glsl"
#include <getter>
#include "kernel/half.glsl"

// eight words a streamline: seed position (3 floats), vertex of the first direction, index of the seed (low), draw stream; then the streamline whose turn it is when the queue
// comes here, and one spare
layout(std430, binding = 0) readonly buffer Lines { uint line[]; };

uint next_item()
{
#if SUBGROUP
    uint item = 0u;
    if (subgroupElect()) item = atomicAdd(queue, 1u);
    return subgroupBroadcastFirst(item);
#else
    return atomicAdd(queue, 1u);
#endif
}

void main()
{
    prepare_getter();
    Half h = half_start(NONE, vec3(0.0), 0u, 0u, 0u);
    bool done = false;
    while (!done) {
        if (h.item == NONE) {
            uint place = next_item();
            done = place >= params.n_items;
            place = min(place, params.n_items - 1u);
            uint chosen = line[place / 2u * 8u + 6u], item = 2u * chosen + place % 2u, w = chosen * 8u;
            vec3 seed = vec3(uintBitsToFloat(line[w]), uintBitsToFloat(line[w + 1u]), uintBitsToFloat(line[w + 2u]));
            h = half_start(item, seed, line[w + 3u], line[w + 4u], line[w + 5u]);
        }
        h.draw.block = h.attempt << 16;
        vec3 next = h.d;
        uint outcome = next_direction(h.p, h.d, h.aux, h.draw, next);
        if (!done && !half_advance(h, outcome, next)) {
            // a half that found the pool full is tracked again with the next round; so are all that wait
            done = h.block >= params.pool_blocks;
            h.item = NONE;
        }
    }
}
