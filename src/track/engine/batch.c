#include "track/engine/batch.h"

#include <math.h>

#include "track/engine/passes.h"
#include "util/affine.h"
#include "util/clock.h"
#include "util/status.h"

static bool admits(const gls_batch *c, uint32_t seed)
{
    const gls_guide *guide = &c->engine->guide;
    return !guide->plan.kind->admits || guide->plan.kind->admits(guide, c->seed[seed]);
}

/* Where the guide lets no streamline start there are no directions. */
static void reject_seeds(gls_batch *c, uint32_t n)
{
    size_t stride = gls_direction_words(&c->engine->params);
    for (uint32_t i = 0; i < n; i++)
        if (!admits(c, i)) c->direction[i * stride + DIRECTIONS_COUNT] = 0;
}

/* Lines of seeds from, from + 1 ... as far as they fit; returns the seed after the last, *n_lines their number. */
static uint32_t list_lines(gls_batch *c, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity,
                           uint32_t *n_lines)
{
    size_t stride = gls_direction_words(&c->engine->params);
    uint32_t seed = from, lines = 0;
    for (; seed < n; seed++) {
        const uint32_t *direction = &c->direction[seed * stride];
        uint32_t count = direction[DIRECTIONS_COUNT];
        if (lines > 0 && lines + count > capacity) break;
        const float *p = c->seed[seed];
        for (uint32_t k = 0; k < count; k++)
            c->upload.line[lines++] = (gls_line_record){
                .x = p[0],
                .y = p[1],
                .z = p[2],
                .vertex = direction[DIRECTIONS_VERTEX + k],
                .seed = (uint32_t)(first + seed),
                .stream = gls_draw_stream(first + seed, k),
            };
    }
    *n_lines = lines;
    return seed;
}

/* Cuts a streamline that is too long, keeping what lies nearest to its seed. */
static bool cut(uint32_t max_steps, uint32_t *backward, uint32_t *forward)
{
    if (*backward + *forward <= max_steps) return false;
    uint32_t half = max_steps / 2;
    if (*backward <= half)
        *forward = max_steps - *backward;
    else if (*forward <= max_steps - half)
        *backward = max_steps - *forward;
    else {
        *backward = half;
        *forward = max_steps - half;
    }
    return true;
}

/* What the guide remembers of a half. */
static const uint32_t *memory_of(const gls_batch *c, uint32_t n_halves, uint32_t half)
{
    return c->state + n_halves + (size_t)half * c->engine->plan.guide.n_words;
}

