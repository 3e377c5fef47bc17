// Operations that are the same whether the lanes are a whole subgroup or a part of one. The file that includes this one
// defines LANE, LANES and lane_source(), the lane of the subgroup that is a lane of the streamline; HAS_LANE_SUMS if it
// has lane_sum(), lane_max() and lane_min() of its own, HAS_LANE_UPTO if it has lane_upto().
#if !defined(HAS_LANE_SUMS)
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
#endif
#if !defined(HAS_LANE_UPTO)
// Each iteration adds what the lane `step` lanes before has summed so far. After the last one, each lane has the sum
// over itself and all lanes before it (Hillis and Steele 1986).
uint lane_upto(uint x)
{
    for (int step = 1; step < LANES; step *= 2) {
        uint below = subgroupShuffle(x, lane_source(max(LANE - step, 0)));
        x += LANE >= step ? below : 0u;
    }
    return x;
}
#endif

// The sum up to the last lane is the total.
uint lane_upto(uint x, out uint total)
{
    uint upto = lane_upto(x);
    total = subgroupShuffle(upto, lane_source(LANES - 1));
    return upto;
}

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

vec3 lane_of(vec3 x, int lane) { return subgroupShuffle(x, lane_source(lane)); }

// Does nothing: lane_first() finds the lane by a ballot, which needs no cleared word.
void lane_ask() {}

#define LANE_SUMS_IN_TURN(x, n, TARGET)   \
    for (int j = 0; j < (n); j++) {       \
        float total = lane_sum(x[j]);     \
        if (LANE == 0) TARGET(j) = total; \
    }

#define LANE_LIST(n, i, v, vertex, yes, count, index, store) \
    for (int turn = 0; turn < int(n); turn += LANES) {       \
        int i = turn + LANE, v = vertex;                     \
        bool wanted = false;                                 \
        if (i < int(n)) wanted = yes;                        \
        int index = lane_index(wanted, count);               \
        if (wanted) { store }                                \
    }
#define LANE_COLLECT(n, v, yes, count, index, store) LANE_LIST(n, i, v, i, yes, count, index, store)
#define MAX_COLLECTED 1024

#define SLOT_ARRAY(type, name, size) shared type name[SLOTS][((size) + 3) / 4 * 4]
#define SLOT_ELEMENT(name, size, i) name[SLOT][i]
