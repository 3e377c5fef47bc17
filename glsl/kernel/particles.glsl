// Particle filtering (Girard et al. 2014). A half-streamline that came to a bad end is taken back some steps; from
// there particles are tracked forward. Particles near bad ends lose weight and are drawn less often. At last one
// particle is chosen, and the half-streamline goes on from that particle's last point. Each iteration of the tracking
// loop draws the direction of one particle, by the same code as the direction of a half-streamline.
//
// The particles of a half-streamline are stored in blocks of the pool. First comes one word for each step and particle.
// Then come, for each particle, three words of its position, one of its vertex, one of its weight and one of its state:
// the index of its parent in the step before, its end, its number of steps, and how often it was drawn.
//
// In the words of a half-streamline, FILTER_TURN names the particle whose direction is drawn next: the number of steps
// of the run, the step and the particle. The particles of a step come one after the other, then the particles of the
// next step. Lane 0 alone reads and writes the words of particles.

// Bits of the state word of a particle: parent, end, number of steps made, and how often the particle was drawn.
const uint FILTER_PARENT = 0xffu, FILTER_END = 0xff00u, FILTER_END_SHIFT = 8u, FILTER_MADE = 0xff0000u,
           FILTER_MADE_SHIFT = 16u, FILTER_DRAWN = 0x1000000u, FILTER_DRAWN_SHIFT = 24u;
// Bits of the word of a particle's step: vertex of its direction, VERTEX_FLIPPED, and index of the particle's parent.
const uint WAY_VERTEX = 0xffffffu, WAY_PARENT = 0x7f000000u, WAY_PARENT_SHIFT = 24u;
const uint MAX_BACK = uint(FILTER_BACK), MAX_FRONT = uint(FILTER_FRONT),
           STORE_BLOCKS = uint(FILTER_BLOCKS);

// Number of particles. It is hidden from most compilers, which would unroll loops over a known number and take
// registers for all particles. llvmpipe, which runs all branches, also leaves a loop over a hidden number after one
// iteration if no lane needs it. NVIDIA's compiler gets the known number: it spills nothing, and its kernel takes a
// sixth less time.
#if LANES_IN_STEP
#define N_PARTICLES uint(PARTICLES)
#else
#define N_PARTICLES (ALWAYS ? uint(PARTICLES) : 0u)
#endif

// filter_is_on(): whether a run of the filter is at work on the half-streamline; filter_runs(): the number of runs
// begun.
bool filter_is_on(Half h) { return h.memory[GUIDE_BACKTRACK + int(FILTER_TURN)] != 0u; }
uint filter_runs(Half h) { return h.memory[GUIDE_BACKTRACK + int(FILTER_RUNS)] & ((1u << FILTER_LOST_SHIFT) - 1u); }

// Indices of words in the pool: the store of this half-streamline, the word of a step, the first word of a particle.
uint filter_base(Half h) { return (h.memory[GUIDE_BACKTRACK + int(FILTER_STORE)] - 1u) * POOL_BLOCK * 3u; }
uint way_word(uint base, uint step, uint particle) { return base + step * N_PARTICLES + particle; }
uint particle_word(uint base, uint particle)
{
    return base + (MAX_BACK + MAX_FRONT) * N_PARTICLES + particle * FILTER_STATE;
}
const uint PARTICLE_VERTEX = 3u, PARTICLE_WEIGHT = 4u, PARTICLE_STATE = 5u;

// Weight and state of particle k; particle_goes(): whether a particle of this state has not ended.
float particle_weight(uint base, uint k) { return uintBitsToFloat(pool[particle_word(base, k) + PARTICLE_WEIGHT]); }
uint particle_state(uint base, uint k) { return pool[particle_word(base, k) + PARTICLE_STATE]; }
bool particle_goes(uint stand) { return (stand & FILTER_END) >> FILTER_END_SHIFT == GUIDE_GO_ON; }

// Stores a particle whose first word is word `at` of the pool. stand: its parent, end and number of steps, see FILTER_
// above.
void set_particle(uint at, vec3 p, uint vertex, float weight, uint stand)
{
    for (int a = 0; a < 3; a++) pool[at + uint(a)] = floatBitsToUint(p[a]);
    pool[at + PARTICLE_VERTEX] = vertex;
    pool[at + PARTICLE_WEIGHT] = floatBitsToUint(weight);
    pool[at + PARTICLE_STATE] = stand;
}

