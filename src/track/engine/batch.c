/* Tracks the seeds of one engine, batch by batch. A batch is tracked in rounds: each takes the next seeds of the batch
 * through pass 2, packs and counts their streamlines, and hands them over. With rounds in flight the device does not
 * wait for the host. */
#include "track/engine/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fetch.h"
#include "gpu/open_device.h"
#include "track/engine/batch_result.h"
#include "track/engine/gather.h"
#include "track/engine/pace.h"
#include "track/engine/passes.h"
#include "track/engine/place.h"
#include "track/engine/refine.h"
#include "track/engine/retries.h"
#include "track/engine/start_lines.h"
#include "track/seeds.h"
#include "util/clock.h"
#include "util/status.h"

/* --- Voxels that the streamlines of one round of pass 2 visit, counted on the device. */

/* Allocates memory for n_words words of counts; earlier contents may be lost. GLS_ERR_MEMORY: out of memory. */
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

/* Call after gls_gather_begin(). Counts on the device the voxels that the n_placed packed lines visit; visitor_end()
 * stores the counts in result->visited, and with GLS_POINTS_COUNTED also the points in *result. */
static gls_status visitor_begin(gls_batch *c, uint32_t n_placed, gls_batch_result *result)
{
    gls_engine *t = c->engine;
    const gls_visitor *v = &t->visitor;
    const uint32_t room = c->points == GLS_POINTS_COUNTED ? gls_visitor_capacity(t->plan.batch_lines) : 0;
    const gls_visit_uniforms u = gls_visitor_uniforms(&t->grid, n_placed, room);
    const size_t n_words = gls_visitor_words(&t->grid, n_placed, room);
    const uint32_t limit = gls_device_kept_info(t->device)->max_work_groups;
    double start = gls_clock_seconds();
    gls_status status = reserve(&result->visited, gls_visitor_words(&t->grid, t->plan.batch_lines, room));
    if (!status) status = gls_buffer_write(v->uniforms, 0, sizeof u, &u);
    if (!status) status = gls_buffer_clear(v->words);
    /* Storage buffers: 0 placed lines, 1 packed points, 2 words, see glsl/kernel/visit.comp. A work group takes one
     * line after the other. */
    gls_arg args[] = {gls_arg_uniforms(0, v->uniforms), gls_arg_buffer(0, t->buffer[GLS_TRACK_PLACED]),
                      gls_arg_buffer(1, t->buffer[GLS_TRACK_OUTPUT]), gls_arg_buffer(2, v->words)};
    if (!status)
        status = gls_engine_run(t, v->kernel, GLS_TIME_GATHER, n_placed < limit ? n_placed : limit, args,
                                sizeof args / sizeof args[0]);
    if (!status) status = gls_fetch_begin(v->fetch, v->words, 0, 4 * n_words);
    result->visited.n_voxels = gls_grid_voxels(&t->grid);
    result->visited.grid = t->grid;
    result->visited.ends_alone = room > 0;
    c->stats->result.seconds_gather += gls_trace_phase("count visits", start, result->first);
    return status;
}

/* Fallback if the streamlines whose voxels the host must count have more points than the device had space for: reads
 * all points of the round, and switches to GLS_POINTS_ALL for the rest of the run. */
static gls_status bring_all(gls_batch *c, gls_batch_result *result)
{
    const gls_engine *t = c->engine;
    const uint64_t n_points = result->offset[result->n];
    gls_status status = gls_batch_result_reserve(result, t->plan.batch_lines, t->plan.output_points);
    gls_log(GLS_LOG_DEBUG, "all points are sent to the host, because too many streamlines are left to it");
    c->points = GLS_POINTS_ALL;
    result->visited.ends_alone = false;
    return !status ? gls_buffer_read(t->buffer[GLS_TRACK_OUTPUT], 0, n_points * sizeof *result->point, result->point)
                   : status;
}

/* Fills result->point and result->offset with points of kept streamlines from result->visited.word: with all points of
 * a streamline whose voxels the host must count, with the first and the last point of any other. */
