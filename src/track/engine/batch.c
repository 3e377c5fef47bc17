#include "track/engine/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/handle.h"
#include "track/engine/batch_state.h"
#include "track/engine/gather.h"
#include "track/engine/lines.h"
#include "track/engine/passes.h"
#include "track/engine/place.h"
#include "track/engine/refine.h"
#include "track/engine/retries.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/status.h"
#include "util/trace.h"

/* --- Counts, on the device, the voxels that the streamlines of a round visit.  */

static gls_status reserve(gls_visited *to, size_t n_words)
{
    if (n_words <= to->capacity) return GLS_OK;
    free(to->word);
    to->capacity = 0;
    to->word = malloc(n_words * sizeof *to->word);
    if (!to->word) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu voxels", n_words);
    to->capacity = n_words;
    return GLS_OK;
}

/* Behind gls_gather_begin(): counts what it packs, of n_placed lines, for the parcel, which gets it by the second, and
 * with GLS_POINTS_COUNTED its points. */
static gls_status visitor_begin(gls_batch *c, uint32_t n_placed, gls_parcel *parcel)
{
    gls_engine *t = c->engine;
    const gls_visitor *v = &t->visitor;
    const uint32_t room = c->points == GLS_POINTS_COUNTED ? gls_visitor_room(t->plan.batch_lines) : 0;
    const gls_visit_uniforms u = gls_visitor_uniforms(&t->grid, n_placed, room);
    const size_t n_words = gls_visitor_words(&t->grid, n_placed, room);
    const uint32_t limit = gls_device_kept_info(t->device)->max_work_groups;
    double start = gls_clock_seconds();
    gls_status status = reserve(&parcel->visited, gls_visitor_words(&t->grid, t->plan.batch_lines, room));
    if (status == GLS_OK) status = gls_buffer_write(v->uniforms, 0, sizeof u, &u);
    if (status == GLS_OK) status = gls_buffer_clear(v->words);
    gls_arg args[] = {gls_arg_uniforms(0, v->uniforms), gls_arg_buffer(0, t->buffer[GLS_TRACK_LINES]),
                      gls_arg_buffer(1, t->buffer[GLS_TRACK_OUTPUT]), gls_arg_buffer(2, v->words)};
    if (status == GLS_OK)
        status = gls_engine_run(t, v->kernel, GLS_TIME_GATHER, n_placed < limit ? n_placed : limit, args,
                                sizeof args / sizeof args[0]);
    if (status == GLS_OK) status = gls_fetch_begin(v->fetch, v->words, 0, 4 * n_words);
    parcel->visited.n_voxels = gls_grid_voxels(&t->grid);
    parcel->visited.grid = t->grid;
    parcel->visited.ends_alone = room > 0;
    c->stats->result.seconds_gather += gls_trace_phase("count visits", start, parcel->first);
    return status;
}

/* Where there was not room enough: all points come after all, and will from now on. */
static gls_status bring_all(gls_batch *c, gls_parcel *parcel)
{
    const gls_engine *t = c->engine;
    const uint64_t n_points = parcel->offset[parcel->n];
    gls_status status = gls_parcel_reserve(parcel, t->plan.batch_lines, t->plan.output_points);
    gls_log(GLS_LOG_DEBUG, "all points come: too many belong to streamlines that are left to the host");
    c->points = GLS_POINTS_ALL;
    parcel->visited.ends_alone = false;
    return status == GLS_OK
               ? gls_buffer_read(t->buffer[GLS_TRACK_OUTPUT], 0, n_points * sizeof *parcel->point, parcel->point)
               : status;
}

/* The points of the parcel, from the words that follow what is told of its n_placed lines. */
static void unpack(const gls_batch *c, uint32_t n_placed, gls_parcel *parcel)
{
    const uint32_t *left = parcel->visited.word + parcel->visited.n_voxels, *ends = left + n_placed + 1,
                   *room = ends + 6 * (size_t)n_placed;
    uint64_t at = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->tally.n_outcomes; i++) {
        const gls_outcome *o = &c->tally.outcome[i];
        if (o->verdict != GLS_VERDICT_KEPT) continue;
        const size_t n_points = left[i] || o->points < 2 ? o->points : 2;
        memcpy(parcel->point + at, left[i] ? room + 3 * (size_t)(left[i] - 1) : ends + 6 * i,
               n_points * sizeof *parcel->point);
        parcel->offset[n++] = at;
        at += n_points;
    }
    parcel->offset[n] = at;
}

