/* An engine: kernels, volumes and buffers on one device. */
#include "track/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/engine/sections.h"
#include "track/engine/tables.h"
#include "util/log.h"
#include "util/status.h"

/* Not-a-number counts as 0: such a voxel ends a streamline under any threshold >= 0. */
static gls_status upload_stop_map(gls_engine *t, const gls_image *map)
{
    size_t n = gls_grid_voxels(&map->grid);
    uint32_t size[3] = {(uint32_t)map->grid.dim[0], (uint32_t)map->grid.dim[1], (uint32_t)map->grid.dim[2]},
             origin[3] = {0, 0, 0};
    float *finite = malloc(n * sizeof *finite);
    if (!finite) return gls_fail(GLS_ERR_MEMORY, "out of memory for the stop map");
    for (size_t i = 0; i < n; i++) finite[i] = isfinite(map->data[i]) ? map->data[i] : 0.0f;
    gls_status status = gls_texture_create(t->device, GLS_TEXTURE_R32F, size, "stop map", &t->stop_map);
    if (status == GLS_OK) status = gls_texture_write(t->stop_map, origin, size, finite);
    free(finite);
    return status;
}

/* Geometry of the volume, the search for peaks, and what the loop of a half needs: the same for all direction getters.
 */
static void define_common(gls_define_list *d, const gls_engine *t, const gls_sphere *sphere)
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
    gls_define_int(d, "GRID_NX", t->grid.dim[0]);
    gls_define_int(d, "GRID_NY", t->grid.dim[1]);
    gls_define_int(d, "GRID_NZ", t->grid.dim[2]);
    gls_define_int(d, "CELL_CORNERS", volume->cell_corners);
    gls_define_int(d, "CELL_BUFFERS", volume->n_cell_buffers);
    gls_define_int(d, "CELL_LAYERS", volume->cell_layers);
    gls_define_int(d, "TILE_CHANNELS", volume->tile_channels);
    gls_define_int(d, "VOLUME_TEXTURES", volume->n_textures);
    gls_define_int(d, "VOLUME_STRIPS", volume->n_strips);
    gls_define_float(d, "VOLUME_STRIP_STEP", volume->strip_step);
    gls_define_float(d, "VOLUME_STRIP_WIDTH", volume->strip_width);
    for (int a = 0; a < 3 && volume->n_textures > 0; a++) {
        static const char *const scale[] = {"VOLUME_SCALE_X", "VOLUME_SCALE_Y", "VOLUME_SCALE_Z"};
        gls_define_float(d, scale[a], 1.0 / volume->texture_size[a]);
    }
    gls_text text = {0};
    gls_table_tile_loops(&text, volume);
    gls_define_slot(d, "tile_loops", gls_text_take(&text));
    bool single = t->plan.lanes == 1, pick = t->params.dg == GLS_DG_PROB || t->params.dg == GLS_DG_DET;
    if (single && t->params.dg == GLS_DG_BOOT) gls_table_peak_rows(&text, sphere);
    gls_define_slot(d, "peak_rows", gls_text_take(&text));
    if (single && pick) gls_table_vertex_rows(&text, sphere);
    gls_define_slot(d, "vertex_rows", gls_text_take(&text));
}

static void define_mapping(gls_define_list *d, const gls_track_plan *plan)
{
    bool subgroup = plan->lanes > 1;
    gls_define_int(d, "SUBGROUP", subgroup);
    gls_define_int(d, "LANES_IN_STEP", subgroup && plan->lanes_in_step);
    if (subgroup && plan->group.slots == plan->group.size / plan->lanes) gls_define_int(d, "LANES", plan->lanes);
}