static void unpack(const gls_batch *c, uint32_t n_placed, gls_batch_result *result)
{
    /* Layout of the words behind the counts of voxels: for each line one word, not 0 if the line is left to the host;
     * the number of points of the lines that are left to the host; for each line its first and its last point; the
     * points of the lines that are left to the host. */
    const uint32_t *left = result->visited.word + result->visited.n_voxels, *ends = left + n_placed + 1,
                   *room = ends + 6 * (size_t)n_placed;
    uint64_t at = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->outcomes.n_outcomes; i++) {
        const gls_outcome *o = &c->outcomes.outcome[i];
        if (o->verdict != GLS_VERDICT_KEPT) continue;
        const size_t n_points = left[i] || o->points < 2 ? o->points : 2;
        memcpy(result->point + at, left[i] ? room + 3 * (size_t)(left[i] - 1) : ends + 6 * i,
               n_points * sizeof *result->point);
        result->offset[n++] = at;
        at += n_points;
    }
    result->offset[n] = at;
}

/* Waits for the counts of visitor_begin() and, with GLS_POINTS_COUNTED, stores the points. Then makes visited.left a
 * list with one word for each kept line. */
static gls_status visitor_end(gls_batch *c, uint32_t n_placed, gls_batch_result *result)
{
    gls_visited *to = &result->visited;
    double start = gls_clock_seconds();
    gls_status status = gls_fetch_end(c->engine->visitor.fetch, to->word);
    if (!status && to->ends_alone) {
        if (to->word[to->n_voxels + n_placed] > gls_visitor_capacity(c->engine->plan.batch_lines))
            status = bring_all(c, result);
        else
            unpack(c, n_placed, result);
    }
    c->stats->result.seconds_readback += gls_trace_phase("read visits", start, result->first);
    if (status) return status;
    /* the device wrote a word for each placed line: keep those of kept lines */
    to->left = to->word + to->n_voxels;
    to->n = 0;
    to->n_points = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < c->outcomes.n_outcomes; i++) {
        if (c->outcomes.outcome[i].verdict != GLS_VERDICT_KEPT) continue;
        const uint32_t is_left = to->left[i];
        to->left[to->n++] = is_left;
        n_left += is_left != 0;
        if (!is_left) to->n_points += c->outcomes.outcome[i].points;
    }
    to->valid = to->n == result->n;
    gls_log(GLS_LOG_DEBUG, "voxels of %zu streamlines were counted on the device, of which %zu are left to the host",
            to->n, n_left);
    return GLS_OK;
}

/* Share of the pool of points that a round should fill, with a reserve for streamlines longer than before. */
#define POOL_SHARE 0.8

/* Number of streamlines that one round of pass 2 tracks at most: so few that they probably fill no more than this share
 * of the pool of points. */
static uint32_t pool_capacity(const gls_batch *c, double share)
{
    const gls_track_plan *plan = &c->engine->plan;
    double blocks_per_line = 2 * (c->points_per_line / 2 / plan->block_points + 1 + plan->guide.filter_blocks);
    double lines = share * plan->pool_blocks / blocks_per_line;
    return lines < plan->batch_lines ? (lines < 1 ? 1 : (uint32_t)lines) : plan->batch_lines;
}

/* The same, and, unless the plan is staged, so few that the dispatch stays short. */
static uint32_t round_capacity(const gls_batch *c, double share)
{
    const uint32_t capacity = pool_capacity(c, share);
    return c->engine->plan.staged ? capacity : gls_pace_items(&c->track_pace, capacity);
}

/* Borrows a result from the run. *gave_way: the run lent none, because it first needs the result of an earlier seed,
 * which no worker tracks at present. */
static gls_status take_result(gls_batch *c, uint64_t seed, gls_batch_result **result, bool *gave_way)
{
    double start = gls_clock_seconds();
    gls_status status = c->host.take(c->host.user, seed, result, gave_way);
    c->stats->result.seconds_sink += gls_trace_phase("wait for the output", start, seed);
    return status;
}

/* Waits for the points of the pending seeds, refines them, and commits the seeds. Does nothing if no seeds are pending.
 */
