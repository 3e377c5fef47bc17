// Operations of the lanes of a streamline if the lanes are a work group: through shared memory, without an extension.
// The contracts stand in base/common.glsl. All lanes hold the same state, so each of them reaches every barrier.
//
// A GPU takes longer to read a word of every lane than to wait at a second barrier: so four lanes are combined first,
// then the results of the fours.
#define LANE int(gl_LocalInvocationIndex)
#define SLOT gl_WorkGroupID.y // always 0; NVIDIA's compiler merges loads only from addresses that it does not know
#define GROUP_SLOTS 1u

// Size rounded up to a multiple of four words, so that neighbours can be read as one vector. LANE_SUMS needs a word
// for each lane.
#define SLOT_ARRAY(type, name, size) shared type name[1][(max(size, LANES) + 3) / 4 * 4]
#define SLOT_ELEMENT(name, size, i) name[SLOT][i]

void lane_sync() { barrier(); } // barrier() also orders accesses to shared memory
void lane_writes_done() {}           // the functions that combine lanes end with a barrier

// Words by which lanes pass values to each other, in two arrays used in turn. Before a lane writes to an array again,
// it has passed the barrier behind the writes to the other array; by then all lanes have read the words that it
// overwrites. The elements are words, because compilers write a branch for every element when a store indexes into a
// vector.
shared uint lane_words[1][2 * LANES], lane_fours[1][LANES];
#define SHOWN(i) lane_words[SLOT][i]
#define JOINED(i) lane_fours[SLOT][i]
#define LANE_WORDS(i) uvec4(SHOWN(4 * (i)), SHOWN(4 * (i) + 1), SHOWN(4 * (i) + 2), SHOWN(4 * (i) + 3))
#define LANE_FOURS(i) uvec4(JOINED(4 * (i)), JOINED(4 * (i) + 1), JOINED(4 * (i) + 2), JOINED(4 * (i) + 3))
#define MORE_WORDS(i) LANE_WORDS(LANES / 4 + (i))
#define MORE_FOURS(i) LANE_FOURS(FOURS_ROWS + (i))
const int FOURS_ROWS = LANES / 16;

// Passes x between four neighbouring lanes. Returns the words of all four.
uvec4 lane_four(uint x)
{
    SHOWN(LANE) = x;
    lane_sync();
    return LANE_WORDS(LANE / 4);
}

// Shows all lanes the value x that four neighbouring lanes have combined.
void lane_show_four(uint x)
{
    if (LANE % 4 == 0) JOINED(LANE / 4) = x;
    lane_sync();
}

// Addition as a function, for LANES_JOIN.
float plus(float a, float b) { return a + b; }
vec4 plus(vec4 a, vec4 b) { return a + b; }

// Defines the function `name`, which combines a value of every lane by `join`: fours of lanes first, then the fours.
#define LANES_JOIN(type, vector, name, word_of, of_words, join)                            \
    type name(type x)                                                                      \
    {                                                                                      \
        vector words = of_words(lane_four(word_of(x)));                                    \
        lane_show_four(word_of(join(join(words.x, words.y), join(words.z, words.w))));     \
        words = of_words(LANE_FOURS(0));                                                 \
        for (int i = 1; i < FOURS_ROWS; i++) words = join(words, of_words(LANE_FOURS(i))); \
        return join(join(words.x, words.y), join(words.z, words.w));                       \
    }
LANES_JOIN(float, vec4, lane_sum, floatBitsToUint, uintBitsToFloat, plus)
LANES_JOIN(float, vec4, lane_max, floatBitsToUint, uintBitsToFloat, max)
LANES_JOIN(uint, uvec4, lane_max, uint, uvec4, max)
LANES_JOIN(int, ivec4, lane_min, uint, ivec4, min)

// Largest of four numbers.
float max_of(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }

// Finds the largest and the smallest value over the lanes. Both pass through shared memory together: the smallest value
// is found as the maximum of the negated values.
void lane_range(inout float most, inout float least)
{
    SHOWN(LANE) = floatBitsToUint(most);
    SHOWN(LANES + LANE) = floatBitsToUint(-least);
    lane_sync();
    uint high = floatBitsToUint(max_of(uintBitsToFloat(LANE_WORDS(LANE / 4))));
    uint low = floatBitsToUint(max_of(uintBitsToFloat(MORE_WORDS(LANE / 4))));
    if (LANE % 4 == 0) {
        JOINED(LANE / 4) = high;
        JOINED(LANES / 4 + LANE / 4) = low;
    }
    lane_sync();
    vec4 highs = uintBitsToFloat(LANE_FOURS(0)), lows = uintBitsToFloat(MORE_FOURS(0));
    for (int i = 1; i < FOURS_ROWS; i++) {
        highs = max(highs, uintBitsToFloat(LANE_FOURS(i)));
        lows = max(lows, uintBitsToFloat(MORE_FOURS(i)));
    }
    most = max_of(highs);
    least = -max_of(lows);
}

