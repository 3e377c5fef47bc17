// A half-streamline while it is tracked: how it starts, how it goes on by one drawn direction, and where its points are
// stored. track.comp, step.comp and turn.comp include this file behind the getter. All lanes of a streamline hold the
// same struct Half and call the same functions; lane 0 writes to the buffers.
#include <guide>

#if TAKES_BACK || LOOP_CHECK
#define POOL_ACCESS restrict // points are also read again
#else
#define POOL_ACCESS writeonly
#endif
// Points, three words each: x, y and z in voxel coordinates, as floats; with VOXEL_RUNS runs of points, see RUN_WORDS.
// Each block of POOL_BLOCK points belongs to one half-streamline, for its points or its particles.
layout(std430, binding = 1) POOL_ACCESS buffer Pool { uint pool[]; };
// layout: for each half-streamline its state; then for each half-streamline GUIDE_WORDS words of the guide; then
// BLOCK_SIZE words for each block of the pool
layout(std430, binding = 2) buffer State {
#define FIELD(type, name) type name;
#include "layout/state.def"
#undef FIELD
    uint state[];
};
#define WORD(name, first, n) const uint name = uint(first);
#include "layout/block.def"
#undef WORD

const uint NO_ITEM = 0xffffffffu; // stands in place of the index of a half-streamline if there is none

struct Half {
    uint item;     // index of the half-streamline: 2 x index of the streamline, plus 1 for the forward half-streamline
    vec3 p, d;     // position in voxel coordinates; last direction, a unit vector along the voxel axes
    uvec3 aux;     // state of the direction getter, such as the vertex of d or the normal of a frame
    Draw draw;     // which random numbers come next
    uint attempt;  // how often the getter has asked for another try at the current step
    bool joint;    // true: the next direction only fixes d at the seed
    uint n_points; // points stored so far, without the seed
    uint block;    // block of the pool that holds the last point
    uint how;      // result once the half-streamline has ended, see half_end()
    uint memory[GUIDE_ROOM]; // what the test by regions or tissue (the guide) must remember of this half-streamline
};

// Starts a half-streamline. Backward half-streamlines (even items) first repeat the first step of the forward
// half-streamline, because the joint at the seed must not bend more than a step. With FRAMED they do not: at the first
// step the getter itself reverses d for the backward half-streamline, and makes its frame if it has one.
Half half_start(uint item, vec3 p, uint vertex, uint seed_lo, uint stream)
{
    // Seed, and first direction of the forward half-streamline.
    bool backward = (item & 1u) == 0u;
    Half h;
    h.item = item;
    h.p = p;
#if OWN_START
    h.d = unpack_direction(vertex);
#else
    bool flipped = (vertex & VERTEX_FLIPPED) != 0u;
    vertex &= ~VERTEX_FLIPPED;
    h.d = vertex_direction(vertex);
    if (flipped) h.d = -h.d;
#endif
    // With FRAMED the getter sets up aux at the first step; other getters need the vertex of d.
#if FRAMED
    h.aux = uvec3(0u);
    h.draw = Draw(0u, 1u | (backward ? STEP_BACKWARD : 0u), seed_lo, stream);
    h.joint = false;
#else
    h.aux = uvec3(vertex, 0u, 0u);
    h.draw = Draw(0u, 1u, seed_lo, stream);
    h.joint = backward;
#endif
    h.attempt = 0u;
    h.n_points = 0u;
    h.block = 0u;
    h.how = HALF_RUNNING;
    for (int w = 0; w < GUIDE_ROOM; w++) h.memory[w] = 0u;
    return h;
}

// Takes the next free block of the pool and returns its index, which is params.pool_blocks or more if the pool is
// full.
uint next_block()
{
    uint block = 0u;
    if (lane_leads()) block = atomicAdd(pool_head, 1u);
    return lane_lead(block);
}

// Index of the record of a block.
uint block_record(uint block) { return params.n_items * uint(1 + GUIDE_WORDS) + uint(BLOCK_SIZE) * block; }

