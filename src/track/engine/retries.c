/* Retries (--retries): tracks rejected streamlines again until they are kept or their retries are used up, then hands
 * all streamlines over in the order of seeds. Each retry draws other random numbers, by the stream of the line record.
 * All functions run on the worker thread of the batch. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/engine/retries.h"
#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"
#include "track/engine/gather.h"
#include "track/engine/pace.h"
#include "track/engine/passes.h"
#include "track/engine/place.h"
#include "track/engine/refine.h"
#include "track/engine/track_plan.h"
#include "track/shader/layout.h"
#include "util/clock.h"
#include "util/status.h"

gls_status gls_retries_begin(gls_batch *c, uint32_t n_lines)
{
    gls_retries *r = &c->retries;
    if (n_lines > r->capacity) {
        gls_retries_finish(r);
        r->retry = malloc(n_lines * sizeof *r->retry);
        r->pending = malloc(n_lines * sizeof *r->pending);
        if (!r->retry || !r->pending) return gls_fail(GLS_ERR_MEMORY, "out of memory for %u streamlines", n_lines);
        r->capacity = n_lines;
    }
    for (uint32_t i = 0; i < n_lines; i++) {
        r->retry[i] = (gls_retry){.line = c->line[i]};
        r->pending[i] = i;
    }
    r->n = r->n_pending = n_lines;
    r->limit = UINT32_MAX;
    r->n_found = 0;
    return GLS_OK;
}

/* Allocates memory for n points in r->found and keeps the points that are there. GLS_ERR_MEMORY: out of memory. */
static gls_status reserve_found(gls_retries *r, uint64_t n)
{
    if (n <= r->found_capacity) return GLS_OK;
    uint64_t capacity = n + n / 2;
    void *grown = realloc(r->found, capacity * sizeof *r->found);
    if (!grown) return gls_fail(GLS_ERR_MEMORY, "out of memory for the points of streamlines that were tracked again");
    r->found = grown;
    r->found_capacity = capacity;
    return GLS_OK;
}

/* Judges the first n pending lines. Unless `points` is NULL, gathers the points of kept lines and refines them. */
static gls_status judge(gls_batch *c, uint32_t n, gls_batch_result *points)
{
    gls_retries *r = &c->retries;
    uint64_t n_points = 0;
    if (points) points->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const gls_line_record line = r->retry[r->pending[i]].line;
        const float at[3] = {line.x, line.y, line.z};
        /* A line whose half-streamlines have ended gets its verdict. A line that found the pool full is not placed, and
         * stays pending. */
        if (gls_line_is_finished(c, i) && gls_place_line(c, at, line.seed, n, i, points, &n_points)) continue;
        c->placed[i] = (gls_placed_record){.first = NOT_PLACED};
        c->outcomes.outcome[i] = (gls_outcome){.verdict = GLS_VERDICT_SINGLE_POINT};
    }
    c->outcomes.n_outcomes = n;
    if (points) points->offset[points->n] = n_points;
    gls_status status = GLS_OK;
    /* Pack and fetch the points at once: retries never leave a batch in flight. */
    if (points && n_points > 0) {
        status = gls_gather_begin(c, 2 * n, n, n_points);
        if (!status) status = gls_gather_end(c, points);
    }
    if (!status && points && gls_refine_is_needed(&c->engine->guide))
        status = gls_refine(&c->engine->guide, c->engine->plan.parts, c->space, &c->outcomes, points);
    return status;
}

/* Removes from the pending list those of its first n lines that are decided. *n_ended: how many of the n lines the
 * device finished. */
static gls_status decide(gls_batch *c, uint32_t n, const gls_batch_result *points, uint32_t *n_ended)
{
    gls_retries *r = &c->retries;
    gls_status status = points ? reserve_found(r, r->n_found + points->offset[points->n]) : GLS_OK;
    if (status) return status;
    uint32_t left = 0, kept = 0;
    *n_ended = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = r->pending[i];
        gls_retry *retry = &r->retry[at];
        /* A line that did not finish stays pending with the same random numbers, and no retry is counted. */
        if (!gls_line_is_finished(c, i)) {
            r->pending[left++] = at;
            continue;
        }
        uint16_t times = retry->outcome.retries;
        ++*n_ended;
        retry->outcome = c->outcomes.outcome[i];
        retry->outcome.retries = times;
        /* Store the points of a kept line until gls_retries_place(). Retry a rejected line with another stream of
         * random numbers, while retries are left. */
        if (retry->outcome.verdict == GLS_VERDICT_KEPT) {
            if (!points) continue;
            uint64_t from = points->offset[kept], m = points->offset[kept + 1] - from;
            kept++;
            retry->first = r->n_found;
            memcpy(r->found + r->n_found, points->point + from, m * sizeof *r->found);
            r->n_found += m;
        } else if (times < c->engine->params.retries) {
            retry->outcome.retries++;
            retry->line.stream += DRAW_STREAM_RETRY;
            r->pending[left++] = at;
        }
    }
    /* Close the gap between the lines still pending and the lines that this pass did not track. */
    memmove(r->pending + left, r->pending + n, (r->n_pending - n) * sizeof *r->pending);
    r->n_pending -= n - left;
    return GLS_OK;
}

