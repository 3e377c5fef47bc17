// Takes back a half-streamline that came to a bad end, to track it on from an earlier point with other random numbers:
// restores its state there. Where back-tracking alone is used (Smith et al. 2012), this file also decides how far it
// goes back. All lanes of a streamline call the functions below with the same state; lane 0 alone reads and writes the
// buffers, and passes the words that it reads to the other lanes.

// Block for the next point of a half-streamline that has no block or whose block is full: its own block from before it
// was taken back, or a new one.
uint block_behind(Half h)
{
    uint block = NO_BLOCK;
    if (h.n_points > 0u) {
        if (LANE == 0) block = state[block_record(h.block) + BLOCK_NEXT];
        block = lane_lead(block);
    }
    if (block != NO_BLOCK) return block;
    block = next_block();
    if (LANE == 0 && block < params.pool_blocks) {
        uint record = block_record(block);
        state[record + BLOCK_PREVIOUS] = h.n_points > 0u ? h.block : NO_BLOCK;
        state[record + BLOCK_NEXT] = NO_BLOCK;
        if (h.n_points > 0u) state[block_record(h.block) + BLOCK_NEXT] = block;
    }
    return block;
}

// Index of the first word about a point in the record of its block; points are counted from 0.
uint arrival_at(uint block, uint point)
{
    const uint size = ARRIVAL_WORDS + uint(GUIDE_BACKTRACK);
    return block_record(block) + BLOCK_POINTS + size * (point % POOL_BLOCK);
}

// Stores how the half-streamline came to its last point.
void note_arrival(Half h)
{
    if (LANE != 0) return;
    uint at = arrival_at(h.block, h.n_points - 1u);
    for (int a = 0; a < 3; a++) state[at + uint(a)] = floatBitsToUint(h.d[a]);
    state[at + 3u] = h.aux.x;
    for (int w = 0; w < GUIDE_BACKTRACK; w++) state[at + ARRIVAL_WORDS + uint(w)] = h.memory[w];
}

// Reads a word of the state buffer for all lanes. Only lane 0 reads it, because only lane 0 wrote it: without a memory
// barrier the other lanes need not see that write.
uint state_word(uint at)
{
    uint word = 0u;
    if (LANE == 0) word = state[at];
    return lane_lead(word);
}

// Reads a word of the pool of points: lane 0 reads the word and hands it to the other lanes.
uint pool_word(uint at)
{
    uint word = 0u;
    if (LANE == 0) word = pool[at];
    return lane_lead(word);
}

// Restores the half-streamline as it was with n_points points, at least one.
void half_restore(inout Half h, uint n_points)
{
    uint last = n_points - 1u;
    for (uint part = (h.n_points - 1u) / POOL_BLOCK; part > last / POOL_BLOCK; part--)
        h.block = state_word(block_record(h.block) + BLOCK_PREVIOUS);
    uint at = arrival_at(h.block, last), word = (h.block * POOL_BLOCK + last % POOL_BLOCK) * 3u;
    for (int a = 0; a < 3; a++) {
        h.p[a] = uintBitsToFloat(pool_word(word + uint(a)));
        h.d[a] = uintBitsToFloat(state_word(at + uint(a)));
    }
    h.aux = uvec3(state_word(at + 3u), 0u, 0u);
    for (int w = 0; w < GUIDE_BACKTRACK; w++) h.memory[w] = state_word(at + ARRIVAL_WORDS + uint(w));
    h.n_points = n_points;
}

#if BACKTRACK
// Number of points that a half-streamline keeps after a bad end at n points; 0: it is given up. Each number of points
// is tried three times: first one less than the largest number of points so far, then two less, and so on. A
// half-streamline that sets a new largest number starts again with one less. memory[steps]: 4 x the number of points to
// take back, plus the number of tries.
uint points_to_keep(inout Half h, uint n)
{
    const int most = GUIDE_BACKTRACK + int(BACKTRACK_MOST), steps = GUIDE_BACKTRACK + int(BACKTRACK_STEPS);
    if (n > h.memory[most]) {
        h.memory[most] = n;
        h.memory[steps] = 4u + 1u;
    } else if ((h.memory[steps] & 3u) == BACKTRACK_TIMES) {
        h.memory[steps] = (h.memory[steps] & ~3u) + 4u + 1u;
    } else {
        h.memory[steps]++;
    }
    uint back = h.memory[steps] >> 2u;
    return h.memory[most] > back ? h.memory[most] - back : 0u;
}

// Takes the half-streamline back after a bad end, if allowed. The first step stays, because the other half-streamline
// began from it. The count of returns, stored beside the number of the step, gives each return random numbers of its
// own.
bool half_returns(inout Half h, inout uint end)
{
    uint step = h.draw.step, times = (step & STEP_RETURNS) >> STEP_RETURNS_SHIFT;
    uint keep = points_to_keep(h, h.n_points + (end == GLS_END_CSF ? 1u : 0u));
    if (keep == 0u) return false;
    if (times >= BACKTRACK_LIMIT ||
        h.memory[GUIDE_BACKTRACK + int(BACKTRACK_DRAWN)] > BACKTRACK_DRAWS * params.max_steps) {
        end = GLS_END_BACKTRACK;
        return false;
    }
    half_restore(h, keep);
    h.draw.step = (keep + 1u) | (times + 1u) << STEP_RETURNS_SHIFT | (step & STEP_BACKWARD);
    return true;
}
#endif
