/* Memory of a tracker, from the sizes that its engines allocate by. */
#include "track/run/courier.h"
#include "track/engine/sections.h"
#include "util/status.h"

uint64_t gls_track_buffer_bytes(const gls_track_params *params, const gls_track_plan *p,
                                uint64_t bytes[GLS_TRACK_BUFFERS])
{
    uint64_t sum = 0;
    bytes[GLS_TRACK_UNIFORMS] = sizeof(gls_track_uniforms);
    bytes[GLS_TRACK_GATHER_UNIFORMS] = sizeof(gls_gather_uniforms);
    bytes[GLS_TRACK_SEEDS] = 4ull * GLS_SEED_WORDS * p->batch_seeds;
    bytes[GLS_TRACK_DIRECTIONS] = 4ull * p->batch_seeds * (uint64_t)(params->max_directions_per_seed + 1);
    bytes[GLS_TRACK_WORK] = p->staged ? 8ull * p->work_words * p->batch_lines : 4;
    bytes[GLS_TRACK_LINES] = 4ull * GLS_LINE_WORDS * p->batch_lines;
    bytes[GLS_TRACK_POOL] = 12ull * GLS_POOL_BLOCK * p->pool_blocks;
    bytes[GLS_TRACK_STATE] = 4ull * (GLS_STATE_HEADER + 2ull * p->batch_lines + 2ull * p->pool_blocks);
    bytes[GLS_TRACK_OUTPUT] = 12ull * p->output_points;
    for (int i = 0; i < GLS_TRACK_BUFFERS; i++) sum += bytes[i];
    return sum;
}

/* Arrays of a worker, see make_arrays() in worker.c, and parcels of streamlines that wait for the sink. */
static uint64_t host_bytes(const gls_track_params *params, const gls_track_plan *p, size_t n_devices)
{
    const gls_parcel *parcel = NULL;
    uint64_t line_words = (uint64_t)p->batch_lines * GLS_LINE_WORDS,
             seed_words = (uint64_t)p->batch_seeds * GLS_SEED_WORDS;
    uint64_t arrays = 4ull * p->batch_seeds * (uint64_t)(params->max_directions_per_seed + 1) +
                      4 * (line_words > seed_words ? line_words : seed_words) + 8ull * p->batch_lines +
                      12ull * p->batch_seeds + (p->staged ? 8ull * p->batch_lines * (1 + GLS_WORK_FIELDS) : 0) +
                      (p->ordered ? 2ull * p->batch_lines * sizeof(gls_order_entry) : 0);
    uint64_t streamlines =
        (uint64_t)p->output_points * sizeof *parcel->point +
        (p->batch_lines + 1ull) * (sizeof *parcel->offset + sizeof *parcel->seed_index + sizeof *parcel->seed);
    return n_devices * (arrays + gls_courier_parcels(n_devices) * streamlines);
}

gls_status gls_track_plan_memory(const gls_device_info *device, size_t n_devices, const gls_track_params *params,
                                 const gls_track_input *input, gls_track_memory *memory)
{
    GLS_REQUIRE(device && n_devices >= 1 && params && input && memory);
    gls_status status = gls_track_params_check(params);
    if (status == GLS_OK) status = gls_track_input_check(params, input);
    if (status != GLS_OK) return status;
    gls_track_plan plan;
    gls_volume_plan volume;
    gls_sections sections = {0};
    gls_define_list defines = {0};
    uint64_t bytes[GLS_TRACK_BUFFERS];
    const gls_track_shape shape = gls_track_shape_of(params, input);
    status = gls_track_plan_make(params, device, &shape, &plan);
    if (status == GLS_OK) status = gls_model_plan(device, params, &plan, input, &defines, &volume, &sections);
    if (status == GLS_OK && sections.failed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    if (status == GLS_OK) {
        *memory = (gls_track_memory){
            .volume_bytes = volume.bytes,
            .stop_map_bytes = 4ull * gls_grid_voxels(&input->stop_map->grid),
            .table_bytes = sections.n * sizeof *sections.word,
            .buffer_bytes = gls_track_buffer_bytes(params, &plan, bytes),
            .host_bytes = host_bytes(params, &plan, n_devices),
            .volume_channels = volume.n_tiles * volume.tile_channels,
            .batch_seeds = plan.batch_seeds,
            .lanes = plan.lanes,
        };
        memory->device_bytes =
            memory->volume_bytes + memory->stop_map_bytes + memory->table_bytes + memory->buffer_bytes;
    }
    gls_sections_finish(&sections);
    gls_define_finish(&defines);
    return status;
}
