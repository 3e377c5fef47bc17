// What every tracking kernel begins with: parameters, the lanes of a streamline, and the counters of random numbers.
layout(local_size_x = GROUP_SIZE) in;

#include "base/constants.glsl"
#define FIELD(type, name) type name;
layout(std140, binding = 0) uniform Params {
#include "layout/track_params.def"
} params;

// Room for what the guide remembers of a half.
const int GUIDE_ROOM = max(GUIDE_WORDS, 1);

// LANES invocations work on one streamline, and all of them hold the same state of it. LANE tells them apart in loops
// over vertices and measurements, and the lane_* functions join their parts. SLOT tells apart the streamlines of a work
// group, of which there are SLOTS at most, GROUP_SLOTS in fact.
//
// SLOT_ARRAY(type, name, size) is an array for each streamline, SLOT_ELEMENT(name, size, i) its element i, which other
// lanes see after lane_sync(), or lane_writes_done() where another of these functions has just joined the lanes:
// lane_sum, lane_max, lane_min: of all lanes; lane_upto: the sum up to this lane, and of all;
// lane_range: the largest and the smallest; lane_largest: the largest, and the smallest number that goes with it;
// LANE_SUMS: of each of the first n of the 16 elements of x, into TARGET(0), TARGET(1), ..., where ROOM is a SLOT_ARRAY
// of this size that is free;
// lane_of: the value of a given lane; lane_chosen: that of the one lane that chose itself; lane_lead: that of the lane
// for which lane_leads() is true, which speaks for the streamline;
// lane_first: the first lane that says yes, LANES if none does; lane_ask() goes before, in front of a lane_sync();
// LANE_LIST: of the v that vertex gives for each i from 0 to n - 1, each for which yes is true is put at its place: in
// ascending order, from count on, which goes on behind them;
// LANE_COLLECT: each v from 0 to n - 1, in any order; n is at most MAX_COLLECTED.
// Up to FEW values are looked at by every lane rather than by joining the lanes.
#include <lanes>

// For every coefficient j, of which there are 45 at most. Compilers unroll loops of up to 32 turns; arrays that a
// longer one walks through end in memory, and compiling that takes Mesa minutes.
#define EACH_COEFFICIENT(statement)                                 \
    for (int j = 0; j < min(N_COEFFICIENTS, 32); j++) { statement } \
    for (int j = 32; j < N_COEFFICIENTS; j++) { statement }

// Where in the random sequence a draw lies: nothing of the batch, the device or the launch enters.
struct Draw {
    uint block;     // attempt << 16, plus the block within the attempt
    uint step;      // number of the step, STEP_BACKWARD in the backward half
    uint seed_lo;
    uint seed_hi;   // upper bits of the seed's index | direction << 16 | 1 << 31
};

uint draw_stream(uint seed_hi, uint direction) { return (seed_hi & 0xffffu) | (direction << 16) | 0x80000000u; }

#include "base/philox.glsl"

uvec4 draw_block(Draw draw, uint block)
{
    uvec4 counter = uvec4(draw.block + block, draw.step, draw.seed_lo, draw.seed_hi);
    return philox(counter, uvec2(params.key_lo, params.key_hi));
}

// Directions of an antipodal sphere stand for both senses.
float separation_cosine(float cosine)
{
#if ANTIPODAL
    return abs(cosine);
#else
    return cosine;
#endif
}

#if ANGULAR_WEIGHT
float angular_weight(float cosine) { return 1.0 - params.angular_weight + params.angular_weight * abs(cosine); }
#endif

// What a direction getter answers.
const uint DIRECTION_FOUND = 0u, DIRECTION_RETRY = 1u, DIRECTION_NONE = 2u, DIRECTION_OUTSIDE = 3u;
