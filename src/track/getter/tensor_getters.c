/* Direction getters along the principal eigenvector of a tensor that is fitted at each point. tensordet fits the
 * interpolated signals. tensorprob fits a wild bootstrap of the signals, drawn once for each voxel and streamline. The
 * shader is glsl/getter/tensor.glsl. */
#include "track/field/cells.h"
#include "track/field/textures.h"
#include "track/getter/odf_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/tensor_plan.h"
#include "track/field/field.h"
#include "util/status.h"
#include "util/text.h"

#define LARGEST_TEXTURE 2048u /* number of texels along each axis of a texture of signals, at most */
#define ROUNDING 8192         /* positions are rounded to 1 / ROUNDING voxel, which floats hold up to LARGEST_TEXTURE */
/* Largest number of quads (groups of four volumes) that are written out in the source; more would take too long to
 * compile. */
#define MAX_ROWS 40u
#define MAXIMUM 1024.0f        /* the largest signal is scaled to at most this, well within the range of half floats */
#define MAX_RESIDUAL 16384.0f  /* residuals are clamped to this, because a fit of noise may give any value */
#define DIFFUSIVITY_UNIT 1e-3f /* mm2/s; makes tensor elements about 1 */

/* The getters need the series and its gradient table, on the grid of the stop map. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    (void)params;
    GLS_REQUIRE(input->dwi && input->gradients);
    if (input->gradients->n != input->dwi->n_volumes)
        return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, but the series has %zu volumes",
                        input->gradients->n, input->dwi->n_volumes);
    return gls_grid_require_equal(&input->dwi->grid, "the series", &input->stop_map->grid, "the stop map");
}

/* --- The field. */

/* Number of tiles of signals. One channel behind the last signal is 1 if the voxel has any signal. For the bootstrap a
 * tile of residuals, which is not counted, follows each tile of signals. */
static uint32_t n_quads(const gls_track_input *input)
{
    return (uint32_t)(input->dwi->n_volumes + 1 + 3) / 4;
}

/* Inputs of the threads that fill the field with signals. */
typedef struct signal_fill {
    const gls_image *dwi;
    const gls_tensor_plan *fit; /* the fit that gives residuals; NULL: no residuals */
    float scale;
} signal_fill;

/* Channel of a volume. */
static size_t channel_of(const signal_fill *f, size_t volume)
{
    return f->fit ? volume / 4 * 8 + volume % 4 : volume;
}

/* Stores in y the logarithms of the signals of `count` voxels without their scale; 0 where there is no signal. */
static void take_logarithms(const signal_fill *f, size_t count, const float *rows, double *y)
{
    for (size_t t = 0; t < f->dwi->n_volumes; t++) {
        const float *signal = rows + channel_of(f, t) * GLS_FIELD_BLOCK;
        for (size_t i = 0; i < count; i++)
            y[t * GLS_FIELD_BLOCK + i] = signal[i] > 0 ? log((double)signal[i] / (double)f->scale) : 0;
    }
}

/* Fits the tensor to `count` voxels and stores the residuals of the signals. y: work space. */
static void store_residuals(const signal_fill *f, size_t count, float *rows, double *y)
{
    enum { P = GLS_TENSOR_PARAMETERS };
    /* beta: the tensor and ln S0 of each voxel, by the pseudo-inverse; then the residuals of the fitted signals. */
    double beta[P][GLS_FIELD_BLOCK] = {{0}};
    take_logarithms(f, count, rows, y);
    for (size_t t = 0; t < f->dwi->n_volumes; t++)
        for (int p = 0; p < P; p++) {
            const double weight = f->fit->inverse[t * GLS_TENSOR_STRIDE + (size_t)p];
            for (size_t i = 0; i < count; i++) beta[p][i] += weight * y[t * GLS_FIELD_BLOCK + i];
        }
    for (size_t t = 0; t < f->dwi->n_volumes; t++) {
        const float *signal = rows + channel_of(f, t) * GLS_FIELD_BLOCK;
        float *residual = (float *)signal + 4 * GLS_FIELD_BLOCK;
        for (size_t i = 0; i < count; i++) {
            double fitted = 0;
            for (int p = 0; p < P; p++) fitted += f->fit->design[t * GLS_TENSOR_STRIDE + (size_t)p] * beta[p][i];
            const float r = fitted != 0 ? signal[i] - (float)(exp(fitted) * (double)f->scale) : 0;
            residual[i] = r > MAX_RESIDUAL ? MAX_RESIDUAL : r > -MAX_RESIDUAL ? r : -MAX_RESIDUAL;
        }
    }
}

