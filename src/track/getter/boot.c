/* Direction getter: residual bootstrap over a q-ball model, closest peak. */
#include "track/getter/boot_parts.h"

#include <math.h>
#include <stdlib.h>

#include "track/field/textures.h"
#include "track/shader/rows.h"
#include "util/status.h"

/* Half floats end at 65504: the largest value of the volume is brought to this. */
#define VOLUME_MAXIMUM 8192.0

static double signal_scale(const gls_image *dwi)
{
    size_t n = gls_grid_voxels(&dwi->grid) * dwi->n_volumes;
    float largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static)
    for (size_t i = 0; i < n; i++) {
        float x = fabsf(dwi->data[i]);
        if (isfinite(x) && x > largest) largest = x;
    }
    return gls_field_scale(largest, VOLUME_MAXIMUM);
}

/* Matrices for subgroups: neighbouring lanes work on neighbouring measurements. */
static gls_status add_matrices(gls_tables *tables, gls_define_list *d, const gls_qball *q)
{
    double *weights = malloc(2 * q->n * sizeof *weights), *fit = malloc(q->n * q->k * sizeof *fit);
    gls_status status = weights && fit ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    if (status == GLS_OK) {
        for (size_t j = 0; j < q->k; j++)
            for (size_t i = 0; i < q->n; i++) fit[i * q->k + j] = q->fit[j * q->n + i];
        gls_boot_measured_weights(q, weights, weights + q->n);
        gls_table_matrix(tables, d, "MODEL_HAT", q->basis, q->n, q->k);
        gls_table_matrix(tables, d, "MODEL_FIT", fit, q->n, q->k);
        gls_table_floats(tables, d, "MODEL_MEAN", weights, q->n);
        gls_table_floats(tables, d, "MODEL_MEASURED", weights + q->n, q->n);
    }
    free(fit);
    free(weights);
    return status;
}

static void define_rows(gls_define_list *d, const char *name, gls_text *text)
{
    gls_define_slot(d, name, gls_text_take(text), "the model's numbers, row by row");
}

static gls_status add_rows(gls_define_list *d, const gls_track_params *params, const gls_track_input *input)
{
    gls_text text = {0};
    gls_boot_rows_resample(&text, input->qball);
    define_rows(d, "resample_rows", &text);
    bool measured = params->boot_start == GLS_BOOT_START_FIT;
    if (measured) gls_boot_rows_mean(&text, input->qball);
    define_rows(d, "mean_rows", &text);
    if (measured) gls_boot_rows_measured(&text, input->qball);
    define_rows(d, "measured_rows", &text);
    gls_rows_peaks(&text, input->sphere);
    define_rows(d, "peak_rows", &text);
    gls_rows_vertices(&text, input->sphere);
    define_rows(d, "vertex_rows", &text);
    if (params->angular_weight > 0) gls_rows_axes(&text, input->sphere);
    define_rows(d, "axis_rows", &text);
    gls_status status = gls_rows_odf(&text, input->sphere, input->qball->options.sh_order);
    define_rows(d, "odf_rows", &text);
    return status;
}

static gls_status plan(const gls_model_request *request, gls_model_plan *model)
{
    const gls_track_params *params = request->params;
    const gls_track_input *input = request->input;
    const gls_qball *q = input->qball;
    gls_define_list *d = &model->defines;
    gls_texture_format format = params->precision == GLS_PRECISION_FLOAT ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F;
    gls_status status = gls_textures_plan(&input->dwi->grid, gls_boot_channels(q), format, request->limits,
                                          request->n_units, &model->field);
    if (status != GLS_OK) return status;
    gls_table_sphere(&model->tables, d, input->sphere, request->looped);
    gls_define_int(d, "MODEL_OPDT", GLS_QBALL_OPDT, "a value of MODEL");
    gls_define_int(d, "MODEL", q->options.model, "of the q-ball model");
    gls_define_int(d, "N_MEASUREMENTS", (int64_t)q->n, "diffusion-weighted volumes");
    gls_define_int(d, "N_BLOCKS", (int64_t)(q->n + 7) / 8, "of random numbers for a sample");
    gls_define_int(d, "N_COEFFICIENTS", (int64_t)q->k, "of the SH order");
    gls_define_int(d, "SH_ORDER", q->options.sh_order, "of the q-ball model");
    gls_define_int(d, "RETRY_ON_CONE", params->boot_retry == GLS_BOOT_RETRY_CONE, "boot_retry");
    gls_define_int(d, "VOLUME_COEFFICIENT_CHANNELS", gls_boot_coefficient_channels(q), "in front of the residuals");
    gls_define_int(d, "VOLUME_CHANNELS", gls_boot_channels(q), "coefficients and residuals");
    model->odf = "odf/sh";
    gls_define_loops(d, "boot_sample", "getter/boot", request->looped);
    gls_text text = {0};
    gls_boot_rows_scale(&text, q);
    define_rows(d, "scale_rows", &text);
    if (request->looped) status = gls_table_orbits(&model->tables, d, input->sphere, q->options.sh_order);
    if (status == GLS_OK) status = gls_rows_orbit_terms(&text, q->options.sh_order);
    define_rows(d, "orbit_terms", &text);
    if (status != GLS_OK) return status;
    return request->looped ? add_matrices(&model->tables, d, q) : add_rows(d, params, input);
}

static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    (void)params;
    gls_field *field[GLS_TRACKER_MAX_DEVICES];
    double scale = signal_scale(input->dwi);
    for (size_t i = 0; i < n; i++) {
        field[i] = &models[i]->field;
        models[i]->min_signal = input->qball->options.min_signal * scale;
    }
    return gls_boot_field_fill(field, n, input, scale, failed);
}

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

static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    (void)params;
    GLS_REQUIRE(input->dwi && input->gradients && input->qball && input->sphere);
    if (!input->sphere->antipodal)
        return gls_fail(GLS_ERR_ARGUMENT, "the bootstrap needs an antipodally symmetric sphere");
    if (input->gradients->n != input->dwi->n_volumes)
        return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, the series %zu volumes",
                        input->gradients->n, input->dwi->n_volumes);
    if (!is_of_table(input->qball, input->gradients))
        return gls_fail(GLS_ERR_ARGUMENT, "the q-ball model was made from another gradient table");
    return gls_grid_require_equal(&input->dwi->grid, "the series", &input->stop_map->grid, "the stop map");
}

static const gls_sphere *sphere(const gls_track_input *input)
{
    return input->sphere;
}

static uint32_t handed_over(const gls_track_input *input)
{
    return ((uint32_t)input->qball->k + 3) / 4 * 4;
}

static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)params;
    u->min_signal = (float)model->min_signal;
}

const gls_getter gls_getter_boot = {
    .name = "boot",
    .shader = "getter/boot.glsl",
    .initial = "getter/boot.glsl",
    .check = check,
    .sphere = sphere,
    .handed_over = handed_over,
    .uniforms = uniforms,
    .plan = plan,
    .fill = fill,
};