#if TAKES_BACK
#include "kernel/backtrack.glsl"
#endif

#if LOOP_CHECK
#include "kernel/loop_check.glsl"
#endif

// Stores q as the next point of the half-streamline. Returns false if the pool is full.
bool half_store(inout Half h, vec3 q)
{
#if VOXEL_RUNS
    return true; // store_run() stores the point
#endif
    // The first point of each block takes a new block.
    uint in_block = h.n_points % POOL_BLOCK;
#if TAKES_BACK
    if (in_block == 0u) h.block = block_behind(h);
#else
    if (in_block == 0u) h.block = next_block();
#endif
    // Lane 0 writes the point, and for a new block the record by which gather.comp finds the owner.
    if (h.block >= params.pool_blocks) return false;
    if (LANE == 0) {
        uint at = (h.block * POOL_BLOCK + in_block) * 3u;
        pool[at] = floatBitsToUint(q.x);
        pool[at + 1u] = floatBitsToUint(q.y);
        pool[at + 2u] = floatBitsToUint(q.z);
        // BLOCK_PART says which points of the half-streamline the block holds, so blocks may come in any order.
        if (in_block == 0u) {
            uint owner = block_record(h.block);
            state[owner + BLOCK_HALF] = h.item;
            state[owner + BLOCK_PART] = h.n_points / POOL_BLOCK;
        }
    }
    return true;
}

// Writes the result of a finished half-streamline for the host: h.how and the words of the guide.
void write_result(Half h)
{
    if (LANE != 0) return;
    for (int w = 0; w < GUIDE_WORDS; w++)
        state[params.n_items + h.item * uint(GUIDE_WORDS) + uint(w)] = h.memory[w];
    state[h.item] = h.how;
}

// Ends the half-streamline. The HALF_ constants in layout/constants.def give the layout of `how`.
void half_end(inout Half h, uint how)
{
    h.how = how;
#if !REPORTS_LATE
    write_result(h);
#endif
}

// With REPORTS_LATE writes the result of the half-streamline, which half_end() then does not. Call it behind the loop
// over the steps, once half_advance() has ended the half-streamline: inside the loop llvmpipe would run its code in
// every iteration.
void half_report(Half h)
{
#if REPORTS_LATE
    write_result(h);
#endif
}

// Whether the next position becomes a point of the streamline; with FRAMED one in SUBSTEPS positions does.
bool half_stores(Half h)
{
#if FRAMED
    return (h.draw.step & ~STEP_BACKWARD) % uint(SUBSTEPS) == 0u;
#else
    return true;
#endif
}

// Whether the half-streamline is at its last point; with FRAMED it may be between points.
bool half_at_point(Half h)
{
#if FRAMED
    return ((h.draw.step & ~STEP_BACKWARD) - 1u) % uint(SUBSTEPS) == 0u;
#else
    return true;
#endif
}

// Returns the end of a half-streamline for which the getter found no direction.
uint end_of_outcome(uint outcome, uint memory[GUIDE_ROOM])
{
    if (outcome == DIRECTION_OUTSIDE) return GLS_END_OUTSIDE;
#ifdef GUIDE_STUCK
    return end_stuck(GLS_END_NO_DIRECTION, memory);
#else
    return GLS_END_NO_DIRECTION;
#endif
}

// Moves to q in direction next, and stores q if it is a point of the streamline. Returns the end of the half-streamline
// or GUIDE_GO_ON; HALF_LOST: the pool is full.
uint half_move(inout Half h, vec3 q, vec3 next)
{
#if LOOP_CHECK
    uint block = h.block;
    vec3 before = h.p;
#endif
    // Store the point, and advance position, direction and counters.
    h.p = q;
#if FRAMED
    // the getter has changed d already
    bool due = half_stores(h);
    bool stored = !due || half_store(h, q);
    h.n_points += due ? 1u : 0u;
#else
    bool stored = half_store(h, q);
    h.d = next;
    h.n_points++;
#endif
#if TAKES_BACK
    if (stored) note_arrival(h);
#elif LOOP_CHECK
    if (stored && h.n_points % POOL_BLOCK == 1u) loop_note_block(h, block, before);
#endif
    h.draw.step++;
    return !stored ? HALF_LOST : h.n_points >= params.max_steps ? GLS_END_MAX_LENGTH : GUIDE_GO_ON;
}

