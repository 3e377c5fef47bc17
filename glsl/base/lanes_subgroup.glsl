// What the lanes of a streamline do together, where they are a subgroup.
#define LANE int(gl_SubgroupInvocationID)
#define SLOT gl_SubgroupID
#define GROUP_SLOTS gl_NumSubgroups
#if !defined(LANES)
#define LANES int(gl_SubgroupSize) // some compilers choose the width themselves
#endif

#define SLOT_ARRAY(type, name, size) shared type name[SLOTS * (size)]
#define SLOT_ELEMENT(name, size, i) name[int(SLOT) * (size) + (i)]

#if LANES_IN_STEP
// NVIDIA's compiler makes a barrier of a subgroup one of the whole device's memory, which empties the L1 cache. Its
// lanes meet again after every branch without one, and a subgroup's accesses to shared memory keep their order.
void lane_sync() { subgroupMemoryBarrierShared(); }
#else
void lane_sync() { subgroupBarrier(); subgroupMemoryBarrierShared(); }
#endif
void lane_settle() { lane_sync(); }

#if SUBGROUP_ARITHMETIC
float lane_sum(float x) { return subgroupAdd(x); }
float lane_max(float x) { return subgroupMax(x); }
uint lane_max(uint x) { return subgroupMax(x); }
float lane_min(float x) { return subgroupMin(x); }
int lane_min(int x) { return subgroupMin(x); }
uint lane_upto(uint x) { return subgroupInclusiveAdd(x); }
#else
// Pairs, then pairs of pairs: both partners find the same, and after the last turn all do.
#define BUTTERFLY(type, name, join)                                        \
    type name(type x)                                                      \
    {                                                                      \
        for (uint step = 1u; step < uint(LANES); step *= 2u) {             \
            type other = subgroupShuffleXor(x, step);                      \
            x = join;                                                      \
        }                                                                  \
        return x;                                                          \
    }
BUTTERFLY(float, lane_sum, x + other)
BUTTERFLY(float, lane_max, max(x, other))
BUTTERFLY(uint, lane_max, max(x, other))
BUTTERFLY(float, lane_min, min(x, other))
BUTTERFLY(int, lane_min, min(x, other))
uint lane_upto(uint x)
{
    for (int step = 1; step < LANES; step *= 2) {
        uint below = subgroupShuffle(x, uint(max(LANE - step, 0)));
        x += LANE >= step ? below : 0u;
    }
    return x;
}
#endif

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
    total = lane_max(upto);
    return upto;
}

#define LANE_SUMS(x, n, ROOM, size, TARGET) for (int j = 0; j < (n); j++) x[j] = lane_sum(x[j]);
#define LANE_SUMS_SHARED(x, n, ROOM, size, TARGET) \
    for (int j = 0; j < (n); j++) {                \
        float total = lane_sum(x[j]);              \
        if (LANE == 0) TARGET(j) = total;          \
    }

int lane_place(bool wanted, inout uint count)
{
    uvec4 votes = subgroupBallot(wanted);
    uint place = count + subgroupBallotExclusiveBitCount(votes);
    count += subgroupBallotBitCount(votes);
    return int(place);
}

#define LANE_LIST(n, v, yes, count, place, put)                            \
    for (int turn = 0; turn < (n); turn += LANES) {                        \
        int v = turn + LANE;                                               \
        bool wanted = false;                                               \
        if (v < (n)) wanted = yes;                                         \
        int place = lane_place(wanted, count);                             \
        if (wanted) { put }                                                \
    }

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
