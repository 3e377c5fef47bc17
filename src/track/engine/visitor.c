#include "track/engine/visitor.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/handle.h"
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
    c->stats->result.seconds_gather += gls_clock_seconds() - start;
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

gls_status gls_visitor_end(gls_batch *c, uint32_t n_placed, gls_parcel *parcel)
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
    c->stats->result.seconds_readback += gls_clock_seconds() - start;
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
