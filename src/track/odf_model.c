/* The volume of ODF amplitudes, and the model buffer and definitions of the getters that use it: probabilistic, deterministic, PTT. */
#include "track/internal.h"

#include <math.h>
#include <stdlib.h>

#include "track/sections.h"
#include "util/status.h"
#include "util/text.h"

/* Amplitudes may be of any unit: the largest is brought to this, well inside half floats. */
#define VOLUME_MAXIMUM 1024.0f

/* One slice: as many channels as tiles hold; those past the last vertex repeat it, so that they change no extreme. */
typedef struct slice_work {
    float *rows, *texels;
    size_t n_voxels, n_vertices, n_channels;
} slice_work;

static gls_status read_slice(slice_work *w, const gls_odf_source *odf, uint32_t z)
{
    gls_status status = gls_odf_slice(odf, (int32_t)z, w->rows);
    for (size_t c = w->n_vertices; status == GLS_OK && c < w->n_channels; c++)
        for (size_t v = 0; v < w->n_voxels; v++) w->rows[c * w->n_voxels + v] = w->rows[(w->n_vertices - 1) * w->n_voxels + v];
    return status;
}

static float slice_maximum(const slice_work *w)
{
    size_t n = w->n_voxels * w->n_vertices;
    float largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static)
    for (size_t i = 0; i < n; i++)
        if (w->rows[i] > largest) largest = w->rows[i];
    return largest;
}

/* PTT judges support against fixed thresholds: each voxel is brought to a maximum of 1. */
static void normalise_voxels(slice_work *w)
{
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < w->n_voxels; v++) {
        float largest = 0;
        for (size_t c = 0; c < w->n_vertices; c++)
            if (w->rows[c * w->n_voxels + v] > largest) largest = w->rows[c * w->n_voxels + v];
        float scale = largest > 0 ? 1 / largest : 0;
        for (size_t c = 0; c < w->n_channels; c++) w->rows[c * w->n_voxels + v] *= scale;
    }
}

static void scale_slice(slice_work *w, float scale)
{
    size_t n = w->n_voxels * w->n_channels;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) w->rows[i] *= scale;
}

gls_status gls_odf_model_fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input, size_t *failed)
{
    gls_volume *volume[GLS_MAX_ENGINES];
    bool per_voxel = params->dg == GLS_DG_PTT;
    for (size_t i = 0; i < n; i++) volume[i] = &models[i]->volume;
    const gls_grid *grid = &input->stop_map->grid;
    slice_work w = {.n_voxels = (size_t)grid->dim[0] * (size_t)grid->dim[1], .n_vertices = input->odf->sphere->n, .n_channels = 4 * (size_t)volume[0]->plan.n_tiles};
    w.rows = malloc(w.n_channels * w.n_voxels * sizeof(float));
    w.texels = malloc(w.n_channels * w.n_voxels * sizeof(float));
    gls_status status = w.rows && w.texels ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF volume");
    float largest = 0;
    for (int32_t z = 0; !per_voxel && z < grid->dim[2] && status == GLS_OK; z++) {
        status = read_slice(&w, input->odf, (uint32_t)z);
        if (status == GLS_OK) largest = fmaxf(largest, slice_maximum(&w));
    }
    if (status == GLS_OK && !per_voxel && largest <= 0) status = gls_fail(GLS_ERR_INPUT, "the ODFs are nowhere positive");
    for (int32_t z = 0; z < grid->dim[2] && status == GLS_OK; z++) {
        status = read_slice(&w, input->odf, (uint32_t)z);
        if (status != GLS_OK) break;
        if (per_voxel) normalise_voxels(&w);
        else scale_slice(&w, gls_volume_scale(largest, VOLUME_MAXIMUM));
        status = gls_volume_write_slice(volume, n, grid, (uint32_t)z, w.rows, w.texels, failed);
    }
    free(w.rows);
    free(w.texels);
    return status;
}

static void define_pick(gls_define_list *d, gls_sections *sections, const gls_track_params *params, const gls_track_plan *plan, const gls_sphere *sphere)
{
    double bits = ceil(log2((double)sphere->n));
    gls_define_int(d, "DETERMINISTIC", params->dg == GLS_DG_DET);
    gls_define_float(d, "PICK_ONE", exp2(31 - bits)); /* the sum over all vertices stays below 2^32 */
    gls_define_mapped(d, "pick_mapping.glsl", "pick", plan->lanes > 1);
    gls_define_include(d, "direction_getter.glsl", gls_text_copy("#include \"dg_pick.glsl\"\n"));
    gls_section_cone(sections, d, sphere, params->max_angle);
}

static void define_ptt(gls_define_list *d, gls_sections *sections, const gls_track_params *params, const gls_sphere *sphere)
{
    gls_define_int(d, "PROBE_STEPS", params->probe_quality);
    gls_define_int(d, "PROBE_COUNT", params->probe_count);
    gls_define_include(d, "direction_getter.glsl", gls_text_copy("#include \"dg_ptt.glsl\"\n"));
    gls_section_nearest(sections, d, sphere);
    /* the sum of three supports is 3 (quality + 1) at most: all face weights together stay below 2^31 */
    gls_section_disc(sections, d, exp2(31) / (3 * (params->probe_quality + 1)));
}

gls_status gls_odf_model_create(gls_device *device, const gls_track_params *params, const gls_track_plan *plan, const gls_track_input *input, gls_define_list *defines,
                                gls_model *model)
{
    const gls_grid *grid = &input->stop_map->grid;
    gls_volume_plan volume;
    gls_status status = gls_volume_plan_make(grid, (uint32_t)(input->odf->sphere->n + 3) / 4, params->float_textures ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F,
                                             gls_device_get_info(device), &volume);
    if (status != GLS_OK) return status;
    gls_sections sections = {0};
    gls_section_sphere(&sections, defines, input->odf->sphere, plan->lanes > 1);
    gls_define_mapped(defines, "odf_mapping.glsl", "odf_volume", plan->lanes > 1);
    if (params->dg == GLS_DG_PTT) define_ptt(defines, &sections, params, input->odf->sphere);
    else define_pick(defines, &sections, params, plan, input->odf->sphere);
    status = gls_sections_upload(&sections, device, &model->buffer);
    if (status == GLS_OK) status = gls_volume_create(device, &volume, "ODF volume", &model->volume);
    gls_sections_finish(&sections);
    if (status != GLS_OK) gls_model_finish(model);
    return status;
}