#if PARTICLES
#include "kernel/particles.glsl"
#endif

// Takes one step along next, or ends the half-streamline. Returns false if the half-streamline has ended; call
// half_report() then.
bool half_advance(inout Half h, uint outcome, vec3 next)
{
    // A getter that asks for another try gets it in the next iteration, up to RETRIES times for this step.
    bool again = outcome == DIRECTION_RETRY && h.attempt < RETRIES;
    h.attempt = again ? h.attempt + 1u : 0u;
    if (again) return true;
#if PARTICLES
    guide_bad = 0.0;
#endif
    // The guide works on a copy of its memory, because the joint step of a backward half-streamline must leave no
    // trace.
    uint memory[GUIDE_ROOM] = h.memory;
    uint end = GUIDE_GO_ON;
    bool stored = !h.joint && half_stores(h);
    uint number = h.n_points * uint(STEP_PARTS); // number of parts of steps up to the last point
#if BACKTRACK
    memory[GUIDE_BACKTRACK + int(BACKTRACK_DRAWN)]++;
#endif
    // The seed counts as point 0 for the guide.
#ifdef GUIDE_STARTS
    if (!h.joint && h.n_points == 0u && half_at_point(h)) guide_start(h.p, memory);
#endif
    // At each further point the guide gets an amplitude: the getter's, or else the value of the stop map.
#if GUIDE_AMPLITUDE
    if (h.n_points > 0u && half_at_point(h)) {
#ifdef GETTER_AMPLITUDE
        guide_leave(number, direction_amplitude, memory);
#else
        guide_leave(number, stop_value(h.p), memory);
#endif
    }
#endif
#if OWN_STEPS
    // A step is tested at STEP_PARTS positions. If one ends the half-streamline, the step keeps the positions before
    // it, and this one if end_keeps_point().
    vec3 q = h.p;
    int passed = 0;
    end = outcome == DIRECTION_FOUND ? GUIDE_GO_ON : end_of_outcome(outcome, memory);
    for (int part = 1; part <= STEP_PARTS && end == GUIDE_GO_ON; part++) {
        vec3 position = step_position(h.p, next, h.d, part);
        end = inside(position) ? guide_point(position, !h.joint, number + uint(part), h.draw, memory) : GLS_END_OUTSIDE;
        if (end == GUIDE_GO_ON || end_keeps_point(end)) {
            q = position;
            passed = part;
        }
    }
    bool moves = passed > 0;
#else
    // Steps along a straight line: one position, tested against the grid, the loop check and the guide in this order.
    vec3 step = next * vec3(params.step_x, params.step_y, params.step_z);
#ifdef REMAINDER_UNIT
    vec3 remainder = unpack_remainder(h.aux.x), q = exact_step(h.p, step, remainder);
    h.aux.x = pack_remainder(remainder);
#else
    vec3 q = h.p + step;
#endif
    if (outcome != DIRECTION_FOUND)
        end = end_of_outcome(outcome, memory);
    else if (!inside(q))
        end = GLS_END_OUTSIDE;
#if LOOP_CHECK
    else if (loop_closes(h, q, next))
        end = GLS_END_LOOP;
#endif
    else
        end = guide_point(q, stored, number + 1u, h.draw, memory);
    bool moves = end == GUIDE_GO_ON || end_keeps_point(end);
#endif
    if (h.joint) {
        // the joint step stores no point: the point belongs to the forward half-streamline
        h.joint = false;
        h.d = end == GUIDE_GO_ON ? -next : -h.d;
        h.draw.step = 1u | STEP_BACKWARD;
        return true;
    }
    h.memory = memory;
    // Bad ends may be undone: back-tracking takes the half-streamline back, particle filtering begins a filter run.
#if PARTICLES
    return filter_advance(h, outcome, end, moves, q, next);
#endif
#if BACKTRACK
    if (end_is_bad(end, memory)) {
        if (half_returns(h, end)) return true;
        moves = moves && end != GLS_END_BACKTRACK;
    }
#endif
    // Take the step, then end the half-streamline if the guide, the pool or the maximum length says so.
    if (moves) {
        uint moved = half_move(h, q, next);
        end = end == GUIDE_GO_ON || moved == HALF_LOST ? moved : end;
    }
    if (end == GUIDE_GO_ON) return true;
    // The result counts parts of steps: the last arc may lack parts, and the tissue guide may cut the half-streamline.
    uint parts = h.n_points * uint(STEP_PARTS);
#if OWN_STEPS
    if (moves) parts -= uint(STEP_PARTS - passed);
#endif
#ifdef GUIDE_CUTS
    if (end == GLS_END_SGM_EXIT) parts = guide_cut(h.memory);
#endif
    half_end(h, end == HALF_LOST ? HALF_LOST : parts | (end << HALF_END_SHIFT));
    return false;
}

