// Parameters, the mapping of invocations to streamlines, and the counters of the random numbers.
//
// LANES invocations work on one streamline: 1, or a whole subgroup (SUBGROUP). All of them hold the same state of the streamline; LANE tells them apart in loops over
// vertices and measurements, and the lane_* functions join their parts. SLOT tells apart the streamlines of a work group, of which there are SLOTS at most.
layout(local_size_x = GROUP_SIZE) in;

#define FIELD(type, name) type name;
layout(std140, binding = 0) uniform Params {
#include "layout/track_params.h"
} params;

#if SUBGROUP
#define LANE int(gl_SubgroupInvocationID)
#define SLOT gl_SubgroupID
#define GROUP_SLOTS gl_NumSubgroups
#if !defined(LANES)
#define LANES int(gl_SubgroupSize) // some compilers choose the width themselves
#endif
float lane_sum(float x) { return subgroupAdd(x); }
float lane_max(float x) { return subgroupMax(x); }
float lane_min(float x) { return subgroupMin(x); }
#if LANES_IN_STEP
// NVIDIA's compiler makes a barrier of a subgroup one of the whole device's memory, which empties the L1 cache. Its lanes meet again after every branch without one, and a
// subgroup's accesses to shared memory keep their order.
void lane_sync() { subgroupMemoryBarrierShared(); }
#else
void lane_sync() { subgroupBarrier(); subgroupMemoryBarrierShared(); }
#endif
uint lane_upto(uint x) { return subgroupInclusiveAdd(x); }
uint lane_last(uint x) { return subgroupShuffle(x, uint(LANES) - 1u); }
int lane_lowest(int x) { return subgroupMin(x); }
// The places of the lanes that want one, from count on; count goes on behind them.
int lane_place(bool wanted, inout uint count)
{
    uvec4 votes = subgroupBallot(wanted);
    uint place = count + subgroupBallotExclusiveBitCount(votes);
    count += subgroupBallotBitCount(votes);
    return int(place);
}
// An array for each streamline.
#define SLOT_ARRAY(type, name, size) shared type name[SLOTS * (size)]
#define SLOT_ELEMENT(name, size, i) name[int(SLOT) * (size) + (i)]
// The value of the one lane that chose itself.
vec3 lane_chosen(vec3 x, bool chosen) { return subgroupShuffle(x, subgroupBallotFindLSB(subgroupBallot(chosen))); }
#else
#define LANE 0
#define LANES 1
#define SLOT gl_LocalInvocationIndex
#define GROUP_SLOTS uint(GROUP_SIZE)
float lane_sum(float x) { return x; }
float lane_max(float x) { return x; }
float lane_min(float x) { return x; }
void lane_sync() {}
uint lane_upto(uint x) { return x; }
uint lane_last(uint x) { return x; }
int lane_lowest(int x) { return x; }
int lane_place(bool wanted, inout uint count)
{
    count += wanted ? 1u : 0u;
    return int(count) - 1;
}
#define SLOT_ARRAY(type, name, size) type name[size]
#define SLOT_ELEMENT(name, size, i) name[i]
vec3 lane_chosen(vec3 x, bool chosen) { return x; }
#endif

// For every coefficient j, of which there are 45 at most. Compilers unroll loops of up to 32 turns; arrays that a longer one walks through end in memory, and compiling that
// takes Mesa minutes.
#define EACH_COEFFICIENT(statement)                                 \
    for (int j = 0; j < min(N_COEFFICIENTS, 32); j++) { statement } \
    for (int j = 32; j < N_COEFFICIENTS; j++) { statement }

// Where in the random sequence a draw lies: nothing of the batch, the device or the launch enters.
struct Draw {
    uint block;     // attempt << 16, plus the block within the attempt
    uint step;      // step | half << 31
    uint seed_lo;
    uint seed_hi;   // upper bits of the seed's index | direction << 16 | 1 << 31
};

uint draw_stream(uint seed_hi, uint direction) { return (seed_hi & 0xffffu) | (direction << 16) | 0x80000000u; }

#include "base/philox.glsl"

uvec4 draw_block(Draw draw, uint block)
{
    return philox(uvec4(draw.block + block, draw.step, draw.seed_lo, draw.seed_hi), uvec2(params.key_lo, params.key_hi));
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
const uint DIRECTION_FOUND = 0u, DIRECTION_RETRY = 1u, DIRECTION_NONE = 2u;
