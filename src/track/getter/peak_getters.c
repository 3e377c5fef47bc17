/* Direction getters that follow given peaks: a peak of the nearest voxel (fact), the weighted mean over the eight
 * voxels around a point (eudx), or a fibre of a random sample of one of the eight voxels (bedpost). */
#include "track/field/textures.h"
#include "track/getter/odf_field.h"

#include <math.h>
#include <string.h>

#include "track/field/field.h"
#include "util/status.h"

#define MAXIMUM 1024.0f /* the largest component is scaled to at most this, well within the range of half floats */

/* Number of samples in each voxel of the image of peaks; 1 if the peaks are not samples. */
static uint32_t n_samples(const gls_track_input *input)
{
    return input->peak_samples > 0 ? input->peak_samples : 1;
}

/* Requires an image of peaks on the grid of the stop map, with three volumes for each peak and as many peaks for each
 * sample as for the others. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    (void)params;
    GLS_REQUIRE(input->peaks);
    GLS_REQUIRE(input->peaks->n_volumes > 0 && input->peaks->n_volumes % 3 == 0);
    const uint32_t samples = n_samples(input);
    if (input->peaks->n_volumes % (3 * (size_t)samples) != 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "the image of peaks has %zu peaks in each voxel, which is no multiple of the %u samples",
                        input->peaks->n_volumes / 3, samples);
    return gls_grid_require_equal(&input->peaks->grid, "the peaks", &input->stop_map->grid, "the stop map");
}

/* --- The field. */

/* Inputs of the threads that fill the field with peaks. */
typedef struct peak_fill {
    const gls_image *peaks;
    float scale;
} peak_fill;

/* Makes one texel of each peak: a unit vector and the amplitude. */
static void peak_block(const void *user, size_t at, size_t count, float *rows, float *scratch)
{
    const peak_fill *f = user;
    const size_t n = gls_grid_voxels(&f->peaks->grid);
    (void)scratch;
    for (size_t k = 0; k < f->peaks->n_volumes / 3; k++)
        for (size_t i = 0; i < count; i++) {
            /* The components of a peak are in three successive volumes. A vector that is 0 or not finite is not a
             * peak. */
            const float *v = f->peaks->data + 3 * k * n + at + i;
            const double x = v[0], y = v[n], z = v[2 * n], length = sqrt(x * x + y * y + z * z);
            const bool there = length > 0 && isfinite(length);
            const double unit[4] = {x / length, y / length, z / length, length * (double)f->scale};
            for (int c = 0; c < 4; c++) rows[(4 * k + (size_t)c) * GLS_FIELD_BLOCK + i] = there ? (float)unit[c] : 0;
        }
}

/* Largest magnitude of a component of any peak; no peak is longer than sqrt(3) times this. */
static float largest_part(const gls_image *peaks)
{
    const size_t n = gls_grid_voxels(&peaks->grid) * peaks->n_volumes;
    float largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static)
    for (size_t i = 0; i < n; i++) {
        const float x = fabsf(peaks->data[i]);
        if (isfinite(x) && x > largest) largest = x;
    }
    return largest;
}

/* Fills the field with a tile for each peak: unit vector and amplitude, scaled for half precision. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    gls_field *field[GLS_TRACKER_MAX_DEVICES];
    const float largest = largest_part(input->peaks);
    (void)params;
    if (!(largest > 0))
        return gls_fail(GLS_ERR_INPUT, "the image of peaks has no peak: all values are 0 or not finite");
    const peak_fill f = {.peaks = input->peaks, .scale = gls_field_scale(largest, MAXIMUM)};
    for (size_t i = 0; i < n; i++) {
        models[i]->scale = (double)f.scale;
        field[i] = &models[i]->field;
    }
    const gls_field_source source = {.block = peak_block, .user = &f};
    return gls_field_fill(field, n, &input->stop_map->grid, &source, failed);
}

/* --- The model. */

