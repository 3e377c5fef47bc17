#include "track/engine/visitor.h"

#include <stdlib.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/status.h"

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

gls_status gls_visitor_begin(gls_batch *c, uint32_t n_placed, gls_parcel *parcel)
{
    gls_engine *t = c->engine;
    const gls_visitor *v = &t->visitor;
    const gls_visit_uniforms u = gls_visitor_uniforms(&t->grid, n_placed);
    const size_t n_voxels = gls_grid_voxels(&t->grid);
    const uint32_t limit = gls_device_get_info(t->device)->max_work_groups;
    double start = gls_clock_seconds();
    gls_status status = reserve(&parcel->visited, n_voxels + t->plan.batch_lines);
    if (status == GLS_OK) status = gls_buffer_write(v->uniforms, 0, sizeof u, &u);
    if (status == GLS_OK) status = gls_buffer_clear(v->words);
    gls_arg args[] = {gls_arg_uniforms(0, v->uniforms), gls_arg_buffer(0, t->buffer[GLS_TRACK_LINES]),
                      gls_arg_buffer(1, t->buffer[GLS_TRACK_OUTPUT]), gls_arg_buffer(2, v->words)};
    if (status == GLS_OK)
        status = gls_engine_run(t, v->kernel, GLS_TIME_GATHER, n_placed < limit ? n_placed : limit, args,
                                sizeof args / sizeof args[0]);
    if (status == GLS_OK) status = gls_fetch_begin(v->fetch, v->words, 0, 4 * (n_voxels + n_placed));
    parcel->visited.n_voxels = n_voxels;
    parcel->visited.grid = t->grid;
    c->stats->result.seconds_gather += gls_clock_seconds() - start;
    return status;
}

gls_status gls_visitor_end(gls_batch *c, gls_parcel *parcel)
{
    gls_visited *to = &parcel->visited;
    double start = gls_clock_seconds();
    gls_status status = gls_fetch_end(c->engine->visitor.fetch, to->word);
    c->stats->result.seconds_readback += gls_clock_seconds() - start;
    if (status != GLS_OK) return status;
    /* what is told of lines that were placed becomes what is told of streamlines */
    to->left = to->word + to->n_voxels;
    to->n = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < c->tally.n_outcomes; i++) {
        if (c->tally.outcome[i].verdict != GLS_VERDICT_KEPT) continue;
        to->left[to->n++] = to->left[i];
        n_left += to->left[i] != 0;
    }
    to->valid = to->n == parcel->n;
    gls_log(GLS_LOG_DEBUG, "voxels of %zu streamlines were counted on the device, of which %zu are left to the host",
            to->n, n_left);
    return GLS_OK;
}
