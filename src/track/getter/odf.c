/* The volume of ODF amplitudes, and the model buffer and definitions of the getters that use it: probabilistic,
 * deterministic, PTT. */
#include "track/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/odf_parts.h"
#include "track/field/cells.h"
#include "track/engine/sections.h"
#include "track/engine/tables.h"
#include "util/status.h"
#include "util/text.h"

/* Amplitudes may be of any unit: the largest is brought to this, well inside half floats. */
#define VOLUME_MAXIMUM 1024.0f

typedef struct odf_fill {
    const gls_odf_source *odf;
    float scale;
    bool per_voxel;
    size_t n_channels;
} odf_fill;

_Static_assert((int)GLS_VOLUME_BLOCK == (int)GLS_ODF_BLOCK, "blocks of a volume are those of an ODF source");

/* Amplitudes; channels past the last vertex repeat it, so that they change no extreme. */
static void amplitude_block(const void *user, size_t first, size_t count, float *rows, float *scratch)
{
    const odf_fill *f = user;
    size_t n = f->odf->sphere->n;
    float factor[GLS_VOLUME_BLOCK] = {0};
    gls_odf_block(f->odf, first, count, rows, GLS_VOLUME_BLOCK, scratch);
    for (size_t c = n; c < f->n_channels; c++)
        memcpy(rows + c * GLS_VOLUME_BLOCK, rows + (n - 1) * GLS_VOLUME_BLOCK, count * sizeof *rows);
    for (size_t c = 0; f->per_voxel && c < n; c++)
        for (size_t i = 0; i < count; i++) factor[i] = fmaxf(factor[i], rows[c * GLS_VOLUME_BLOCK + i]);
    for (size_t i = 0; i < count; i++) factor[i] = !f->per_voxel ? f->scale : factor[i] > 0 ? 1 / factor[i] : 0;
    for (size_t c = 0; c < f->n_channels; c++)
        for (size_t i = 0; i < count; i++) rows[c * GLS_VOLUME_BLOCK + i] *= factor[i];
}

static void coefficient_block(const void *user, size_t first, size_t count, float *rows, float *scratch)
{
    const odf_fill *f = user;
    size_t k = f->odf->parts->n_inputs;
    gls_odf_sh_block(f->odf, first, count, rows, scratch);
    for (size_t i = 0; i < k * GLS_VOLUME_BLOCK; i++) rows[i] *= f->scale;
    memset(rows + k * GLS_VOLUME_BLOCK, 0, (f->n_channels - k) * GLS_VOLUME_BLOCK * sizeof *rows);
}

/* The largest value of the source's image: of amplitudes, or of any one coefficient. */
static float largest_value(const gls_odf_source *odf)
{
    size_t n = gls_grid_voxels(&odf->image->grid) * odf->image->n_volumes;
    float largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static)
    for (size_t i = 0; i < n; i++) {
        float x = odf->is_sh ? fabsf(odf->image->data[i]) : odf->image->data[i];
        if (isfinite(x) && x > largest) largest = x;
    }
    return largest;
}

static bool has_coefficients(const gls_track_params *params, const gls_odf_source *odf)
{
    return params->dg != GLS_DG_PTT && odf->is_sh && !odf->full && !odf->options.normalise && odf->sphere->antipodal;
}

gls_odf_interpolation gls_track_interpolation(const gls_track_params *params, const gls_odf_source *odf)
{
    bool wanted = params->odf_interpolation != GLS_ODF_INTERPOLATE_AMPLITUDES;
    return wanted && has_coefficients(params, odf) ? GLS_ODF_INTERPOLATE_COEFFICIENTS : GLS_ODF_INTERPOLATE_AMPLITUDES;
}

