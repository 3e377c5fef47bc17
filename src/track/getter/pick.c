/* Direction getters that choose a vertex inside the cone round the last direction: prob draws one in proportion to the
 * ODF, det takes the largest value, closest takes the peak nearest to the last direction. The shaders are
 * glsl/getter/pick.glsl and closest.glsl. */
#include "track/getter/odf_field.h"

#include <math.h>

#include "dwi/odf_parts.h"
#include "track/field/field.h"
#include "track/shader/kernel_inputs.h"
#include "util/option.h"

/* Whether SH coefficients are interpolated between voxels; otherwise amplitudes are. */
static bool uses_coefficients(const gls_track_params *params, const gls_track_input *input)
{
    return gls_odf_field_interpolation(true, params, input->odf) == GLS_ODF_INTERPOLATE_COEFFICIENTS;
}

/* Adds tables and rows for SH coefficients. weighted: directions are weighted by the angle to the last one. */
static gls_status add_coefficients(gls_model_plan *model, const gls_odf_source *odf, bool looped, bool weighted)
{
    static const char reason[] = "the basis functions' numbers, row by row";
    gls_define_list *d = &model->defines;
    size_t k = odf->parts->n_inputs;
    gls_define_int(d, "N_COEFFICIENTS", (int64_t)k, "coefficients of the SH order");
    gls_define_int(d, "VOLUME_CHANNELS", (int64_t)(k + 3) / 4 * 4,
                   "number of coefficients, rounded up to whole tiles of four");
    gls_status status = gls_table_orbits(&model->tables, d, odf->sphere, odf->order);
    gls_text text = {0};
    if (!status) status = gls_rows_orbit_terms(&text, odf->order);
    gls_define_slot(d, "orbit_terms", gls_text_take(&text), reason);
    if (!status && !looped) status = gls_rows_odf(&text, odf->sphere, odf->order);
    if (!looped) gls_define_slot(d, "odf_rows", gls_text_take(&text), reason);
    if (!looped && weighted) gls_rows_axes(&text, odf->sphere);
    if (!looped) gls_define_slot(d, "axis_rows", gls_text_take(&text), "directions of vertices");
    return status;
}

/* Vertices for each lane if the number of lanes is fixed and the bits of these vertices fit into a word; else 0. */
static size_t stretch(size_t n_vertices, const gls_model_request *request)
{
    size_t n = (n_vertices + request->lanes - 1) / request->lanes | 1;
    return request->lanes_fixed && n <= 32 ? n : 0;
}

/* Plans the field, the sphere and the rows of the ODF. */
static gls_status plan_odf(const gls_model_request *request, gls_model_plan *model)
{
    const gls_track_params *params = request->params;
    const gls_odf_source *odf = request->input->odf;
    const gls_sphere *sphere = odf->sphere;
    gls_define_list *d = &model->defines;
    bool coefficients = uses_coefficients(params, request->input);
    gls_status status =
        gls_textures_plan(&request->input->stop_map->grid, (uint32_t)(coefficients ? odf->parts->n_inputs : sphere->n),
                          params->precision == GLS_PRECISION_FLOAT ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F,
                          request->limits, request->n_units, &model->field);
    if (status) return status;
    gls_table_sphere(&model->tables, d, sphere, true);
    model->odf = coefficients ? "odf/coefficients" : "odf/amplitudes";
    if (coefficients) status = add_coefficients(model, odf, request->looped, params->angular_weight > 0);
    gls_text text = {0};
    gls_rows_vertices(&text, sphere);
    gls_define_slot(d, "vertex_rows", gls_text_take(&text), "a call for each vertex");
    return status;
}

/* Plans the ODFs, and makes the table of cones: for each vertex one bit for each vertex within the largest angle, in
 * the order in which the lanes read them. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model, bool deterministic)
{
    const gls_track_params *params = request->params;
    const gls_sphere *sphere = request->input->odf->sphere;
    gls_define_list *d = &model->defines;
    gls_status status = plan_odf(request, model);
    double bits = ceil(log2((double)sphere->n));
    gls_define_int(d, "DETERMINISTIC", deterministic, "the getter is det, not prob");
    gls_define_float(d, "PICK_ONE", exp2(31 - bits),
                     "fixed-point number for 1: the sum over all vertices stays below 2^32");
    gls_define_loops(d, "pick", "getter/pick", request->looped);
    size_t n_each = stretch(sphere->n, request);
    if (request->looped) gls_define_int(d, "STRETCH", (int64_t)n_each, "vertices of a lane; 0: found by the shader");
    if (request->looped && n_each > 0)
        gls_table_cone_of_lanes(&model->tables, d, sphere, params->max_angle, request->lanes, n_each);
    else
        gls_table_cone(&model->tables, d, sphere, params->max_angle);
    return status;
}

/* Written-out source for peaks exists only with SH coefficients, so amplitudes use loops. */
static gls_status plan_closest(const gls_model_request *request, gls_model_plan *model)
{
    gls_text text = {0};
    gls_status status = plan_odf(request, model);
    model->looped = !uses_coefficients(request->params, request->input);
    gls_rows_peaks(&text, request->input->odf->sphere);
    gls_define_slot(&model->defines, "peak_rows", gls_text_take(&text), "a call for each vertex");
    return status;
}

/* The functions `plan` of the rows of prob and det. */
static gls_status plan_prob(const gls_model_request *request, gls_model_plan *model)
{
    return plan(request, model, false);
}

static gls_status plan_det(const gls_model_request *request, gls_model_plan *model)
{
    return plan(request, model, true);
}

/* The getters need ODFs on the grid of the stop map. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    return gls_odf_field_check(params, input, true);
}

/* Fills the field with coefficients or amplitudes, in a common scale. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    return gls_odf_field_fill(models, n, input, uses_coefficients(params, input), NULL, failed);
}

const gls_getter gls_getter_prob = {
    .name = "prob",
    .shader = "getter/pick.glsl",
    .initial = "odf/initial.glsl",
    .filters = true,
    .coefficients = true,
    .has = GLS_GETTER_HAS_VERTICES | GLS_GETTER_HAS(PROB_DET),
    .check = check,
    .sphere = gls_odf_field_sphere,
    .plan = plan_prob,
    .fill = fill,
};

const gls_getter gls_getter_det = {
    .name = "det",
    .shader = "getter/pick.glsl",
    .initial = "odf/initial.glsl",
    .filters = true,
    .coefficients = true,
    .deterministic = true,
    .has = GLS_GETTER_HAS_VERTICES | GLS_GETTER_HAS(PROB_DET),
    .check = check,
    .sphere = gls_odf_field_sphere,
    .plan = plan_det,
    .fill = fill,
};

const gls_getter gls_getter_closest = {
    .name = "closest",
    .shader = "getter/closest.glsl",
    .initial = "odf/initial.glsl",
    .coefficients = true,
    .deterministic = true,
    .has = GLS_GETTER_HAS_VERTICES,
    .check = check,
    .sphere = gls_odf_field_sphere,
    .plan = plan_closest,
    .fill = fill,
};