static gls_status load(gls_engine *t, const char *file, gls_define_list *common, const gls_group_plan *group,
                       bool measured, gls_kernel **kernel)
{
    size_t n = common->n;
    /* rows of source for every vertex are the fastest for one invocation, but take long to compile: not where an ODF
     * and its peaks are needed but once a seed */
    bool loops = t->plan.lanes > 1 || kernel == &t->initial;
    gls_define_mapped(common, "odf", common->odf, loops);
    gls_define_mapped(common, "peaks", "odf/peaks", loops);
    gls_define_int(common, "SLOTS", group->slots);
    gls_define_int(common, "GROUP_SIZE", group->size);
    gls_define_int(common, "HAVE_MEASURED", measured);
    if (common->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the kernels");
    gls_status status = gls_kernel_load(t->device, file, common->define, common->n, kernel);
    while (common->n > n) free(common->owned[--common->n]);
    return status;
}

static gls_status load_kernels(gls_engine *t, gls_define_list *common)
{
    bool measured = t->params.boot_start == GLS_BOOT_START_FIT;
    const gls_group_plan *group = &t->plan.group;
    gls_status status = load(t, "kernel/gather.comp", common, group, false, &t->gather);
    if (t->plan.split) {
        if (status == GLS_OK) status = load(t, "kernel/sample.comp", common, group, false, &t->sample);
        if (status == GLS_OK && measured) status = load(t, "kernel/sample.comp", common, group, true, &t->first_sample);
        if (status == GLS_OK) status = load(t, "kernel/turn.comp", common, group, false, &t->turn);
    } else {
        if (status == GLS_OK) status = load(t, "kernel/initial.comp", common, group, measured, &t->initial);
        if (status == GLS_OK && t->plan.staged) status = load(t, "kernel/step.comp", common, group, false, &t->step);
        if (status == GLS_OK && !t->plan.staged)
            status = load(t, "kernel/track.comp", common, &t->plan.track_group, false, &t->track);
    }
    return status;
}

static gls_status copy_vertices(gls_engine *t, const gls_sphere *sphere)
{
    t->vertex = malloc(sphere->n * sizeof *t->vertex);
    if (!t->vertex) return gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    for (size_t v = 0; v < sphere->n; v++)
        for (int a = 0; a < 3; a++) t->vertex[v][a] = (float)sphere->vertex[v][a];
    return GLS_OK;
}

static gls_status create_buffers(gls_engine *t)
{
    const struct {
        gls_buffer **buffer;
        gls_buffer_kind kind;
        const char *label;
    } wanted[GLS_TRACK_BUFFERS] = {
        [GLS_TRACK_UNIFORMS] = {&t->uniforms, GLS_BUFFER_UNIFORM, "parameters"},
        [GLS_TRACK_GATHER_UNIFORMS] = {&t->gather_uniforms, GLS_BUFFER_UNIFORM, "gather parameters"},
        [GLS_TRACK_SEEDS] = {&t->seeds, GLS_BUFFER_STORAGE, "seeds"},
        [GLS_TRACK_DIRECTIONS] = {&t->directions, GLS_BUFFER_STORAGE, "initial directions"},
        [GLS_TRACK_WORK] = {&t->work, GLS_BUFFER_STORAGE, "work"},
        [GLS_TRACK_LINES] = {&t->lines, GLS_BUFFER_STORAGE, "streamlines"},
        [GLS_TRACK_POOL] = {&t->pool, GLS_BUFFER_STORAGE, "pool of points"},
        [GLS_TRACK_STATE] = {&t->state, GLS_BUFFER_STORAGE, "state"},
        [GLS_TRACK_OUTPUT] = {&t->output, GLS_BUFFER_STORAGE, "output points"},
    };
    uint64_t bytes[GLS_TRACK_BUFFERS];
    gls_track_buffer_bytes(&t->params, &t->plan, bytes);
    for (int i = 0; i < GLS_TRACK_BUFFERS; i++) {
        gls_status status = gls_buffer_create(t->device, wanted[i].kind, bytes[i], wanted[i].label, wanted[i].buffer);
        if (status != GLS_OK) return status;
    }
    return GLS_OK;
}

/* Below this many seeds at a time volumes of half the size are the better remedy. */
#define SMALLEST_FLOAT_BATCH 64u

static void destroy_buffers(gls_engine *t)
{
    gls_buffer **buffers[] = {&t->uniforms, &t->gather_uniforms, &t->seeds, &t->directions, &t->lines, &t->work,
                              &t->pool,     &t->state,           &t->output};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        gls_buffer_destroy(*buffers[i]);
        *buffers[i] = NULL;
    }
}

/* All buffers, for smaller and smaller batches where the device's memory does not do. */
static gls_status fit_buffers(gls_engine *t)
{
    uint32_t wanted = t->plan.batch_seeds;
    for (;;) {
        gls_status status = create_buffers(t);
        if (status == GLS_OK) status = gls_device_synchronize(t->device);
        uint32_t batch = t->plan.batch_seeds / 2;
        if (status == GLS_OK && t->halvings > 0)
            gls_log(GLS_LOG_WARNING, "%s: out of memory: batches of %u instead of %u seeds",
                    gls_device_get_info(t->device)->renderer, t->plan.batch_seeds, wanted);
        if (status != GLS_ERR_MEMORY || batch < (t->params.float_textures ? SMALLEST_FLOAT_BATCH : 1)) return status;
        destroy_buffers(t);
        t->params.batch_seeds = batch;
        gls_status planned = gls_track_plan_make(&t->params, gls_device_get_info(t->device), &t->shape, &t->plan);
        if (planned != GLS_OK) return planned;
        t->halvings++;
    }
}

/* Parallel transport samples the volume for every curve of its disc, along the whole probe; others, like the search for
 * peaks, all vertices at one place, four to a texel. */
static double guess_turn_cost(const gls_track_params *p, const gls_track_input *input)
{
    const double curves = 24;
    return p->dg == GLS_DG_PTT ? 1 + curves * p->probe_quality * p->probe_count / ((double)input->odf->sphere->n / 4)
                               : 1;
}

static gls_status create_model(gls_engine *t, const gls_track_input *input, gls_volume_plan *volume)
{
    gls_sections sections = {0};
    gls_status status =
        gls_model_plan(gls_device_get_info(t->device), &t->params, &t->plan, input, &t->defines, volume, &sections);
    if (status == GLS_OK) status = gls_model_create(t->device, volume, &sections, &t->model);
    gls_sections_finish(&sections);
    return status;
}