// Vertex of a direction, with VERTEX_FLIPPED where the direction points to the opposite side.
uint signed_vertex(uint vertex, vec3 d)
{
    return vertex | (dot(vertex_direction(vertex), d) < 0.0 ? VERTEX_FLIPPED : 0u);
}

// Unit vector of a word of signed_vertex() or of a step, along the voxel axes.
vec3 signed_direction(uint word)
{
    vec3 d = vertex_direction(word & WAY_VERTEX);
    return (word & VERTEX_FLIPPED) != 0u ? -d : d;
}

// Number of a step for random numbers. It contains the number of runs begun, so that no two runs of a half-streamline
// draw the same numbers.
uint filter_step(Half h, uint step)
{
    return (h.n_points + step + 1u) | filter_runs(h) << STEP_RETURNS_SHIFT | (h.draw.step & STEP_BACKWARD);
}

// Random number i, from 0 to 1, that a filter run draws at a step for all its particles together. block: index of its
// first block of random numbers.
float filter_uniform(Half h, uint step, uint block, uint i)
{
    uvec4 word = draw_block(Draw(0u, filter_step(h, step), h.draw.seed_lo, h.draw.seed_hi), block + i / 4u);
    return float(word[i % 4u] >> 8) * (1.0 / 16777216.0);
}

// Index of the particle in whose share of the sum of weights u lies; u is from 0 to the sum.
uint particle_at(uint base, float u)
{
    float sum = 0.0;
    uint found = 0u;
    for (uint k = 0u; k < N_PARTICLES; k++) {
        float weight = particle_weight(base, k);
        if (weight > 0.0 && sum <= u) found = k;
        sum += weight;
    }
    return found;
}

// Sum of the weights of all particles, in the order of their numbers so that it is always the same.
float weight_sum(uint base)
{
    float sum = 0.0;
    for (uint k = 0u; k < N_PARTICLES; k++) sum += particle_weight(base, k);
    return sum;
}

// Draws all particles again, in proportion to their weights. A particle that is drawn stays; one that is drawn more
// than once also replaces particles that are not drawn. Afterwards all weights are 1 / N_PARTICLES.
void resample(Half h, uint base, uint step, float total)
{
    // Draw N_PARTICLES times with replacement and count how often each particle was drawn.
    for (uint i = 0u; i < N_PARTICLES; i++) {
        uint k = particle_at(base, filter_uniform(h, step, FILTER_RESAMPLE, i) * total);
        pool[particle_word(base, k) + PARTICLE_STATE] += FILTER_DRAWN;
    }
    // Overwrite particles that were not drawn with copies of particles that were drawn more than once. There are as
    // many extra draws as particles without a draw.
    uint source = 0u;
    for (uint k = 0u; k < N_PARTICLES; k++) {
        if (particle_state(base, k) >> FILTER_DRAWN_SHIFT != 0u) continue;
        while (particle_state(base, source) >> FILTER_DRAWN_SHIFT < 2u) source++;
        uint from = particle_word(base, source), to = particle_word(base, k);
        pool[from + PARTICLE_STATE] -= FILTER_DRAWN;
        for (uint w = 0u; w <= PARTICLE_VERTEX; w++) pool[to + w] = pool[from + w];
        pool[to + PARTICLE_STATE] = (pool[from + PARTICLE_STATE] & (FILTER_END | FILTER_MADE)) | source | FILTER_DRAWN;
    }
    for (uint k = 0u; k < N_PARTICLES; k++) {
        uint at = particle_word(base, k);
        // All particles have the same weight now: set it, and clear the counts of draws.
        pool[at + PARTICLE_STATE] &= FILTER_DRAWN - 1u;
        pool[at + PARTICLE_WEIGHT] = floatBitsToUint(1.0 / float(PARTICLES));
    }
}