/* PTT: models with cells and models with textures, each kind at once. */
static gls_status fill_for_ptt(gls_model *const *models, size_t n, const gls_track_input *input, size_t *failed)
{
    const gls_grid *grid = &input->stop_map->grid;
    size_t n_vertices = input->odf->sphere->n, n_kind[2] = {0}, index[2][GLS_MAX_ENGINES], bad = SIZE_MAX;
    gls_volume *volume[2][GLS_MAX_ENGINES];
    odf_fill f = {.odf = input->odf, .per_voxel = true, .n_channels = n_vertices, .scale = 1};
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n; i++) {
        bool kind = models[i]->volume.plan.cell_corners > 0;
        volume[kind][n_kind[kind]] = &models[i]->volume;
        index[kind][n_kind[kind]++] = i;
    }
    if (n_kind[0] > 0) status = gls_volume_fill(volume[0], n_kind[0], grid, amplitude_block, &f, GLS_ODF_SCRATCH, &bad);
    if (status != GLS_OK && bad != SIZE_MAX) *failed = index[0][bad];
    if (status != GLS_OK || n_kind[1] == 0) return status;
    uint32_t *slot = malloc(n_vertices * sizeof *slot);
    status =
        slot && gls_cells_order(input->odf->sphere, slot)
            ? gls_cells_fill(volume[1], n_kind[1], grid, n_vertices, slot, amplitude_block, &f, GLS_ODF_SCRATCH, &bad)
            : gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    if (status != GLS_OK && bad != SIZE_MAX) *failed = index[1][bad];
    free(slot);
    return status;
}

gls_status gls_odf_model_fill(gls_model *const *models, size_t n, const gls_track_params *params,
                              const gls_track_input *input, size_t *failed)
{
    const gls_odf_source *odf = input->odf;
    const gls_volume_plan *plan = &models[0]->volume.plan;
    gls_volume *volume[GLS_MAX_ENGINES];
    bool coefficients = gls_track_interpolation(params, odf) == GLS_ODF_INTERPOLATE_COEFFICIENTS;
    odf_fill f = {.odf = odf, .n_channels = (size_t)plan->n_tiles * plan->tile_channels};
    if (params->dg == GLS_DG_PTT) return fill_for_ptt(models, n, input, failed);
    for (size_t i = 0; i < n; i++) volume[i] = &models[i]->volume;
    float largest = largest_value(odf);
    if (largest <= 0) return gls_fail(GLS_ERR_INPUT, "the ODFs are nowhere positive");
    /* an amplitude is the sum of k coefficients times basis functions, which in mean square over the sphere are 1 /
     * sqrt(4 pi) */
    double headroom = odf->is_sh && !coefficients ? sqrt((double)odf->parts->n_inputs) : 1;
    f.scale = odf->options.normalise ? VOLUME_MAXIMUM : gls_volume_scale(largest, (float)(VOLUME_MAXIMUM / headroom));
    return gls_volume_fill(volume, n, &input->stop_map->grid, coefficients ? coefficient_block : amplitude_block, &f,
                           GLS_ODF_SCRATCH, failed);
}

static void define_pick(gls_define_list *d, gls_sections *sections, const gls_track_params *params,
                        const gls_track_plan *plan, const gls_sphere *sphere)
{
    double bits = ceil(log2((double)sphere->n));
    gls_define_int(d, "DETERMINISTIC", params->dg == GLS_DG_DET);
    gls_define_float(d, "PICK_ONE", exp2(31 - bits)); /* the sum over all vertices stays below 2^32 */
    gls_define_mapped(d, "pick", "getter/pick", plan->lanes > 1);
    gls_define_slot(d, "getter", gls_text_copy("#include \"getter/pick.glsl\"\n"));
    gls_section_cone(sections, d, sphere, params->max_angle);
}

