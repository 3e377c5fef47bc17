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

#define SLOT_ARRAY(type, name, size) shared type name[SLOTS][((size) + 3) / 4 * 4]
#define SLOT_ELEMENT(name, size, i) name[SLOT][i]

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
uint lane_upto(uint x) { return subgroupInclusiveAdd(x); }
#else
// Combines pairs, then pairs of pairs: both partners compute the same value, so at the end all lanes have it.
#define BUTTERFLY(type, name, join)                                  \
    type name(type x)                                                \
    {                                                                \
        for (int bit = 0; bit < 6; bit++)                            \
            if (1 << bit < LANES) {                                  \
                type other = subgroupShuffleXor(x, 1u << uint(bit)); \
                x = join;                                            \
            }                                                        \
        return x;                                                    \
    }
BUTTERFLY(float, lane_sum, x + other)
BUTTERFLY(float, lane_max, max(x, other))
BUTTERFLY(uint, lane_max, max(x, other))
BUTTERFLY(float, lane_min, min(x, other))
BUTTERFLY(int, lane_min, min(x, other))
#if SUBGROUP_ARITHMETIC
uint lane_upto(uint x) { return subgroupInclusiveAdd(x); }
#else
// Each iteration adds what the lane `step` lanes before has summed so far. After the last one, each lane has the sum
// over itself and all lanes before it (Hillis and Steele 1986).
uint lane_upto(uint x)
{
    for (int step = 1; step < LANES; step *= 2) {
        uint below = subgroupShuffle(x, uint(max(LANE - step, 0)));
        x += LANE >= step ? below : 0u;
    }
    return x;
}
#endif
#endif

void lane_writes_done() { lane_sync(); }

void lane_range(inout float most, inout float least)
{
    most = lane_max(most);
    least = lane_min(least);
}

void lane_largest(inout float x, inout int number)
{
    float most = lane_max(x);
    number = lane_min(x == most ? number : 0x7fffffff);
    x = most;
}

// The sum up to the last lane is the total.
uint lane_upto(uint x, out uint total)
{
    uint upto = lane_upto(x);
    total = subgroupShuffle(upto, uint(LANES - 1));
    return upto;
}

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
#define LANE_SUMS(x, n, ROOM, size, TARGET) \
    for (int j = 0; j < (n); j++) {         \
        float total = lane_sum(x[j]);       \
        if (LANE == 0) TARGET(j) = total;   \
    }
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

#define LANE_LIST(n, i, v, vertex, yes, count, index, store) \
    for (int turn = 0; turn < int(n); turn += LANES) {     \
        int i = turn + LANE, v = vertex;                   \
        bool wanted = false;                               \
        if (i < int(n)) wanted = yes;                      \
        int index = lane_index(wanted, count);             \
        if (wanted) { store }                                \
    }
#define LANE_COLLECT(n, v, yes, count, index, store) LANE_LIST(n, i, v, i, yes, count, index, store)
#define MAX_COLLECTED 1024
// FEW: see base/common.glsl. It is 0 where lanes do not run in step: with the registers that such values take, AMD's
// GPUs would run one subgroup less at a time.
#define FEW (LANES_IN_STEP * 8)

// Does nothing: lane_first() finds the lane by a ballot, which needs no cleared word.
void lane_ask() {}

// The lowest bit of the ballot belongs to the first lane that says yes.
int lane_first(bool yes)
{
    uvec4 votes = subgroupBallot(yes);
    return votes == uvec4(0u) ? LANES : int(subgroupBallotFindLSB(votes));
}
vec3 lane_of(vec3 x, int lane) { return subgroupShuffle(x, uint(lane)); }
int lane_chosen(int x, bool chosen) { return subgroupShuffle(x, subgroupBallotFindLSB(subgroupBallot(chosen))); }
bool lane_leads() { return subgroupElect(); }
uint lane_lead(uint x) { return subgroupBroadcastFirst(x); }