// The smallest number[i] for which x[i] equals `value`; 0x7fffffff if no x[i] does.
int min_where(vec4 x, float value, uvec4 number)
{
    ivec4 n = ivec4(number);
    int a = min(x.x == value ? n.x : 0x7fffffff, x.y == value ? n.y : 0x7fffffff);
    return min(a, min(x.z == value ? n.z : 0x7fffffff, x.w == value ? n.w : 0x7fffffff));
}

// Finds the largest x over the lanes and the number that its lane gave; among equal values the smallest number wins.
void lane_largest(inout float x, inout int number)
{
    SHOWN(LANE) = floatBitsToUint(x);
    SHOWN(LANES + LANE) = uint(number);
    lane_sync();
    vec4 values = uintBitsToFloat(LANE_WORDS(LANE / 4));
    x = max_of(values);
    number = min_where(values, x, MORE_WORDS(LANE / 4));
    if (LANE % 4 == 0) {
        JOINED(LANE / 4) = floatBitsToUint(x);
        JOINED(LANES / 4 + LANE / 4) = uint(number);
    }
    lane_sync();
    values = uintBitsToFloat(LANE_FOURS(0));
    for (int i = 1; i < FOURS_ROWS; i++) values = max(values, uintBitsToFloat(LANE_FOURS(i)));
    x = max_of(values);
    number = 0x7fffffff;
    for (int i = 0; i < FOURS_ROWS; i++)
        number = min(number, min_where(uintBitsToFloat(LANE_FOURS(i)), x, MORE_FOURS(i)));
}

// The sum of x over this lane and all lanes before it: four neighbouring lanes read each other's x, and the sums of
// the fours before theirs are added.
uint lane_upto(uint x, out uint total)
{
    uvec4 four = lane_four(x);
    int index = LANE % 4, fours = LANE / 4;
    uint upto = x + (index > 0 ? four.x : 0u) + (index > 1 ? four.y : 0u) + (index > 2 ? four.z : 0u);
    lane_show_four((four.x + four.y) + (four.z + four.w));
    total = 0u;
    for (int i = 0; i < FOURS_ROWS; i++) {
        uvec4 row = LANE_FOURS(i);
        upto += (4 * i < fours ? row.x : 0u) + (4 * i + 1 < fours ? row.y : 0u);
        upto += (4 * i + 2 < fours ? row.z : 0u) + (4 * i + 3 < fours ? row.w : 0u);
        total += (row.x + row.y) + (row.z + row.w);
    }
    return upto;
}

// Sums up to eight elements at a time: the lanes write their values of these elements to ROOM, each lane adds a part of
// the values of one element, then one lane for each element adds the parts. No two lanes read from the same bank of
// memory at a time.
#define LANE_SUMS(x, n, ROOM, size, TARGET)                                                                     \
    {                                                                                                             \
        const int at_once = (size) >= 8 * LANES ? 8 : (size) >= 4 * LANES ? 4 : (size) >= 2 * LANES ? 2 : 1;      \
        int mine = LANE % at_once, part = LANE / at_once;                                                         \
        for (int from = 0; from < (n); from += at_once) {                                                         \
            for (int k = 0; k < at_once; k++)                                                                     \
                if (from + k < (n)) ROOM(k * LANES + LANE) = x[from + k];                                         \
            lane_sync();                                                                                          \
            float own = 0.0;                                                                                      \
            for (int r = 0; r < at_once; r++) own += ROOM(mine * LANES + part * at_once + (r + mine) % at_once);  \
            JOINED(LANE) = floatBitsToUint(own);                                                              \
            lane_sync();                                                                                          \
            if (part == 0 && from + mine < (n)) {                                                                 \
                own = 0.0;                                                                                        \
                for (int r = 0; r < LANES / at_once; r++) own += uintBitsToFloat(JOINED(r * at_once + mine)); \
                TARGET(from + mine) = own;                                                                        \
            }                                                                                                     \
        }                                                                                                         \
    }

