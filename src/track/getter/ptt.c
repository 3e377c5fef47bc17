/* Direction getter ptt: parallel transport tractography (Aydogan and Shi 2021). The field holds ODFs normalised in each
 * voxel; the shader is glsl/getter/ptt.glsl. */
#include "track/getter/odf_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/field/field.h"
#include "track/getter/ptt_tables.h"
#include "util/option.h"
#include "util/status.h"

/* Chooses cells where the device has room, because single directions are looked up; else textures of one channel for
 * each texel; the smallest cells where textures would take most of the memory. */
static gls_status plan_field(const gls_model_request *request, gls_field_plan *field)
{
    const gls_grid *grid = &request->input->stop_map->grid;
    size_t n = request->input->odf->sphere->n;
    bool floats = request->params->precision == GLS_PRECISION_FLOAT;
    if (!floats && gls_cells_plan(grid, n, request->limits, request->smaller_field, field)) return GLS_OK;
    gls_status status = gls_textures_plan(grid, (uint32_t)n, floats ? GLS_TEXTURE_R32F : GLS_TEXTURE_R16F,
                                          request->limits, request->n_units, field);
    uint64_t memory = request->limits->memory_bytes;
    gls_field_plan singles;
    if (!status && !floats && memory > 0 && field->bytes > memory / 2 &&
        gls_cells_plan_singles(grid, n, request->limits, &singles) && singles.bytes < field->bytes)
        *field = singles;
    return status;
}

/* Adds the map of nearest vertices, which work groups copy to shared memory if there is room. index_of: index of each
 * vertex in cells; NULL: textures. */
static void add_tables(const gls_model_request *request, gls_model_plan *model, const uint32_t *index_of)
{
    gls_define_list *d = &model->defines;
    gls_tables_begin_shared(&model->tables, d);
    gls_ptt_table_nearest(&model->tables, d, request->input->odf->sphere, index_of);
    gls_tables_end_shared(&model->tables, d);
    gls_define_int(d, "TABLES_SHARED", request->tables_shared, "shared memory has room for the tables");
}

/* Plans the field, as cells if they fit into buffers, else as textures, and makes the tables of the sphere. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model)
{
    const gls_sphere *sphere = request->input->odf->sphere;
    gls_define_list *d = &model->defines;
    uint32_t *index_of = NULL;
    gls_status status = plan_field(request, &model->field);
    if (status) return status;
    bool cells = model->field.kind == &gls_field_cells;
    if (cells) {
        index_of = malloc(sphere->n * sizeof *index_of);
        if (!index_of || !gls_cells_order(sphere, index_of)) {
            free(index_of);
            return gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
        }
    }
    gls_table_sphere(&model->tables, d, sphere, true);
    model->odf = cells ? "odf/cells" : "odf/amplitudes";
    gls_define_int(d, "PROBE_STEPS", request->params->probe_quality, "option probe_quality");
    gls_define_int(d, "PROBE_COUNT", request->params->probe_count, "option probe_count");
    gls_define_loops(d, "ptt_search", "getter/ptt", request->looped);
    gls_define_file(d, "ptt_amplitude", cells ? "getter/ptt_cells.glsl" : "getter/ptt_textures.glsl",
                    cells ? "room for a buffer of cells" : "no room for a buffer of cells, or single precision");
    if (cells) {
        uint32_t *word = gls_table_add(&model->tables, d, "MODEL_VERTEX_INDEX", sphere->n);
        if (word) memcpy(word, index_of, sphere->n * sizeof *word);
    }
    add_tables(request, model, index_of);
    free(index_of);
    return GLS_OK;
}

/* Fills the field with ODFs divided by the maximum of their voxel, in the order that gls_cells_order() gives the
 * directions. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    (void)params;
    const gls_sphere *sphere = input->odf->sphere;
    uint32_t *index_of = malloc(sphere->n * sizeof *index_of);
    gls_status status = index_of && gls_cells_order(sphere, index_of)
                            ? gls_odf_field_fill_normalised(models, n, input, index_of, failed)
                            : gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    free(index_of);
    return status;
}

/* The getter needs ODFs on the grid of the stop map; coefficients are not interpolated. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    return gls_odf_field_check(params, input, false);
}

/* Substeps of a step: whole, at least one, each as near to ptt_substep as possible. */
static uint32_t substeps(const gls_track_params *params)
{
    return (uint32_t)fmax(1, rint(params->step_size / params->ptt_substep));
}

/* Iterations in a dispatch: enough for a few hundred probes within 16384 loop iterations. One iteration tries at most
 * eight curves. */
static uint32_t iterations(const gls_track_params *params)
{
    uint32_t samples = 8 * (uint32_t)(params->probe_quality + 1) * (uint32_t)params->probe_count;
    return samples < 16384 / 32 ? 32 : samples < 16384 ? 16384 / samples : 1;
}

/* One iteration samples the field along the probes of a few curves; a search for peaks samples all vertices at one
 * position, four in a texel. */
static double iteration_cost(const gls_track_params *params, const gls_track_input *input)
{
    const double curves = 2;
    return 1 + curves * params->probe_quality * params->probe_count / ((double)input->odf->sphere->n / 4);
}

/* See gls_getter.shared_bytes. */
static void shared_bytes(const gls_track_params *params, const gls_sphere *sphere, uint64_t *tables,
                         uint64_t *streamline)
{
    *tables = gls_ptt_table_bytes(sphere->antipodal);
    *streamline = gls_ptt_slot_bytes(params->probe_quality);
}

double gls_track_max_curvature(const gls_track_params *p)
{
    if (p->min_radius_of_curvature > 0) return 1 / p->min_radius_of_curvature;
    return 2 * sin(p->max_angle * acos(-1.0) / 360) / p->step_size;
}

/* Lengths in mm and the largest curvature in 1/mm. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)model;
    u->short_step = (float)(params->step_size / substeps(params));
    u->probe_step = (float)(params->probe_length / params->probe_quality);
    u->probe_radius = (float)params->probe_radius;
    u->max_curvature = (float)gls_track_max_curvature(params);
}

const gls_getter gls_getter_ptt = {
    .name = "ptt",
    .shader = "getter/ptt.glsl",
    .initial = "odf/initial.glsl",
    .framed = true,
    .ordered = true,
    .has = GLS_GETTER_HAS(PTT) | GLS_GETTER_HAS(PEAKS) | GLS_GETTER_HAS(STARTS),
    .no_backtrack = "parallel transport cannot be taken back",
    .check = check,
    .sphere = gls_odf_field_sphere,
    .substeps = substeps,
    .iterations = iterations,
    .iteration_cost = iteration_cost,
    .shared_bytes = shared_bytes,
    .uniforms = uniforms,
    .plan = plan,
    .fill = fill,
};
