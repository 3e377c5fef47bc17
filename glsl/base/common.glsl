// Start of every tracking kernel: parameters, the lanes of a streamline, and the counters of random numbers.
layout(local_size_x = GROUP_SIZE) in;

#include "base/constants.glsl"
#define FIELD(type, name) type name;
layout(std140, binding = 0) uniform Params {
#include "layout/track_params.def"
} params;

// Number of words that the guide (the test by stop map, regions or tissue) remembers of a half-streamline; at least 1,
// because arrays cannot be empty.
const int GUIDE_ROOM = max(GUIDE_WORDS, 1);

// The lanes of a streamline are the LANES invocations that work on it; all of them hold the same state of it. LANE is
// the index of a lane; the functions lane_* combine what the lanes have found. A work group has GROUP_SLOTS
// streamlines, at most SLOTS; SLOT is the index of a streamline in its group.
//
// SLOT_ARRAY(type, name, size) declares an array for each streamline. SLOT_ELEMENT(name, size, i) is its element i.
// Writes of one lane to an element are visible to the other lanes after lane_sync(). If one of the functions below has
// combined the lanes since the writes, lane_writes_done() suffices.
// - lane_sum, lane_max, lane_min: over all lanes
// - lane_upto: the sum over this lane and all lanes before it; total: the sum over all lanes
// - lane_range: the largest and the smallest value
// - lane_largest: the largest value and the number that its lane gave; among equal values the smallest number
// - LANE_SUMS: for each of the first n of the 16 elements of x its sum over the lanes, into TARGET(0), TARGET(1), ...;
//   ROOM: an unused SLOT_ARRAY of `size` elements
// - lane_of: the value of a given lane
// - lane_chosen: the value of the only lane that chose itself
// - lane_lead: the value of the lane for which lane_leads() is true, which acts for the streamline
// - lane_first: the first lane that says yes, LANES if none does; call lane_ask() and lane_sync() before
// - LANE_LIST: of the values v for i = 0 .. n - 1, stores the values for which `yes` is true, in ascending order, from
//   index `count` on, and increases count
// - LANE_COLLECT: the same for v = 0 .. n - 1 in any order; n is at most MAX_COLLECTED
// Callers let every lane read all values if these are at most FEW, instead of combining the lanes.
#include <lanes>

// Executes the statement for every coefficient j; there are at most 45. Compilers unroll loops of up to 32 iterations;
// arrays indexed in longer loops end in memory, which takes Mesa minutes to compile.
#define EACH_COEFFICIENT(statement)                                 \
    for (int j = 0; j < min(N_COEFFICIENTS, 32); j++) { statement } \
    for (int j = 32; j < N_COEFFICIENTS; j++) { statement }

// Position of a draw in the random sequence. It does not depend on batch, device or launch.
struct Draw {
    uint block;     // number of earlier tries at the step << 16, plus the index of the block within this try
    uint step;      // number of the step, from 1 (0: pass 1), with STEP_BACKWARD in the backward half-streamline
    uint seed_lo;
    uint seed_hi;   // upper bits of the index of the seed | direction << 16 | 1 << 31
};

// Last word of the random counter of one direction of a seed: the upper 16 bits of the index of the seed, the index of
// the direction, and the topmost bit. The C twin is gls_draw_stream().
uint draw_stream(uint seed_hi, uint direction) { return (seed_hi & 0xffffu) | (direction << 16) | 0x80000000u; }

#include "base/philox.glsl"

// Four random words: the block number `block`, counted from draw.block.
uvec4 draw_block(Draw draw, uint block)
{
    uvec4 counter = uvec4(draw.block + block, draw.step, draw.seed_lo, draw.seed_hi);
    return philox(counter, uvec2(params.key_lo, params.key_hi));
}

// Mesa moves the loads of a stretch of code without branches to its start, where each takes registers. A branch on
// ALWAYS ends the stretch: the condition is true, but compilers do not know.
#define ALWAYS (params.n_items > 0u)

// Cosine by which the separation of two directions is judged. A direction of an antipodal sphere stands for both
// senses.
float separation_cosine(float cosine)
{
#if ANTIPODAL
    return abs(cosine);
#else
    return cosine;
#endif
}

#if ANGULAR_WEIGHT
// Factor for the ODF along a direction: 1 straight ahead, 1 - params.angular_weight at a right angle. cosine: of the
// angle between this direction and the last one.
float angular_weight(float cosine) { return 1.0 - params.angular_weight + params.angular_weight * abs(cosine); }
#endif

// Results of a direction getter.
const uint DIRECTION_FOUND = 0u, DIRECTION_RETRY = 1u, DIRECTION_NONE = 2u, DIRECTION_OUTSIDE = 3u;
