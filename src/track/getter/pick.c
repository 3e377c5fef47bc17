/* Direction getters that choose a vertex inside the cone round the last direction: prob draws one in proportion to the
 * ODF, det takes the largest value, closest takes the peak nearest to the last direction. The shaders are
 * glsl/getter/pick.glsl and closest.glsl. */
#include "dwi/odf_parts.h"
#include "track/field/textures.h"
#include "track/getter/odf_field.h"

#include <math.h>
#include <string.h>

#include "track/shader/kernel_inputs.h"

/* Whether SH coefficients are interpolated between voxels; otherwise amplitudes are. */
static bool uses_coefficients(const gls_track_params *params, const gls_track_input *input)
{
    return gls_odf_field_interpolation(true, params, input->odf) == GLS_ODF_INTERPOLATE_COEFFICIENTS;
}

/* Adds tables and rows for SH coefficients. weighted: directions are weighted by their angle to the last direction. */
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

/* Number of vertices that each lane handles, made odd, if the number of lanes is fixed and the bits of these vertices
 * fit into a word; else 0. */
static size_t stretch(size_t n_vertices, const gls_model_request *request)
{
    size_t n = (n_vertices + request->lanes - 1) / request->lanes | 1;
    return request->lanes_fixed && n <= 32 ? n : 0;
}

/* Plans the field, and adds the tables of the sphere and the rows of source for the ODF. */
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

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Smallest cosine of an angle up to max_angle, degrees, less a slack that keeps vertices that lie exactly at the
 * edge. */
static double min_cosine(double max_angle)
{
    return cos(max_angle * acos(-1.0) / 180) - 1e-12;
}

/* Whether vertex u lies in the cone around vertex v; on an antipodal sphere either sense of u counts. */
static bool in_cone(const gls_sphere *sphere, size_t v, size_t u, double least)
{
    double c = dot(sphere->vertex[v], sphere->vertex[u]);
    return (sphere->antipodal ? fabs(c) : c) >= least;
}

/* Adds MODEL_CONE: for each vertex a row of CONE_WORDS words, with one bit for each vertex; the bits of vertices within
 * max_angle (degrees) are 1. */
static void add_cone(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, double max_angle)
{
    size_t words = (sphere->n + 31) / 32;
    double least = min_cosine(max_angle);
    gls_define_int(defines, "CONE_WORDS", (int64_t)words,
                   "words of a row of the table of cones, with one bit for each vertex");
    uint32_t *word = gls_table_add(s, defines, "MODEL_CONE", words * sphere->n);
    for (size_t v = 0; word && v < sphere->n; v++)
        for (size_t u = 0; u < sphere->n; u++)
            if (in_cone(sphere, v, u, least)) word[v * words + u / 32] |= 1u << (u % 32);
}

/* Adds MODEL_CONE for several lanes: for each vertex one word for each lane, with one bit for each of the `stretch` (at
 * most 32) vertices that the lane handles; the bits of vertices within max_angle are 1. A stretch that would end behind
 * the last vertex begins earlier, and its bits for vertices of other lanes are 0. */
static void add_cone_of_lanes(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, double max_angle,
                              uint32_t lanes, size_t stretch)
{
    double least = min_cosine(max_angle);
    uint32_t *word = gls_table_add(s, defines, "MODEL_CONE", lanes * sphere->n);
    for (size_t v = 0; word && v < sphere->n; v++)
        for (size_t lane = 0; lane < lanes; lane++) {
            size_t first = lane * stretch, start = first + stretch > sphere->n ? sphere->n - stretch : first;
            for (size_t i = 0; i < stretch; i++)
                if (start + i >= first && in_cone(sphere, v, start + i, least)) word[v * lanes + lane] |= 1u << i;
        }
}

/* Plans the ODFs, and makes the table of cones: by add_cone_of_lanes() if shaders have loops and the number of vertices
 * of a lane is known, else by add_cone(). */
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
        add_cone_of_lanes(&model->tables, d, sphere, params->max_angle, request->lanes, n_each);
    else
        add_cone(&model->tables, d, sphere, params->max_angle);
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
    return gls_odf_field_fill(
        models, n, input, uses_coefficients(params, input) ? GLS_ODF_COEFFICIENTS : GLS_ODF_AMPLITUDES, NULL, failed);
}

const gls_getter gls_getter_prob = {
    .name = "prob",
    .long_source = true,
    .words = "drawing directions from orientation distributions (prob)",
    .paper = "prob",
    .shader = "getter/pick.glsl",
    .initial = "odf/initial.glsl",
    .has = GLS_GETTER_HAS_VERTICES | GLS_GETTER_HAS(PROB_DET) | GLS_GETTER_HAS(WHOLE_ODFS),
    .check = check,
    .sphere = gls_odf_field_sphere,
    .plan = plan_prob,
    .fill = fill,
};

const gls_getter gls_getter_det = {
    .name = "det",
    .long_source = true,
    .words = "the largest value of orientation distributions (det)",
    .paper = "prob",
    .shader = "getter/pick.glsl",
    .initial = "odf/initial.glsl",
    .deterministic = true,
    .has = GLS_GETTER_HAS_VERTICES | GLS_GETTER_HAS(PROB_DET) | GLS_GETTER_HAS(WHOLE_ODFS),
    .check = check,
    .sphere = gls_odf_field_sphere,
    .plan = plan_det,
    .fill = fill,
};

const gls_getter gls_getter_closest = {
    .name = "closest",
    .long_source = true,
    .words = "the closest peaks of orientation distributions",
    .paper = "dipy",
    .shader = "getter/closest.glsl",
    .initial = "odf/initial.glsl",
    .deterministic = true,
    .has = GLS_GETTER_HAS_VERTICES | GLS_GETTER_HAS(WHOLE_ODFS),
    .check = check,
    .sphere = gls_odf_field_sphere,
    .plan = plan_closest,
    .fill = fill,
};