#if VOXEL_RUNS
// Stores n points of the half-streamline on a straight line: the first has the index `point` and lies at `from`, with
// its remainder, + step; each further one lies one step on. Returns false if the pool is full. aux.z counts the runs of
// the half-streamline.
bool store_run(inout Half h, vec3 from, uint remainder, vec3 step, uint point, uint n)
{
    uint in_block = h.aux.z % BLOCK_RUNS;
    if (in_block == 0u) h.block = next_block();
    if (h.block >= params.pool_blocks) return false;
    if (in_block == 0u) state[block_record(h.block) + BLOCK_HALF] = h.item;
    uint at = h.block * POOL_BLOCK * 3u + in_block * RUN_WORDS;
    pool[at] = point | n << RUN_SHIFT;
    for (uint a = 0u; a < 3u; a++) {
        pool[at + 1u + a] = floatBitsToUint(from[a]);
        pool[at + 4u + a] = floatBitsToUint(step[a]);
    }
    pool[at + 7u] = remainder;
    h.aux.z++;
    return true;
}

// Takes the steps that begin in one voxel, at most RUN_MOST, for a getter whose direction is the same in the whole
// voxel, and stores them as a run. Steps that stay in the voxel draw no direction, so they have a loop of their own, in
// which no lane waits for long. half_advance() takes the last step, and the first step of a half-streamline, because
// the guide has not tested the seed. Returns false if the half-streamline has ended.
bool half_run(inout Half h, uint outcome, vec3 next)
{
    vec3 from = h.p, step = next * vec3(params.step_x, params.step_y, params.step_z);
    uint from_remainder = h.aux.x;
    vec3 remainder = unpack_remainder(from_remainder), voxel = voxel_at(from, remainder);
    bool holds = outcome == DIRECTION_FOUND && h.aux.y != 0u && h.n_points > 0u && all(lessThan(voxel, GRID));
    uint first = h.n_points, most = holds ? min(params.max_steps - first, RUN_MOST) - 1u : 0u, n = 0u;
    bool goes;
    do {
        vec3 rest = remainder, q = exact_step(h.p, step, rest), d = from_centre(q, rest, voxel);
        goes = n < most && all(greaterThanEqual(d, vec3(-0.5))) && all(lessThan(d, vec3(0.5))) && guide_same(from, q);
        h.p = goes ? q : h.p;
        remainder = goes ? rest : remainder;
        n += goes ? 1u : 0u;
    } while (goes);
    h.n_points += n;
    h.draw.step += n;
    h.aux.x = pack_remainder(remainder);
    bool running = half_advance(h, outcome, next);
    n = h.n_points - first;
    if (n == 0u || store_run(h, from, from_remainder, step, first, n)) return running;
    half_end(h, HALF_LOST);
    return false;
}
#endif
