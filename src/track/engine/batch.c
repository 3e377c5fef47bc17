#include "track/engine/batch.h"

#include <math.h>

#include "track/engine/gather.h"
#include "track/engine/lines.h"
#include "track/engine/passes.h"
#include "track/engine/place.h"
#include "track/engine/refine.h"
#include "track/engine/retries.h"
#include "util/clock.h"
#include "util/status.h"

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
    gls_parcel *points = parcel ? parcel : gls_refine_is_needed(&c->engine->guide) ? &c->scratch : NULL;
    /* for the most that a round may bring: memory that stays is touched for the first time but once */
    gls_status status =
        points ? gls_parcel_reserve(points, c->engine->plan.batch_lines, c->engine->plan.output_points) : GLS_OK;
    if (status == GLS_OK)
        status = gls_tally_reserve(&c->tally, c->engine->plan.batch_seeds, c->engine->plan.batch_lines);
    if (status != GLS_OK) return status;
    double start = gls_clock_seconds();
    uint64_t steps = c->steps, n_points;
    uint32_t next;
    if (points) points->n = 0;
    uint32_t placed = gls_place_lines(c, first, from, until, n_lines, points, &next, &n_points);
    r->seconds_scan += gls_clock_seconds() - start;
    if (placed > 0) c->points_per_line = fmax(c->points_per_line * 0.9, (double)(c->steps - steps) / placed * 1.1);
    if (points && n_points > 0) status = gls_gather(c, 2 * n_lines, placed, n_points, points);
    if (status == GLS_OK && points && gls_refine_is_needed(&c->engine->guide))
        status = gls_refine(&c->engine->guide, c->engine->plan.parts, c->space, &c->tally, points);
    if (status == GLS_OK && next > from) status = c->host.commit(c->host.user, first + next, parcel, &c->tally);
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
        until = gls_lines_list(c, first, from, n, capacity < limit ? capacity : limit, &n_lines);
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

/* The same where streamlines that were rejected are tracked again. */
static gls_status run_round_again(gls_batch *c, uint64_t first, uint32_t from, uint32_t n, uint32_t *next)
{
    uint32_t n_lines;
    gls_parcel *parcel = NULL;
    bool gave_way = false;
    *next = from;
    gls_status status = take_parcel(c, first + from, &parcel, &gave_way);
    if (status != GLS_OK || gave_way) return status;
    uint32_t until = gls_lines_list(c, first, from, n, c->engine->plan.batch_lines, &n_lines);
    status = gls_retries_begin(c, n_lines);
    while (status == GLS_OK && c->retries.n_pending > 0)
        status = gls_retries_pass(c, round_capacity(c), parcel != NULL);
    if (status == GLS_OK) status = gls_retries_place(c, first, from, until, parcel);
    if (status == GLS_OK) status = c->host.commit(c->host.user, first + until, parcel, &c->tally);
    if (status != GLS_OK && parcel) c->host.drop(c->host.user, parcel);
    if (status == GLS_OK) *next = until;
    return status;
}

gls_status gls_batch_run(gls_batch *c, uint64_t first, uint32_t n, uint64_t *done)
{
    double start = gls_clock_seconds();
    gls_seeds_get(c->seeds, first, n, c->seed);
    gls_status status = gls_pass_initial(c, first, n);
    if (status == GLS_OK) gls_lines_choose(c, first, n);
    c->stats->result.seconds_initial += gls_clock_seconds() - start;
    bool gave_way = false;
    if (!c->engine->plan.staged)
        gls_pace_guess(&c->track_pace, &c->initial_pace,
                       c->points_per_line * c->engine->plan.substeps * c->engine->turn_cost);
    for (uint32_t seed = 0; status == GLS_OK && seed < n && !gave_way;) {
        uint32_t from = seed;
        status = c->engine->params.retries > 0 ? run_round_again(c, first, from, n, &seed)
                                               : run_round(c, first, from, n, &seed);
        gave_way = seed == from;
        *done = seed;
    }
    return status;
}
