// Pass 2, a few iterations at a time: every active half-streamline draws params.turns directions, then waits in the
// work buffer. For devices that limit how long a kernel may loop.
#include "base/common.glsl"
#include "base/grid.glsl"
#include <field>
#include "kernel/work.glsl"
#include <getter>
#include "kernel/half.glsl"
#include "kernel/half_work.glsl"

void main()
{
    prepare_getter();
    uint slot = work_slot();
    bool running = work_live() && state[slot] == HALF_RUNNING, changed = running;
    Half h = load_half(slot);
    for (uint turn = 0u; turn < params.turns; turn++) {
        h.draw.block = h.attempt << 16;
        vec3 next = h.d;
        uint outcome = next_direction(h.p, h.d, h.aux, h.draw, next);
#if VOXEL_RUNS
        if (running) running = half_run(h, outcome, next);
#else
        if (running) running = half_advance(h, outcome, next);
#endif
    }
    if (changed) store_half(slot, h);
    if (changed && !running) half_report(h);
}
