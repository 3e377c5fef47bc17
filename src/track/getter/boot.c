/* Direction getter boot: residual bootstrap of a q-ball model (Berman et al. 2008); follows the peak closest to the
 * last direction. The formulas are in <glslines/qball.h>, the shader is glsl/getter/boot.glsl. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/sh.h>

#include "dwi/odf_parts.h"
#include "dwi/odf_slice.h"
#include "track/field/field.h"
#include "track/field/textures.h"
#include "track/getter/getter.h"
#include "track/shader/kernel_inputs.h"
#include "util/status.h"
#include "util/text.h"

/* --- The field. Each voxel holds the coefficients of the hat fit, the mean b0 signal and the scaled residuals, all
 * linear in the signal. */

/* Number of channels in front of the residuals, a multiple of 4. boot_channels(): number of all channels. */
static uint32_t boot_coefficient_channels(const gls_qball *qball)
{
    return (uint32_t)(qball->k + 1 + 3) / 4 * 4;
}

/* Channels of the field: coefficients and b0, then a residual for each measurement, both padded to whole texels of
 * four. */
static uint32_t boot_channels(const gls_qball *qball)
{
    return boot_coefficient_channels(qball) + (uint32_t)(qball->n + 3) / 4 * 4;
}

/* Matrices that turn signals into channels, row by row, with space for rows of zeros as gls_odf_kernel needs them, see
 * matrix(). */
typedef struct boot_fill {
    const gls_track_input *input;
    gls_odf_kernel multiply;
    size_t voxels;
    float scale;
    float *fit;   /* (k + 1) x n_volumes: gives coefficients and mean b0 from all volumes */
    float *basis; /* n x k: gives the fitted signal from the coefficients */
} boot_fill;

_Static_assert((int)GLS_FIELD_BLOCK == (int)GLS_ODF_BLOCK, "blocks of a field are those of the products");