/* Fills the channels of a block of voxels: scaled signals, and residuals for the bootstrap. */
static void signal_block(const void *user, size_t at, size_t count, float *rows, float *scratch)
{
    const signal_fill *f = user;
    const size_t n = gls_grid_voxels(&f->dwi->grid), n_volumes = f->dwi->n_volumes,
                 n_channels = (n_volumes + 1 + 3) / 4 * (f->fit ? 8 : 4);
    float *any = rows + channel_of(f, n_volumes) * GLS_FIELD_BLOCK;
    memset(rows, 0, n_channels * GLS_FIELD_BLOCK * sizeof *rows);
    for (size_t t = 0; t < n_volumes; t++) {
        const float *from = f->dwi->data + t * n + at;
        float *to = rows + channel_of(f, t) * GLS_FIELD_BLOCK;
        for (size_t i = 0; i < count; i++) {
            to[i] = isfinite(from[i]) ? from[i] * f->scale : 0;
            any[i] = to[i] != 0 ? 1 : any[i];
        }
    }
    if (f->fit) store_residuals(f, count, rows, (double *)scratch);
}

/* Largest finite value of the series. */
static float largest_signal(const gls_image *dwi)
{
    const size_t n = gls_grid_voxels(&dwi->grid) * dwi->n_volumes;
    float largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static)
    for (size_t i = 0; i < n; i++)
        if (isfinite(dwi->data[i]) && dwi->data[i] > largest) largest = dwi->data[i];
    return largest;
}

/* Fills the field with the signals, scaled for half precision, and with residuals for the bootstrap. min_signal passes
 * ln(scale) to the shader, which subtracts it. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_input *input, bool bootstrap, size_t *failed)
{
    gls_field *field[GLS_TRACKER_MAX_DEVICES];
    gls_tensor_plan fit;
    const float largest = largest_signal(input->dwi);
    if (!(largest > 0)) return gls_fail(GLS_ERR_INPUT, "the series has no signal: no value is finite and above 0");
    gls_status status = gls_tensor_plan_init(&fit, input->gradients, 0);
    if (status) return status;
    const signal_fill f = {
        .dwi = input->dwi, .fit = bootstrap ? &fit : NULL, .scale = gls_field_scale(largest, MAXIMUM)};
    for (size_t i = 0; i < n; i++) {
        models[i]->scale = 1; /* cutoffs are values of FA, which has no unit */
        models[i]->min_signal = log((double)f.scale);
        field[i] = &models[i]->field;
    }
    const gls_field_source source = {
        .block = signal_block, .user = &f, .n_scratch = bootstrap ? 2 * input->dwi->n_volumes * GLS_FIELD_BLOCK : 0};
    status = gls_field_fill(field, n, &input->stop_map->grid, &source, failed);
    gls_tensor_plan_finish(&fit);
    return status;
}

/* The function `fill` of tensordet's row: signals only. */
static gls_status fill_det(gls_model *const *models, size_t n, const gls_track_params *params,
                           const gls_track_input *input, size_t *failed)
{
    (void)params;
    return fill(models, n, input, false, failed);
}

