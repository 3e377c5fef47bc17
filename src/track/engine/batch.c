/* One batch: initial directions, then as many rounds of tracking as its streamlines need; each round ends with whole
 * seeds in order. */
#include "track/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/affine.h"
#include "util/status.h"

#define NONE UINT32_MAX

/* Lines of seeds from, from + 1 ... as far as they fit; returns the seed after the last, *n_lines their number. */
static uint32_t list_lines(gls_batch_context *c, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity,
                           uint32_t *n_lines)
{
    size_t stride = (size_t)c->engine->params.max_directions_per_seed + 1;
    uint32_t seed = from, lines = 0;
    for (; seed < n; seed++) {
        const uint32_t *direction = &c->direction[seed * stride];
        uint32_t count = direction[0];
        if (lines > 0 && lines + count > capacity) break;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t *word = &c->line[(size_t)GLS_LINE_WORDS * lines++];
            memcpy(word, c->seed[seed], 12);
            word[3] = direction[1 + k];
            word[4] = (uint32_t)(first + seed);
            word[5] = gls_draw_stream(first + seed, k);
            word[6] = word[7] = 0;
        }
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

/* Decides on one finished streamline: its kept steps, or rejection. */
static bool judge(gls_batch_context *c, uint32_t state_backward, uint32_t state_forward, uint32_t *backward,
                  uint32_t *forward)
{
    const gls_engine *t = c->engine;
    gls_track_result *r = &c->stats->result;
    uint32_t ends[2] = {state_backward >> 28, state_forward >> 28};
    *backward = state_backward & 0x0fffffffu;
    *forward = state_forward & 0x0fffffffu;
    c->steps += (uint64_t)*backward + *forward;
    for (int h = 0; h < 2; h++) r->ends[ends[h] < GLS_END_COUNT ? ends[h] : GLS_END_NO_DIRECTION]++;
    bool truncated =
        cut(t->plan.max_steps, backward, forward) || ends[0] == GLS_END_MAX_LENGTH || ends[1] == GLS_END_MAX_LENGTH;
    uint32_t steps = *backward + *forward;
    if (steps == 0 && !t->params.keep_single_points) {
        r->rejected_single_point++;
        return false;
    }
    if (steps * t->params.step_size < t->params.min_length * (1 - 1e-9)) {
        r->rejected_too_short++;
        return false;
    }
    r->truncated += truncated;
    gls_track_stats_add(c->stats, steps);
    return true;
}

/* The prefix sum between tracking and gathering. Goes through lines in order, gives each its place in the output, and
 * stops before the first seed with an unfinished half. Returns the number of lines placed; *seed is the first seed not
 * done. */
static uint32_t place_lines(gls_batch_context *c, uint64_t first, uint32_t from, uint32_t until, gls_parcel *parcel,
                            uint32_t *next_seed)
{
    size_t stride = (size_t)c->engine->params.max_directions_per_seed + 1;
    uint32_t s = 0, seed = from;
    uint64_t points = 0;
    for (; seed < until; seed++) {
        uint32_t count = c->direction[seed * stride];
        for (uint32_t k = 0; k < count; k++)
            if (c->state[2 * (s + k)] >= GLS_HALF_LOST || c->state[2 * (s + k) + 1] >= GLS_HALF_LOST) goto done;
        for (uint32_t k = 0; k < count; k++, s++) {
            uint32_t *word = &c->line[(size_t)GLS_LINE_WORDS * s], backward, forward;
            bool keep = judge(c, c->state[2 * s], c->state[2 * s + 1], &backward, &forward);
            word[3] = forward;
            word[6] = keep ? (uint32_t)points : NONE;
            word[7] = backward;
            if (!keep) continue;
            if (parcel) {
                double p[3] = {c->seed[seed][0], c->seed[seed][1], c->seed[seed][2]}, mapped[3];
                gls_affine_apply(c->space, p, mapped);
                parcel->offset[parcel->n] = points;
                parcel->seed_index[parcel->n] = (uint32_t)(first + seed);
                for (int a = 0; a < 3; a++) parcel->seed[parcel->n][a] = (float)mapped[a];
                parcel->n++;
            }
            points += (uint64_t)backward + forward + 1;
        }
        c->stats->result.seeds++;
        c->stats->result.seeds_without_direction += count == 0;
        c->stats->result.directions += count;
    }
done:
    if (parcel) parcel->offset[parcel->n] = points;
    *next_seed = seed;
    return s;
}

static gls_status gather(gls_batch_context *c, uint32_t n_items, uint32_t n_placed, uint64_t n_points,
                         gls_parcel *parcel)
{
    gls_engine *t = c->engine;
    uint32_t header[GLS_STATE_HEADER];
    double start = gls_seconds();
    gls_status status = gls_buffer_read(t->state, 0, sizeof header, header);
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
        header[1] < t->plan.pool_blocks ? header[1] : t->plan.pool_blocks,
        n_placed,
        n_items,
        0,
    };
    status = gls_buffer_write(t->gather_uniforms, 0, sizeof u, &u);
    if (status == GLS_OK) status = gls_buffer_write(t->lines, 0, 4ull * GLS_LINE_WORDS * n_placed, c->line);
    if (status != GLS_OK) return status;
    gls_arg args[] = {gls_arg_uniforms(0, t->gather_uniforms), gls_arg_buffer(0, t->lines), gls_arg_buffer(1, t->pool),
                      gls_arg_buffer(2, t->state), gls_arg_buffer(3, t->output)};
    uint64_t work = (uint64_t)u.n_blocks * GLS_POOL_BLOCK + n_placed,
             groups = (work + t->plan.group.size - 1) / t->plan.group.size;
    uint32_t limit = gls_device_get_info(t->device)->max_work_groups;
    status = gls_kernel_run(t->gather, (uint32_t[3]){groups < limit ? (uint32_t)groups : limit, 1, 1}, args,
                            sizeof args / sizeof args[0], NULL);
    if (status == GLS_OK) status = gls_device_synchronize(t->device);
    double read_start = gls_seconds();
    c->stats->result.seconds_gather += read_start - start;
    if (status == GLS_OK) status = gls_buffer_read(t->output, 0, n_points * 12, parcel->point);
    c->stats->result.seconds_readback += gls_seconds() - read_start;
    return status;
}

