/* Pass 3 on the device: packs the points of placed streamlines into the output buffer and fetches them. See
 * glsl/kernel/gather.comp for the kernel. */
#include "track/engine/batch.h"

#include "gpu/objects.h"
#include "util/clock.h"

gls_status gls_gather_begin(gls_batch *c, uint32_t n_items, uint32_t n_placed, uint64_t n_points)
{
    gls_engine *t = c->engine;
    double start = gls_clock_seconds();
    /* The map to the output space, then the numbers of blocks, streamlines and halves. The counter of blocks runs past
     * the end of a pool that became full. */
    gls_gather_uniforms u = {
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
    gls_status status = gls_buffer_write(t->buffer[GLS_TRACK_GATHER_UNIFORMS], 0, sizeof u, &u);
    if (!status)
        status =
            gls_buffer_write(t->buffer[GLS_TRACK_PLACED], 0, n_placed * sizeof *c->upload.placed, c->upload.placed);
    if (status) return status;
    /* Storage 0 placed lines, 1 pool, 2 state, 3 output; uniforms 0. */
    gls_arg args[] = {gls_arg_uniforms(0, t->buffer[GLS_TRACK_GATHER_UNIFORMS]),
                      gls_arg_buffer(0, t->buffer[GLS_TRACK_PLACED]), gls_arg_buffer(1, t->buffer[GLS_TRACK_POOL]),
                      gls_arg_buffer(2, t->buffer[GLS_TRACK_STATE]), gls_arg_buffer(3, t->buffer[GLS_TRACK_OUTPUT])};
    /* Work items: runs of points of the blocks in use, and one for each seed. The kernel strides, so fewer groups are
     * enough. */
    const uint32_t run = gls_gather_run(gls_device_kept_info(t->device));
    uint64_t work = (uint64_t)u.n_blocks * (POOL_BLOCK / run) + n_placed,
             groups = (work + t->plan.group.size - 1) / t->plan.group.size;
    uint32_t limit = gls_device_kept_info(t->device)->max_work_groups;
    status = gls_engine_run(t, t->kernels.gather, GLS_TIME_GATHER, groups < limit ? (uint32_t)groups : limit, args,
                            sizeof args / sizeof args[0]);
    /* wait here, so that the times of packing and of reading are measured apart */
    if (!status && !t->plan.in_flight) status = gls_device_synchronize(t->device);
    if (!status && n_points > 0)
        status = gls_fetch_begin(t->fetch[GLS_FETCH_OUTPUT], t->buffer[GLS_TRACK_OUTPUT], 0, n_points * 12);
    c->stats->result.seconds_gather += gls_trace_phase("begin gather", start, c->delivered);
    return status;
}

gls_status gls_gather_end(gls_batch *c, gls_batch_result *result)
{
    double start = gls_clock_seconds();
    gls_status status = gls_fetch_end(c->engine->fetch[GLS_FETCH_OUTPUT], result->point);
    c->stats->result.seconds_readback += gls_trace_phase("read points", start, c->delivered);
    return status;
}
