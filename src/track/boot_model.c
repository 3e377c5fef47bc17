/* The bootstrap's volume, model buffer and definitions. */
#include "track/internal.h"

#include <glslines/sh.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/tables.h"
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
    return largest > 0 ? VOLUME_MAXIMUM / largest : 1;
}

/* Offsets into the model buffer, words. */
typedef struct model_layout {
    size_t hat, fit, mean, measured, odf, vertices, neighbours, n_words;
    size_t max_neighbours;
} model_layout;

static model_layout layout_make(const gls_track_plan *plan, const gls_qball *q, const gls_sphere *sphere)
{
    model_layout l = {0};
    l.vertices = 0;
    l.odf = 3 * sphere->n;
    l.n_words = l.odf + sphere->n * q->k;
    for (size_t v = 0; v < sphere->n; v++) {
        size_t n = sphere->first[v + 1] - sphere->first[v];
        if (n > l.max_neighbours) l.max_neighbours = n;
    }
    if (plan->lanes == 1) return l;
    l.hat = l.n_words;
    l.fit = l.hat + q->n * q->k;
    l.mean = l.fit + q->n * q->k;
    l.measured = l.mean + q->n;
    l.neighbours = l.measured + q->n;
    l.n_words = l.neighbours + sphere->n * l.max_neighbours;
    return l;
}

static void fill_matrices(float *words, const model_layout *l, const gls_qball *q, const gls_sphere *sphere, const double *weights)
{
    for (size_t j = 0; j < q->k; j++)
        for (size_t i = 0; i < q->n; i++) {
            words[l->hat + j * q->n + i] = (float)q->basis[i * q->k + j];
            words[l->fit + j * q->n + i] = (float)q->fit[j * q->n + i];
        }
    for (size_t i = 0; i < q->n; i++) {
        words[l->mean + i] = (float)weights[i];
        words[l->measured + i] = (float)weights[q->n + i];
    }
    for (size_t v = 0; v < sphere->n; v++)
        for (size_t m = 0; m < l->max_neighbours; m++) {
            /* vertices with fewer neighbours count themselves: that never decides */
            uint32_t at = sphere->first[v] + (uint32_t)m;
            int32_t neighbour = (int32_t)(at < sphere->first[v + 1] ? sphere->neighbour[at] : v);
            memcpy(&words[l->neighbours + m * sphere->n + v], &neighbour, sizeof neighbour);
        }
}

static gls_status create_buffer(gls_device *device, const gls_track_plan *plan, const gls_qball *q, const gls_sphere *sphere, const model_layout *l, gls_buffer **buffer)
{
    gls_status status = GLS_OK;
    float *words = calloc(l->n_words, sizeof *words);
    double *y = malloc(sphere->n * q->k * sizeof *y), *weights = malloc(2 * q->n * sizeof *weights);
    if (!words || !y || !weights) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
        goto done;
    }
    for (size_t v = 0; v < sphere->n; v++)
        for (size_t a = 0; a < 3; a++) words[l->vertices + a * sphere->n + v] = (float)sphere->vertex[v][a];
    status = gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, q->options.sh_order, (const double(*)[3])sphere->vertex, sphere->n, y);
    if (status != GLS_OK) goto done;
    for (size_t j = 0; j < q->k; j++)
        for (size_t v = 0; v < sphere->n; v++) words[l->odf + j * sphere->n + v] = (float)y[v * q->k + j];
    if (plan->lanes > 1) {
        gls_table_measured_weights(q, weights, weights + q->n);
        fill_matrices(words, l, q, sphere, weights);
    }
    status = gls_buffer_create(device, GLS_BUFFER_STORAGE, l->n_words * sizeof *words, "model", buffer);
    if (status == GLS_OK) status = gls_buffer_write(*buffer, 0, l->n_words * sizeof *words, words);
done:
    free(words);
    free(y);
    free(weights);
    return status;
}

static void define_rows(gls_define_list *d, const gls_track_params *params, const gls_track_input *input, gls_status *status)
{
    gls_text text = {0};
    gls_table_resample_rows(&text, input->qball);
    gls_define_include(d, "resample_rows", gls_text_take(&text));
    bool measured = params->boot_start == GLS_BOOT_START_FIT;
    if (measured) gls_table_mean_rows(&text, input->qball);
    gls_define_include(d, "mean_rows", gls_text_take(&text));
    if (measured) gls_table_measured_rows(&text, input->qball);
    gls_define_include(d, "measured_rows", gls_text_take(&text));
    *status = gls_table_odf_rows(&text, input->sphere, input->qball->options.sh_order);
    gls_define_include(d, "odf_rows", gls_text_take(&text));
    gls_table_peak_rows(&text, input->sphere);
    gls_define_include(d, "peak_rows", gls_text_take(&text));
}

