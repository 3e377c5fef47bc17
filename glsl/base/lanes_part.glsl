// Operations of the lanes of a streamline if the lanes are a part of a subgroup (KHR_shader_subgroup):
// LANES neighbours, a power of two. The streamlines of a subgroup may be at different places of a loop; the
// lanes of one are always at the same. The contracts stand in base/common.glsl.
#define LANE (int(gl_SubgroupInvocationID) & (LANES - 1))
#define SLOT (gl_LocalInvocationIndex / uint(LANES))
#define GROUP_SLOTS (uint(GROUP_SIZE) / uint(LANES))

#define SLOT_ARRAY(type, name, size) shared type name[SLOTS][((size) + 3) / 4 * 4]
#define SLOT_ELEMENT(name, size, i) name[SLOT][i]

// No barrier of the subgroup: its other streamlines may be elsewhere.
void lane_sync() { subgroupMemoryBarrierShared(); }
void lane_writes_done() { lane_sync(); }

// The lane of the subgroup that is lane `lane` of this streamline.
uint lane_source(int lane) { return (gl_SubgroupInvocationID & ~uint(LANES - 1)) + uint(lane); }

// Combines pairs, then pairs of pairs: both partners compute the same value, so at the end all lanes have it.
#define BUTTERFLY(type, name, join)                              \
    type name(type x)                                            \
    {                                                            \
        for (int bit = 1; bit < LANES; bit *= 2) {               \
            type other = subgroupShuffleXor(x, uint(bit));       \
            x = join;                                            \
        }                                                        \
        return x;                                                \
    }
BUTTERFLY(float, lane_sum, x + other)
BUTTERFLY(float, lane_max, max(x, other))
BUTTERFLY(uint, lane_max, max(x, other))
BUTTERFLY(float, lane_min, min(x, other))
BUTTERFLY(int, lane_min, min(x, other))

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

// Each iteration adds what the lane `step` lanes before has summed so far. After the last one, each lane has the sum
// over itself and all lanes before it (Hillis and Steele 1986).
uint lane_upto(uint x, out uint total)
{
    for (int step = 1; step < LANES; step *= 2) {
        uint below = subgroupShuffle(x, lane_source(max(LANE - step, 0)));
        x += LANE >= step ? below : 0u;
    }
    total = subgroupShuffle(x, lane_source(LANES - 1));
    return x;
}

#define LANE_SUMS(x, n, ROOM, size, TARGET) \
    for (int j = 0; j < (n); j++) {         \
        float total = lane_sum(x[j]);       \
        if (LANE == 0) TARGET(j) = total;   \
    }

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
#define FEW 0 // see base/common.glsl

// Does nothing: lane_first() finds the lane by a ballot, which needs no cleared word.
void lane_ask() {}

// The lowest bit of the votes belongs to the first lane that says yes.
int lane_first(bool yes)
{
    uint votes = lane_votes(yes);
    return votes == 0u ? LANES : findLSB(votes);
}
vec3 lane_of(vec3 x, int lane) { return subgroupShuffle(x, lane_source(lane)); }
int lane_chosen(int x, bool chosen) { return subgroupShuffle(x, lane_source(findLSB(lane_votes(chosen)))); }
bool lane_leads() { return LANE == 0; }
uint lane_lead(uint x) { return subgroupShuffle(x, lane_source(0)); }