// Ends a step that all particles have made: normalises the weights to a sum of 1, and resamples if few particles carry
// most of the weight, that is, if the effective number of particles, 1 / sum of w^2, is below a tenth of all. If all
// weights are 0, nothing changes.
void end_filter_step(Half h, uint base, uint step)
{
    float sum = weight_sum(base), squares = 0.0;
    if (!(sum > 0.0)) return;
    for (uint k = 0u; k < N_PARTICLES; k++) {
        uint at = particle_word(base, k) + PARTICLE_WEIGHT;
        float weight = uintBitsToFloat(pool[at]) / sum;
        pool[at] = floatBitsToUint(weight);
        squares += weight * weight;
    }
    if (1.0 / squares < float(PARTICLES) / 10.0) resample(h, base, step, weight_sum(base));
}

// Stores the step of particle k to q along next, with its end and its new weight: 0 without a direction or at the stop
// map, else the old weight times 1 - bad; bad is the probability of a bad end at q. A weight below 1e-16 counts as 0. A
// particle that meets CSF goes on as long as its weight is positive.
void note_particle(Half h, uint base, uint step, uint k, uint end, vec3 q, vec3 next, float bad)
{
    uint at = particle_word(base, k), stand = pool[at + PARTICLE_STATE], vertex = signed_vertex(h.aux.x, next);
    float weight = uintBitsToFloat(pool[at + PARTICLE_WEIGHT]);
    pool[way_word(base, step, k)] = vertex | (stand & FILTER_PARENT) << WAY_PARENT_SHIFT;
    uint made = end == GLS_END_NO_DIRECTION ? (stand & FILTER_MADE) >> FILTER_MADE_SHIFT : step + 1u;
    bool dead = end == GLS_END_NO_DIRECTION || end == GLS_END_STOP_MAP;
    weight = dead ? 0.0 : weight * (1.0 - bad);
    if (weight < 1e-16) weight = 0.0;
    if (end == GLS_END_CSF && weight > 0.0) end = GUIDE_GO_ON;
    set_particle(at, q, vertex, weight, k | end << FILTER_END_SHIFT | made << FILTER_MADE_SHIFT);
}

// Whether at least one particle of this run has not ended.
bool any_particle_goes(uint base)
{
    bool any = false;
    for (uint k = 0u; k < N_PARTICLES; k++) any = any || particle_goes(particle_state(base, k));
    return any;
}

// Finds the next particle after k that goes on, in this step or a later one. Returns its FILTER_TURN, or 0 if the
// filter run is over.
uint next_particle(Half h, uint base, uint steps, inout uint step, uint k)
{
    // A particle that has ended keeps its index: the word of its step repeats its parent, so that the way back through
    // the steps stays whole.
    bool over = false;
    while (!over) {
        for (k++; k < N_PARTICLES; k++) {
            uint at = particle_word(base, k) + PARTICLE_STATE, stand = pool[at];
            if (particle_goes(stand)) return steps | step << FILTER_STEP_SHIFT | k << FILTER_PARTICLE_SHIFT;
            pool[way_word(base, step, k)] = (stand & FILTER_PARENT) << WAY_PARENT_SHIFT;
            pool[at] = (stand & ~FILTER_PARENT) | k;
        }
        // All particles have made this step; the run ends after its last step, or when every particle has ended.
        end_filter_step(h, base, step);
        step++;
        over = step == steps || !any_particle_goes(base);
        k = 0xffffffffu;
    }
    return 0u;
}

// Puts position, direction and random numbers of a particle into the half-streamline, so that the next direction is
// drawn for it.
void become_particle(inout Half h, uint base, uint turn)
{
    // The attempt selects the blocks of random numbers: particle k has the blocks from (k + 1) << 16 on.
    uint k = turn >> FILTER_PARTICLE_SHIFT, at = particle_word(base, k);
    h.memory[GUIDE_BACKTRACK + int(FILTER_TURN)] = turn;
    for (int a = 0; a < 3; a++) h.p[a] = uintBitsToFloat(pool_word(at + uint(a)));
    uint vertex = pool_word(at + PARTICLE_VERTEX);
    h.d = signed_direction(vertex);
    h.aux = uvec3(vertex & WAY_VERTEX, 0u, 0u);
    h.attempt = k + 1u;
    h.draw.step = filter_step(h, turn >> FILTER_STEP_SHIFT & 0xffu);
}