/* Whole cells are for speed only: without memory for them pairs do, and give the same. */
static gls_status fit_model(gls_engine *t, const gls_track_input *input)
{
    gls_volume_plan volume = {0};
    gls_status status = create_model(t, input, &volume);
    if (status != GLS_ERR_MEMORY || volume.cell_corners != 8) return status;
    gls_log(GLS_LOG_WARNING, "%s: out of memory: the ODFs are kept in a quarter of %.1f MiB",
            gls_device_get_info(t->device)->renderer, (double)volume.bytes / 1048576.0);
    gls_define_finish(&t->defines);
    t->plan.small_cells = true;
    return create_model(t, input, &volume);
}

gls_status gls_engine_begin(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                            gls_engine **out)
{
    gls_engine *t = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for the tracker");
    t->device = device;
    t->params = *params;
    t->grid = input->stop_map->grid;
    t->turn_cost = guess_turn_cost(params, input);
    t->shape = gls_track_shape_of(params, input);
    gls_device_hold(device);
    double start = gls_seconds();
    gls_status status = gls_track_plan_make(params, gls_device_get_info(device), &t->shape, &t->plan);
    if (status == GLS_OK) status = fit_model(t, input);
    if (status == GLS_OK) status = upload_stop_map(t, input->stop_map);
    gls_device_release(device);
    if (status == GLS_OK) status = copy_vertices(t, params->dg == GLS_DG_BOOT ? input->sphere : input->odf->sphere);
    t->seconds_upload = gls_seconds() - start;
    if (status == GLS_OK)
        *out = t;
    else
        gls_engine_destroy(t);
    return status;
}

gls_status gls_engine_fill(gls_engine *const *engines, size_t n, const gls_track_input *input, size_t *failed)
{
    gls_model *model[GLS_MAX_ENGINES];
    const gls_track_params *params = &engines[0]->params;
    double start = gls_seconds();
    for (size_t i = 0; i < n; i++) model[i] = &engines[i]->model;
    *failed = SIZE_MAX;
    if (n == 1) gls_device_hold(engines[0]->device);
    gls_status status = params->dg == GLS_DG_BOOT ? gls_boot_model_fill(model, n, input, failed)
                                                  : gls_odf_model_fill(model, n, params, input, failed);
    if (n == 1) gls_device_release(engines[0]->device);
    for (size_t i = 0; i < n; i++) engines[i]->seconds_upload += gls_seconds() - start;
    return status;
}

gls_status gls_engine_complete(gls_engine *t, const gls_track_input *input)
{
    gls_device_hold(t->device);
    double start = gls_seconds();
    gls_status status = fit_buffers(t);
    t->seconds_upload += gls_seconds() - start;
    start = gls_seconds();
    if (status == GLS_OK) {
        define_mapping(&t->defines, &t->plan);
        define_common(&t->defines, t, t->params.dg == GLS_DG_BOOT ? input->sphere : input->odf->sphere);
        status = load_kernels(t, &t->defines);
    }
    t->seconds_compile = gls_seconds() - start;
    gls_device_release(t->device);
    gls_define_finish(&t->defines);
    if (status != GLS_OK) return status;
    t->complete = true;
    uint64_t bytes[GLS_TRACK_BUFFERS], buffer_bytes = gls_track_buffer_bytes(&t->params, &t->plan, bytes);
    gls_log(
        GLS_LOG_DEBUG,
        "batches of %u seeds, %u streamlines, %u blocks of %d points; buffers %.1f MiB, volume %.1f MiB in %u textures",
        t->plan.batch_seeds, t->plan.batch_lines, t->plan.pool_blocks, GLS_POOL_BLOCK, (double)buffer_bytes / 1048576.0,
        (double)t->model.volume.plan.bytes / 1048576.0, t->model.volume.plan.n_textures);
    return GLS_OK;
}

gls_status gls_engine_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                             gls_engine **out)
{
    gls_engine *t = NULL;
    size_t failed;
    gls_status status = gls_engine_begin(device, params, input, &t);
    if (status == GLS_OK) status = gls_engine_fill(&t, 1, input, &failed);
    if (status == GLS_OK) status = gls_engine_complete(t, input);
    if (status == GLS_OK)
        *out = t;
    else
        gls_engine_destroy(t);
    return status;
}

void gls_engine_destroy(gls_engine *t)
{
    if (!t) return;
    gls_device_hold(t->device);
    gls_kernel *kernels[] = {t->initial, t->track, t->step, t->sample, t->first_sample, t->turn, t->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) gls_kernel_destroy(kernels[i]);
    destroy_buffers(t);
    gls_texture_destroy(t->stop_map);
    gls_model_finish(&t->model);
    gls_device_release(t->device);
    gls_define_finish(&t->defines);
    if (t->owns_device) gls_device_close(t->device);
    free(t->vertex);
    free(t);
}
