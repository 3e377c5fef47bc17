/* The bootstrap's volume, model buffer and definitions. */
#include "track/internal.h"

#include <math.h>
#include <stdlib.h>

#include "track/engine/sections.h"
#include "track/engine/tables.h"
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
    return gls_volume_scale(largest, VOLUME_MAXIMUM);
}

/* Matrices for subgroups, column by column: neighbouring lanes work on neighbouring measurements. */
static gls_status add_matrices(gls_sections *sections, gls_define_list *d, const gls_qball *q)
{
    double *weights = malloc(2 * q->n * sizeof *weights);
    if (!weights) return gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    double *hat = malloc(q->n * q->k * sizeof *hat);
    gls_status status = hat ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    if (hat) {
        for (size_t j = 0; j < q->k; j++)
            for (size_t i = 0; i < q->n; i++) hat[j * q->n + i] = q->basis[i * q->k + j];
        gls_table_measured_weights(q, weights, weights + q->n);
        gls_section_floats(sections, d, "MODEL_HAT", hat, q->n * q->k);
        gls_section_floats(sections, d, "MODEL_FIT", q->fit, q->n * q->k);
        gls_section_floats(sections, d, "MODEL_MEAN", weights, q->n);
        gls_section_floats(sections, d, "MODEL_MEASURED", weights + q->n, q->n);
    }
    free(hat);
    free(weights);
    return status;
}

static gls_status add_rows(gls_define_list *d, const gls_track_params *params, const gls_track_input *input)
{
    gls_text text = {0};
    gls_table_resample_rows(&text, input->qball);
    gls_define_slot(d, "resample_rows", gls_text_take(&text));
    bool measured = params->boot_start == GLS_BOOT_START_FIT;
    if (measured) gls_table_mean_rows(&text, input->qball);
    gls_define_slot(d, "mean_rows", gls_text_take(&text));
    if (measured) gls_table_measured_rows(&text, input->qball);
    gls_define_slot(d, "measured_rows", gls_text_take(&text));
    gls_status status = gls_table_odf_rows(&text, input->sphere, input->qball->options.sh_order);
    gls_define_slot(d, "odf_rows", gls_text_take(&text));
    return status;
}

static gls_status define_boot(gls_define_list *d, gls_sections *sections, const gls_track_params *params,
                              const gls_track_plan *plan, const gls_track_input *input)
{
    const gls_qball *q = input->qball;
    bool lanes = plan->lanes > 1;
    gls_define_int(d, "MODEL_OPDT", GLS_QBALL_OPDT);
    gls_define_int(d, "MODEL", q->options.model);
    gls_define_int(d, "N_MEASUREMENTS", (int64_t)q->n);
    gls_define_int(d, "N_BLOCKS", (int64_t)(q->n + 7) / 8);
    gls_define_int(d, "N_COEFFICIENTS", (int64_t)q->k);
    gls_define_int(d, "SH_ORDER", q->options.sh_order);
    gls_define_int(d, "RETRY_ON_CONE", params->boot_retry == GLS_BOOT_RETRY_CONE);
    gls_define_int(d, "VOLUME_COEFFICIENT_CHANNELS", gls_boot_coefficient_channels(q));
    gls_define_int(d, "VOLUME_CHANNELS", gls_boot_channels(q));
    d->odf = "odf/sh";
    gls_define_mapped(d, "boot_mapping", "getter/boot", lanes);
    gls_define_slot(d, "getter", gls_text_copy("#include \"getter/boot.glsl\"\n"));
    gls_define_slot(d, "initial_directions", gls_text_copy("#include \"getter/boot.glsl\"\n"));
    gls_text text = {0};
    gls_table_scale_rows(&text, q);
    gls_define_slot(d, "scale_rows", gls_text_take(&text));
    gls_status status = (lanes ? gls_section_orbits : gls_section_odf)(sections, d, input->sphere, q->options.sh_order);
    if (status == GLS_OK) status = gls_table_orbit_terms(&text, q->options.sh_order);
    gls_define_slot(d, "orbit_terms", gls_text_take(&text));
    if (status != GLS_OK) return status;
    return lanes ? add_matrices(sections, d, q) : add_rows(d, params, input);
}

gls_status gls_boot_model_plan(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_define_list *defines,
                               gls_volume_plan *volume, gls_sections *sections)
{
    gls_texture_format format = params->float_textures ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F;
    gls_status status =
        gls_volume_plan_make(&input->dwi->grid, gls_boot_channels(input->qball), format, limits, volume);
    if (status != GLS_OK) return status;
    gls_section_sphere(sections, defines, input->sphere, plan->lanes > 1);
    return define_boot(defines, sections, params, plan, input);
}

gls_status gls_boot_model_fill(gls_model *const *models, size_t n, const gls_track_input *input, size_t *failed)
{
    gls_volume *volume[GLS_MAX_ENGINES];
    double scale = signal_scale(input->dwi);
    for (size_t i = 0; i < n; i++) {
        volume[i] = &models[i]->volume;
        models[i]->min_signal = input->qball->options.min_signal * scale;
    }
    return gls_boot_volume_fill(volume, n, input, scale, failed);
}
