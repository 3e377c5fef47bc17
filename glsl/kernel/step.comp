// Pass 2, params.turns iterations at a time: in each of them every active half-streamline draws a direction, with
// CELL_STEPS several; then it waits in the work buffer. For devices that limit how long a kernel may loop.
//
// Dispatched by run_iterations() of src/track/engine/passes.c, again and again until no half-streamline is active. The
// lanes of a slot work on one entry of the list of active half-streamlines. Reads and writes Work (binding 0), Pool (1)
// and State (2).
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
    // Slots behind the end of the list compute along with all other slots, for the barriers of the getter, but store
    // nothing.
    uint slot = work_slot();
    bool running = work_live() && state[slot] >= HALF_RUNNING, changed = running;
    Half h = load_half(slot);
    for (uint turn = 0u; turn < params.turns; turn++) {
#ifdef CELL_STEPS
        // An iteration takes at most CELL_STEPS steps in one cell, whose data serve all these steps.
        enter_cell(h.p, h.draw);
        bool here = running;
        for (int step = 0; step < CELL_STEPS && here; step++)
#endif
        {
            h.draw.block = h.attempt << 16;
            vec3 next = h.d;
            uint outcome = next_direction(h.p, h.d, h.aux, h.draw, next);
#if VOXEL_RUNS
            if (running) running = half_run(h, outcome, next);
#else
            if (running) running = half_advance(h, outcome, next);
#endif
#ifdef CELL_STEPS
            here = running && in_cell(h.p);
#endif
        }
    }
    if (changed) store_half(slot, h);
#ifdef CELL_STEPS
#if CELL_STEPS > 15
#error HALF_RUNNING has room for 15 steps
#endif
    // Report to the host how many steps the half-streamline will probably take in its cell: if half-streamlines are
    // sorted by this number, those that a CPU renderer tracks side by side seldom wait for each other.
    if (running) state[slot] = HALF_RUNNING + steps_ahead(h.p, h.d);
#endif
    if (changed && !running) half_report(h);
}