static gls_status deliver(gls_batch *c)
{
    gls_pending *k = &c->pending;
    gls_status status = GLS_OK;
    if (!k->any) return GLS_OK;
    k->any = false;
    /* count while the device packs, unless refinement changes the outcomes */
    const bool refines = k->points && gls_refine_is_needed(&c->engine->guide);
    if (!refines) status = c->host.count(c->host.user, k->result, &c->outcomes);
    if (!status && k->n_points > 0) status = gls_gather_end(c, k->points);
    if (!status && k->is_visited) status = visitor_end(c, k->n_placed, k->result);
    if (!status && refines)
        status = gls_refine(&c->engine->guide, c->engine->plan.parts, c->space, &c->outcomes, k->points);
    if (!status && refines) status = c->host.count(c->host.user, k->result, &c->outcomes);
    const double start = gls_clock_seconds();
    if (!status) status = c->host.commit(c->host.user, k->end, c->outcomes.n_seeds, k->result);
    (void)gls_trace_phase("commit", start, k->result ? k->result->first : c->delivered);
    if (status && k->result) c->host.drop(c->host.user, k->result);
    if (status) return status;
    c->delivered = k->end;
    return k->is_last && c->host.finished ? c->host.finished(c->host.user) : GLS_OK;
}

/* Upper bound of the points that one round of pass 2 adds to a batch result. */
static size_t max_points(const gls_batch *c)
{
    const gls_track_plan *plan = &c->engine->plan;
    if (c->points == GLS_POINTS_ALL) return plan->output_points;
    return 2 * (size_t)plan->batch_lines +
           (c->points == GLS_POINTS_COUNTED ? gls_visitor_capacity(plan->batch_lines) : 0);
}

/* Judges and places the streamlines of the round and starts packing the points of finished seeds. *done: index in the
 * seed batch of the first seed that is not finished. */
static gls_status finish_round(gls_batch *c, const gls_round *round, gls_batch_result *result, uint32_t *done)
{
    gls_track_result *r = &c->stats->result;
    const uint64_t first = round->seed_batch->first;
    gls_batch_result *points = result ? result : gls_refine_is_needed(&c->engine->guide) ? &c->scratch : NULL;
    /* reserve for the largest round at once, so that fresh pages are touched only once */
    gls_status status = points ? gls_batch_result_reserve(points, c->engine->plan.batch_lines, max_points(c)) : GLS_OK;
    if (!status) status = gls_outcomes_reserve(&c->outcomes, c->engine->plan.batch_seeds, c->engine->plan.batch_lines);
    if (status) return status;
    double start = gls_clock_seconds();
    uint64_t steps = c->steps, n_points;
    if (points) points->n = 0;
    uint32_t placed = gls_place_lines(c, first, round->from, round->until, round->n_lines, points, done, &n_points);
    r->seconds_scan += gls_trace_phase("place", start, first + round->from);
    if (placed > 0) c->points_per_line = fmax(c->points_per_line * 0.9, (double)(c->steps - steps) / placed * 1.1);
    if (!points) n_points = 0;
    const bool is_any = n_points > 0;
    if (c->points == GLS_POINTS_COUNTED) n_points = 0;
    if (is_any) status = gls_gather_begin(c, 2 * round->n_lines, placed, n_points);
    const bool visits = is_any && c->counts_visits && c->engine->visitor.words && points == result &&
                        !gls_refine_is_needed(&c->engine->guide);
    if (!status && visits) status = visitor_begin(c, placed, result);
    if (!status && *done > round->from)
        c->pending = (gls_pending){.any = true,
                                   .end = first + *done,
                                   .n_points = n_points,
                                   .n_placed = placed,
                                   .is_last = *done == round->seed_batch->n,
                                   .result = result,
                                   .points = points,
                                   .is_visited = visits};
    return status;
}

/* --- Seed batches and their pass 1. */

/* Whether there is a seed batch of this number. Asks the run for its seeds unless the run has given them already. wait:
 * see gls_batch_host.next(). */
static bool is_given(gls_batch *c, uint64_t number, bool wait)
{
    gls_seed_range range;
    if (number < c->n_given) return true;
    if (!c->host.next(c->host.user, wait, &range)) return false;
    gls_seed_batch *seed_batch = &c->seed_batch[number % GLS_SEED_BATCHES];
    seed_batch->first = range.first;
    seed_batch->n = (uint32_t)(range.end - range.first);
    seed_batch->begun = seed_batch->ended = false;
    c->n_given++;
    return true;
}

