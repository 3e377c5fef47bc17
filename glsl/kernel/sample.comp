// First stage of an iteration: draws a bootstrap sample at every active position, as SH coefficients; with
// HAVE_MEASURED (in pass 1) it takes the measured signal as it is. An iteration is two kernels where the shader is
// written out without loops, because drivers compile two short kernels faster. One invocation handles one entry of the
// list of active slots; it reads the position and the counters of random numbers of the slot from the work buffer and
// writes the coefficients behind the slots, for turn.comp. A coefficient that is not finite becomes 0.
//
// Dispatched by run_iterations() of src/track/engine/passes.c, in front of turn.comp. Reads the field and Work (binding
// 0), and writes to Work alone.
#include "base/common.glsl"
#include "base/grid.glsl"
#include <field>
#include "kernel/work.glsl"
#include "kernel/work_quads.glsl"
#include "base/math.glsl"
#include "getter/boot_fit.glsl"
#include "getter/boot_unrolled.glsl"

void main()
{
    // The random numbers belong to the seed, the step and the attempt, so a sample does not depend on the list.
    uint slot = work_slot();
    uint attempt = WORK(WORK_FLAGS, slot) & FLAG_ATTEMPT;
    Draw draw = Draw(attempt << 16, WORK(WORK_STEP, slot), WORK(WORK_SEED, slot), WORK(WORK_STREAM, slot));
    sample_coefficients(work_vector(WORK_POSITION, slot), draw, HAVE_MEASURED != 0);
    // Each coefficient is used twice, in abs() and as the value: llvmpipe stores lane by lane, and its compiler moves
    // arithmetic whose result is used once into the loop of stores, as scalar code. Coefficients are packed four to a
    // quad; the elements behind the last one are 0.
    uint first = coefficient_quads();
    vec4 quads[COEFFICIENT_QUADS];
    quads[COEFFICIENT_QUADS - 1] = vec4(0.0);
    EACH_COEFFICIENT(quads[j / 4][j % 4] = abs(fitted[j]) < 1e30 ? fitted[j] : 0.0;)
    for (int q = 0; q < COEFFICIENT_QUADS; q++) store_quad(first + uint(q), quads[q]);
}
