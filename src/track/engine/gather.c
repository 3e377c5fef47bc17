/* Pass 3: packs the points of placed streamlines, by a kernel, whose output is fetched, or by the host. */

#include <omp.h>
#include <string.h>

#include "track/engine/gather.h"
#include "gpu/fetch.h"
#include "gpu/hold.h"
#include "gpu/open_device.h"
#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"
#include "track/engine/engine.h"
#include "track/engine/timed.h"
#include "track/engine/track_plan.h"
#include "track/shader/layout.h"
#include "track/shader/remainder.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/threads.h"

/* --- On a software renderer the host does what gather.comp does elsewhere, in the same arithmetic. */

/* Pool, state and output of one packing. */
typedef struct packing {
    const gls_gather_uniforms *u;
    const gls_placed_record *line;
    const float (*pool)[3];
    const uint32_t *record; /* record of the first block of the pool */
    uint32_t record_words;
    bool runs;  /* true: the blocks hold runs (a point, a step, and how often to add it) instead of points */
    float unit; /* of the remainders of positions in runs */
    float (*point)[3];
} packing;

/* Writes point k of a streamline, mapped to the output space. With ends_alone writes only first and last points. */
static inline void write_point(const packing *task, const gls_placed_record *line, uint32_t k, const float p[3])
{
    const gls_gather_uniforms *u = task->u;
    uint32_t at = k;
    if (u->ends_alone) {
        if (k != 0 && k != line->backward + line->forward) return;
        at = k > 0;
    }
    float *to = task->point[(size_t)line->first + at];
    to[0] = u->xx * p[0] + u->xy * p[1] + u->xz * p[2] + u->xt;
    to[1] = u->yx * p[0] + u->yy * p[1] + u->yz * p[2] + u->yt;
    to[2] = u->zx * p[0] + u->zy * p[1] + u->zz * p[2] + u->zt;
}

/* Writes point k of a half-streamline; k = 0 is the point next to the seed. */
static inline void write_half_point(const packing *task, const gls_placed_record *line, bool forward, uint32_t k,
                                    const float p[3])
{
    write_point(task, line, forward ? line->backward + 1 + k : line->backward - 1 - k, p);
}

/* Packs the points of a half-streamline that a block holds as runs. n: points of the whole half-streamline. */
static void pack_runs(const packing *task, const gls_placed_record *line, bool forward, uint32_t n, const uint32_t *run)
{
    const float unit = task->unit, per_unit = 1 / unit;
    uint32_t k = run[0] & ((1u << RUN_SHIFT) - 1);
    for (uint32_t r = 0; r < BLOCK_RUNS && k < n; r++, run += RUN_WORDS) {
        float p[3], step[3], remainder[3];
        memcpy(p, run + 1, sizeof p);
        memcpy(step, run + 4, sizeof step);
        for (int a = 0; a < 3; a++) remainder[a] = gls_remainder_unpack(run[7], a, unit);
        for (const uint32_t until = k + (run[0] >> RUN_SHIFT); k < until; k++) {
            for (int a = 0; a < 3; a++) gls_remainder_step(&p[a], &remainder[a], step[a], unit, per_unit);
            if (k < n) write_half_point(task, line, forward, k, p);
        }
    }
}

/* Packs the points of some blocks of the pool; called by gls_parallel(). Skips blocks of particles, which belong to no
 * half-streamline. */
static void pack_blocks(void *user, int thread, size_t from, size_t until)
{
    const packing *task = user;
    (void)thread;
    for (size_t b = from; b < until; b++) {
        const uint32_t *record = task->record + b * task->record_words, item = record[BLOCK_HALF];
        if (item >= 2 * task->u->n_lines) continue;
        const gls_placed_record *line = &task->line[item / 2];
        const bool forward = item % 2 == 1;
        const uint32_t n = forward ? line->forward : line->backward;
        if (line->first == NOT_PLACED) continue;
        if (task->runs) {
            pack_runs(task, line, forward, n, (const uint32_t *)task->pool + b * POOL_BLOCK * 3);
            continue;
        }
        const uint32_t k = record[BLOCK_PART] * POOL_BLOCK;
        for (uint32_t i = 0; i < POOL_BLOCK && k + i < n; i++)
            write_half_point(task, line, forward, k + i, task->pool[b * POOL_BLOCK + i]);
    }
}