// LANE_LIST marks the values v, which are vertices, as bits. All lanes mark before any lane counts, because a barrier
// in every iteration would be slow. Each lane then counts the marks in some of the words.
const int MARK_WORDS = (N_VERTICES + 31) / 32;
shared uint lane_marks[(MARK_WORDS + 3) / 4 * 4];

#define LANE_LIST(n, i, v, vertex, yes, count, index, store)                                    \
    {                                                                                           \
        for (int w = LANE; w < MARK_WORDS; w += LANES) lane_marks[w] = 0u;                      \
        lane_sync();                                                                            \
        for (int i = LANE; i < int(n); i += LANES) {                                            \
            int v = vertex;                                                                     \
            if (yes) atomicOr(lane_marks[v / 32], 1u << uint(v % 32));                          \
        }                                                                                       \
        lane_sync();                                                                            \
        for (int from = 0; from < MARK_WORDS; from += LANES) {                                  \
            int w = from + LANE;                                                                \
            uint total, marks = w < MARK_WORDS ? lane_marks[w] : 0u;                            \
            int index = int(count + lane_upto(uint(bitCount(marks)), total)) - bitCount(marks); \
            for (; marks != 0u; marks &= marks - 1u) {                                          \
                int v = 32 * w + findLSB(marks);                                                \
                store                                                                           \
                index++;                                                                        \
            }                                                                                   \
            count += total;                                                                     \
        }                                                                                       \
    }

// Each lane stores its values behind the values of the lanes before it.
#define LANE_COLLECT(n, v, yes, count, index, store)                                    \
    {                                                                                   \
        uint total, own = 0u;                                                           \
        for (int turn = 0; turn < ((n) + LANES - 1) / LANES; turn++) {                                \
            int v = turn * LANES + LANE;                                                \
            if (v < (n) && (yes)) own |= 1u << uint(turn);                              \
        }                                                                               \
        int index = int(count + lane_upto(uint(bitCount(own)), total)) - bitCount(own); \
        for (; own != 0u; own &= own - 1u) {                                            \
            int v = findLSB(own) * LANES + LANE;                                        \
            store                                                                       \
            index++;                                                                    \
        }                                                                               \
        count += total;                                                                 \
    }
#define MAX_COLLECTED (32 * LANES)
#define FEW 8

// Two words, used in turn. lane_ask() sets one to LANES; in it lane_first() finds the first lane that says yes.
shared uint lane_poll[2];
int lane_poll_at = 0;

// Lane 0 sets the word of the next lane_first() to LANES; call lane_sync() before lane_first().
void lane_ask()
{
    lane_poll_at = 1 - lane_poll_at;
    if (LANE == 0) lane_poll[lane_poll_at] = uint(LANES);
}

// The minimum over the lanes that say yes is the first of them; a word that no lane wrote still holds LANES.
int lane_first(bool yes)
{
    if (yes) atomicMin(lane_poll[lane_poll_at], uint(LANE));
    lane_sync();
    return int(lane_poll[lane_poll_at]);
}

// Words by which one lane passes values to all other lanes; two sets are used in turn.
shared uint lane_note[8];
int lane_note_at = 0;
// Word i of the set in use.
#define NOTE(i) lane_note[4 * lane_note_at + (i)]

// Changes to the other set of words, before one lane writes to the set.
void lane_turn() { lane_note_at = 1 - lane_note_at; }

// Lane number `lane` writes the three components of its x, which all lanes read after the barrier.
vec3 lane_of(vec3 x, int lane)
{
    lane_turn();
    if (LANE == lane) {
        NOTE(0) = floatBitsToUint(x.x);
        NOTE(1) = floatBitsToUint(x.y);
        NOTE(2) = floatBitsToUint(x.z);
    }
    lane_sync();
    return uintBitsToFloat(uvec3(NOTE(0), NOTE(1), NOTE(2)));
}

// Only the lane that chose itself writes, so no lane needs to know its number.
int lane_chosen(int x, bool chosen)
{
    lane_turn();
    if (chosen) NOTE(0) = uint(x);
    lane_sync();
    return int(NOTE(0));
}

bool lane_leads() { return LANE == 0; }

// Returns x of lane 0, which acts for the streamline.
uint lane_lead(uint x)
{
    lane_turn();
    if (LANE == 0) NOTE(0) = x;
    lane_sync();
    return NOTE(0);
}
