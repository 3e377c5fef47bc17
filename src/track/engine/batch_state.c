/* Allocates the host arrays of a batch, and computes their size beforehand, for gls_track_plan_memory(). One allocation
 * holds all copies of an array. */

#include <glslines/track.h>

#include <stdlib.h>
#include <string.h>

#include "track/engine/batch_state.h"
#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"
#include "track/engine/outcomes.h"
#include "track/engine/retries.h"
#include "track/engine/schedule.h"
#include "track/engine/track_plan.h"
#include "track/shader/layout.h"
#include "util/status.h"

/* Bytes of the arrays of gls_batch, in the order of its members. */
typedef struct array_bytes {
    uint64_t direction, start, line, placed, state, work, order, seed, along, outcomes, retries;
} array_bytes;

/* Bytes of each host array of a batch. */
static array_bytes bytes_of(const gls_track_params *params, const gls_track_plan *p)
{
    uint64_t seeds = p->batch_seeds, lines = p->batch_lines;
    return (array_bytes){
        .direction = GLS_SEED_BATCHES * 4 * seeds * gls_direction_words(params),
        .start = seeds * sizeof(gls_seed_record),
        .line = 2 * lines * sizeof(gls_line_record),
        .placed = lines * sizeof(gls_placed_record),
        .state = sizeof(gls_state_header) + 4 * gls_half_words(p, 2 * lines),
        .work = 8 * lines * p->host_arrays,
        .order = p->ordered ? 2 * lines * sizeof(gls_order_entry) : 0,
        .seed = GLS_SEED_BATCHES * seeds * sizeof(float[3]),
        .along = p->seeds_have_directions ? GLS_SEED_BATCHES * seeds * sizeof(float[3]) : 0,
        .outcomes = seeds * sizeof(uint32_t) + lines * sizeof(gls_outcome),
        /* an estimate: retries may, rarely, find more points than this */
        .retries = params->retries > 0 ? lines * (sizeof(gls_retry) + sizeof(uint32_t)) +
                                             2 * gls_batch_result_capacity_bytes(lines, p->output_points)
                                       : 0,
    };
}

uint64_t gls_batch_array_bytes(const gls_track_params *params, const gls_track_plan *plan)
{
    const array_bytes b = bytes_of(params, plan);
    return b.direction + b.start + b.line + b.placed + b.state + b.work + b.order + b.seed + b.along + b.outcomes +
           b.retries;
}

void gls_batch_free_arrays(gls_batch *c)
{
    free(c->seed_batch[0].direction);
    free(c->start);
    free(c->lines[0]);
    free(c->placed);
    free(c->head);
    free(c->seed_batch[0].seed);
    free(c->seed_batch[0].along);
    free(c->work);
    free(c->order);
    gls_outcomes_finish(&c->outcomes);
    gls_batch_result_finish(&c->scratch);
    gls_retries_finish(&c->retries);
    c->direction = c->state = c->work = NULL;
    c->head = NULL;
    c->start = NULL;
    c->line = c->lines[0] = NULL;
    c->placed = NULL;
    c->seed = NULL;
    c->along = NULL;
    c->order = NULL;
    memset(c->seed_batch, 0, sizeof c->seed_batch);
    c->pending = (gls_pending){0};
}

gls_status gls_batch_make_arrays(gls_batch *c)
{
    const array_bytes bytes = bytes_of(&c->engine->params, &c->engine->plan);
    gls_batch_free_arrays(c);
    c->direction = c->seed_batch[0].direction = malloc(bytes.direction);
    c->start = malloc(bytes.start);
    c->line = c->lines[0] = malloc(bytes.line);
    c->placed = malloc(bytes.placed);
    c->head = malloc(bytes.state);
    c->seed = c->seed_batch[0].seed = malloc(bytes.seed);
    c->work = bytes.work > 0 ? malloc(bytes.work) : NULL;
    c->order = bytes.order > 0 ? malloc(bytes.order) : NULL;
    c->seed_batch[0].along = bytes.along > 0 ? malloc(bytes.along) : NULL;
    /* If nothing failed, the copies and parts of arrays point into the allocations. */
    if (c->direction && c->start && c->line && c->placed && c->head && c->seed && (bytes.work == 0 || c->work) &&
        (bytes.order == 0 || c->order) && (bytes.along == 0 || c->seed_batch[0].along)) {
        c->state = (uint32_t *)(c->head + 1);
        c->lines[1] = c->line + c->engine->plan.batch_lines;
        for (size_t i = 1; i < GLS_SEED_BATCHES; i++) {
            c->seed_batch[i].direction = c->direction + i * (bytes.direction / 4 / GLS_SEED_BATCHES);
            c->seed_batch[i].seed = c->seed + i * c->engine->plan.batch_seeds;
            if (bytes.along > 0) c->seed_batch[i].along = c->seed_batch[0].along + i * c->engine->plan.batch_seeds;
        }
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a batch of %u seeds", c->engine->plan.batch_seeds);
}