/* The function `fill` of tensorprob's row: signals and residuals. */
static gls_status fill_prob(gls_model *const *models, size_t n, const gls_track_params *params,
                            const gls_track_input *input, size_t *failed)
{
    (void)params;
    return fill(models, n, input, true, failed);
}

/* --- The model. */

/* Returns the table of the fit as vectors of shader source; the caller frees the text. */
static char *rows_of(const uint32_t *word, size_t n_quads)
{
    gls_text out = {0};
    for (size_t q = 0; q < n_quads; q++) {
        float value[4];
        char text[4][40];
        memcpy(value, word + 4 * q, sizeof value);
        for (int c = 0; c < 4; c++) gls_glsl_float(value[c], text[c]);
        gls_text_printf(&out, "%svec4(%s, %s, %s, %s)\n", q > 0 ? ", " : "", text[0], text[1], text[2], text[3]);
    }
    return gls_text_take(&out);
}

/* Adds the six rows of the fit that give the tensor, four volumes in a quad. */
static gls_status add_fit(gls_model_plan *model, const gls_track_input *input)
{
    static const int order[] = {0, 2, 5, 1, 3, 4}; /* xx yy zz xy xz yz */
    gls_tensor_plan fit;
    gls_status status = gls_tensor_plan_init(&fit, input->gradients, 0);
    if (status) return status;
    uint32_t *word = gls_table_quads(&model->tables, &model->defines, "MODEL_TENSOR", 6 * n_quads(input));
    for (size_t t = 0; word && t < fit.n; t++)
        for (size_t p = 0; p < 6; p++) {
            const double weight = fit.inverse[t * GLS_TENSOR_STRIDE + (size_t)order[p]] / fit.scale[order[p]];
            const float value = (float)(weight / (double)DIFFUSIVITY_UNIT);
            memcpy(word + (6 * (t / 4) + p) * 4 + t % 4, &value, sizeof value);
        }
    gls_text calls = {0};
    for (uint32_t q = 0; q < n_quads(input); q++) gls_text_printf(&calls, "QUAD(%u)\n", q);
    gls_define_slot(&model->defines, "tensor_quads", gls_text_take(&calls), "a call for each quad of volumes");
    if (word)
        gls_define_slot(&model->defines, "tensor_rows", rows_of(word, 6 * n_quads(input)), "the table MODEL_TENSOR");
    gls_tensor_plan_finish(&fit);
    return GLS_OK;
}

/* Plans the field: on a software renderer a buffer of texels, unless the shader has loops or the buffer would be too
 * large; else textures. For the bootstrap, signals and residuals of the same volumes must lie in the same texture.
 * Textures have at most LARGEST_TEXTURE texels along an axis, so that positions can be rounded to 1 / ROUNDING voxel,
 * more finely than for other getters: an axis turns faster with the position than an ODF changes. */
static gls_status plan_field(const gls_model_request *request, bool bootstrap, gls_field_plan *plan)
{
    const uint32_t quads = n_quads(request->input);
    const bool floats = request->params->precision == GLS_PRECISION_FLOAT;
    gls_device_info limits = *request->limits;
    if (limits.software && !request->looped &&
        gls_texels_plan(&request->input->stop_map->grid, (size_t)quads * (bootstrap ? 8 : 4), floats, &limits, plan))
        return GLS_OK;
    if (limits.max_texture_3d > LARGEST_TEXTURE) limits.max_texture_3d = LARGEST_TEXTURE;
    gls_status status = GLS_OK;
    /* A tile of signals and its tile of residuals share a texture if each texture has an even number of tiles: add
     * quads, which change this number, until it is even. */
    for (uint32_t n = quads; n < quads + GLS_FIELD_MAX_TEXTURES; n++) {
        status = gls_textures_plan(&request->input->stop_map->grid, n * (bootstrap ? 8 : 4),
                                   floats ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F, &limits, request->n_units, plan);
        plan->textures.rounding = ROUNDING;
        if (status || !bootstrap || plan->textures.tiles_per % 2 == 0) return status;
    }
    return gls_fail(GLS_ERR_UNSUPPORTED,
                    "--dg tensorprob: a series of %zu volumes does not fit into the textures of this "
                    "device: take another device, or fewer volumes",
                    request->input->dwi->n_volumes);
}