/* Plans a tile of four channels for each peak, and adds what the shaders of all three getters need. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model, bool mean)
{
    gls_define_list *d = &model->defines;
    const gls_precision precision = request->params->precision;
    gls_table_start(&model->tables, d, request->params, request->input);
    gls_define_int(d, "PEAK_MEAN", mean, "directions are means over the eight voxels around a point");
    return gls_textures_plan(&request->input->stop_map->grid, (uint32_t)(request->input->peaks->n_volumes / 3 * 4),
                             precision == GLS_PRECISION_FLOAT ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F,
                             request->limits, request->n_units, &model->field);
}

/* The function `plan` of the row of fact; the functions of eudx and bedpost follow. */
static gls_status plan_fact(const gls_model_request *request, gls_model_plan *model)
{
    const double noise = request->params->step_noise / request->params->step_size;
    gls_define_int(&model->defines, "WITH_NOISE", noise > 0, "steps have noise");
    gls_define_float(&model->defines, "STEP_NOISE", noise, "standard deviation of the noise along each axis, in steps");
    return plan(request, model, false);
}

static gls_status plan_eudx(const gls_model_request *request, gls_model_plan *model)
{
    gls_define_int(&model->defines, "WITH_NOISE", 0, "steps have no noise");
    return plan(request, model, true);
}

/* A peak image of BEDPOSTX holds, in each voxel, the fibres of all samples. */
static gls_status plan_bedpost(const gls_model_request *request, gls_model_plan *model)
{
    const uint32_t samples = n_samples(request->input);
    gls_define_int(&model->defines, "SAMPLES", samples, "samples of a voxel");
    gls_define_int(&model->defines, "FIBRES", (int64_t)(request->input->peaks->n_volumes / 3 / samples),
                   "fibres of a sample");
    gls_define_int(&model->defines, "START_FIBRE", request->params->start_fibre, "option start_fibre");
    gls_define_int(&model->defines, "STOP_BY_FRACTION", request->params->stop_by_fraction,
                   "volume fractions end half-streamlines");
    return plan(request, model, false);
}

/* Sets whole_fraction: the stored length of a fibre whose volume fraction is 1. */
static void bedpost_uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)params;
    u->whole_fraction = (float)model->scale;
}

/* Number of iterations of a dispatch: more for fact, whose iterations take less time. */
static uint32_t iterations(const gls_track_params *params)
{
    return params->dg == GLS_DG_FACT ? 64 : 16;
}

/* The row of a getter along peaks. The arguments after the name are the members in which these getters differ. */
#define PEAK_GETTER(word, ...)                                      \
    const gls_getter gls_getter_##word = {.name = #word,            \
                                          .own_start = true,        \
                                          .towards = true,          \
                                          .own_end = true,          \
                                          .one_lane = true,         \
                                          .ordered = true,          \
                                          .source = GLS_FROM_PEAKS, \
                                          .check = check,           \
                                          .sphere = gls_no_sphere,  \
                                          .iterations = iterations, \
                                          .fill = fill,             \
                                          __VA_ARGS__}
PEAK_GETTER(fact, .words = "fibre assignment by continuous tracking (FACT)", .paper = "fact",
            .shader = "getter/peak_step.glsl", .initial = "getter/peak_step.glsl", .framed = true, .by_voxel = true,
            .deterministic = true, .has = GLS_GETTER_HAS(CUTOFF) | GLS_GETTER_HAS(STARTS), .cutoff = 0.1,
            .act_cutoff = 0.05, .plan = plan_fact);
/* Half-streamlines of eudx carry no frame: the backward one begins opposite to the first step of the forward one. */
PEAK_GETTER(eudx, .words = "Euler integration along the peaks around each point (EuDX)", .paper = "eudx",
            .shader = "getter/peak_step.glsl", .initial = "getter/peak_step.glsl", .deterministic = true,
            .has = GLS_GETTER_HAS(CUTOFF) | GLS_GETTER_HAS(STARTS), .cutoff = 0.0239, .fa_cutoff = 0.2,
            .any_seed = true, .mm_steps = true, .n_peaks = 5, .plan = plan_eudx);
/* Samples of bedpostX: each step follows one fibre of one sample. The backward half-streamline draws its first
 * direction anew. */
PEAK_GETTER(bedpost, .words = "samples of the directions of fibres, as probtrackx2 does", .paper = "bedpost",
            .shader = "getter/bedpost.glsl", .initial = "getter/bedpost.glsl", .framed = true,
            .has = GLS_GETTER_HAS(CUTOFF), .cutoff = 0.01, .any_seed = true, .uniforms = bedpost_uniforms,
            .plan = plan_bedpost);
