// Second stage of an iteration: computes the ODF at every active position and its peaks; in pass 1 the peaks are the
// initial directions of the seed, in pass 2 they give one step. Reads the coefficients that sample.comp has written for
// the same entry of the list of active slots.
//
// Dispatched by run_iterations() of src/track/engine/passes.c, after sample.comp. One invocation handles one entry of
// the list. Reads and writes Work (binding 0); writes Pool in pass 2 and the records of layout/directions.def in pass
// 1, both at binding 1; reads and writes State (binding 2) in pass 2.
#include "base/common.glsl"
#include "base/grid.glsl"
#include <field>
#include "kernel/work.glsl"
#include "kernel/work_quads.glsl"
#include "odf/peaks.glsl"
#include "getter/boot_choose.glsl"
#include "kernel/half.glsl"
#include "kernel/half_work.glsl"

#define WORD(name, first, n) const uint name = uint(first);
#include "layout/directions.def"
#undef WORD
#define direction pool // for initial directions (pass 1) their buffer is bound in place of the pool

void main()
{
    uint slot = work_slot();
    float c[N_COEFFICIENTS];
    // a loop over all elements of an array: compilers unroll it, so that every index is a constant
    uint first = coefficient_quads();
    vec4 quads[COEFFICIENT_QUADS];
    for (int q = 0; q < COEFFICIENT_QUADS; q++) quads[q] = load_quad(first + uint(q));
    EACH_COEFFICIENT(c[j] = quads[j / 4][j % 4];)
    // In pass 1 there is no last direction: the host sets it to 0 and params.angular_weight to 0, so the axis has no
    // effect.
    odf_axis = work_vector(WORK_DIRECTION, slot);
    evaluate_odf(c);
    uint n = find_peaks();
    list_candidates(n);
    // Pass 1 writes the record of the seed; pass 2 chooses a peak and takes the step.
    if (params.is_initial != 0u) {
        uint vertex[MAX_DIRECTIONS];
        uint found = inside(work_vector(WORK_POSITION, slot)) ? list_peaks(vertex) : 0u;
        if (work_live()) {
            uint at = slot * (DIRECTIONS_VERTEX + uint(MAX_DIRECTIONS));
            direction[at + DIRECTIONS_COUNT] = found;
            for (uint k = 0u; k < found; k++) direction[at + DIRECTIONS_VERTEX + k] = vertex[k];
        }
    } else {
        Half h = load_half(slot);
        vec3 next = h.d;
        uint outcome = choose_direction(h.d, n, h.aux, next);
        if (work_live() && state[slot] >= HALF_RUNNING) {
            if (!half_advance(h, outcome, next)) half_report(h);
            store_half(slot, h);
        }
    }
}