// Draws one particle by weight, or takes the first if all weights are 0, and copies the words of its steps to the words
// of particle 0. Returns the particle's state, with FILTER_DRAWN if it was drawn.
uint choose_particle(Half h, uint base, uint n_steps)
{
    float sum = weight_sum(base);
    uint k = sum > 0.0 ? particle_at(base, filter_uniform(h, n_steps, FILTER_CHOICE, 0u) * sum) : 0u;
    uint stand = particle_state(base, k) | (sum > 0.0 ? FILTER_DRAWN : 0u);
    // Follow the parents back, and copy the words of the steps to particle 0.
    k = stand & FILTER_PARENT;
    for (uint step = n_steps; step-- > 0u;) {
        uint word = pool[way_word(base, step, k)];
        pool[way_word(base, step, 0u)] = word;
        k = (word & WAY_PARENT) >> WAY_PARENT_SHIFT;
    }
    return stand;
}

// Notes the step of the current particle, with its end and the probability of a bad end at q. Returns the FILTER_TURN
// of the next particle, or 0 if the run is over. steps: the number of steps that the run has made so far.
uint filter_turn(Half h, uint base, uint end, vec3 q, vec3 next, out uint steps)
{
    uint turn = h.memory[GUIDE_BACKTRACK + int(FILTER_TURN)], step = turn >> FILTER_STEP_SHIFT & 0xffu;
    if (LANE == 0) {
        note_particle(h, base, step, turn >> FILTER_PARTICLE_SHIFT, end, q, next, guide_bad);
        turn = next_particle(h, base, turn & 0xffu, step, turn >> FILTER_PARTICLE_SHIFT);
    }
    steps = lane_lead(step);
    return lane_lead(turn);
}

// Ends a filter run after n_steps: chooses a particle and returns its end. taken: the number of its steps that the
// half-streamline takes: all of them but the last one, or all if it came to a good end.
uint filter_choose(inout Half h, uint base, uint n_steps, out uint taken)
{
    uint stand = 0u;
    if (LANE == 0) stand = choose_particle(h, base, n_steps);
    stand = lane_lead(stand);
    uint end = (stand & FILTER_END) >> FILTER_END_SHIFT, made = (stand & FILTER_MADE) >> FILTER_MADE_SHIFT;
    taken = end == GLS_END_CGM ? made : max(made, 1u) - 1u;
    h.memory[GUIDE_BACKTRACK + int(FILTER_TURN)] = 0u;
    if ((stand & FILTER_DRAWN) == 0u) h.memory[GUIDE_BACKTRACK + int(FILTER_RUNS)] += 1u << FILTER_LOST_SHIFT;
    return end;
}

// Number of points of a half-streamline; if a direction was found, the point to which it led counts, too.
uint points_at_end(Half h, uint outcome) { return h.n_points + (outcome == DIRECTION_FOUND ? 1u : 0u); }

// Whether a filter run may begin after a bad end: the half-streamline has runs left, has a point to go back from, and
// is not at the maximum length.
bool filter_may_begin(Half h, uint outcome)
{
    uint n = points_at_end(h, outcome);
    return filter_runs(h) < uint(FILTER_TRIALS) && n >= 1u && n < params.max_steps;
}

// Reserves blocks of the pool for the particles of a half-streamline, at its first run. Returns false if the pool is
// full.
bool take_store(inout Half h)
{
    const int store = GUIDE_BACKTRACK + int(FILTER_STORE);
    if (h.memory[store] != 0u) return true;
    uint block = 0u;
    if (lane_leads()) block = atomicAdd(pool_head, STORE_BLOCKS);
    block = lane_lead(block);
    h.memory[store] = block + 1u;
    // Note that the blocks hold points of no half-streamline, even if only some of them lie in the pool: their records
    // may name a half-streamline of an earlier run of pass 2.
    uint until = min(block + STORE_BLOCKS, params.pool_blocks);
    for (uint i = block; i < until && LANE == 0; i++) state[block_record(i) + BLOCK_HALF] = NO_ITEM;
    return block + STORE_BLOCKS <= params.pool_blocks;
}

