// Operations of the lanes of a streamline if the lanes are a part of a subgroup (KHR_shader_subgroup): LANES
// neighbours, a power of two. The streamlines of a subgroup may be at different places of a loop; the lanes of one are
// always at the same. The contracts stand in base/common.glsl.
#define LANE (int(gl_SubgroupInvocationID) & (LANES - 1))
#define SLOT (gl_LocalInvocationIndex / uint(LANES))
#define GROUP_SLOTS (uint(GROUP_SIZE) / uint(LANES))

// No barrier of the subgroup: its other streamlines may be elsewhere.
void lane_sync() { subgroupMemoryBarrierShared(); }
void lane_writes_done() { lane_sync(); }

// The lane of the subgroup that is lane `lane` of this streamline.
uint lane_source(int lane) { return (gl_SubgroupInvocationID & ~uint(LANES - 1)) + uint(lane); }

#include "base/lanes_shuffle.glsl"

#define LANE_SUMS(x, n, ROOM, size, TARGET) LANE_SUMS_IN_TURN(x, n, TARGET)

// One bit for each lane of the streamline that says yes.
uint lane_votes(bool yes)
{
    uint first = lane_source(0);
    return subgroupBallot(yes)[first / 32u] >> (first % 32u) & (0xffffffffu >> uint(32 - LANES));
}

// The lanes append the values that they want to a list of `count` values, in the order of the lanes. Returns the index
// that this lane's value gets, and adds the number of appended values to count.
int lane_index(bool wanted, inout uint count)
{
    uint votes = lane_votes(wanted), index = count + uint(bitCount(votes & ((1u << uint(LANE)) - 1u)));
    count += uint(bitCount(votes));
    return int(index);
}

#define FEW 0 // see base/common.glsl

// The lowest bit of the votes belongs to the first lane that says yes.
int lane_first(bool yes)
{
    uint votes = lane_votes(yes);
    return votes == 0u ? LANES : findLSB(votes);
}
int lane_chosen(int x, bool chosen) { return subgroupShuffle(x, lane_source(findLSB(lane_votes(chosen)))); }
bool lane_leads() { return LANE == 0; }
uint lane_lead(uint x) { return subgroupShuffle(x, lane_source(0)); }