/* Makes the table of the pseudo-inverse and the definitions, and plans the field. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model, bool bootstrap)
{
    gls_define_list *d = &model->defines;
    gls_status status = add_fit(model, request->input);
    if (status) return status;
    gls_table_start(&model->tables, d, request->params, request->input);
    model->looped = n_quads(request->input) > MAX_ROWS;
    gls_define_int(d, "TENSOR_RK4", request->params->rk4, "option rk4");
    gls_define_int(d, "TENSOR_BOOTSTRAP", bootstrap, "the bootstrap draws signs of residuals");
    gls_define_int(d, "TENSOR_SIGNS_KEPT", !request->looped, "a lane reads several quads that share a block of signs");
    gls_define_int(d, "TENSOR_QUADS", n_quads(request->input), "groups of four volumes");
    gls_define_int(d, "TENSOR_VOLUMES", (int64_t)request->input->dwi->n_volumes, "volumes of the series");
    status = plan_field(request, bootstrap, &model->field);
    const bool texels = model->field.kind == &gls_field_texels;
    gls_define_file(d, "tensor_signals", texels ? "getter/tensor_texels.glsl" : "getter/tensor_textures.glsl",
                    texels ? "a software renderer" : "a GPU, or no room for a buffer of texels");
    return status;
}

/* The function `plan` of tensordet's row. */
static gls_status plan_det(const gls_model_request *request, gls_model_plan *model)
{
    return plan(request, model, false);
}

/* The function `plan` of tensorprob's row. */
static gls_status plan_prob(const gls_model_request *request, gls_model_plan *model)
{
    return plan(request, model, true);
}

/* Number of iterations of a dispatch. An iteration reads all volumes of the series once, or with Runge-Kutta steps five
 * times. Where glsl/getter/tensor_texels.glsl defines CELL_STEPS, an iteration is up to so many steps in one cell. */
static uint32_t iterations(const gls_track_params *params)
{
    (void)params;
    return 4;
}

/* Passes ln(scale) of the signals to the shader. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)params;
    u->min_signal = (float)model->min_signal;
}

/* The row of tensordet or tensorprob. The arguments after the name are the members in which the rows differ. */
#define TENSOR_GETTER(word, ...)                                                               \
    const gls_getter gls_getter_##word = {.name = #word,                                       \
                                          .shader = "getter/tensor.glsl",                      \
                                          .initial = "getter/tensor.glsl",                     \
                                          .framed = true,                                      \
                                          .own_start = true,                                   \
                                          .own_end = true,                                     \
                                          .ordered = true,                                     \
                                          .source = GLS_FROM_SERIES,                           \
                                          .has = GLS_GETTER_HAS(CUTOFF) | GLS_GETTER_HAS(RK4), \
                                          .cutoff = 0.1,                                       \
                                          .act_cutoff = 0.05,                                  \
                                          .check = check,                                      \
                                          .sphere = gls_no_sphere,                             \
                                          .iterations = iterations,                            \
                                          .uniforms = uniforms,                                \
                                          __VA_ARGS__}
TENSOR_GETTER(tensordet, .words = "the main axis of the diffusion tensor at each point (Tensor_Det)",
              .paper = "tensordet", .deterministic = true, .plan = plan_det, .fill = fill_det);
TENSOR_GETTER(tensorprob, .words = "a wild bootstrap of the diffusion tensor at each point (Tensor_Prob)",
              .paper = "tensorprob", .plan = plan_prob, .fill = fill_prob,
              .no_backtrack = "the bootstrap of tensorprob is drawn once for a streamline, which would go the same way "
                              "again");
