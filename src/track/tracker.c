/* A tracker: kernels, volumes and buffers on a device. */
#include "track/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/tables.h"
#include "util/log.h"
#include "util/status.h"

/* The model's volumes are those that the table weights, one for one: anything else would read past the series. */
static bool is_of_table(const gls_qball *qball, const gls_gradients *gradients)
{
    size_t n = 0;
    for (size_t t = 0; t < gradients->n; t++) {
        if (gradients->is_b0[t]) continue;
        if (n == qball->n || qball->volume[n] != t) return false;
        n++;
    }
    return n == qball->n;
}

static gls_status check_input(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->stop_map);
    GLS_REQUIRE(input->stop_map->n_volumes == 1);
    if (params->dg == GLS_DG_BOOT) {
        GLS_REQUIRE(input->dwi && input->gradients && input->qball && input->sphere);
        if (!input->sphere->antipodal) return gls_fail(GLS_ERR_ARGUMENT, "the bootstrap needs an antipodally symmetric sphere");
        if (input->gradients->n != input->dwi->n_volumes)
            return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, the series %zu volumes", input->gradients->n, input->dwi->n_volumes);
        if (!is_of_table(input->qball, input->gradients)) return gls_fail(GLS_ERR_ARGUMENT, "the q-ball model was made from another gradient table");
        return gls_grid_require_equal(&input->dwi->grid, "the series", &input->stop_map->grid, "the stop map");
    }
    GLS_REQUIRE(input->odf);
    return gls_grid_require_equal(&input->odf->image->grid, "the ODFs", &input->stop_map->grid, "the stop map");
}

/* Not-a-number counts as 0: such a voxel ends a streamline under any threshold >= 0. */
static gls_status upload_stop_map(gls_tracker *t, const gls_image *map)
{
    size_t n = gls_grid_voxels(&map->grid);
    uint32_t size[3] = {(uint32_t)map->grid.dim[0], (uint32_t)map->grid.dim[1], (uint32_t)map->grid.dim[2]}, origin[3] = {0, 0, 0};
    float *finite = malloc(n * sizeof *finite);
    if (!finite) return gls_fail(GLS_ERR_MEMORY, "out of memory for the stop map");
    for (size_t i = 0; i < n; i++) finite[i] = isfinite(map->data[i]) ? map->data[i] : 0.0f;
    gls_status status = gls_texture_create(t->device, GLS_TEXTURE_R32F, size, "stop map", &t->stop_map);
    if (status == GLS_OK) status = gls_texture_write(t->stop_map, origin, size, finite);
    free(finite);
    return status;
}

/* Geometry of the volume, the search for peaks, and what the loop of a half needs: the same for all direction getters. */
static void define_common(gls_define_list *d, const gls_tracker *t, const gls_sphere *sphere)
{
    const gls_volume_plan *volume = &t->model.volume.plan;
    gls_define_int(d, "POOL_BLOCK", GLS_POOL_BLOCK);
    gls_define_int(d, "MAX_DIRECTIONS", t->params.max_directions_per_seed);
    gls_define_int(d, "ANGULAR_WEIGHT", t->params.angular_weight > 0);
    gls_define_int(d, "FRAMED", t->params.dg == GLS_DG_PTT);
    gls_define_int(d, "SUBSTEPS", t->plan.substeps);
    gls_define_int(d, "N_VERTICES", (int64_t)sphere->n);
    gls_define_int(d, "ODF_CHANNELS", (int64_t)(sphere->n + 3) / 4 * 4);
    gls_define_int(d, "ANTIPODAL", sphere->antipodal);
    /* local maxima are no neighbours: a third of the vertices at most */
    gls_define_int(d, "MAX_CANDIDATES", sphere->n < 384 ? (int64_t)(sphere->n + 2) / 3 : 128);
    gls_define_int(d, "GLS_END_STOP_MAP", GLS_END_STOP_MAP);
    gls_define_int(d, "GLS_END_OUTSIDE", GLS_END_OUTSIDE);
    gls_define_int(d, "GLS_END_NO_DIRECTION", GLS_END_NO_DIRECTION);
    gls_define_int(d, "GLS_END_MAX_LENGTH", GLS_END_MAX_LENGTH);
    gls_define_float(d, "GRID_X", t->grid.dim[0]);
    gls_define_float(d, "GRID_Y", t->grid.dim[1]);
    gls_define_float(d, "GRID_Z", t->grid.dim[2]);
    gls_define_int(d, "TILE_CHANNELS", volume->tile_channels);
    gls_define_int(d, "VOLUME_TEXTURES", volume->n_textures);
    gls_define_int(d, "VOLUME_PER_COLUMN", volume->per_column);
    gls_define_float(d, "VOLUME_SCALE_X", 1.0 / volume->texture_size[0]);
    gls_define_float(d, "VOLUME_SCALE_Y", 1.0 / volume->texture_size[1]);
    gls_define_float(d, "VOLUME_SCALE_Z", 1.0 / volume->texture_size[2]);
    gls_define_float(d, "VOLUME_TILE_X", (double)t->grid.dim[0] / volume->texture_size[0]);
    gls_define_float(d, "VOLUME_TILE_Z", (double)t->grid.dim[2] / volume->texture_size[2]);
    gls_define_mapped(d, "peaks_mapping.glsl", "peaks", t->plan.lanes > 1);
    gls_text text = {0};
    gls_table_tile_loops(&text, volume);
    gls_define_include(d, "tile_loops", gls_text_take(&text));
    gls_table_peak_rows(&text, sphere);
    gls_define_include(d, "peak_rows", gls_text_take(&text));
    gls_table_vertex_rows(&text, sphere);
    gls_define_include(d, "vertex_rows", gls_text_take(&text));
}

