/* The run: batches of seeds in order. */
#include "track/internal.h"

#include <stdlib.h>

#include "util/status.h"

static gls_status context_init(gls_batch_context *c, gls_engine *t)
{
    const gls_track_plan *p = &t->plan;
    size_t line_words = (size_t)p->batch_lines * GLS_LINE_WORDS, seed_words = (size_t)p->batch_seeds * GLS_SEED_WORDS;
    c->direction = malloc(4ull * p->batch_seeds * (size_t)(t->params.max_directions_per_seed + 1));
    c->line = malloc(4 * (line_words > seed_words ? line_words : seed_words));
    c->state = malloc(8ull * p->batch_lines);
    c->seed = malloc(sizeof *c->seed * p->batch_seeds);
    c->work = p->staged ? malloc(8ull * p->batch_lines * (1 + GLS_WORK_FIELDS)) : NULL;
    c->points_per_line = 200;
    if (p->staged && !c->work) return gls_fail(GLS_ERR_MEMORY, "out of memory for a batch of %u seeds", p->batch_seeds);
    if (c->direction && c->line && c->state && c->seed) return GLS_OK;
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a batch of %u seeds", p->batch_seeds);
}

static void context_finish(gls_batch_context *c)
{
    free(c->direction);
    free(c->line);
    free(c->state);
    free(c->seed);
    free(c->work);
}

static gls_status report(gls_batch_context *c)
{
    const gls_track_result *r = &c->stats->result;
    c->polled = gls_seconds();
    if (!c->progress || c->progress(c->progress_user, c->seeds_done, gls_seeds_count(c->seeds), r->streamlines, r->points)) return GLS_OK;
    return gls_fail(GLS_ERR_CANCELLED, "cancelled");
}

gls_status gls_batch_poll(gls_batch_context *c)
{
    return gls_seconds() - c->polled < 0.2 ? GLS_OK : report(c);
}

static gls_status run_batches(gls_batch_context *c)
{
    uint64_t begin = gls_seeds_first(c->seeds), end = begin + gls_seeds_count(c->seeds);
    gls_status status = GLS_OK;
    for (uint64_t first = begin; first < end && status == GLS_OK;) {
        /* the upper half of a seed's index is one number for the whole batch */
        uint64_t left = end - first, word_end = ((first >> 32) + 1) << 32;
        uint64_t n = left < c->engine->plan.batch_seeds ? left : c->engine->plan.batch_seeds;
        if (first + n > word_end) n = word_end - first;
        status = gls_batch_run(c, first, (uint32_t)n);
        first += n;
        c->seeds_done = first - begin;
        if (status == GLS_OK) status = report(c);
    }
    return status;
}

gls_status gls_tracker_run(gls_tracker *tracker, const gls_seeds *seeds, const double voxel_to_space[3][4], gls_track_sink sink, void *sink_user, gls_track_progress progress,
                           void *progress_user, gls_track_result *result)
{
    GLS_REQUIRE(tracker && seeds && voxel_to_space && result);
    gls_engine *t = tracker->engine;
    gls_track_stats stats;
    gls_status status = gls_track_stats_init(&stats, t->plan.max_steps);
    if (status != GLS_OK) return status;
    gls_batch_context c = {.engine = t, .seeds = seeds, .space = voxel_to_space, .stats = &stats, .progress = progress, .progress_user = progress_user};
    status = context_init(&c, t);
    if (status == GLS_OK && sink) status = gls_courier_create(sink, sink_user, &c.courier);
    if (status == GLS_OK) {
        gls_device_hold(t->device);
        status = run_batches(&c);
        gls_device_release(t->device);
        double start = gls_seconds();
        gls_status delivered = gls_courier_destroy(c.courier);
        stats.result.seconds_sink += gls_seconds() - start;
        if (delivered != GLS_OK) status = delivered;
    }
    if (status == GLS_OK) {
        gls_track_stats_complete(&stats, t->params.step_size);
        stats.result.batch_seeds = t->plan.batch_seeds;
        stats.result.lanes = t->plan.lanes;
        stats.result.seconds_upload = t->seconds_upload;
        stats.result.seconds_compile = t->seconds_compile;
        *result = stats.result;
    }
    context_finish(&c);
    gls_track_stats_finish(&stats);
    return status;
}
