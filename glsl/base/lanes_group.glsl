// What the lanes of a streamline do together, where they are a work group: joined through shared memory, without an
// extension. All lanes hold the same state, so that each of them comes to every barrier.
//
// A GPU takes longer to read what all lanes show than to wait at a second barrier: lanes join by fours first, then read
// what the fours have come to.
#define LANE int(gl_LocalInvocationIndex)
#define SLOT 0u
#define GROUP_SLOTS 1u

#define SLOT_ARRAY(type, name, size) shared type name[max(size, LANES)] // LANE_SUMS needs so many
#define SLOT_ELEMENT(name, size, i) name[i]

void lane_sync() { barrier(); } // which also orders what a work group shares
void lane_settle() {}           // whatever joins lanes has a barrier

// Where lanes show words to each other, a word or two each. Two boards in turn: who writes on one has seen all others
// leave it, at the barrier of the other, so that one barrier does.
const int BOARD_ROWS = LANES / 4, FOURS_ROWS = LANES / 16;
shared uvec4 lane_board[4 * BOARD_ROWS];
int lane_board_at = 0;

#define ROW(i) lane_board[lane_board_at + (i)]
#define SECOND_ROW(i) lane_board[lane_board_at + BOARD_ROWS + (i)]

void lane_turn() { lane_board_at = 2 * BOARD_ROWS - lane_board_at; }

// The words of this lane and the three beside it.
uvec4 lane_four(uint x)
{
    lane_turn();
    ROW(LANE / 4)[LANE % 4] = x;
    lane_sync();
    return ROW(LANE / 4);
}

// Shows what four lanes have come to, in the first FOURS_ROWS rows.
void lane_show_four(uint x)
{
    lane_turn();
    if (LANE % 4 == 0) ROW(LANE / 16)[LANE / 4 % 4] = x;
    lane_sync();
}

float plus(float a, float b) { return a + b; }
vec4 plus(vec4 a, vec4 b) { return a + b; }

#define LANES_JOIN(type, vector, name, word_of, of_words, join)                            \
    type name(type x)                                                                      \
    {                                                                                      \
        vector words = of_words(lane_four(word_of(x)));                                    \
        lane_show_four(word_of(join(join(words.x, words.y), join(words.z, words.w))));     \
        words = of_words(ROW(0));                                                          \
        for (int i = 1; i < FOURS_ROWS; i++) words = join(words, of_words(ROW(i)));        \
        return join(join(words.x, words.y), join(words.z, words.w));                       \
    }
LANES_JOIN(float, vec4, lane_sum, floatBitsToUint, uintBitsToFloat, plus)
LANES_JOIN(float, vec4, lane_max, floatBitsToUint, uintBitsToFloat, max)
LANES_JOIN(uint, uvec4, lane_max, uint, uvec4, max)
LANES_JOIN(int, ivec4, lane_min, uint, ivec4, min)

float most_of(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }

void lane_range(inout float most, inout float least)
{
    lane_turn();
    ROW(LANE / 4)[LANE % 4] = floatBitsToUint(most);
    SECOND_ROW(LANE / 4)[LANE % 4] = floatBitsToUint(-least);
    lane_sync();
    uint high = floatBitsToUint(most_of(uintBitsToFloat(ROW(LANE / 4))));
    uint low = floatBitsToUint(most_of(uintBitsToFloat(SECOND_ROW(LANE / 4))));
    lane_turn();
    if (LANE % 4 == 0) {
        ROW(LANE / 16)[LANE / 4 % 4] = high;
        SECOND_ROW(LANE / 16)[LANE / 4 % 4] = low;
    }
    lane_sync();
    vec4 highs = uintBitsToFloat(ROW(0)), lows = uintBitsToFloat(SECOND_ROW(0));
    for (int i = 1; i < FOURS_ROWS; i++) {
        highs = max(highs, uintBitsToFloat(ROW(i)));
        lows = max(lows, uintBitsToFloat(SECOND_ROW(i)));
    }
    most = most_of(highs);
    least = -most_of(lows);
}

int least_where(vec4 x, float value, uvec4 number)
{
    ivec4 n = ivec4(number);
    int a = min(x.x == value ? n.x : 0x7fffffff, x.y == value ? n.y : 0x7fffffff);
    return min(a, min(x.z == value ? n.z : 0x7fffffff, x.w == value ? n.w : 0x7fffffff));
}

void lane_largest(inout float x, inout int number)
{
    lane_turn();
    ROW(LANE / 4)[LANE % 4] = floatBitsToUint(x);
    SECOND_ROW(LANE / 4)[LANE % 4] = uint(number);
    lane_sync();
    vec4 values = uintBitsToFloat(ROW(LANE / 4));
    x = most_of(values);
    number = least_where(values, x, SECOND_ROW(LANE / 4));
    lane_turn();
    if (LANE % 4 == 0) {
        ROW(LANE / 16)[LANE / 4 % 4] = floatBitsToUint(x);
        SECOND_ROW(LANE / 16)[LANE / 4 % 4] = uint(number);
    }
    lane_sync();
    values = uintBitsToFloat(ROW(0));
    for (int i = 1; i < FOURS_ROWS; i++) values = max(values, uintBitsToFloat(ROW(i)));
    x = most_of(values);
    number = 0x7fffffff;
    for (int i = 0; i < FOURS_ROWS; i++)
        number = min(number, least_where(uintBitsToFloat(ROW(i)), x, SECOND_ROW(i)));
}

