#include "track/engine/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/objects.h"
#include "track/engine/batch_result.h"
#include "util/clock.h"
#include "util/status.h"

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
    gls_arg args[] = {gls_arg_uniforms(0, v->uniforms), gls_arg_buffer(0, t->buffer[GLS_TRACK_PLACED]),
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

/* Lines per round such that the pool is unlikely to run full, nor the one dispatch that tracks them likely to take
 * long. */
static uint32_t round_capacity(const gls_batch *c)
{
    const gls_track_plan *plan = &c->engine->plan;
    double blocks_per_line = 2 * (c->points_per_line / 2 / POOL_BLOCK + 1 + plan->guide.filter_blocks);
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

/* Finds a place for what the round tracked and lets the device pack whole seeds; *done is the first seed of the crop
 * left over. */
static gls_status finish_round(gls_batch *c, const gls_round *round, gls_parcel *parcel, uint32_t *done)
{
    gls_track_result *r = &c->stats->result;
    const uint64_t first = round->crop->first;
    gls_parcel *points = parcel ? parcel : gls_refine_is_needed(&c->engine->guide) ? &c->scratch : NULL;
    /* for the most that a round may bring: memory that stays is touched for the first time but once */
    gls_status status = points ? gls_parcel_reserve(points, c->engine->plan.batch_lines, most_points(c)) : GLS_OK;
    if (status == GLS_OK)
        status = gls_tally_reserve(&c->tally, c->engine->plan.batch_seeds, c->engine->plan.batch_lines);
    if (status != GLS_OK) return status;
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
    const bool visits = is_any && c->counts_visits && c->engine->visitor.words && points == parcel &&
                        !gls_refine_is_needed(&c->engine->guide);
    if (status == GLS_OK && visits) status = visitor_begin(c, placed, parcel);
    if (status == GLS_OK && *done > round->from)
        c->caught = (gls_catch){.any = true,
                                .end = first + *done,
                                .n_points = n_points,
                                .n_placed = placed,
                                .is_last = *done == round->crop->n,
                                .parcel = parcel,
                                .points = points,
                                .is_visited = visits};
    return status;
}

/* --- Batches, of which pass 1 is done. ---------------------------------------- */

/* The crop of the batch to which a seed of the range belongs. */
static gls_crop *crop_of(gls_batch *c, uint64_t seed)
{
    return &c->crop[(seed - c->first) / c->piece % GLS_CROPS];
}

/* Lets the device begin with pass 1 of the batch that begins with seed first, unless it has. */
static gls_status begin_crop(gls_batch *c, gls_crop *crop, uint64_t first)
{
    if (crop->first == first && (crop->begun || crop->ended)) return GLS_OK;
    double start = gls_clock_seconds();
    crop->first = first;
    crop->n = c->end - first < c->piece ? (uint32_t)(c->end - first) : c->piece;
    crop->ended = false;
    gls_seeds_get(c->seeds, first, crop->n, crop->seed);
    gls_status status = gls_pass_initial_begin(c, crop, first);
    c->stats->result.seconds_initial += gls_trace_phase("begin pass 1", start, first);
    return status;
}

/* From here on the batch's seeds and directions are these. */
static void look_at_crop(gls_batch *c, const gls_crop *crop)
{
    c->seed = crop->seed;
    c->direction = crop->direction;
}

/* Turns for each step of a half, about: every other half is filtered. */
static double filter_cost(const gls_batch *c)
{
    const gls_guide_plan *guide = &c->engine->plan.guide;
    return 1 + guide->particles * (guide->filter_back + guide->filter_front) / c->points_per_line;
}

/* Its directions, unless they are there. */
static gls_status end_crop(gls_batch *c, gls_crop *crop)
{
    look_at_crop(c, crop);
    if (crop->ended) return GLS_OK;
    double start = gls_clock_seconds();
    gls_status status = gls_pass_initial_end(c, crop);
    gls_pace_note_least(&c->initial_pace, crop->n, gls_clock_seconds() - start);
    if (status == GLS_OK) gls_lines_choose(c, crop->first, crop->n);
    c->stats->result.seconds_initial += gls_trace_phase("end pass 1", start, crop->first);
    if (!c->engine->plan.staged)
        gls_pace_guess(&c->track_pace, &c->initial_pace,
                       c->points_per_line * c->engine->plan.substeps * c->engine->turn_cost * filter_cost(c));
    return status;
}

/* The crop of this seed, with directions; then pass 1 of the batch behind it goes in front of pass 2 of this one. */
static gls_status make_crop(gls_batch *c, uint64_t seed, gls_crop **out)
{
    gls_crop *crop = *out = crop_of(c, seed);
    gls_status status = begin_crop(c, crop, seed - (seed - c->first) % c->piece);
    if (status == GLS_OK) status = end_crop(c, crop);
    const uint64_t next = crop->first + crop->n;
    if (status == GLS_OK && c->engine->plan.in_flight && next < c->end) status = begin_crop(c, crop_of(c, next), next);
    return status;
}

/* --- Rounds. ------------------------------------------------------------------- */

static void look_at_round(gls_batch *c, const gls_round *r)
{
    look_at_crop(c, r->crop);
    c->upload = c->uploads[r->turn % 2];
    gls_engine_turn(c->engine, r->turn);
}

/* Lets the device track streamlines of seeds from this one on: of one seed at least, otherwise at most `most`. */
static gls_status begin_round(gls_batch *c, uint64_t seed, uint32_t most, gls_round *r)
{
    const uint32_t limit = c->engine->plan.batch_lines;
    gls_crop *crop;
    gls_status status = make_crop(c, seed, &crop);
    if (status != GLS_OK) return status;
    *r = (gls_round){.any = true, .crop = crop, .from = (uint32_t)(seed - crop->first), .turn = c->turn++};
    look_at_round(c, r);
    double start = gls_clock_seconds();
    r->until = gls_lines_list(c, crop->first, r->from, crop->n, most < limit ? most : limit, &r->n_lines);
    c->stats->result.seconds_scan += gls_trace_phase("list", start, seed);
    r->begun = gls_clock_seconds();
    if (r->n_lines > 0) status = gls_pass_track_begin(c, r->n_lines);
    c->stats->result.seconds_track += gls_trace_phase("begin pass 2", r->begun, seed);
    return status;
}

/* Waits until they are tracked. */
static gls_status await_round(gls_batch *c, const gls_round *r)
{
    double start = gls_clock_seconds();
    look_at_round(c, r);
    gls_status status = r->n_lines > 0 ? gls_pass_track_end(c) : GLS_OK;
    c->stats->result.seconds_track += gls_trace_phase("wait for pass 2", start, r->crop->first + r->from);
    /* the device began when the round before was done */
    const double now = gls_clock_seconds(), begun = r->begun > c->last_end ? r->begun : c->last_end;
    if (!c->engine->plan.staged) gls_pace_note(&c->track_pace, r->n_lines, now - begun);
    c->last_end = now;
    return status;
}

/* What becomes of the round: *left is the first seed left over, that of the round itself if it gave way. What came
 * before is delivered first. */
static gls_status end_round(gls_batch *c, const gls_round *r, uint64_t *left, bool *gave_way)
{
    const uint64_t first = r->crop->first;
    uint32_t done = r->from;
    gls_parcel *parcel = NULL;
    gls_status status = await_round(c, r);
    if (status == GLS_OK) status = deliver(c);
    if (status == GLS_OK) status = take_parcel(c, first + r->from, &parcel, gave_way);
    if (status == GLS_OK && !*gave_way) status = finish_round(c, r, parcel, &done);
    if (parcel && !c->caught.any) c->host.drop(c->host.user, parcel);
    if (status == GLS_OK && !*gave_way && done == r->from && r->until == r->from + 1)
        status = gls_fail(GLS_ERR_DEVICE, "the device did not finish the streamlines of one seed");
    if (status == GLS_OK && !c->engine->plan.in_flight) status = deliver(c);
    *left = first + done;
    return status;
}

/* The first round tells how long one takes, and so how large the next may be. */
static bool goes_ahead(const gls_batch *c)
{
    return c->engine->plan.in_flight && c->track_pace.seconds_per_item > 0;
}

/* All rounds of the range. Where the plan says so, one is begun before the one in front of it has ended: the device
 * goes from one to the next while the host places, reads and delivers. */
static gls_status run_rounds(gls_batch *c)
{
    gls_round now = {.any = false}, ahead = {.any = false};
    uint64_t seed = c->first, left;
    uint32_t most = UINT32_MAX;
    bool gave_way = false;
    gls_status status = GLS_OK;
    while (status == GLS_OK && !gave_way && (now.any || seed < c->end)) {
        const uint32_t capacity = round_capacity(c);
        if (!now.any) status = begin_round(c, seed, most < capacity ? most : capacity, &now);
        seed = status == GLS_OK ? now.crop->first + now.until : seed;
        if (status == GLS_OK && goes_ahead(c) && seed < c->end) status = begin_round(c, seed, capacity, &ahead);
        if (status == GLS_OK) status = end_round(c, &now, &left, &gave_way);
        if (status != GLS_OK || gave_way) break;
        /* only if not even one seed was finished: fewer streamlines share the pool then */
        most = left == now.crop->first + now.from ? (now.n_lines + 1) / 2 : UINT32_MAX;
        if (left < seed) ahead.any = false; /* seeds before it are to be tracked again */
        seed = left;
        now = ahead;
        ahead.any = false;
    }
    return status == GLS_OK ? deliver(c) : status;
}

/* The same where streamlines that were rejected are tracked again: seeds from `seed` on; *next is the first left over.
 */
static gls_status run_round_again(gls_batch *c, uint64_t seed, uint64_t *next)
{
    uint32_t n_lines;
    gls_crop *crop;
    gls_parcel *parcel = NULL;
    bool gave_way = false;
    *next = seed;
    gls_status status = make_crop(c, seed, &crop);
    if (status == GLS_OK) status = take_parcel(c, seed, &parcel, &gave_way);
    if (status != GLS_OK || gave_way) return status;
    const uint32_t from = (uint32_t)(seed - crop->first);
    uint32_t until = gls_lines_list(c, crop->first, from, crop->n, c->engine->plan.batch_lines, &n_lines);
    status = gls_retries_begin(c, n_lines);
    while (status == GLS_OK && c->retries.n_pending > 0)
        status = gls_retries_pass(c, round_capacity(c), parcel != NULL);
    if (status == GLS_OK) status = gls_retries_place(c, crop->first, from, until, parcel);
    if (status != GLS_OK) {
        if (parcel) c->host.drop(c->host.user, parcel);
        return status;
    }
    *next = crop->first + until;
    c->caught = (gls_catch){.any = true, .end = *next, .is_last = until == crop->n, .parcel = parcel};
    return deliver(c);
}

static gls_status run_rounds_again(gls_batch *c)
{
    gls_status status = GLS_OK;
    bool goes_on = true;
    for (uint64_t seed = c->first, next; status == GLS_OK && seed < c->end && goes_on; seed = next) {
        status = run_round_again(c, seed, &next);
        goes_on = next > seed;
    }
    return status;
}

gls_status gls_batch_run(gls_batch *c, uint64_t first, uint64_t n, uint64_t *done)
{
    c->first = first;
    c->end = first + n;
    c->piece = gls_track_plan_piece(&c->engine->plan, n);
    c->delivered = first;
    c->caught.any = false;
    for (size_t i = 0; i < GLS_CROPS; i++) c->crop[i].begun = c->crop[i].ended = false;
    gls_status status = c->engine->params.retries > 0 ? run_rounds_again(c) : run_rounds(c);
    if (c->caught.any && c->caught.parcel) c->host.drop(c->host.user, c->caught.parcel);
    c->caught.any = false;
    *done = c->delivered - first;
    return status;
}