/* Packs on the host the streamlines that gls_gather_begin() was given. */
static gls_status pack(gls_batch *c, float (*point)[3])
{
    gls_engine *t = c->engine;
    const gls_gather_uniforms *u = &c->packing;
    const uint64_t halves = gls_half_words(&t->plan, u->n_items), words = t->plan.guide.block_words,
                   blocks = u->n_blocks > 0 ? u->n_blocks : 1; /* mapping 0 bytes of the pool into memory would fail */
    gls_host_view view[] = {{t->buffer[GLS_TRACK_POOL], 12ull * POOL_BLOCK * blocks, false, NULL},
                            {t->buffer[GLS_TRACK_STATE], sizeof *c->head + 4 * (halves + words * blocks), false, NULL}};
    gls_status status = gls_device_enter(t->device, "packing points");
    if (status) return status;
    if (gls_host_map(t->device, view, 2)) {
        packing task = {.u = u,
                        .line = c->placed,
                        .pool = view[0].data,
                        .record = (const uint32_t *)view[1].data + sizeof *c->head / 4 + halves,
                        .record_words = (uint32_t)words,
                        .runs = t->plan.voxel_runs,
                        .unit = t->plan.remainder_unit,
                        .point = point};
        /* the seeds first, which no block holds; then the blocks of the pool, in parts that threads share */
        for (uint32_t i = 0; i < u->n_lines; i++) {
            const gls_placed_record *line = &task.line[i];
            const float seed[3] = {line->x, line->y, line->z};
            if (line->first != NOT_PLACED) write_point(&task, line, line->backward, seed);
        }
        gls_parallel(u->n_blocks, 1024, omp_get_max_threads(), pack_blocks, &task);
    }
    status = gls_host_unmap(t->device, view, 2, "packing points");
    gls_device_release(t->device);
    return status;
}

gls_status gls_gather_dispatch(gls_engine *t, const gls_gather_uniforms *u)
{
    gls_status status = gls_buffer_write(t->buffer[GLS_TRACK_GATHER_UNIFORMS], 0, sizeof *u, u);
    if (status) return status;
    gls_arg args[] = {gls_arg_uniforms(0, t->buffer[GLS_TRACK_GATHER_UNIFORMS]),
                      gls_arg_buffer(0, t->buffer[GLS_TRACK_PLACED]), gls_arg_buffer(1, t->buffer[GLS_TRACK_POOL]),
                      gls_arg_buffer(2, t->buffer[GLS_TRACK_STATE]), gls_arg_buffer(3, t->buffer[GLS_TRACK_OUTPUT])};
    const uint32_t run = gls_gather_run(gls_device_kept_info(t->device));
    uint64_t work = (uint64_t)u->n_blocks * (POOL_BLOCK / run) + u->n_lines, groups = work / t->plan.group.size + 1;
    uint32_t limit = gls_device_kept_info(t->device)->max_work_groups;
    status = gls_engine_run(t, t->kernels.gather, GLS_TIME_GATHER, groups < limit ? (uint32_t)groups : limit, args,
                            sizeof args / sizeof args[0]);
    /* wait here, so that the times of packing and of reading are measured apart */
    return !status && !t->plan.in_flight ? gls_device_synchronize(t->device) : status;
}

gls_status gls_gather_begin(gls_batch *c, uint32_t n_items, uint32_t n_placed, uint64_t n_points)
{
    gls_engine *t = c->engine;
    double start = gls_clock_seconds();
    /* The map to the output space, then the numbers of blocks, streamlines and half-streamlines, and whether only
     * ends are packed. pool_head counts on past the end of a pool that is full. */
    c->packing = (gls_gather_uniforms){
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
        c->head->pool_head < t->plan.pool_blocks ? c->head->pool_head : t->plan.pool_blocks,
        n_placed,
        n_items,
        c->points == GLS_POINTS_ENDS,
    };
    if (t->plan.packs_on_host) return GLS_OK; /* gls_gather_end() packs */
    gls_status status = gls_buffer_write(t->buffer[GLS_TRACK_PLACED], 0, n_placed * sizeof *c->placed, c->placed);
    if (!status) status = gls_gather_dispatch(t, &c->packing);
    if (!status && n_points > 0)
        status = gls_fetch_begin(t->fetch[GLS_FETCH_OUTPUT], t->buffer[GLS_TRACK_OUTPUT], 0, n_points * 12);
    c->stats->result.seconds_gather += gls_trace_phase("begin gather", start, c->delivered);
    return status;
}

gls_status gls_gather_end(gls_batch *c, gls_batch_result *result)
{
    double start = gls_clock_seconds();
    if (c->engine->plan.packs_on_host) {
        gls_status status = pack(c, result->point);
        c->stats->result.seconds_gather += gls_trace_phase("pack points", start, c->delivered);
        return status;
    }
    gls_status status = gls_fetch_end(c->engine->fetch[GLS_FETCH_OUTPUT], result->point);
    c->stats->result.seconds_readback += gls_trace_phase("read points", start, c->delivered);
    return status;
}