static gls_status visitor_end(gls_batch *c, uint32_t n_placed, gls_parcel *parcel)
{
    gls_visited *to = &parcel->visited;
    double start = gls_clock_seconds();
    gls_status status = gls_fetch_end(c->engine->visitor.fetch, to->word);
    if (status == GLS_OK && to->ends_alone) {
        if (to->word[to->n_voxels + n_placed] > gls_visitor_room(c->engine->plan.batch_lines))
            status = bring_all(c, parcel);
        else
            unpack(c, n_placed, parcel);
    }
    c->stats->result.seconds_readback += gls_trace_phase("read visits", start, parcel->first);
    if (status != GLS_OK) return status;
    /* what is told of lines that were placed becomes what is told of streamlines */
    to->left = to->word + to->n_voxels;
    to->n = 0;
    to->n_points = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < c->tally.n_outcomes; i++) {
        if (c->tally.outcome[i].verdict != GLS_VERDICT_KEPT) continue;
        const uint32_t is_left = to->left[i];
        to->left[to->n++] = is_left;
        n_left += is_left != 0;
        if (!is_left) to->n_points += c->tally.outcome[i].points;
    }
    to->valid = to->n == parcel->n;
    gls_log(GLS_LOG_DEBUG, "voxels of %zu streamlines were counted on the device, of which %zu are left to the host",
            to->n, n_left);
    return GLS_OK;
}

/* Into so many batches a short range is cut, but not into smaller ones: each ends with its longest streamline alone. */
#define PIECES 4
#define LEAST_PIECE 20000

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
    c->stats->result.seconds_sink += gls_trace_phase("wait for the output", start, seed);
    return status;
}

/* What is on its way from the device: refined, and whole seeds of it committed. Does nothing where nothing is. */
static gls_status deliver(gls_batch *c)
{
    gls_catch *k = &c->caught;
    gls_status status = GLS_OK;
    if (!k->any) return GLS_OK;
    k->any = false;
    if (k->n_points > 0) status = gls_gather_end(c, k->points);
    if (status == GLS_OK && k->is_visited) status = visitor_end(c, k->n_placed, k->parcel);
    if (status == GLS_OK && k->points && gls_refine_is_needed(&c->engine->guide))
        status = gls_refine(&c->engine->guide, c->engine->plan.parts, c->space, &c->tally, k->points);
    const double start = gls_clock_seconds();
    if (status == GLS_OK) status = c->host.commit(c->host.user, k->end, k->parcel, &c->tally);
    (void)gls_trace_phase("commit", start, k->parcel ? k->parcel->first : c->delivered);
    if (status != GLS_OK && k->parcel) c->host.drop(c->host.user, k->parcel);
    if (status != GLS_OK) return status;
    c->delivered = k->end;
    return k->is_last && c->host.finished ? c->host.finished(c->host.user) : GLS_OK;
}

/* That a round may bring. */
static size_t most_points(const gls_batch *c)
{
    const gls_track_plan *plan = &c->engine->plan;
    if (c->points == GLS_POINTS_ALL) return plan->output_points;
    return 2 * (size_t)plan->batch_lines + (c->points == GLS_POINTS_COUNTED ? gls_visitor_room(plan->batch_lines) : 0);
}

/* Finds a place for what was tracked of seeds from .. until - 1 and lets the device pack whole seeds; *done is the
 * first seed left over. */