// Starts all particles of a new run at the last point of the half-streamline, with equal weights. Returns false if the
// pool is full.
bool start_particles(inout Half h)
{
    if (!take_store(h)) return false;
    h.memory[GUIDE_BACKTRACK + int(FILTER_RUNS)]++;
    uint base = filter_base(h), vertex = signed_vertex(h.aux.x, h.d);
    for (uint k = 0u; k < N_PARTICLES && LANE == 0; k++)
        set_particle(particle_word(base, k), h.p, vertex, 1.0 / float(PARTICLES),
                     k | GUIDE_GO_ON << FILTER_END_SHIFT);
    return true;
}

// Takes the `taken` steps that this iteration adds to the half-streamline: one along next, or, after a filter run,
// those of the chosen particle, whose words begin at `base`; chosen: the latter. Returns `end`, or the end at a region
// on the way or at the maximum length, or HALF_LOST. filtered: the guide has not yet noted the points of these steps.
uint filter_move(inout Half h, uint base, uint taken, bool filtered, bool chosen, vec3 next, uint end)
{
    for (uint i = 0u; i < taken; i++) {
        if (chosen) {
            uint word = pool_word(way_word(base, i, 0u));
            next = signed_direction(word & ~WAY_PARENT);
            h.aux.x = word & WAY_VERTEX;
        }
        vec3 q = h.p + next * vec3(params.step_x, params.step_y, params.step_z);
        uint region_end = filtered ? guide_taken(q, h.n_points + 1u, h.memory) : GUIDE_GO_ON;
        uint moved = half_move(h, q, next);
        if (moved == HALF_LOST) return HALF_LOST;
        if (region_end != GUIDE_GO_ON) return region_end;
        if (end == GUIDE_GO_ON) end = moved;
    }
    return end;
}

// Goes on after a direction was drawn and the position q along it was tested. During a run of the filter the current
// particle takes the step; else the half-streamline takes it if `moves` is true. Runs of the filter begin and end here.
// Returns false if the half-streamline has ended. What these cases share is written once: compilers for GPUs keep less
// in registers, and llvmpipe, which runs all branches, does less.
bool filter_advance(inout Half h, uint outcome, uint end, bool moves, vec3 q, vec3 next)
{
    bool runs = filter_is_on(h), begins = !runs && end_is_bad(end) && filter_may_begin(h, outcome);
    uint turn = 0u, taken = moves ? 1u : 0u, keep = 0u, base = filter_base(h);
    if (runs) {
        uint n_steps;
        turn = filter_turn(h, base, end, q, next, n_steps);
        end = GUIDE_GO_ON;
        taken = 0u;
        if (turn == 0u) {
            end = filter_choose(h, base, n_steps, taken);
            keep = h.n_points;
        }
    }
    // A new run has back + front steps from the point with number n + 1 - back on, and stays within the maximum length.
    // The half-streamline is taken back, but keeps its first step, from which the other half-streamline began. With
    // back = 1 the particles start at the point of the bad end, which the half-streamline stores first.
    if (begins) {
        uint n = points_at_end(h, outcome), back = min(n, MAX_BACK), left = params.max_steps - n;
        turn = back + min(MAX_FRONT, left > back + 1u ? left - back - 1u : 0u);
        end = GUIDE_GO_ON;
        taken = back == 1u && outcome == DIRECTION_FOUND ? 1u : 0u;
        keep = taken == 0u ? n + 1u - back : 0u;
    }
    if (keep > 0u) half_restore(h, keep);
    end = filter_move(h, base, taken, runs || begins, runs, next, end);
    // If the pool has no space for the particles, the half-streamline is lost, and pass 2 is repeated for it.
    if (begins && end == GUIDE_GO_ON && !start_particles(h)) {
        h.block = params.pool_blocks;
        end = HALF_LOST;
    }
    if (end != GUIDE_GO_ON) {
        half_end(h, end == HALF_LOST ? HALF_LOST : h.n_points * uint(STEP_PARTS) | end << HALF_END_SHIFT);
        return false;
    }
    // After a run the half-streamline goes on with random numbers that no other run of the filter has used.
    if (turn != 0u)
        become_particle(h, filter_base(h), turn);
    else if (runs)
        h.draw.step = filter_step(h, 0u);
    return true;
}
