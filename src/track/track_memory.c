/* Computes how much memory a tracker takes, from the functions that also give its engines their sizes. */
#include "track/engine/batch_state.h"
#include "track/engine/model_plan.h"
#include "track/run/journal.h"
#include "track/run/writer_thread.h"
#include "track/track_params.h"
#include "util/status.h"

/* Host memory of all devices: arrays of the batches, buffers for what the devices send, and results that wait for the
 * sink. */
static uint64_t host_bytes(const gls_track_params *params, const gls_track_plan *p, size_t n_devices)
{
    uint64_t result = gls_batch_result_capacity_bytes(p->batch_lines, p->output_points);
    uint64_t bytes[GLS_TRACK_FETCHES], fetched = gls_track_fetch_bytes(params, p, bytes);
    return n_devices * (gls_batch_array_bytes(params, p) + fetched + gls_writer_results_each(n_devices) * result);
}

/* A device whose rounds do not overlap (plan.in_flight is false) gets buffers for at least this many seeds: few seeds
 * may have long streamlines, for which a smaller pool of points would need several rounds. */
#define SHORTEST_ALONE 1000u

uint64_t gls_tracker_short_batch(const gls_device_info *device, const gls_track_params *params,
                                 const gls_track_input *input, uint64_t n_seeds)
{
    gls_track_plan plan;
    /* parameters out of range get no plan here: the tracker refuses them */
    if (params->batch_seeds > 0 || gls_track_params_check(params) ||
        gls_track_plan_make(params, device, input, &plan) != GLS_OK)
        return params->batch_seeds;
    if (!plan.in_flight && n_seeds < SHORTEST_ALONE) n_seeds = SHORTEST_ALONE;
    /* A run that consists of batches of the default size keeps the default; another one gets buffers for one of its
     * smaller batches. */
    const uint32_t piece = gls_track_plan_piece(&plan, n_seeds);
    if (piece == plan.batch_seeds && n_seeds >= piece) return 0;
    return n_seeds < piece ? n_seeds : piece;
}

gls_status gls_track_plan_memory(const gls_device_info *device, size_t n_devices, const gls_track_params *params,
                                 const gls_track_input *input, gls_track_memory *memory)
{
    GLS_REQUIRE_SIZE(params);
    GLS_REQUIRE(device && n_devices >= 1 && params && input && memory);
    gls_status status = gls_track_params_check(params);
    if (!status) status = gls_track_input_check(params, input);
    if (status) return status;
    gls_track_plan plan;
    gls_model_plan model = {0};
    uint64_t bytes[GLS_TRACK_BUFFERS];
    status = gls_track_plan_make(params, device, input, &plan);
    if (!status) status = gls_model_plan_make(device, params, &plan, input, &model);
    if (!status && model.tables.failed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    if (!status) {
        *memory = (gls_track_memory){
            .volume_bytes = model.field.bytes,
            .stop_map_bytes = plan.guide.bytes,
            .table_bytes = model.tables.n * sizeof *model.tables.word,
            .buffer_bytes = gls_track_buffer_bytes(params, &plan, bytes),
            .host_bytes = host_bytes(params, &plan, n_devices),
            .volume_channels = model.field.n_channels,
            .batch_seeds = plan.batch_seeds,
            .lanes = plan.lanes,
        };
        memory->device_bytes =
            memory->volume_bytes + memory->stop_map_bytes + memory->table_bytes + memory->buffer_bytes;
    }
    gls_model_plan_finish(&model);
    return status;
}
