// Pass 2 in one kernel: tracks half-streamlines. Invocations take one half-streamline after the other from a queue;
// each iteration draws one direction for the half-streamline that the invocation holds, so that none is idle before the
// queue is empty.
//
// Dispatched by track_fused() of src/track/engine/passes.c with a fixed number of work groups, on GPUs only: llvmpipe
// limits the iterations of a kernel. Reads Lines (binding 0), the model (base/model.glsl) and the field; writes the
// points to Pool (binding 1) and the results of the half-streamlines to State (binding 2), see kernel/half.glsl.
#include "base/common.glsl"
#include "base/grid.glsl"
#include <field>
#include <getter>
#include "kernel/half.glsl"

#define FIELD(type, name) type name;
struct Line {
#include "layout/line.def"
};
#undef FIELD
// Streamlines to track: n_items / 2 records. Record i also says, in `turn`, which streamline is the i-th of the queue.
layout(std430, binding = 0) readonly buffer Lines { Line lines[]; };

// Takes the next index of the queue for this slot; n_items or more: the queue is empty.
uint next_item()
{
    uint item = 0u;
    if (lane_leads()) item = atomicAdd(queue, 1u);
    return lane_lead(item);
}

void main()
{
    // The lanes of a slot leave the loop together, when the queue is empty; until then all of them reach the barriers
    // of the getter.
    prepare_getter();
    Half h = half_start(NO_ITEM, vec3(0.0), 0u, 0u, 0u);
    bool done = false;
    while (!done) {
        // Take the next half-streamline: number `entry` of the queue is the backward (entry even) or forward one of
        // streamline lines[entry / 2].turn. At the end of the queue the last half-streamline is loaded again, but never
        // advanced.
        if (h.item == NO_ITEM) {
            uint entry = next_item();
            done = entry >= params.n_items;
            entry = min(entry, params.n_items - 1u);
            uint i = lines[entry / 2u].turn;
            vec3 seed = vec3(lines[i].x, lines[i].y, lines[i].z);
            h = half_start(2u * i + entry % 2u, seed, lines[i].vertex, lines[i].seed, lines[i].stream);
            if (state[h.item] < HALF_RUNNING) h.item = NO_ITEM; // the streamline is one-sided: skip
        }
        // Draw one direction, and take the step or end the half-streamline.
        h.draw.block = h.attempt << 16;
        vec3 next = h.d;
        uint outcome = next_direction(h.p, h.d, h.aux, h.draw, next);
        if (!done && h.item != NO_ITEM && !half_advance(h, outcome, next)) {
            half_report(h);
            // a half-streamline that found the pool full is tracked again when pass 2 is repeated, as are all that
            // still wait in the queue
            done = h.block >= params.pool_blocks;
            h.item = NO_ITEM;
        }
    }
}