/* Starts pass 1 of a seed batch, unless it has been started. */
static gls_status begin_seed_batch(gls_batch *c, gls_seed_batch *seed_batch)
{
    if (seed_batch->begun || seed_batch->ended) return GLS_OK;
    double start = gls_clock_seconds();
    gls_seeds_get(c->seeds, seed_batch->first, seed_batch->n, seed_batch->seed);
    if (seed_batch->along) gls_seeds_get_directions(c->seeds, seed_batch->first, seed_batch->n, seed_batch->along);
    gls_status status = gls_pass_initial_begin(c, seed_batch, seed_batch->first);
    c->stats->result.seconds_initial += gls_trace_phase("begin pass 1", start, seed_batch->first);
    return status;
}

/* Makes batch->seed and batch->direction point to this seed batch. */
static void use_seed_batch(gls_batch *c, const gls_seed_batch *seed_batch)
{
    c->seed = seed_batch->seed;
    c->along = (const float(*)[3])seed_batch->along;
    c->direction = seed_batch->direction;
}

/* Estimated iterations for each step of a half-streamline. With particle filtering this assumes a run of the filter in
 * every second half-streamline. */
static double filter_cost(const gls_batch *c)
{
    const gls_guide_plan *guide = &c->engine->plan.guide;
    return 1 + guide->particles * (guide->filter_back + guide->filter_front) / c->points_per_line;
}

/* Makes the batch point to a seed batch. Then waits for its directions and edits them, see gls_lines_choose(), unless
 * that has been done. */
static gls_status end_seed_batch(gls_batch *c, gls_seed_batch *seed_batch)
{
    use_seed_batch(c, seed_batch);
    if (seed_batch->ended) return GLS_OK;
    double start = gls_clock_seconds();
    gls_status status = gls_pass_initial_end(c, seed_batch);
    gls_pace_note_least(&c->initial_pace, seed_batch->n, gls_clock_seconds() - start);
    if (!status) gls_lines_choose(c, seed_batch->first, seed_batch->n);
    c->stats->result.seconds_initial += gls_trace_phase("end pass 1", start, seed_batch->first);
    if (!c->engine->plan.staged)
        gls_pace_guess(&c->track_pace, &c->initial_pace,
                       c->points_per_line * c->engine->plan.substeps * c->engine->iteration_cost * filter_cost(c));
    return status;
}

/* Finds the directions of the seed batch of this number, for which is_given() returned true. If the plan allows rounds
 * in flight, also queues pass 1 of the next batch in front of pass 2 of this one. */
static gls_status make_seed_batch(gls_batch *c, uint64_t number)
{
    gls_seed_batch *seed_batch = &c->seed_batch[number % GLS_SEED_BATCHES];
    gls_status status = begin_seed_batch(c, seed_batch);
    if (!status) status = end_seed_batch(c, seed_batch);
    if (!status && c->engine->plan.in_flight && is_given(c, number + 1, false))
        status = begin_seed_batch(c, &c->seed_batch[(number + 1) % GLS_SEED_BATCHES]);
    return status;
}

/* --- Rounds of pass 2. */

/* Makes the batch and the engine point to the seeds, the lines and the buffers of a round. A call for the next round
 * while an earlier one is on the device is allowed: each round has its own copies. */
static void look_at_round(gls_batch *c, const gls_round *r)
{
    use_seed_batch(c, r->seed_batch);
    c->line = c->lines[r->buffer_set % 2];
    gls_engine_use_buffer_set(c->engine, r->buffer_set);
}

/* The seeds to track next: in the seed batch `number` the seeds from index `from` on, then all later batches. */
typedef struct rest {
    uint64_t number;
    uint32_t from;
} rest;

/* Returns the seeds that follow the seeds of a round. */
static rest rest_behind(const gls_round *r)
{
    return r->until < r->seed_batch->n ? (rest){r->number, r->until} : (rest){r->number + 1, 0};
}

/* Points of a half-streamline that probe_pace() tracks. */
#define PROBE_POINTS 1

/* Before any time of pass 2 is known: if the guess from pass 1 would cut the round, tracks the first points of all its
 * streamlines and throws them away, and takes the limit from their time. Where steps have many iterations the guess is
 * far too low, and rounds of few streamlines take as long as their longest one. */
