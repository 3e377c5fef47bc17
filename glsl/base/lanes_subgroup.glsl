// Operations of the lanes of a streamline if the lanes are a subgroup (KHR_shader_subgroup). The contracts stand in
// base/common.glsl.
#define LANE int(gl_SubgroupInvocationID)
#if SLOTS == 1
#define SLOT gl_WorkGroupID.y // always 0; NVIDIA's compiler merges loads only from addresses that it does not know
#define GROUP_SLOTS 1u
#else
#define SLOT gl_SubgroupID
#define GROUP_SLOTS gl_NumSubgroups
#endif
#if !defined(LANES)
#define LANES int(gl_SubgroupSize) // some compilers choose the width themselves
#endif

// The lane of the subgroup that is lane `lane` of the streamline.
uint lane_source(int lane) { return uint(lane); }

#if LANES_IN_STEP && SLOTS == 1
// NVIDIA's compiler removes the barrier of a work group that is one subgroup.
void lane_sync() { barrier(); }
#elif LANES_IN_STEP
// A subgroup barrier would order all memory of the device and empty the L1 cache. Lanes reconverge after every branch
// without a barrier, and a subgroup's accesses to shared memory keep their order; waiting for earlier accesses would
// cost the direction getter boot a sixth of its time.
void lane_sync() { subgroupMemoryBarrierShared(); }
#else
void lane_sync() { subgroupBarrier(); subgroupMemoryBarrierShared(); }
#endif
// Lanes in step, which are NVIDIA's, do not use the built-in sums and maxima: these first check that all lanes are
// active, which keeps the compiler from overlapping several of them.
#if SUBGROUP_ARITHMETIC && !LANES_IN_STEP
float lane_sum(float x) { return subgroupAdd(x); }
float lane_max(float x) { return subgroupMax(x); }
uint lane_max(uint x) { return subgroupMax(x); }
float lane_min(float x) { return subgroupMin(x); }
int lane_min(int x) { return subgroupMin(x); }
#define HAS_LANE_SUMS
#endif
#if SUBGROUP_ARITHMETIC
uint lane_upto(uint x) { return subgroupInclusiveAdd(x); }
#define HAS_LANE_UPTO
#endif
#include "base/lanes_shuffle.glsl"

void lane_writes_done() { lane_sync(); }

#if LANES_IN_STEP
// Sums 16 values over 32 lanes; each lane gets the sum of x[sum_of_lane()]. Each HALVE() halves the number of values of
// a lane and adds in the order of lane_sum().
int sum_of_lane() { return int(bitfieldReverse(uint(LANE)) >> 28); }
#define HALVE(n, step)                                                                        \
    for (int i = 0; i < n; i++) {                                                             \
        float send = (LANE & step) != 0 ? x[i] : x[i + n];                                    \
        x[i] = ((LANE & step) != 0 ? x[i + n] : x[i]) + subgroupShuffleXor(send, uint(step)); \
    }
float lane_sums(float x[16])
{
    HALVE(8, 1)
    HALVE(4, 2)
    HALVE(2, 4)
    HALVE(1, 8)
    return x[0] + subgroupShuffleXor(x[0], 16u);
}
#undef HALVE

#define LANE_SUMS(x, n, ROOM, size, TARGET)                                  \
    {                                                                        \
        float total = lane_sums(x);                                          \
        if (LANE < 16 && sum_of_lane() < (n)) TARGET(sum_of_lane()) = total; \
    }
#else
#define LANE_SUMS(x, n, ROOM, size, TARGET) LANE_SUMS_IN_TURN(x, n, TARGET)
#endif

// The lanes append the values that they want to a list of `count` values, in the order of the lanes. Returns the index
// that this lane's value gets, and adds the number of appended values to count.
int lane_index(bool wanted, inout uint count)
{
    uvec4 votes = subgroupBallot(wanted);
    uint index = count + subgroupBallotExclusiveBitCount(votes);
    count += subgroupBallotBitCount(votes);
    return int(index);
}

// FEW: see base/common.glsl. It is 0 where lanes do not run in step: with the registers that such values take, AMD's
// GPUs would run one subgroup less at a time.
#define FEW (LANES_IN_STEP * 8)

// The lowest bit of the ballot belongs to the first lane that says yes.
int lane_first(bool yes)
{
    uvec4 votes = subgroupBallot(yes);
    return votes == uvec4(0u) ? LANES : int(subgroupBallotFindLSB(votes));
}
int lane_chosen(int x, bool chosen) { return subgroupShuffle(x, subgroupBallotFindLSB(subgroupBallot(chosen))); }
bool lane_leads() { return subgroupElect(); }
uint lane_lead(uint x) { return subgroupBroadcastFirst(x); }