static gls_status finish_round(gls_batch *c, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                               gls_parcel *parcel, uint32_t *done)
{
    gls_track_result *r = &c->stats->result;
    gls_parcel *points = parcel ? parcel : gls_refine_is_needed(&c->engine->guide) ? &c->scratch : NULL;
    /* for the most that a round may bring: memory that stays is touched for the first time but once */
    gls_status status = points ? gls_parcel_reserve(points, c->engine->plan.batch_lines, most_points(c)) : GLS_OK;
    if (status == GLS_OK)
        status = gls_tally_reserve(&c->tally, c->engine->plan.batch_seeds, c->engine->plan.batch_lines);
    if (status != GLS_OK) return status;
    double start = gls_clock_seconds();
    uint64_t steps = c->steps, n_points;
    if (points) points->n = 0;
    uint32_t placed = gls_place_lines(c, first, from, until, n_lines, points, done, &n_points);
    r->seconds_scan += gls_trace_phase("place", start, first + from);
    if (placed > 0) c->points_per_line = fmax(c->points_per_line * 0.9, (double)(c->steps - steps) / placed * 1.1);
    if (!points) n_points = 0;
    const bool is_any = n_points > 0;
    if (c->points == GLS_POINTS_COUNTED) n_points = 0;
    if (is_any) status = gls_gather_begin(c, 2 * n_lines, placed, n_points);
    const bool visits = is_any && c->counts_visits && c->engine->visitor.words && points == parcel &&
                        !gls_refine_is_needed(&c->engine->guide);
    if (status == GLS_OK && visits) status = visitor_begin(c, placed, parcel);
    if (status == GLS_OK && *done > from)
        c->caught = (gls_catch){.any = true,
                                .end = first + *done,
                                .n_points = n_points,
                                .n_placed = placed,
                                .is_last = *done == c->crop[c->turn].n,
                                .parcel = parcel,
                                .points = points,
                                .is_visited = visits};
    return status;
}

/* Seeds of the batch that begins with seed first, and of the run's range that ends before end. */
static uint32_t crop_size(const gls_batch *c, uint64_t first, uint64_t end)
{
    return end - first < c->piece ? (uint32_t)(end - first) : c->piece;
}

/* Lets the device begin with pass 1 of the batch behind this one. */
static gls_status begin_crop(gls_batch *c, gls_crop *crop, uint64_t first, uint64_t end)
{
    double start = gls_clock_seconds();
    crop->n = crop_size(c, first, end);
    gls_seeds_get(c->seeds, first, crop->n, crop->seed);
    gls_status status = gls_pass_initial_begin(c, crop, first);
    c->stats->result.seconds_initial += gls_trace_phase("begin pass 1", start, first);
    return status;
}

/* Its directions, which become those of the batch. */
static gls_status end_crop(gls_batch *c, gls_crop *crop, uint64_t first)
{
    double start = gls_clock_seconds();
    gls_status status = gls_pass_initial_end(c, crop);
    gls_pace_note_least(&c->initial_pace, crop->n, gls_clock_seconds() - start);
    c->seed = crop->seed;
    c->direction = crop->direction;
    if (status == GLS_OK) gls_lines_choose(c, first, crop->n);
    c->stats->result.seconds_initial += gls_trace_phase("end pass 1", start, first);
    if (!c->engine->plan.staged)
        gls_pace_guess(&c->track_pace, &c->initial_pace,
                       c->points_per_line * c->engine->plan.substeps * c->engine->turn_cost);
    return status;
}

/* While the device tracks: pass 1 of the next batch is put behind it, and what came before is delivered. */
static gls_status work_beside(gls_batch *c, uint64_t next, uint64_t end)
{
    gls_crop *crop = &c->crop[c->turn ^ 1];
    gls_status status = GLS_OK;
    if (c->engine->plan.in_flight && next < end && !crop->begun) status = begin_crop(c, crop, next, end);
    return status == GLS_OK ? deliver(c) : status;
}

/* Tracks n_lines lines, the last of the batch if next is given: where the batch behind it begins. */
static gls_status track_lines(gls_batch *c, uint32_t n_lines, uint64_t next, uint64_t end)
{
    double start = gls_clock_seconds(), beside = 0;
    gls_status status = n_lines > 0 ? gls_pass_track_begin(c, n_lines) : GLS_OK;
    if (status == GLS_OK) {
        (void)gls_trace_phase("begin pass 2", start, next);
        beside = gls_clock_seconds();
        status = work_beside(c, next, end);
        beside = gls_clock_seconds() - beside;
    }
    const double wait = gls_clock_seconds();
    if (status == GLS_OK && n_lines > 0) status = gls_pass_track_end(c);
    (void)gls_trace_phase("wait for pass 2", wait, next);
    double seconds = gls_clock_seconds() - start;
    c->stats->result.seconds_track += seconds - beside;
    if (!c->engine->plan.staged) gls_pace_note(&c->track_pace, n_lines, seconds);
    return status;
}