/* Pass 2: tracks the n_lines streamlines of batch->line. Afterwards batch->state holds the state of each
 * half-streamline. */
static gls_status pass_track(gls_batch *c, uint32_t n_lines)
{
    gls_status status = gls_pass_track_begin(c, n_lines);
    return !status ? gls_pass_track_end(c) : status;
}

gls_status gls_retries_pass(gls_batch *c, uint32_t capacity, bool wants_points)
{
    gls_retries *r = &c->retries;
    const gls_track_plan *plan = &c->engine->plan;
    /* Points are fetched only if the sink or the refinement needs them. */
    gls_batch_result *points = wants_points || gls_refine_is_needed(&c->engine->guide) ? &c->scratch : NULL;
    gls_status status = points ? gls_batch_result_reserve(points, plan->batch_lines, plan->output_points) : GLS_OK;
    if (!status) status = gls_outcomes_reserve(&c->outcomes, plan->batch_seeds, plan->batch_lines);
    if (!status && c->host.poll) status = c->host.poll(c->host.user);
    if (status) return status;
    uint32_t n = r->n_pending, n_ended;
    if (n > capacity) n = capacity;
    if (n > r->limit) n = r->limit;
    /* Track the first n pending lines. The record of a line has the stream of random numbers of the current attempt. */
    for (uint32_t i = 0; i < n; i++) c->line[i] = r->retry[r->pending[i]].line;
    double start = gls_clock_seconds();
    uint64_t steps = c->steps;
    status = pass_track(c, n);
    double seconds = gls_clock_seconds() - start;
    c->stats->result.seconds_track += seconds;
    if (!plan->staged) gls_pace_note(&c->track_pace, n, seconds);
    if (!status) status = judge(c, n, points);
    if (!status) status = decide(c, n, points, &n_ended);
    if (status) return status;
    /* Learn how many points of the pool a line takes. If not even a single line can be finished, fail. */
    if (n_ended > 0)
        c->points_per_line = fmax(c->points_per_line * 0.9, (double)(c->steps - steps) / n_ended * 1.1);
    else if (n == 1)
        return gls_fail(GLS_ERR_DEVICE,
                        "the device did not finish one streamline; 'glslines devices --check' tests the device");
    /* if none finished, halve the pass: fewer streamlines then share the pool */
    r->limit = n_ended > 0 ? UINT32_MAX : (n + 1) / 2;
    return GLS_OK;
}

gls_status gls_retries_place(gls_batch *c, uint64_t first, uint32_t from, uint32_t until, gls_batch_result *result)
{
    const gls_retries *r = &c->retries;
    double start = gls_clock_seconds();
    gls_status status = gls_outcomes_reserve(&c->outcomes, c->engine->plan.batch_seeds, c->engine->plan.batch_lines);
    if (!status && result) status = gls_batch_result_reserve(result, r->n, r->n_found);
    if (status) return status;
    uint64_t points = 0;
    uint32_t s = 0;
    if (result) result->n = 0;
    /* Lines are in the order of seeds, so this loop stores outcomes and points in the order of the output. */
    for (uint32_t seed = from; seed < until; seed++) {
        uint32_t count = gls_lines_of_seed(c, seed);
        c->outcomes.lines[seed - from] = gls_lines_to_count(c, seed);
        for (uint32_t k = 0; k < count; k++, s++) {
            const gls_outcome o = c->outcomes.outcome[s] = r->retry[s].outcome;
            if (o.verdict != GLS_VERDICT_KEPT || !result) continue;
            memcpy(result->point + points, r->found + r->retry[s].first, o.points * sizeof *result->point);
            gls_place_seed(c, c->seed[seed], (uint32_t)(first + seed), points, result);
            points += o.points;
        }
    }
    if (result) result->offset[result->n] = points;
    c->outcomes.n_seeds = until - from;
    c->outcomes.n_outcomes = s;
    c->stats->result.seconds_scan += gls_clock_seconds() - start;
    return GLS_OK;
}

void gls_retries_finish(gls_retries *r)
{
    free(r->retry);
    free(r->pending);
    free(r->found);
    *r = (gls_retries){0};
}