static void define_mapping(gls_define_list *d, const gls_track_plan *plan)
{
    bool subgroup = plan->lanes > 1;
    gls_define_int(d, "SUBGROUP", subgroup);
    if (subgroup && plan->group_slots == plan->group_size / plan->lanes) gls_define_int(d, "LANES", plan->lanes);
    gls_define_int(d, "SLOTS", plan->group_slots);
    gls_define_int(d, "GROUP_SIZE", plan->group_size);
}

static gls_status load(gls_tracker *t, const char *file, gls_define_list *common, bool measured, gls_kernel **kernel)
{
    size_t n = common->n;
    gls_define_int(common, "HAVE_MEASURED", measured);
    if (common->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the kernels");
    gls_status status = gls_kernel_load(t->device, file, common->define, common->n, kernel);
    free(common->owned[n]);
    common->n = n;
    return status;
}

static gls_status load_kernels(gls_tracker *t, gls_define_list *common)
{
    bool measured = t->params.boot_start == GLS_BOOT_START_FIT;
    gls_status status = load(t, "gather.comp", common, false, &t->gather);
    if (t->plan.split) {
        if (status == GLS_OK) status = load(t, "sample.comp", common, false, &t->sample);
        if (status == GLS_OK && measured) status = load(t, "sample.comp", common, true, &t->first_sample);
        if (status == GLS_OK) status = load(t, "turn.comp", common, false, &t->turn);
    } else {
        if (status == GLS_OK) status = load(t, "initial.comp", common, measured, &t->initial);
        if (status == GLS_OK && t->plan.staged) status = load(t, "step.comp", common, false, &t->step);
        if (status == GLS_OK && !t->plan.staged) status = load(t, "track.comp", common, false, &t->track);
    }
    return status;
}

static gls_status copy_vertices(gls_tracker *t, const gls_sphere *sphere)
{
    t->vertex = malloc(sphere->n * sizeof *t->vertex);
    if (!t->vertex) return gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    for (size_t v = 0; v < sphere->n; v++)
        for (int a = 0; a < 3; a++) t->vertex[v][a] = (float)sphere->vertex[v][a];
    return GLS_OK;
}

static gls_status create_buffers(gls_tracker *t)
{
    const gls_track_plan *p = &t->plan;
    const struct {
        gls_buffer **buffer;
        gls_buffer_kind kind;
        uint64_t bytes;
        const char *label;
    } wanted[] = {
        {&t->uniforms, GLS_BUFFER_UNIFORM, sizeof(gls_track_uniforms), "parameters"},
        {&t->gather_uniforms, GLS_BUFFER_UNIFORM, sizeof(gls_gather_uniforms), "gather parameters"},
        {&t->seeds, GLS_BUFFER_STORAGE, 4ull * GLS_SEED_WORDS * p->batch_seeds, "seeds"},
        {&t->directions, GLS_BUFFER_READBACK, 4ull * p->batch_seeds * (uint64_t)(t->params.max_directions_per_seed + 1), "initial directions"},
        {&t->work, GLS_BUFFER_STORAGE, p->staged ? 8ull * p->work_words * p->batch_lines : 4, "work"},
        {&t->lines, GLS_BUFFER_STORAGE, 4ull * GLS_LINE_WORDS * p->batch_lines, "streamlines"},
        {&t->pool, GLS_BUFFER_STORAGE, 12ull * GLS_POOL_BLOCK * p->pool_blocks, "pool of points"},
        {&t->state, GLS_BUFFER_READBACK, 4ull * (GLS_STATE_HEADER + 2ull * p->batch_lines + 2ull * p->pool_blocks), "state"},
        {&t->output, GLS_BUFFER_READBACK, 12ull * p->output_points, "output points"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        gls_status status = gls_buffer_create(t->device, wanted[i].kind, wanted[i].bytes, wanted[i].label, wanted[i].buffer);
        if (status != GLS_OK) return status;
    }
    return GLS_OK;
}

gls_status gls_tracker_create(gls_device *device, const gls_track_params *params, const gls_track_input *input, gls_tracker **out)
{
    GLS_REQUIRE(device && params && input && out);
    gls_status status = gls_track_params_check(params);
    if (status == GLS_OK) status = check_input(params, input);
    if (status != GLS_OK) return status;
    const gls_sphere *sphere = params->dg == GLS_DG_BOOT ? input->sphere : input->odf->sphere;
    gls_tracker *t = calloc(1, sizeof *t);
    gls_define_list defines = {0};
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for the tracker");
    t->device = device;
    t->params = *params;
    t->grid = input->stop_map->grid;
    gls_device_hold(device);
    double start = gls_seconds();
    status = gls_track_plan_make(params, gls_device_get_info(device), params->dg == GLS_DG_BOOT ? (uint32_t)input->qball->k : 0, &t->plan);
    if (status == GLS_OK)
        status = (params->dg == GLS_DG_BOOT ? gls_boot_model_create : gls_odf_model_create)(device, params, &t->plan, input, &defines, &t->model);
    if (status == GLS_OK) status = upload_stop_map(t, input->stop_map);
    if (status == GLS_OK) status = copy_vertices(t, sphere);
    if (status == GLS_OK) status = create_buffers(t);
    if (status == GLS_OK) status = gls_device_synchronize(device);
    t->seconds_upload = gls_seconds() - start;
    start = gls_seconds();
    if (status == GLS_OK) {
        define_mapping(&defines, &t->plan);
        define_common(&defines, t, sphere);
        status = load_kernels(t, &defines);
    }
    t->seconds_compile = gls_seconds() - start;
    gls_device_release(device);
    gls_define_finish(&defines);
    if (status != GLS_OK) {
        gls_tracker_destroy(t);
        return status;
    }
    gls_log(GLS_LOG_DEBUG, "batches of %u seeds, %u streamlines, %u blocks of %d points; buffers %.1f MiB, volume %.1f MiB in %u textures", t->plan.batch_seeds, t->plan.batch_lines,
            t->plan.pool_blocks, GLS_POOL_BLOCK, (double)t->plan.buffer_bytes / 1048576.0, (double)t->model.volume.plan.bytes / 1048576.0, t->model.volume.plan.n_textures);
    *out = t;
    return GLS_OK;
}

void gls_tracker_destroy(gls_tracker *t)
{
    if (!t) return;
    gls_device_hold(t->device);
    gls_kernel *kernels[] = {t->initial, t->track, t->step, t->sample, t->first_sample, t->turn, t->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) gls_kernel_destroy(kernels[i]);
    gls_buffer *buffers[] = {t->uniforms, t->gather_uniforms, t->seeds, t->directions, t->lines, t->work, t->pool, t->state, t->output};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gls_buffer_destroy(buffers[i]);
    gls_texture_destroy(t->stop_map);
    gls_model_finish(&t->model);
    gls_device_release(t->device);
    free(t->vertex);
    free(t);
}