static gls_status probe_pace(gls_batch *c, const gls_round *r)
{
    gls_track_plan *plan = &c->engine->plan;
    const uint32_t capacity = pool_capacity(c, 1), max_steps = plan->max_steps;
    uint32_t n_lines;
    if (c->pace_probed || plan->staged || plan->substeps == 1 || c->track_pace.longest > 0 ||
        gls_pace_items(&c->track_pace, capacity) >= capacity)
        return GLS_OK;
    c->pace_probed = true;
    gls_lines_list(c, r->seed_batch->first, r->from, r->seed_batch->n, capacity, &n_lines);
    gls_status status = gls_device_synchronize(c->engine->device);
    const double start = gls_clock_seconds();
    plan->max_steps = PROBE_POINTS;
    if (!status && n_lines > 0) status = gls_pass_track_begin(c, n_lines);
    if (!status && n_lines > 0) status = gls_pass_track_end(c);
    plan->max_steps = max_steps;
    if (!status)
        gls_pace_guess_from(&c->track_pace, n_lines, gls_clock_seconds() - start,
                            c->points_per_line / (2 * PROBE_POINTS));
    (void)gls_trace_phase("probe the pace", start, r->seed_batch->first + r->from);
    return status;
}

/* Starts tracking the first seeds of *from: no more streamlines than `most` and round_capacity() allow, but at least
 * one seed. Afterwards *from begins behind these seeds. r->any is false if there are no seeds, see
 * gls_batch_host.next(). */
static gls_status begin_round(gls_batch *c, rest *from, uint32_t most, bool wait, gls_round *r)
{
    *r = (gls_round){.any = is_given(c, from->number, wait)};
    gls_status status = r->any ? make_seed_batch(c, from->number) : GLS_OK;
    if (!r->any || status) return status;
    r->number = from->number;
    r->seed_batch = &c->seed_batch[from->number % GLS_SEED_BATCHES];
    r->from = from->from;
    r->buffer_set = c->buffer_set++;
    look_at_round(c, r);
    status = probe_pace(c, r);
    if (status) return status;
    double start = gls_clock_seconds();
    const uint64_t first = r->seed_batch->first;
    /* before any time of pass 2 is known, the times of pass 1 limit the round */
    const uint32_t capacity = round_capacity(c, 1), with_reserve = round_capacity(c, POOL_SHARE);
    /* List the streamlines, then start pass 2. Seeds without a direction need no pass. The pool keeps a
     * reserve for longer streamlines, unless all seeds that the batch has left fit without it: another round for few
     * streamlines would take about as long as a full one. */
    r->until = gls_lines_list(c, first, r->from, r->seed_batch->n, most < capacity ? most : capacity, &r->n_lines);
    while (r->until < r->seed_batch->n && r->until > r->from + 1 && r->n_lines > with_reserve)
        r->n_lines -= gls_lines_of_seed(c, --r->until);
    c->stats->result.seconds_scan += gls_trace_phase("list", start, first + r->from);
    r->begun = gls_clock_seconds();
    c->round_seeds = r->until - r->from;
    c->ended = 0;
    if (r->n_lines > 0) status = gls_pass_track_begin(c, r->n_lines);
    c->stats->result.seconds_track += gls_trace_phase("begin pass 2", r->begun, first + r->from);
    *from = rest_behind(r);
    return status;
}

/* Starts a round while the device has none. If there are no seeds at the moment, commits the finished seeds, then waits
 * for more seeds. */
static gls_status begin_alone(gls_batch *c, rest *from, uint32_t most, gls_round *r)
{
    gls_status status = begin_round(c, from, most, false, r);
    if (!status && !r->any) status = deliver(c);
    return !status && !r->any ? begin_round(c, from, most, true, r) : status;
}

/* Waits until the device has tracked the round. */
static gls_status await_round(gls_batch *c, const gls_round *r)
{
    double start = gls_clock_seconds();
    look_at_round(c, r);
    gls_status status = r->n_lines > 0 ? gls_pass_track_end(c) : GLS_OK;
    c->stats->result.seconds_track += gls_trace_phase("wait for pass 2", start, r->seed_batch->first + r->from);
    /* the device began this round when the host queued it or, if later, when the round before had ended */
    const double now = gls_clock_seconds(), begun = r->begun > c->last_end ? r->begun : c->last_end;
    if (!c->engine->plan.staged) gls_pace_note(&c->track_pace, r->n_lines, now - begun);
    c->last_end = now;
    return status;
}

/* Waits for the round, delivers the previous one, judges this one and starts packing it; without rounds in flight also
 * delivers this one. *done: index in the seed batch of the first seed that is not finished; the round's first seed if
 * the batch gave way. */