static gls_status define_boot(gls_define_list *d, const gls_track_params *params, const gls_track_plan *plan, const gls_track_input *input, const gls_volume_plan *volume,
                              const model_layout *l)
{
    const gls_qball *q = input->qball;
    gls_status status = GLS_OK;
    gls_define_int(d, "MODEL_OPDT", GLS_QBALL_OPDT);
    gls_define_int(d, "MODEL", q->options.model);
    gls_define_int(d, "N_MEASUREMENTS", (int64_t)q->n);
    gls_define_int(d, "N_BLOCKS", (int64_t)(q->n + 7) / 8);
    gls_define_int(d, "N_COEFFICIENTS", (int64_t)q->k);
    gls_define_int(d, "SH_ORDER", q->options.sh_order);
    gls_define_int(d, "RETRY_ON_CONE", params->boot_retry == GLS_BOOT_RETRY_CONE);
    gls_define_int(d, "VOLUME_COEFFICIENT_CHANNELS", gls_boot_coefficient_channels(q));
    gls_define_int(d, "VOLUME_RESIDUAL_CHANNELS", gls_boot_channels(q) - gls_boot_coefficient_channels(q));
    gls_define_int(d, "VOLUME_CHANNELS", gls_boot_channels(q));
    gls_define_int(d, "MODEL_VERTICES", (int64_t)l->vertices);
    gls_define_int(d, "MODEL_ODF", (int64_t)l->odf);
    if (plan->lanes == 1) {
        define_rows(d, params, input, &status);
    } else {
        gls_define_int(d, "MODEL_HAT", (int64_t)l->hat);
        gls_define_int(d, "MODEL_FIT", (int64_t)l->fit);
        gls_define_int(d, "MODEL_MEAN", (int64_t)l->mean);
        gls_define_int(d, "MODEL_MEASURED", (int64_t)l->measured);
        gls_define_int(d, "MODEL_NEIGHBOURS", (int64_t)l->neighbours);
        gls_define_int(d, "MAX_NEIGHBOURS", (int64_t)l->max_neighbours);
    }
    const char *mapping = plan->lanes == 1 ? "single" : "lanes";
    gls_text text = {0};
    gls_table_tile_loops(&text, volume);
    gls_define_include(d, "tile_loops", gls_text_take(&text));
    gls_text_printf(&text, "#include \"peaks_%s.glsl\"\n", mapping);
    gls_define_include(d, "peaks_mapping.glsl", gls_text_take(&text));
    gls_text_printf(&text, "#include \"dg_boot_%s.glsl\"\n", mapping);
    gls_define_include(d, "dg_boot_mapping.glsl", gls_text_take(&text));
    gls_table_scale_rows(&text, q);
    gls_define_include(d, "scale_rows", gls_text_take(&text));
    return status;
}

gls_status gls_boot_model_create(gls_device *device, const gls_track_params *params, const gls_track_plan *plan, const gls_track_input *input, gls_define_list *defines,
                                 gls_model *model)
{
    GLS_REQUIRE(input->dwi && input->gradients && input->qball);
    if (input->gradients->n != input->dwi->n_volumes)
        return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, the series %zu volumes", input->gradients->n, input->dwi->n_volumes);
    const gls_grid *grid = &input->dwi->grid;
    gls_volume_plan volume;
    gls_status status = gls_volume_plan_make(grid, gls_boot_channels(input->qball) / 4, params->float_textures ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F,
                                             gls_device_get_info(device), &volume);
    if (status != GLS_OK) return status;
    model_layout layout = layout_make(plan, input->qball, input->sphere);
    double scale = signal_scale(input->dwi);
    model->min_signal = input->qball->options.min_signal * scale;
    status = define_boot(defines, params, plan, input, &volume, &layout);
    if (status == GLS_OK) status = create_buffer(device, plan, input->qball, input->sphere, &layout, &model->buffer);
    if (status == GLS_OK) status = gls_volume_create(device, grid, &volume, "bootstrap volume", &model->volume);
    if (status == GLS_OK) status = gls_boot_volume_fill(&model->volume, input, scale);
    if (status != GLS_OK) gls_model_finish(model);
    return status;
}

void gls_model_finish(gls_model *model)
{
    gls_volume_finish(&model->volume);
    gls_buffer_destroy(model->buffer);
    *model = (gls_model){0};
}