uint lane_upto(uint x, out uint total)
{
    uvec4 four = lane_four(x);
    int place = LANE % 4, fours = LANE / 4;
    uint upto = x + (place > 0 ? four.x : 0u) + (place > 1 ? four.y : 0u) + (place > 2 ? four.z : 0u);
    lane_show_four((four.x + four.y) + (four.z + four.w));
    total = 0u;
    for (int i = 0; i < FOURS_ROWS; i++) {
        uvec4 row = ROW(i);
        upto += (4 * i < fours ? row.x : 0u) + (4 * i + 1 < fours ? row.y : 0u);
        upto += (4 * i + 2 < fours ? row.z : 0u) + (4 * i + 3 < fours ? row.w : 0u);
        total += (row.x + row.y) + (row.z + row.w);
    }
    return upto;
}

// Sums of up to eight numbers at a time, in room for what all lanes have of them: a lane adds up a part of one number,
// and then one lane for each number its parts. No two lanes read from one bank of memory.
#define LANE_SUMS(x, n, ROOM, size, TARGET)                                                              \
    {                                                                                                           \
        const int at_once = (size) >= 8 * LANES ? 8 : (size) >= 4 * LANES ? 4 : (size) >= 2 * LANES ? 2 : 1;    \
        int mine = LANE % at_once, part = LANE / at_once;                                                       \
        for (int from = 0; from < (n); from += at_once) {                                                       \
            for (int k = 0; k < at_once; k++)                                                                   \
                if (from + k < (n)) ROOM(k * LANES + LANE) = x[from + k];                                       \
            lane_sync();                                                                                        \
            float own = 0.0;                                                                                    \
            for (int r = 0; r < at_once; r++) own += ROOM(mine * LANES + part * at_once + (r + mine) % at_once);\
            lane_turn();                                                                                        \
            ROW(LANE / 4)[LANE % 4] = floatBitsToUint(own);                                                     \
            lane_sync();                                                                                        \
            if (part == 0 && from + mine < (n)) {                                                               \
                own = 0.0;                                                                                      \
                for (int r = 0; r < LANES / at_once; r++)                                                       \
                    own += uintBitsToFloat(ROW((r * at_once + mine) / 4)[(r * at_once + mine) % 4]);            \
                TARGET(from + mine) = own;                                                                      \
            }                                                                                                   \
        }                                                                                                       \
    }

// Lanes mark their numbers all before any counts them: a barrier for every turn would be dear.
shared uint lane_marks[(N_VERTICES + 31) / 32];

#define LANE_LIST(n, v, yes, count, place, put)                                                      \
    for (int w = LANE; w < ((n) + 31) / 32; w += LANES) lane_marks[w] = 0u;                          \
    lane_sync();                                                                                     \
    for (int v = LANE; v < (n); v += LANES)                                                          \
        if (yes) atomicOr(lane_marks[v / 32], 1u << uint(v % 32));                                   \
    lane_sync();                                                                                     \
    for (int w = 0; w < ((n) + 31) / 32; w++) {                                                      \
        uint word = lane_marks[w];                                                                   \
        for (int bit = LANE; bit < 32; bit += LANES) {                                               \
            int v = 32 * w + bit, place = int(count) + bitCount(word & ((1u << uint(bit)) - 1u));    \
            if ((word >> uint(bit) & 1u) != 0u) { put }                                              \
        }                                                                                            \
        count += uint(bitCount(word));                                                               \
    }

// The smallest lane that says yes is found in a word that a call before has cleared; two in turn, as with boards.
shared uint lane_poll[2];
int lane_poll_at = 0;

void lane_ask()
{
    lane_poll_at = 1 - lane_poll_at;
    if (LANE == 0) lane_poll[lane_poll_at] = uint(LANES);
}

int lane_first(bool yes)
{
    if (yes) atomicMin(lane_poll[lane_poll_at], uint(LANE));
    lane_sync();
    return int(lane_poll[lane_poll_at]);
}

vec3 lane_of(vec3 x, int lane)
{
    lane_turn();
    if (LANE == lane) ROW(0) = uvec4(floatBitsToUint(x), 0u);
    lane_sync();
    return uintBitsToFloat(ROW(0).xyz);
}

int lane_chosen(int x, bool chosen)
{
    lane_turn();
    if (chosen) ROW(0).x = uint(x);
    lane_sync();
    return int(ROW(0).x);
}

bool lane_leads() { return LANE == 0; }

uint lane_lead(uint x)
{
    lane_turn();
    if (LANE == 0) ROW(0).x = x;
    lane_sync();
    return ROW(0).x;
}