static gls_status end_round(gls_batch *c, const gls_round *r, uint32_t *done, bool *gave_way)
{
    gls_batch_result *result = NULL;
    *done = r->from;
    gls_status status = await_round(c, r);
    if (!status) status = deliver(c);
    if (!status) status = take_result(c, r->seed_batch->first + r->from, &result, gave_way);
    if (!status && !*gave_way) status = finish_round(c, r, result, done);
    if (result && !c->pending.any) c->host.drop(c->host.user, result);
    if (!status && !*gave_way && *done == r->from && r->until == r->from + 1)
        status = gls_fail(
            GLS_ERR_DEVICE,
            "the device did not finish the streamlines of one seed; 'glslines devices --check' tests the device");
    if (!status && !c->engine->plan.in_flight) status = deliver(c);
    return status;
}

/* Tracks all rounds. If the plan allows it, starts a round before the previous one has ended: the device goes on while
 * the host places, reads and delivers. */
static gls_status run_rounds(gls_batch *c)
{
    gls_round now = {.any = false}, ahead = {.any = false};
    rest next = {0, 0};
    uint32_t most = UINT32_MAX, done;
    bool gave_way = false;
    gls_status status = GLS_OK;
    while (!status && !gave_way) {
        /* One iteration: begin a round if there is none; if the plan allows it, begin the next round behind it; then
         * end the first round. */
        if (!now.any) status = begin_alone(c, &next, most, &now);
        if (!now.any) break;
        if (!status && c->engine->plan.in_flight) status = begin_round(c, &next, UINT32_MAX, false, &ahead);
        if (!status) status = end_round(c, &now, &done, &gave_way);
        if (status || gave_way) break;
        /* if not even one seed was finished, halve the round: fewer streamlines then share the pool */
        most = done == now.from ? (now.n_lines + 1) / 2 : UINT32_MAX;
        if (done < now.until) { /* the seeds from `done` on must be tracked again, before the seeds of `ahead` */
            next = (rest){now.number, done};
            ahead.any = false;
        }
        now = ahead;
        ahead.any = false;
    }
    return !status ? deliver(c) : status;
}

/* Runs one round with retries and sets `*from` to the seeds that follow. If the batch gave way, `*from` stays. */
static gls_status run_round_again(gls_batch *c, rest *from)
{
    /* The round has no buffers of its own: with retries nothing is in flight. */
    gls_round r = {
        .number = from->number, .seed_batch = &c->seed_batch[from->number % GLS_SEED_BATCHES], .from = from->from};
    const uint64_t first = r.seed_batch->first;
    gls_batch_result *result = NULL;
    bool gave_way = false;
    gls_status status = make_seed_batch(c, r.number);
    if (!status) status = take_result(c, first + r.from, &result, &gave_way);
    if (status || gave_way) return status;
    r.until = gls_lines_list(c, first, r.from, r.seed_batch->n, c->engine->plan.batch_lines, &r.n_lines);
    status = gls_retries_begin(c, r.n_lines);
    while (!status && c->retries.n_pending > 0)
        status = gls_retries_pass(c, round_capacity(c, POOL_SHARE), result != NULL);
    if (!status) status = gls_retries_place(c, first, r.from, r.until, result);
    if (status) {
        if (result) c->host.drop(c->host.user, result);
        return status;
    }
    *from = rest_behind(&r);
    c->pending =
        (gls_pending){.any = true, .end = first + r.until, .is_last = r.until == r.seed_batch->n, .result = result};
    return deliver(c);
}

/* Tracks all seeds with retries (params.retries): each round tracks its rejected streamlines again until all are
 * decided. Returns early if the batch must give way to earlier seeds, see gls_batch_host.take(). */
static gls_status run_rounds_again(gls_batch *c)
{
    rest next = {0, 0}, before;
    gls_status status = GLS_OK;
    do {
        before = next;
        if (is_given(c, next.number, true)) status = run_round_again(c, &next);
    } while (!status && (next.number != before.number || next.from != before.from));
    return status;
}

gls_status gls_batch_run(gls_batch *c)
{
    c->n_given = 0;
    c->pending.any = false;
    gls_status status = c->engine->params.retries > 0 ? run_rounds_again(c) : run_rounds(c);
    if (c->pending.any && c->pending.result) c->host.drop(c->host.user, c->pending.result);
    c->pending.any = false;
    return status;
}