/* Number of rows rounded up to whole vectors of gls_odf_kernel. */
static size_t padded(size_t rows)
{
    return (rows + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
}

/* Allocates a matrix of zeros, aligned to 64 bytes, with space for padded(rows) rows. NULL: memory ran out. The caller
 * frees it. */
static float *matrix(size_t rows, size_t columns)
{
    size_t bytes = (padded(rows) * columns * sizeof(float) + 63) / 64 * 64;
    float *m = aligned_alloc(64, bytes);
    if (m) memset(m, 0, bytes);
    return m;
}

/* Prepares the matrices. scale: factor of all signals. The caller frees fit and basis, also after a failure. */
static gls_status fill_init(boot_fill *f, const gls_track_input *input, double scale)
{
    const gls_qball *q = input->qball;
    size_t n_volumes = input->dwi->n_volumes;
    *f = (boot_fill){.input = input,
                     .multiply = gls_odf_kernels[gls_cpu_level()],
                     .voxels = gls_grid_voxels(&input->dwi->grid),
                     .scale = (float)scale};
    f->fit = matrix(q->k + 1, n_volumes);
    f->basis = matrix(q->n, q->k);
    if (!f->fit || !f->basis) return gls_fail(GLS_ERR_MEMORY, "out of memory for the bootstrap volume");
    for (size_t j = 0; j < q->k; j++)
        for (size_t i = 0; i < q->n; i++) {
            f->fit[j * n_volumes + q->volume[i]] = (float)q->basis_inverse[j * q->n + i];
            f->basis[i * q->k + j] = (float)q->basis[i * q->k + j];
        }
    /* The last row of `fit` is the mean over the b0 volumes. */
    for (size_t t = 0; t < n_volumes; t++)
        if (input->gradients->is_b0[t]) f->fit[q->k * n_volumes + t] = 1.0f / (float)input->gradients->n_b0;
    return GLS_OK;
}

/* Replaces the fitted signals in `hat` by residuals: measured minus fitted signal, times leverage_scale, minus the mean
 * of these products over the measurements. */
static void finish_residuals(const gls_qball *q, const float *signal, float *hat)
{
    float mean[GLS_FIELD_BLOCK] = {0};
    for (size_t i = 0; i < q->n; i++) {
        float scale = (float)q->leverage_scale[i], *row = hat + i * GLS_FIELD_BLOCK;
        const float *measured = signal + q->volume[i] * GLS_FIELD_BLOCK;
        for (size_t v = 0; v < GLS_FIELD_BLOCK; v++) {
            row[v] = (measured[v] - row[v]) * scale;
            mean[v] += row[v];
        }
    }
    for (size_t v = 0; v < GLS_FIELD_BLOCK; v++) mean[v] /= (float)q->n;
    for (size_t i = 0; i < q->n; i++)
        for (size_t v = 0; v < GLS_FIELD_BLOCK; v++) hat[i * GLS_FIELD_BLOCK + v] -= mean[v];
}

/* Copies and scales the signals of `count` voxels; values that are not finite become 0, voxels past count are 0.
 * Returns false if all are 0. */
static bool load_signal(const boot_fill *f, size_t first, size_t count, float *signal)
{
    bool any = false;
    for (size_t t = 0; t < f->input->dwi->n_volumes; t++) {
        const float *from = f->input->dwi->data + t * f->voxels + first;
        float *to = signal + t * GLS_FIELD_BLOCK;
        int32_t found = 0;
        for (size_t v = 0; v < count; v++) {
            to[v] = from[v] - from[v] == 0 ? from[v] * f->scale : 0;
            found |= to[v] != 0;
        }
        for (size_t v = count; v < GLS_FIELD_BLOCK; v++) to[v] = 0;
        any |= found;
    }
    return any;
}

/* Computes the channels of a block of voxels: coefficients of the hat fit and the mean b0 signal, then the residuals of
 * the bootstrap, (R d)_i of <glslines/qball.h>. Voxels without signal get zeros. */
static void fill_block(const void *user, size_t first, size_t count, float *rows, float *signal)
{
    const boot_fill *f = user;
    const gls_qball *q = f->input->qball;
    size_t residuals = boot_coefficient_channels(q), channels = boot_channels(q);
    memset(rows, 0, channels * GLS_FIELD_BLOCK * sizeof *rows);
    if (!load_signal(f, first, count, signal)) return;
    /* Coefficients and mean b0 from all volumes, then the fitted signals from the coefficients. */
    f->multiply(f->fit, padded(q->k + 1), q->k + 1, f->input->dwi->n_volumes, signal, GLS_FIELD_BLOCK, rows,
                GLS_FIELD_BLOCK);
    f->multiply(f->basis, padded(q->n), q->n, q->k, rows, GLS_FIELD_BLOCK, rows + residuals * GLS_FIELD_BLOCK,
                GLS_FIELD_BLOCK);
    finish_residuals(q, signal, rows + residuals * GLS_FIELD_BLOCK);
}

/* Fills fields with coefficients, mean b0 and residuals. */
static gls_status boot_field_fill(gls_field *const *fields, size_t n_fields, const gls_track_input *input, double scale,
                                  size_t *failed)
{
    boot_fill f;
    gls_status status = fill_init(&f, input, scale);
    const gls_field_source source = {
        .block = fill_block, .user = &f, .n_scratch = input->dwi->n_volumes * GLS_FIELD_BLOCK};
    if (!status) status = gls_field_fill(fields, n_fields, &input->dwi->grid, &source, failed);
    free(f.fit);
    free(f.basis);
    return status;
}

/* --- The matrices as generated shader source, for kernels with one invocation for each streamline. */

/* Appends MACRO(index, value) as a line. */
static void append_call(gls_text *out, const char *macro, size_t index, double value)
{
    char text[40];
    gls_text_printf(out, "%s(%zu, %s)\n", macro, index, gls_glsl_float(value, text));
}

/* Number of measurements in a block, whose rows are interleaved: the generated source loads each coefficient, and loads
 * and stores each sum of the fit, once for a block. At order 8 this saves a fifth of the source, whose size limits CPU
 * renderers. The terms of each sum keep their order. */
#define BLOCK 8

/* Appends the rows of one block of measurements from `first` on: the hat fit, then the model fit. */
static void append_block(gls_text *out, const gls_qball *qball, size_t first)
{
    size_t n = qball->n - first < BLOCK ? qball->n - first : BLOCK;
    char text[40];
    for (size_t j = 0; j < qball->k; j++)
        for (size_t i = 0; i < n; i++)
            gls_text_printf(out, "HAT(%zu, %zu, %s)\n", i, j,
                            gls_glsl_float(qball->basis[(first + i) * qball->k + j], text));
    for (size_t i = 0; i < n; i++) gls_text_printf(out, "FIT_BEGIN(%zu)\n", i);
    for (size_t j = 0; j < qball->k; j++) {
        bool first_of_degree = j == 0 || gls_sh_degree(j) != gls_sh_degree(j - 1);
        for (size_t i = 0; i < n && first_of_degree; i++)
            gls_text_printf(out, "DEGREE(%zu, %s)\n", i, gls_glsl_float(qball->laplacian[j], text));
        for (size_t i = 0; i < n; i++)
            gls_text_printf(out, "FIT(%zu, %zu, %s)\n", i, j,
                            gls_glsl_float(qball->fit[j * qball->n + first + i], text));
    }
    gls_text_puts(out, "END\n");
}

/* Writes the source that makes a bootstrap sample: for each block of measurements it draws residuals, adds them to the
 * fitted signal, applies the model, and fits. */
static void boot_rows_resample(gls_text *out, const gls_qball *qball)
{
    static const char component[] = "xyzw";
    for (size_t first = 0; first < qball->n; first += BLOCK) {
        gls_text_puts(out, "BEGIN\n");
        for (size_t i = first; i < first + BLOCK && i < qball->n; i++) {
            if (i % 8 == 0) gls_text_printf(out, "DRAW(%zu)\n", i / 8);
            if (i % 2 == 0)
                gls_text_printf(out, "FIRST(words.%c)\n", component[i % 8 / 2]);
            else
                gls_text_puts(out, "SECOND\n");
            gls_text_printf(out, "RESAMPLED(%zu)\n", i - first);
        }
        append_block(out, qball, first);
    }
}

/* Sum of 1 / leverage_scale over the measurements. */
static double sum_of_weights(const gls_qball *qball)
{
    double sum = 0;
    for (size_t i = 0; i < qball->n; i++) sum += 1 / qball->leverage_scale[i];
    return sum;
}

/* Weights of the MEAN and MEASURED rows. With the stored residuals r, the signals d and their fit H d: mean = -sum_i
 * r_i mean_weight[i]; d_i - (H d)_i = (r_i + mean) measured_weight[i]. */
static void boot_measured_weights(const gls_qball *qball, double *mean_weight, double *measured_weight)
{
    double sum = sum_of_weights(qball);
    for (size_t i = 0; i < qball->n; i++) {
        measured_weight[i] = 1 / qball->leverage_scale[i];
        mean_weight[i] = measured_weight[i] / sum;
    }
}

/* Appends MEAN rows, which recover the mean that finish_residuals() subtracted; MEASURED rows need it to restore the
 * measured signal. */
static void boot_rows_mean(gls_text *out, const gls_qball *qball)
{
    double sum = sum_of_weights(qball);
    for (size_t i = 0; i < qball->n; i++) append_call(out, "MEAN", i, 1 / qball->leverage_scale[i] / sum);
}

/* Appends rows that restore the measured signals and fit the model to them: for each block BEGIN, a row MEASURED(index
 * in the block, measurement, 1 / leverage_scale) for each of its measurements, and the rows of append_block(). */
static void boot_rows_measured(gls_text *out, const gls_qball *qball)
{
    char text[40];
    for (size_t first = 0; first < qball->n; first += BLOCK) {
        gls_text_puts(out, "BEGIN\n");
        for (size_t i = first; i < first + BLOCK && i < qball->n; i++)
            gls_text_printf(out, "MEASURED(%zu, %zu, %s)\n", i - first, i,
                            gls_glsl_float(1 / qball->leverage_scale[i], text));
        append_block(out, qball, first);
    }
}

/* Appends a row SCALE(j, fit_scale[j]) for each coefficient j, but FIXED(0, value) for the first coefficient of CSA,
 * which is constant. */
static void boot_rows_scale(gls_text *out, const gls_qball *qball)
{
    for (size_t j = 0; j < qball->k; j++) {
        if (j == 0 && qball->options.model == GLS_QBALL_CSA)
            gls_text_puts(out, "FIXED(0, 0.28209479177)\n");
        else
            append_call(out, "SCALE", j, qball->fit_scale[j]);
    }
}

/* The largest signal is scaled to at most this, because half floats end at 65504. */
#define VOLUME_MAXIMUM 8192.0

/* Factor by which signals are multiplied to be stored; 0 if no signal is above 0. */
static double signal_scale(const gls_image *dwi)
{
    size_t n = gls_grid_voxels(&dwi->grid) * dwi->n_volumes;
    float largest = 0;
    bool positive = false;
#pragma omp parallel for reduction(max : largest) reduction(|| : positive) schedule(static)
    for (size_t i = 0; i < n; i++) {
        float x = fabsf(dwi->data[i]);
        if (isfinite(x) && x > largest) largest = x;
        positive = positive || (isfinite(x) && dwi->data[i] > 0);
    }
    return positive ? gls_field_scale(largest, VOLUME_MAXIMUM) : 0;
}

/* Adds the matrices of the q-ball model as tables for shaders with loops. Their layout lets neighbouring lanes read
 * neighbouring measurements. */
static gls_status add_matrices(gls_tables *tables, gls_define_list *d, const gls_qball *q)
{
    /* The fit is transposed, so that all coefficients of a measurement are a row. */
    double *weights = malloc(2 * q->n * sizeof *weights), *fit = malloc(q->n * q->k * sizeof *fit);
    gls_status status = weights && fit ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    if (!status) {
        for (size_t j = 0; j < q->k; j++)
            for (size_t i = 0; i < q->n; i++) fit[i * q->k + j] = q->fit[j * q->n + i];
        boot_measured_weights(q, weights, weights + q->n);
        gls_table_matrix(tables, d, "MODEL_HAT", q->basis, q->n, q->k);
        gls_table_matrix(tables, d, "MODEL_FIT", fit, q->n, q->k);
        gls_table_floats(tables, d, "MODEL_MEAN", weights, q->n);
        gls_table_floats(tables, d, "MODEL_MEASURED", weights + q->n, q->n);
    }
    free(fit);
    free(weights);
    return status;
}

/* Fills a slot with rows of source. Takes ownership of the text and leaves *text empty. */
static void define_rows(gls_define_list *d, const char *name, gls_text *text)
{
    gls_define_slot(d, name, gls_text_take(text), "the model's numbers, row by row");
}

/* Fills the slots of the bootstrap with rows of source. */
static gls_status add_rows(gls_define_list *d, const gls_track_params *params, const gls_track_input *input)
{
    gls_text text = {0};
    boot_rows_resample(&text, input->qball);
    define_rows(d, "resample_rows", &text);
    bool measured = params->boot_start == GLS_BOOT_START_FIT;
    if (measured) boot_rows_mean(&text, input->qball);
    define_rows(d, "mean_rows", &text);
    if (measured) boot_rows_measured(&text, input->qball);
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

/* Plans the field, and makes tables (looped shader) or rows of literals (written-out shader) of the matrices of the
 * q-ball model. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model)
{
    const gls_track_params *params = request->params;
    const gls_track_input *input = request->input;
    const gls_qball *q = input->qball;
    gls_define_list *d = &model->defines;
    gls_texture_format format = params->precision == GLS_PRECISION_FLOAT ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F;
    gls_status status = gls_textures_plan(&input->dwi->grid, boot_channels(q), format, request->limits,
                                          request->n_units, &model->field);
    if (status) return status;
    gls_table_sphere(&model->tables, d, input->sphere, request->looped);
    gls_define_int(d, "MODEL_OPDT", GLS_QBALL_OPDT, "value of MODEL for OPDT");
    gls_define_int(d, "MODEL", q->options.model, "the q-ball model");
    gls_define_int(d, "N_MEASUREMENTS", (int64_t)q->n, "diffusion-weighted volumes");
    gls_define_int(d, "N_BLOCKS", (int64_t)(q->n + 7) / 8, "blocks of random numbers for a bootstrap sample");
    gls_define_int(d, "N_COEFFICIENTS", (int64_t)q->k, "coefficients of the SH order");
    gls_define_int(d, "SH_ORDER", q->options.sh_order, "SH order of the q-ball model");
    gls_define_int(d, "RETRY_ON_CONE", params->boot_retry == GLS_BOOT_RETRY_CONE, "option boot_retry is cone");
    gls_define_int(d, "VOLUME_COEFFICIENT_CHANNELS", boot_coefficient_channels(q),
                   "channels of coefficients, which precede the residuals");
    gls_define_int(d, "VOLUME_CHANNELS", boot_channels(q), "channels of coefficients and residuals");
    model->odf = "odf/sh";
    gls_define_loops(d, "boot_sample", "getter/boot", request->looped);
    gls_text text = {0};
    boot_rows_scale(&text, q);
    define_rows(d, "scale_rows", &text);
    if (request->looped) status = gls_table_orbits(&model->tables, d, input->sphere, q->options.sh_order);
    if (!status) status = gls_rows_orbit_terms(&text, q->options.sh_order);
    define_rows(d, "orbit_terms", &text);
    if (status) return status;
    return request->looped ? add_matrices(&model->tables, d, q) : add_rows(d, params, input);
}

/* Fills the fields, with signals scaled so that they fit into half precision. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    (void)params;
    gls_field *field[GLS_TRACKER_MAX_DEVICES];
    double scale = signal_scale(input->dwi);
    if (!(scale > 0)) return gls_fail(GLS_ERR_INPUT, "the series has no signal: no value is finite and above 0");
    for (size_t i = 0; i < n; i++) {
        field[i] = &models[i]->field;
        models[i]->min_signal = input->qball->options.min_signal * scale;
    }
    return boot_field_fill(field, n, input, scale, failed);
}

/* Whether the volumes of the model are exactly the diffusion-weighted volumes of the table, so that none is read out of
 * bounds. */
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

/* Requires the series, on the grid of the stop map, its gradient table, a q-ball model made from that table, and an
 * antipodal sphere. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    (void)params;
    GLS_REQUIRE(input->dwi && input->gradients && input->qball && input->sphere);
    if (!input->sphere->antipodal)
        return gls_fail(GLS_ERR_ARGUMENT, "the bootstrap needs an antipodally symmetric sphere: give another --sphere");
    if (input->gradients->n != input->dwi->n_volumes)
        return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, but the series has %zu volumes",
                        input->gradients->n, input->dwi->n_volumes);
    if (!is_of_table(input->qball, input->gradients))
        return gls_fail(GLS_ERR_ARGUMENT, "the q-ball model was made from another gradient table");
    return gls_grid_require_equal(&input->dwi->grid, "the series", &input->stop_map->grid, "the stop map");
}

/* `sphere` of gls_getter: directions are vertices of the sphere of the input. */
static const gls_sphere *sphere(const gls_track_input *input)
{
    return input->sphere;
}

/* Number of words that sample.comp leaves to turn.comp: the coefficients of a sample, in whole quads. */
static uint32_t handed_over(const gls_track_input *input)
{
    return ((uint32_t)input->qball->k + 3) / 4 * 4;
}

/* Passes min_signal, the lower bound of signals in the scale of the field, to the shader. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)params;
    u->min_signal = (float)model->min_signal;
}

const gls_getter gls_getter_boot = {
    .name = "boot",
    .words = "the residual bootstrap, along the closest peak",
    .paper = "boot",
    .shader = "getter/boot.glsl",
    .initial = "getter/boot.glsl",
    .source = GLS_FROM_QBALL,
    .has = GLS_GETTER_HAS_VERTICES,
    .check = check,
    .sphere = sphere,
    .handed_over = handed_over,
    .uniforms = uniforms,
    .plan = plan,
    .fill = fill,
};
