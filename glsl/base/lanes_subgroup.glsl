// What the lanes of a streamline do together, where they are a subgroup.
#define LANE int(gl_SubgroupInvocationID)
#if SLOTS == 1
#define SLOT gl_WorkGroupID.y // 0; but NVIDIA's compiler joins loads only from addresses that it does not know
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
// NVIDIA's compiler makes nothing of the barrier of a work group that is one subgroup.
void lane_sync() { barrier(); }
#elif LANES_IN_STEP
// But a barrier of a subgroup becomes one of the whole device's memory, which empties the L1 cache. Lanes meet again
// after every branch without one, and a subgroup's accesses to shared memory keep their order; to wait for those before
// costs a sixth of boot's time.
void lane_sync() { subgroupMemoryBarrierShared(); }
#else
void lane_sync() { subgroupBarrier(); subgroupMemoryBarrierShared(); }
#endif
// NVIDIA's sums and maxima ask first whether all lanes are there, which keeps the compiler from making several at once.
#if SUBGROUP_ARITHMETIC && !LANES_IN_STEP
float lane_sum(float x) { return subgroupAdd(x); }
float lane_max(float x) { return subgroupMax(x); }
uint lane_max(uint x) { return subgroupMax(x); }
float lane_min(float x) { return subgroupMin(x); }
int lane_min(int x) { return subgroupMin(x); }
uint lane_upto(uint x) { return subgroupInclusiveAdd(x); }
#else
// Pairs, then pairs of pairs: both partners find the same, and after the last turn all do.
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

uint lane_upto(uint x, out uint total)
{
    uint upto = lane_upto(x);
    total = subgroupShuffle(upto, uint(LANES - 1));
    return upto;
}

#if LANES_IN_STEP
// The sums of 16 values over 32 lanes: a lane gets that of value sum_of_lane(). Each turn halves the values that a lane
// still has, and adds what lane_sum() would add.
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

int lane_place(bool wanted, inout uint count)
{
    uvec4 votes = subgroupBallot(wanted);
    uint place = count + subgroupBallotExclusiveBitCount(votes);
    count += subgroupBallotBitCount(votes);
    return int(place);
}

#define LANE_LIST(n, i, v, vertex, yes, count, place, put) \
    for (int turn = 0; turn < int(n); turn += LANES) {     \
        int i = turn + LANE, v = vertex;                   \
        bool wanted = false;                               \
        if (i < int(n)) wanted = yes;                      \
        int place = lane_place(wanted, count);             \
        if (wanted) { put }                                \
    }
#define LANE_COLLECT(n, v, yes, count, place, put) LANE_LIST(n, i, v, i, yes, count, place, put)
#define MAX_COLLECTED 1024
#define FEW (LANES_IN_STEP * 8) // it takes registers, and AMD's GPUs lose a wave by it

void lane_ask() {}

int lane_first(bool yes)
{
    uvec4 votes = subgroupBallot(yes);
    return votes == uvec4(0u) ? LANES : int(subgroupBallotFindLSB(votes));
}
vec3 lane_of(vec3 x, int lane) { return subgroupShuffle(x, uint(lane)); }
int lane_chosen(int x, bool chosen) { return subgroupShuffle(x, subgroupBallotFindLSB(subgroupBallot(chosen))); }
bool lane_leads() { return subgroupElect(); }
uint lane_lead(uint x) { return subgroupBroadcastFirst(x); }