/* Tracks lines of seeds from .. at least from + 1; *next is the first seed left over, from itself if the round gave
 * way. */
static gls_status run_round(gls_batch *c, uint64_t first, uint64_t end, uint32_t from, uint32_t *next)
{
    const uint32_t n = c->crop[c->turn].n, limit = c->engine->plan.batch_lines;
    uint32_t n_lines, until, done = from, capacity = round_capacity(c);
    gls_parcel *parcel = NULL;
    bool gave_way = false;
    gls_status status;
    do {
        double start = gls_clock_seconds();
        until = gls_lines_list(c, first, from, n, capacity < limit ? capacity : limit, &n_lines);
        c->stats->result.seconds_scan += gls_trace_phase("list", start, first + from);
        status = track_lines(c, n_lines, until == n ? first + n : end, end);
        if (status == GLS_OK && !parcel) status = take_parcel(c, first + from, &parcel, &gave_way);
        if (status == GLS_OK && !gave_way) status = finish_round(c, first, from, until, n_lines, parcel, &done);
        if (status == GLS_OK && !gave_way && done == from && until == from + 1)
            status = gls_fail(GLS_ERR_DEVICE, "the device did not finish the streamlines of one seed");
        capacity =
            (n_lines + 1) / 2; /* only if not even one seed was finished: fewer streamlines share the pool then */
    } while (status == GLS_OK && !gave_way && done == from);
    if (status != GLS_OK && parcel && !c->caught.any) c->host.drop(c->host.user, parcel);
    if (status == GLS_OK && !c->engine->plan.in_flight) status = deliver(c);
    *next = done;
    return status;
}

/* The same where streamlines that were rejected are tracked again. */
static gls_status run_round_again(gls_batch *c, uint64_t first, uint32_t from, uint32_t *next)
{
    const uint32_t n = c->crop[c->turn].n;
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
    if (status != GLS_OK) {
        if (parcel) c->host.drop(c->host.user, parcel);
        return status;
    }
    c->caught = (gls_catch){.any = true, .end = first + until, .is_last = until == n, .parcel = parcel};
    *next = until;
    return deliver(c);
}

/* The batch that begins with seed first. */
static gls_status run_batch(gls_batch *c, uint64_t first, uint64_t end, bool *gave_way)
{
    gls_crop *crop = &c->crop[c->turn];
    gls_status status = crop->begun ? GLS_OK : begin_crop(c, crop, first, end);
    if (status == GLS_OK) status = end_crop(c, crop, first);
    for (uint32_t seed = 0; status == GLS_OK && seed < crop->n && !*gave_way;) {
        uint32_t from = seed;
        status = c->engine->params.retries > 0 ? run_round_again(c, first, from, &seed)
                                               : run_round(c, first, end, from, &seed);
        *gave_way = status == GLS_OK && seed == from;
    }
    return status;
}

/* Several batches for a short range, too, so that one can be worked on beside the next. */
static uint32_t piece_of(const gls_batch *c, uint64_t n)
{
    const uint32_t most = c->engine->plan.batch_seeds;
    if (!c->engine->plan.in_flight || n >= (uint64_t)PIECES * most) return most;
    uint64_t piece = (n + PIECES - 1) / PIECES;
    if (piece < LEAST_PIECE) piece = LEAST_PIECE;
    return piece < most ? (uint32_t)piece : most;
}

gls_status gls_batch_run(gls_batch *c, uint64_t first, uint64_t n, uint64_t *done)
{
    const uint64_t end = first + n;
    gls_status status = GLS_OK;
    bool gave_way = false;
    c->piece = piece_of(c, n);
    c->delivered = first;
    c->caught.any = c->crop[0].begun = c->crop[1].begun = false;
    for (uint64_t at = first; status == GLS_OK && at < end && !gave_way; c->turn ^= 1) {
        status = run_batch(c, at, end, &gave_way);
        at += c->crop[c->turn].n;
    }
    if (status == GLS_OK) status = deliver(c);
    if (c->caught.any && c->caught.parcel) c->host.drop(c->host.user, c->caught.parcel);
    c->caught.any = false;
    *done = c->delivered - first;
    return status;
}