static void define_ptt(gls_define_list *d, gls_sections *sections, const gls_track_params *params,
                       const gls_track_plan *plan, const gls_sphere *sphere, const uint32_t *slot)
{
    gls_define_int(d, "PROBE_STEPS", params->probe_quality);
    gls_define_int(d, "PROBE_COUNT", params->probe_count);
    gls_define_slot(d, "getter", gls_text_copy("#include \"getter/ptt.glsl\"\n"));
    gls_define_mapped(d, "ptt_mapping", "getter/ptt", plan->lanes > 1);
    gls_define_slot(d, "ptt_field", gls_text_copy(slot ? "#include \"odf/cells.glsl\"\n" : ""));
    if (slot) {
        uint32_t *word = gls_section(sections, d, "MODEL_SLOTS", sphere->n);
        if (word) memcpy(word, slot, sphere->n * sizeof *word);
    }
    gls_section_tables_begin(sections, d);
    gls_section_nearest(sections, d, sphere, slot);
    /* the sum of three supports is 3 (quality + 1) at most: all face weights together stay below 2^31 */
    const gls_probe probe = {
        .quality = params->probe_quality,
        .first_sample = params->probe_count == 1,
        .bends = params->probe_count > 1,
        .step = params->probe_length / params->probe_quality,
        .max_curvature = gls_track_max_curvature(params),
    };
    gls_section_disc(sections, d, exp2(31) / (3 * (params->probe_quality + 1)), &probe);
    gls_section_tables_end(sections, d);
    gls_define_int(d, "TABLES_SHARED", plan->tables_shared);
}

/* PTT looks up one direction at a time, the others all. */
static gls_texture_format volume_format(const gls_track_params *params)
{
    if (params->dg == GLS_DG_PTT) return params->float_textures ? GLS_TEXTURE_R32F : GLS_TEXTURE_R16F;
    return params->float_textures ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F;
}

static gls_status define_coefficients(gls_define_list *d, gls_sections *sections, const gls_track_plan *plan,
                                      const gls_odf_source *odf)
{
    bool lanes = plan->lanes > 1;
    size_t k = odf->parts->n_inputs;
    gls_define_int(d, "N_COEFFICIENTS", (int64_t)k);
    gls_define_int(d, "VOLUME_CHANNELS", (int64_t)(k + 3) / 4 * 4);
    gls_status status = gls_section_orbits(sections, d, odf->sphere, odf->order);
    gls_text text = {0};
    if (status == GLS_OK) status = gls_table_orbit_terms(&text, odf->order);
    gls_define_slot(d, "orbit_terms", gls_text_take(&text));
    if (status == GLS_OK && !lanes) status = gls_table_odf_rows(&text, odf->sphere, odf->order);
    gls_define_slot(d, "odf_rows", gls_text_take(&text));
    return status;
}

gls_status gls_odf_model_plan(const gls_device_info *limits, const gls_track_params *params, const gls_track_plan *plan,
                              const gls_track_input *input, gls_define_list *defines, gls_volume_plan *volume,
                              gls_sections *sections)
{
    const gls_odf_source *odf = input->odf;
    const gls_grid *grid = &input->stop_map->grid;
    size_t n = odf->sphere->n;
    bool coefficients = gls_track_interpolation(params, odf) == GLS_ODF_INTERPOLATE_COEFFICIENTS;
    bool cells = params->dg == GLS_DG_PTT && !params->float_textures &&
                 gls_cells_plan(grid, n, limits, plan->small_cells, volume);
    uint32_t *slot = NULL;
    if (params->odf_interpolation == GLS_ODF_INTERPOLATE_COEFFICIENTS && !coefficients)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "SH coefficients can be interpolated for even SH and probabilistic or deterministic tracking only");
    gls_status status = cells ? GLS_OK
                              : gls_volume_plan_make(grid, (uint32_t)(coefficients ? odf->parts->n_inputs : n),
                                                     volume_format(params), limits, volume);
    if (status == GLS_OK && cells) {
        slot = malloc(n * sizeof *slot);
        if (!slot || !gls_cells_order(odf->sphere, slot))
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    }
    if (status == GLS_OK) {
        gls_section_sphere(sections, defines, odf->sphere, true);
        defines->odf = coefficients ? "odf/coefficients" : cells ? "odf/cells" : "odf/amplitudes";
        gls_define_slot(defines, "initial_directions", gls_text_copy("#include \"odf/initial.glsl\"\n"));
        if (coefficients) status = define_coefficients(defines, sections, plan, odf);
        if (params->dg == GLS_DG_PTT)
            define_ptt(defines, sections, params, plan, odf->sphere, slot);
        else
            define_pick(defines, sections, params, plan, odf->sphere);
    }
    free(slot);
    return status;
}
