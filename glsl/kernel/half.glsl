// A half-streamline on its way: how it starts, how it goes on by one drawn direction, and where its points go.

layout(std430, binding = 1) writeonly buffer Pool { uint pool[]; };
// queue and pool_head count what has been handed out. state: for each half its points | end << 28, NONE while it runs, LOST if the pool ran full; then for each block of
// the pool its half and its place in it.
layout(std430, binding = 2) buffer State {
    uint queue;
    uint pool_head;
    uint state[];
};

const uint NONE = 0xffffffffu;
const uint LOST = 0xfffffffeu;
const uint RUNNING = 0xffu;

struct Half {
    uint item;
    vec3 p, d;
    uvec3 aux;     // the direction getter's own: the vertex of d, or a frame's normal
    Draw draw;
    uint attempt;
    bool joint;    // the next direction only fixes d at the seed
    uint n_points;
    uint block;
};

// Backward halves (even items) first make the forward half's first step again: the joint at the seed must not bend more than any step.
Half half_start(uint item, vec3 p, uint vertex, uint seed_lo, uint stream)
{
#if FRAMED
    // both halves find the same frame at the seed; the backward one turns it round
    return Half(item, p, vertex_direction(vertex), uvec3(0u), Draw(0u, 1u | ((item & 1u) == 0u ? 0x80000000u : 0u), seed_lo, stream), 0u, false, 0u, 0u);
#endif
    return Half(item, p, vertex_direction(vertex), uvec3(vertex, 0u, 0u), Draw(0u, 1u, seed_lo, stream), 0u, (item & 1u) == 0u, 0u, 0u);
}

uint next_block()
{
#if SUBGROUP
    uint block = 0u;
    if (subgroupElect()) block = atomicAdd(pool_head, 1u);
    return subgroupBroadcastFirst(block);
#else
    return atomicAdd(pool_head, 1u);
#endif
}

// Stores q as the half's next point; false if the pool is full.
bool half_store(inout Half h, vec3 q)
{
    uint in_block = h.n_points % uint(POOL_BLOCK);
    if (in_block == 0u) h.block = next_block();
    if (h.block >= params.pool_blocks) return false;
    if (LANE == 0) {
        uint at = (h.block * uint(POOL_BLOCK) + in_block) * 3u;
        pool[at] = floatBitsToUint(q.x);
        pool[at + 1u] = floatBitsToUint(q.y);
        pool[at + 2u] = floatBitsToUint(q.z);
        if (in_block == 0u) {
            state[params.n_items + 2u * h.block] = h.item;
            state[params.n_items + 2u * h.block + 1u] = h.n_points / uint(POOL_BLOCK);
        }
    }
    return true;
}

// Takes one step along next, or ends. False if the half has ended; its state is written then.
bool half_advance(inout Half h, uint outcome, vec3 next)
{
    bool again = outcome == DIRECTION_RETRY && h.attempt < 4u;
    h.attempt = again ? h.attempt + 1u : 0u;
    uint end = RUNNING;
    if (!again) {
        vec3 q = h.p + next * vec3(params.step_x, params.step_y, params.step_z);
        end = outcome != DIRECTION_FOUND                    ? uint(GLS_END_NO_DIRECTION)
              : !inside(q)                                  ? uint(GLS_END_OUTSIDE)
              : !(stop_value(q) > params.stop_threshold) ? uint(GLS_END_STOP_MAP)
                                                            : RUNNING;
        if (h.joint) {
            h.joint = false;
            h.d = end == RUNNING ? -next : -h.d;
            h.draw.step = 1u | 0x80000000u;
            end = RUNNING;
        } else {
            if (end == RUNNING) {
                h.p = q;
#if FRAMED
                // a point is stored after every SUBSTEPS turns; the getter has moved the frame
                bool due = (h.draw.step & 0x7fffffffu) % uint(SUBSTEPS) == 0u;
                bool stored = !due || half_store(h, q);
                h.n_points += due ? 1u : 0u;
#else
                bool stored = half_store(h, q);
                h.d = next;
                h.n_points++;
#endif
                h.draw.step++;
                end = !stored ? LOST : h.n_points >= params.max_steps ? uint(GLS_END_MAX_LENGTH) : RUNNING;
            }
            if (end != RUNNING && LANE == 0) state[h.item] = end == LOST ? LOST : h.n_points | (end << 28);
        }
    }
    return end == RUNNING;
}