/* Points that a half has stored, of the parts that it has passed; a last step may lack some. */
static uint32_t points_of(const gls_batch *c, uint32_t parts)
{
    uint32_t each = c->engine->plan.parts;
    return (parts + each - 1) / each;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Decides on the finished streamline i of a round: its kept steps, and what becomes of it. */
static gls_verdict judge(gls_batch *c, const float seed[3], uint32_t n_lines, uint32_t i, uint32_t *backward,
                         uint32_t *forward)
{
    const gls_engine *t = c->engine;
    const gls_guide_kind *guide = t->plan.guide.kind;
    gls_track_result *r = &c->stats->result;
    const uint32_t *state = c->state + 2 * (size_t)i;
    uint32_t ends[2] = {state[0] >> HALF_END_SHIFT, state[1] >> HALF_END_SHIFT};
    uint32_t parts[2] = {state[0] & HALF_POINTS, state[1] & HALF_POINTS}, each = t->plan.parts;
    *backward = points_of(c, parts[0]);
    *forward = points_of(c, parts[1]);
    c->steps += (uint64_t)*backward + *forward;
    for (int h = 0; h < 2; h++) r->ends[ends[h] < GLS_END_COUNT ? ends[h] : GLS_END_NO_DIRECTION]++;
    bool truncated =
        cut(t->plan.max_steps, backward, forward) || ends[0] == GLS_END_MAX_LENGTH || ends[1] == GLS_END_MAX_LENGTH;
    uint32_t steps = *backward + *forward, met = 0,
             passed = lesser(parts[0], *backward * each) + lesser(parts[1], *forward * each);
    double length = passed * t->params.step_size / each;
    gls_verdict guided = guide->judge ? guide->judge(&t->guide, seed, memory_of(c, 2 * n_lines, 2 * i),
                                                     memory_of(c, 2 * n_lines, 2 * i + 1), &met)
                                      : GLS_VERDICT_KEPT;
    gls_verdict verdict = guided == GLS_VERDICT_EXCLUDED                ? guided
                          : steps == 0 && !t->params.keep_single_points ? GLS_VERDICT_SINGLE_POINT
                          : length < t->params.min_length * (1 - 1e-9)  ? GLS_VERDICT_TOO_SHORT
                                                                        : guided;
    r->verdicts[verdict]++;
    if (verdict == guided)
        for (uint32_t bit = 0; bit < GLS_REGION_MAX_BITS; bit++) r->met[bit] += met >> bit & 1;
    if (verdict == GLS_VERDICT_KEPT) {
        r->truncated += truncated;
        gls_track_stats_add(c->stats, steps, passed);
    }
    return verdict;
}

/* A half that has not ended: it found the pool full, or did not begin for that reason. */
static bool is_unfinished(uint32_t state)
{
    return state == HALF_LOST || state == HALF_RUNNING;
}

/* The prefix sum between tracking and gathering. Goes through lines in order, gives each its place in the output, and
 * stops before the first seed with an unfinished half. Returns the number of lines placed; *seed is the first seed not
 * done. */
static uint32_t place_lines(gls_batch *c, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                            gls_parcel *parcel, uint32_t *next_seed)
{
    size_t stride = gls_direction_words(&c->engine->params);
    uint32_t s = 0, seed = from;
    uint64_t points = 0;
    for (; seed < until; seed++) {
        uint32_t count = c->direction[seed * stride + DIRECTIONS_COUNT];
        for (uint32_t k = 0; k < count; k++)
            if (is_unfinished(c->state[2 * (s + k)]) || is_unfinished(c->state[2 * (s + k) + 1])) goto done;
        for (uint32_t k = 0; k < count; k++, s++) {
            const float *at = c->seed[seed];
            uint32_t backward, forward;
            bool keep = judge(c, at, n_lines, s, &backward, &forward) == GLS_VERDICT_KEPT;
            c->upload.placed[s] = (gls_placed_record){
                .x = at[0],
                .y = at[1],
                .z = at[2],
                .first = keep ? (uint32_t)points : NOT_PLACED,
                .backward = backward,
                .forward = forward,
            };
            if (!keep) continue;
            if (parcel) {
                double p[3] = {at[0], at[1], at[2]}, mapped[3];
                gls_affine_apply(c->space, p, mapped);
                parcel->offset[parcel->n] = points;
                parcel->seed_index[parcel->n] = (uint32_t)(first + seed);
                for (int a = 0; a < 3; a++) parcel->seed[parcel->n][a] = (float)mapped[a];
                parcel->n++;
            }
            points += (uint64_t)backward + forward + 1;
        }
        c->stats->result.seeds++;
        bool admitted = count > 0 || admits(c, seed);
        c->stats->result.seeds_rejected += !admitted;
        c->stats->result.seeds_without_direction += count == 0 && admitted;
        c->stats->result.directions += count;
    }
done:
    if (parcel) parcel->offset[parcel->n] = points;
    *next_seed = seed;
    return s;
}

static gls_status gather(gls_batch *c, uint32_t n_items, uint32_t n_placed, uint64_t n_points, gls_parcel *parcel)
{
    gls_engine *t = c->engine;
    gls_state_header header;
    double start = gls_clock_seconds();
    gls_status status = gls_buffer_read(t->buffer[GLS_TRACK_STATE], 0, sizeof header, &header);
    if (status != GLS_OK) return status;
    gls_gather_uniforms u = {
        (float)c->space[0][0],
        (float)c->space[0][1],
        (float)c->space[0][2],
        (float)c->space[0][3],
        (float)c->space[1][0],
        (float)c->space[1][1],
        (float)c->space[1][2],
        (float)c->space[1][3],
        (float)c->space[2][0],
        (float)c->space[2][1],
        (float)c->space[2][2],
        (float)c->space[2][3],
        header.pool_head < t->plan.pool_blocks ? header.pool_head : t->plan.pool_blocks,
        n_placed,
        n_items,
        0,
    };
    status = gls_buffer_write(t->buffer[GLS_TRACK_GATHER_UNIFORMS], 0, sizeof u, &u);
    if (status == GLS_OK)
        status = gls_buffer_write(t->buffer[GLS_TRACK_LINES], 0, n_placed * sizeof *c->upload.placed, c->upload.placed);
    if (status != GLS_OK) return status;
    gls_arg args[] = {gls_arg_uniforms(0, t->buffer[GLS_TRACK_GATHER_UNIFORMS]),
                      gls_arg_buffer(0, t->buffer[GLS_TRACK_LINES]), gls_arg_buffer(1, t->buffer[GLS_TRACK_POOL]),
                      gls_arg_buffer(2, t->buffer[GLS_TRACK_STATE]), gls_arg_buffer(3, t->buffer[GLS_TRACK_OUTPUT])};
    uint64_t work = (uint64_t)u.n_blocks * POOL_BLOCK + n_placed,
             groups = (work + t->plan.group.size - 1) / t->plan.group.size;
    uint32_t limit = gls_device_get_info(t->device)->max_work_groups;
    status = gls_kernel_run(t->kernels.gather, (uint32_t[3]){groups < limit ? (uint32_t)groups : limit, 1, 1}, args,
                            sizeof args / sizeof args[0], NULL);
    if (status == GLS_OK) status = gls_device_synchronize(t->device);
    double read_start = gls_clock_seconds();
    c->stats->result.seconds_gather += read_start - start;
    if (status == GLS_OK) status = gls_buffer_read(t->buffer[GLS_TRACK_OUTPUT], 0, n_points * 12, parcel->point);
    c->stats->result.seconds_readback += gls_clock_seconds() - read_start;
    return status;
}

/* Lines per round such that the pool is unlikely to run full, nor the one dispatch that tracks them likely to take
 * long. */
static uint32_t round_capacity(const gls_batch *c)
{
    const gls_track_plan *plan = &c->engine->plan;
    double blocks_per_line = 2 * (c->points_per_line / 2 / POOL_BLOCK + 1);
    double lines = 0.8 * plan->pool_blocks / blocks_per_line;
    uint32_t capacity = lines < plan->batch_lines ? (lines < 1 ? 1 : (uint32_t)lines) : plan->batch_lines;
    return plan->staged ? capacity : gls_pace_items(&c->track_pace, capacity);
}

/* What the round needs besides the streamlines' ends: a parcel, where streamlines are wanted. *gave_way: there is none,
 * because earlier seeds wait for somebody. */
static gls_status take_parcel(gls_batch *c, uint64_t seed, gls_parcel **parcel, bool *gave_way)
{
    double start = gls_clock_seconds();
    gls_status status = c->host.take(c->host.user, seed, parcel, gave_way);
    c->stats->result.seconds_sink += gls_clock_seconds() - start;
    return status;
}

/* Packs what was tracked of seeds from .. until - 1 and commits whole seeds; *done is the first seed left over,
 * untouched by a failure. */
static gls_status finish_round(gls_batch *c, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                               gls_parcel *parcel, uint32_t *done)
{
    gls_track_result *r = &c->stats->result;
    /* for the most that a round may bring: memory that stays is touched for the first time but once */
    gls_status status =
        parcel ? gls_parcel_reserve(parcel, c->engine->plan.batch_lines, c->engine->plan.output_points) : GLS_OK;
    if (status != GLS_OK) return status;
    double start = gls_clock_seconds();
    uint64_t steps = c->steps;
    uint32_t next, placed = place_lines(c, first, from, until, n_lines, parcel, &next);
    r->seconds_scan += gls_clock_seconds() - start;
    if (r->directions > 0)
        c->points_per_line = fmax(c->points_per_line * 0.9, (double)(c->steps - steps) / (double)r->directions * 1.1);
    if (parcel && r->points > 0) status = gather(c, 2 * n_lines, placed, r->points, parcel);
    if (status == GLS_OK && next > from) c->host.commit(c->host.user, first + next, parcel);
    if (status == GLS_OK) *done = next;
    return status;
}

/* Tracks lines of seeds from .. at least from + 1; *next is the first seed left over, from itself if the round gave
 * way. */
static gls_status run_round(gls_batch *c, uint64_t first, uint32_t from, uint32_t n, uint32_t *next)
{
    uint32_t n_lines, until, done = from, capacity = round_capacity(c), limit = c->engine->plan.batch_lines;
    gls_parcel *parcel = NULL;
    bool gave_way = false;
    gls_status status;
    do {
        double start = gls_clock_seconds();
        until = list_lines(c, first, from, n, capacity < limit ? capacity : limit, &n_lines);
        c->stats->result.seconds_scan += gls_clock_seconds() - start;
        start = gls_clock_seconds();
        status = n_lines > 0 ? gls_pass_track(c, n_lines) : GLS_OK;
        c->stats->result.seconds_track += gls_clock_seconds() - start;
        if (!c->engine->plan.staged) gls_pace_note(&c->track_pace, n_lines, gls_clock_seconds() - start);
        if (status == GLS_OK && !parcel) status = take_parcel(c, first + from, &parcel, &gave_way);
        if (status == GLS_OK && !gave_way) status = finish_round(c, first, from, until, n_lines, parcel, &done);
        if (status == GLS_OK && !gave_way && done == from && until == from + 1)
            status = gls_fail(GLS_ERR_DEVICE, "the device did not finish the streamlines of one seed");
        capacity =
            (n_lines + 1) / 2; /* only if not even one seed was finished: fewer streamlines share the pool then */
    } while (status == GLS_OK && !gave_way && done == from);
    if (status != GLS_OK && parcel) c->host.drop(c->host.user, parcel);
    *next = done;
    return status;
}

gls_status gls_batch_run(gls_batch *c, uint64_t first, uint32_t n, uint64_t *done)
{
    double start = gls_clock_seconds();
    gls_seeds_get(c->seeds, first, n, c->seed);
    gls_status status = gls_pass_initial(c, first, n);
    if (status == GLS_OK) reject_seeds(c, n);
    c->stats->result.seconds_initial += gls_clock_seconds() - start;
    bool gave_way = false;
    if (!c->engine->plan.staged)
        gls_pace_guess(&c->track_pace, &c->initial_pace,
                       c->points_per_line * c->engine->plan.substeps * c->engine->turn_cost);
    for (uint32_t seed = 0; status == GLS_OK && seed < n && !gave_way;) {
        uint32_t from = seed;
        status = run_round(c, first, from, n, &seed);
        gave_way = seed == from;
        *done = seed;
    }
    return status;
}
