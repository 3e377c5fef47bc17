// What the lanes of a streamline do together, where they are a work group: joined through shared memory, without an
// extension. All lanes hold the same state, so that each of them comes to every barrier.
#define LANE int(gl_LocalInvocationIndex)
#define SLOT 0u
#define GROUP_SLOTS 1u

#define SLOT_ARRAY(type, name, size) shared type name[size]
#define SLOT_ELEMENT(name, size, i) name[i]

#define VOTES_ARE_BARRIERS 1

void lane_sync() { barrier(); } // which also orders what a work group shares

// Every lane shows a word to the others. Two boards in turn: who writes on one has seen all others leave it, at the
// barrier of the other, so that one barrier does.
const int BOARD_ROWS = LANES / 4;
shared uvec4 lane_board[2 * BOARD_ROWS];
int lane_board_at = 0;

void lane_show(uint x)
{
    lane_board_at = BOARD_ROWS - lane_board_at;
    lane_board[lane_board_at + LANE / 4][LANE % 4] = x;
    lane_sync();
}

#define ROW(i) lane_board[lane_board_at + (i)]
#define ROW_FLOAT(i) uintBitsToFloat(ROW(i))
uint lane_word(int lane) { return ROW(lane / 4)[lane % 4]; }

float lane_sum(float x)
{
    lane_show(floatBitsToUint(x));
    vec4 sum = ROW_FLOAT(0);
    for (int i = 1; i < BOARD_ROWS; i++) sum += ROW_FLOAT(i);
    return (sum.x + sum.y) + (sum.z + sum.w);
}

float lane_max(float x)
{
    lane_show(floatBitsToUint(x));
    vec4 most = ROW_FLOAT(0);
    for (int i = 1; i < BOARD_ROWS; i++) most = max(most, ROW_FLOAT(i));
    return max(max(most.x, most.y), max(most.z, most.w));
}

uint lane_max(uint x)
{
    lane_show(x);
    uvec4 most = ROW(0);
    for (int i = 1; i < BOARD_ROWS; i++) most = max(most, ROW(i));
    return max(max(most.x, most.y), max(most.z, most.w));
}

float lane_min(float x) { return -lane_max(-x); }

int lane_min(int x)
{
    lane_show(uint(x));
    ivec4 least = ivec4(ROW(0));
    for (int i = 1; i < BOARD_ROWS; i++) least = min(least, ivec4(ROW(i)));
    return min(min(least.x, least.y), min(least.z, least.w));
}

uint lane_upto(uint x)
{
    lane_show(x);
    uvec4 sum = uvec4(0u);
    uint last = uint(LANE % 4);
    for (int i = 0; i < BOARD_ROWS; i++) {
        uvec4 row = ROW(i);
        if (i == LANE / 4) row = uvec4(row.x, last > 0u ? row.y : 0u, last > 1u ? row.z : 0u, last > 2u ? row.w : 0u);
        sum += i <= LANE / 4 ? row : uvec4(0u);
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// The lanes that say yes, as bits: a word for 32 of them.
const int VOTE_WORDS = (LANES + 31) / 32;
uint lane_votes[VOTE_WORDS];

void lane_vote(bool yes)
{
    lane_show(yes ? 1u << uint(LANE % 32) : 0u);
    for (int w = 0; w < VOTE_WORDS; w++) {
        uvec4 bits = uvec4(0u);
        for (int i = 8 * w; i < min(8 * w + 8, BOARD_ROWS); i++) bits |= ROW(i);
        lane_votes[w] = bits.x | bits.y | bits.z | bits.w;
    }
}

int lane_place(bool wanted, inout uint count)
{
    lane_vote(wanted);
    int place = int(count);
    for (int w = 0; w < VOTE_WORDS; w++) {
        uint below = w < LANE / 32 ? 0xffffffffu : w > LANE / 32 ? 0u : (1u << uint(LANE % 32)) - 1u;
        place += bitCount(lane_votes[w] & below);
        count += uint(bitCount(lane_votes[w]));
    }
    return place;
}

int first_vote()
{
    for (int w = 0; w < VOTE_WORDS; w++)
        if (lane_votes[w] != 0u) return 32 * w + findLSB(lane_votes[w]);
    return 0;
}

vec3 lane_of(vec3 x, int lane)
{
    vec3 found;
    for (int a = 0; a < 3; a++) {
        lane_show(floatBitsToUint(x[a]));
        found[a] = uintBitsToFloat(lane_word(lane));
    }
    return found;
}

int lane_chosen(int x, bool chosen)
{
    lane_vote(chosen);
    int lane = first_vote();
    lane_show(uint(x));
    return int(lane_word(lane));
}

bool lane_leads() { return LANE == 0; }

uint lane_lead(uint x)
{
    lane_show(x);
    return lane_word(0);
}