/* Lines per round such that the pool is unlikely to run full, nor the one dispatch that tracks them likely to take
 * long. */
static uint32_t round_capacity(const gls_batch_context *c)
{
    const gls_track_plan *plan = &c->engine->plan;
    double blocks_per_line = 2 * (c->points_per_line / 2 / GLS_POOL_BLOCK + 1);
    double lines = 0.8 * plan->pool_blocks / blocks_per_line;
    uint32_t capacity = lines < plan->batch_lines ? (lines < 1 ? 1 : (uint32_t)lines) : plan->batch_lines;
    return plan->staged ? capacity : gls_pace_items(&c->track_pace, capacity);
}

/* What the round needs besides the streamlines' ends: a parcel, where streamlines are wanted. *gave_way: there is none,
 * because earlier seeds wait for somebody. */
static gls_status take_parcel(gls_batch_context *c, uint64_t seed, gls_parcel **parcel, bool *gave_way)
{
    double start = gls_seconds();
    gls_status status = c->run->courier ? gls_courier_take(c->run->courier, c->worker->place, seed, parcel) : GLS_OK;
    c->stats->result.seconds_sink += gls_seconds() - start;
    *gave_way = status == GLS_OK && c->run->courier && !*parcel;
    return status;
}

/* Packs what was tracked of seeds from .. until - 1 and commits whole seeds; *done is the first seed left over,
 * untouched by a failure. */
static gls_status finish_round(gls_batch_context *c, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                               gls_parcel *parcel, uint32_t *done)
{
    gls_track_result *r = &c->stats->result;
    /* for the most that a round may bring: memory that stays is touched for the first time but once */
    gls_status status =
        parcel ? gls_parcel_reserve(parcel, c->engine->plan.batch_lines, c->engine->plan.output_points) : GLS_OK;
    if (status != GLS_OK) return status;
    double start = gls_seconds();
    uint64_t steps = c->steps;
    uint32_t next, placed = place_lines(c, first, from, until, parcel, &next);
    r->seconds_scan += gls_seconds() - start;
    if (r->directions > 0)
        c->points_per_line = fmax(c->points_per_line * 0.9, (double)(c->steps - steps) / (double)r->directions * 1.1);
    if (parcel && r->points > 0) status = gather(c, 2 * n_lines, placed, r->points, parcel);
    if (status == GLS_OK && next > from) gls_batch_commit(c, first + next, parcel);
    if (status == GLS_OK) *done = next;
    return status;
}

/* Tracks lines of seeds from .. at least from + 1; *next is the first seed left over, from itself if the round gave
 * way. */
static gls_status run_round(gls_batch_context *c, uint64_t first, uint32_t from, uint32_t n, uint32_t *next)
{
    uint32_t n_lines, until, done = from, capacity = round_capacity(c), limit = c->engine->plan.batch_lines;
    gls_parcel *parcel = NULL;
    bool gave_way = false;
    gls_status status;
    do {
        double start = gls_seconds();
        until = list_lines(c, first, from, n, capacity < limit ? capacity : limit, &n_lines);
        c->stats->result.seconds_scan += gls_seconds() - start;
        start = gls_seconds();
        status = n_lines > 0 ? gls_pass_track(c, n_lines) : GLS_OK;
        c->stats->result.seconds_track += gls_seconds() - start;
        if (!c->engine->plan.staged) gls_pace_note(&c->track_pace, n_lines, gls_seconds() - start);
        if (status == GLS_OK && !parcel) status = take_parcel(c, first + from, &parcel, &gave_way);
        if (status == GLS_OK && !gave_way) status = finish_round(c, first, from, until, n_lines, parcel, &done);
        if (status == GLS_OK && !gave_way && done == from && until == from + 1)
            status = gls_fail(GLS_ERR_DEVICE, "the device did not finish the streamlines of one seed");
        capacity =
            (n_lines + 1) / 2; /* only if not even one seed was finished: fewer streamlines share the pool then */
    } while (status == GLS_OK && !gave_way && done == from);
    if (status != GLS_OK && parcel) gls_courier_drop(c->run->courier, parcel);
    *next = done;
    return status;
}

gls_status gls_batch_run(gls_batch_context *c, uint64_t first, uint32_t n, uint64_t *done)
{
    double start = gls_seconds();
    gls_seeds_get(c->seeds, first, n, c->seed);
    gls_status status = gls_pass_initial(c, first, n);
    c->stats->result.seconds_initial += gls_seconds() - start;
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
