/* `glslines fit`: reads a diffusion series and writes FA, tensor, ODFs and response for other programs. */
#include <cJSON.h>

#include "dwi/fit_model.h"
#include "dwi/fit_model_parts.h"
#include "dwi/fit_tissues.h"
#include "dwi/model_options.h"
#include "dwi/response_file.h"
#include "dwi/tissue_response.h"
#include "image/formats.h"
#include "image/image_write.h"
#include "record/run_params.h"
#include "run/series_run.h"
#include "util/clock.h"
#include "util/json_text.h"

/* outputs from OUT_MD to OUT_V3 are in the order of gls_tensor_map */
enum {
    OUT_FA,
    OUT_TENSOR,
    OUT_MD,
    OUT_V3 = OUT_MD + GLS_TENSOR_V3,
    OUT_EVALS,
    OUT_SH,
    OUT_WM,
    OUT_GM,
    OUT_CSF,
    OUT_VF,
    OUT_MASK,
    N_IMAGES
};
enum { OUT_RESPONSE = N_IMAGES, OUT_RESPONSE_WM, OUT_RESPONSE_GM, OUT_RESPONSE_CSF, N_OUTPUTS };

/* End of the name of each output, its key in the sidecar, and what decides whether it is written. */
static const struct {
    const char *suffix, *key;
    enum { ALWAYS, OF_MAPS, OF_MASK, OF_ONE_TISSUE, OF_CSD, OF_MSMT, OF_TISSUE } of;
} outputs[N_OUTPUTS] = {
    [OUT_FA] = {"_fa.nii.gz", "fa", ALWAYS},
    [OUT_TENSOR] = {"_tensor.nii.gz", "tensor", ALWAYS},
    [OUT_MD + GLS_TENSOR_MD] = {"_md.nii.gz", "md", OF_MAPS},
    [OUT_MD + GLS_TENSOR_AD] = {"_ad.nii.gz", "ad", OF_MAPS},
    [OUT_MD + GLS_TENSOR_RD] = {"_rd.nii.gz", "rd", OF_MAPS},
    [OUT_MD + GLS_TENSOR_RGB] = {"_rgb.nii.gz", "rgb", OF_MAPS},
    [OUT_MD + GLS_TENSOR_V1] = {"_v1.nii.gz", "v1", OF_MAPS},
    [OUT_MD + GLS_TENSOR_V2] = {"_v2.nii.gz", "v2", OF_MAPS},
    [OUT_V3] = {"_v3.nii.gz", "v3", OF_MAPS},
    [OUT_EVALS] = {"_evals.nii.gz", "evals", OF_MAPS},
    [OUT_SH] = {"_sh.nii.gz", "sh", OF_ONE_TISSUE},
    [OUT_WM] = {"_wm.nii.gz", "wm", OF_TISSUE},
    [OUT_GM] = {"_gm.nii.gz", "gm", OF_TISSUE},
    [OUT_CSF] = {"_csf.nii.gz", "csf", OF_TISSUE},
    [OUT_VF] = {"_vf.nii.gz", "fractions", OF_MSMT},
    [OUT_MASK] = {"_mask.nii.gz", "mask", OF_MASK},
    [OUT_RESPONSE] = {"_response.txt", "response", OF_CSD},
    [OUT_RESPONSE_WM] = {"_wm.txt", "response_wm", OF_TISSUE},
    [OUT_RESPONSE_GM] = {"_gm.txt", "response_gm", OF_TISSUE},
    [OUT_RESPONSE_CSF] = {"_csf.txt", "response_csf", OF_TISSUE},
};

/* State of `glslines fit`. */
typedef struct fit_run {
    /* series, mask and files of the run */
    gls_series_run from;
    /* borrowed */
    const gls_fit_options *options;
    gls_image *image[OUT_MASK]; /* outputs in memory; NULL: not made */
    gls_series_model model;
    const char *output[N_OUTPUTS]; /* path; NULL: not written */
    double seconds_fit;
} fit_run;

gls_fit_options gls_fit_options_default(void)
{
    return (gls_fit_options){.size = sizeof(gls_fit_options), .model = gls_model_options_default(GLS_MODEL_AUTO)};
}

/* Whether the run writes an output. Call it after the gradient table is read, which decides on the tissues. */
static bool is_wanted(const fit_run *run, int output)
{
    const gls_fit_options *o = run->options;
    const gls_model_kind kind = run->model.kind;
    const gls_tissues *tissues = &run->model.tissues;
    const int of = output - (output < N_IMAGES ? OUT_WM : OUT_RESPONSE_WM);
    switch (outputs[output].of) {
    case ALWAYS: return true;
    case OF_MAPS: return o->tensor_maps;
    case OF_MASK: return !o->mask;
    case OF_ONE_TISSUE: return !o->no_model && kind != GLS_MODEL_MSMT;
    case OF_CSD: return !o->no_model && kind == GLS_MODEL_CSD;
    case OF_MSMT: return !o->no_model && kind == GLS_MODEL_MSMT;
    case OF_TISSUE: break;
    }
    /* an output of one tissue is written if the shells can separate that tissue; without a model no tissue is */
    for (size_t i = 0; i < tissues->n; i++)
        if (tissues->kind[i] == of) return true;
    return false;
}

/* Names the outputs that the run writes, and the sidecar. */
static gls_status name_output(fit_run *run)
{
    const char *prefix = run->options->prefix;
    gls_status status = GLS_OK;
    for (int i = 0; i < N_OUTPUTS && !status; i++)
        if (is_wanted(run, i))
            status = gls_run_writes_named(&run->from.run, prefix, outputs[i].suffix, &run->output[i]);
    return status ? status : gls_run_writes_sidecar(&run->from.run, prefix, ".json");
}

/* Begins the run with its input files. */
static gls_status name_input(fit_run *run)
{
    const gls_fit_options *o = run->options;
    const gls_input_file others[] = {
        {.role = "response", .path = o->model.response},
        {.role = "response_wm", .path = o->model.response_wm},
        {.role = "response_gm", .path = o->model.response_gm},
        {.role = "response_csf", .path = o->model.response_csf},
        {.role = "csd_directions", .path = gls_csd_directions_file(&o->model), .hint = GLS_DIRECTIONS_HINT},
    };
    return gls_series_run_begin(&run->from, o->force, (const char *const[]){o->dwi, o->bval, o->bvec, o->mask}, others,
                                sizeof others / sizeof *others);
}

/* Reads the series and the mask, and names the outputs, which depend on the model, and so on the gradient table. */
static gls_status read_input(fit_run *run)
{
    const gls_model_options *o = &run->options->model;
    gls_status status = gls_series_run_read(&run->from, o);
    if (!status && !run->options->no_model) status = gls_series_model_init(&run->model, o, &run->from.series);
    if (!status) status = name_output(run);
    return status ? status : gls_series_run_read_mask(&run->from);
}

/* Converts the coefficients of a fit to the basis and the axes that the options ask for. */
static gls_status convert(const fit_run *run, const gls_image *sh, gls_image **to)
{
    const gls_model_options *o = &run->options->model;
    return gls_odf_convert_sh(sh, "the fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, o->sh_basis,
                              gls_model_frame(o), to);
}

/* Fits tensor and model, and converts SH coefficients to the basis and the axes of the outputs. */
static gls_status fit(fit_run *run)
{
    double start = gls_clock_seconds();
    gls_image **image = run->image;
    const gls_image *mask = run->from.mask;
    const gls_series *series = &run->from.series;
    const gls_tissues *tissues = &run->model.tissues;
    const bool has_model = !run->options->no_model;
    gls_tensor_options tensor = gls_tensor_options_default();
    tensor.method = run->options->tensor;
    /* prepare the model, its responses and matrices, before the slow fits, because the preparation may fail */
    gls_status status = has_model ? gls_series_model_prepare(&run->model, mask, run->from.monitor) : GLS_OK;
    if (!status)
        status = gls_tensor_fit(gls_series_tensor_dwi(series), gls_series_tensor_gradients(series), mask, &tensor,
                                &image[OUT_FA], &image[OUT_TENSOR], &image[OUT_EVALS]);
    if (!status && run->options->tensor_maps)
        status = gls_tensor_maps(image[OUT_TENSOR], image[OUT_EVALS], mask, &image[OUT_MD]);
    if (!status && has_model) status = gls_series_model_fit(&run->model, mask, NULL, run->from.monitor);
    if (!status && has_model && run->model.kind != GLS_MODEL_MSMT) status = convert(run, run->model.sh, &image[OUT_SH]);
    for (size_t i = 0; i < tissues->n && !status; i++)
        status = convert(run, tissues->image[i], &image[OUT_WM + tissues->kind[i]]);
    if (!status && run->model.kind == GLS_MODEL_MSMT) status = gls_tissues_fractions(tissues, &image[OUT_VF]);
    run->seconds_fit = gls_clock_seconds() - start;
    return status;
}

/* Adds basis, axes and volumes of the outputs to the sidecar. */
static void describe_output(cJSON *root, const fit_run *run)
{
    const gls_model_options *o = &run->options->model;
    if (!run->options->no_model) {
        cJSON *sh = cJSON_AddObjectToObject(root, "sh");
        cJSON_AddStringToObject(sh, "basis", gls_basis_name(o->sh_basis));
        cJSON_AddStringToObject(sh, "frame", gls_odf_frame_name(gls_model_frame(o)));
        gls_json_uint(sh, "coefficients", gls_sh_count(run->model.order));
    }
    cJSON *tensor = cJSON_AddObjectToObject(root, "tensor");
    cJSON_AddStringToObject(tensor, "method", GLS_WORD(GLS_TENSOR_CHOICES, (int)run->options->tensor));
    cJSON_AddStringToObject(tensor, "volumes", "Dxx Dxy Dyy Dxz Dyz Dzz");
    cJSON_AddStringToObject(tensor, "unit", "mm2/s");
    cJSON_AddStringToObject(tensor, "frame", gls_odf_frame_name(GLS_BVEC_IMAGE));
    cJSON *list = cJSON_AddObjectToObject(root, "outputs");
    for (int i = 0; i < N_OUTPUTS; i++)
        if (outputs[i].key && run->output[i]) cJSON_AddStringToObject(list, outputs[i].key, run->output[i]);
}

/* Makes the sidecar: options, shells, response, outputs and times. */
static cJSON *make_sidecar(const fit_run *run)
{
    const gls_fit_options *o = run->options;
    cJSON *root = gls_series_run_sidecar(&run->from, "Orientation model fitted by glslines", o->argc, o->argv);
    gls_json_uint(cJSON_AddObjectToObject(root, "voxels"), "mask", run->from.mask_voxels);
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    /* the model, the order and the normalisation in use, also where the options left the choice to the program */
    gls_model_options used = o->model;
    used.model = run->model.kind;
    used.sh_order = run->model.order;
    used.normalise = run->model.tissues.is_normalised;
    gls_params_add_model(parameters, &used, !o->no_model);
    cJSON_AddBoolToObject(parameters, "force", o->force);
    gls_series_model_describe(root, &run->model);
    describe_output(root, run);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    gls_json_double(seconds, "read", run->from.seconds_read);
    gls_json_double(seconds, "fit", run->seconds_fit);
    gls_json_double(seconds, "total", gls_clock_seconds() - run->from.run.begun);
    return root;
}

/* Writes all outputs with the sidecar, or none, and logs what was written. */
static gls_status write_output(fit_run *run)
{
    const bool force = run->options->force;
    gls_output_group *group = &run->from.run.group;
    const gls_tissues *tissues = &run->model.tissues;
    gls_status status = GLS_OK;
    gls_monitor_begin(run->from.monitor, GLS_PHASE_WRITE);
    /* images first, then texts; a signal ends the run between two images */
    for (int i = 0; i < N_IMAGES && !status; i++) {
        if (!run->output[i]) continue;
        const bool mask = i == OUT_MASK, vectors = i >= OUT_MD + GLS_TENSOR_V1 && i <= OUT_V3;
        const gls_image *image = mask ? run->from.mask : run->image[i];
        status = vectors ? gls_image_write_values(run->output[i], force, group, &image->grid, GLS_ALONG_VOXELS,
                                                  image->n_volumes, GLS_TYPE_FLOAT32, image->data)
                         : gls_image_write_grouped(run->output[i], force, group, image,
                                                   mask ? GLS_IMAGE_UINT8 : GLS_IMAGE_FLOAT32);
        if (!status && gls_monitor_cancelled(run->from.monitor, GLS_PHASE_WRITE))
            status = gls_fail(GLS_ERR_CANCELLED, "interrupted");
    }
    if (!status && run->output[OUT_RESPONSE])
        status = gls_response_write_grouped(run->output[OUT_RESPONSE], force, group, &run->model.response);
    for (size_t i = 0; i < tissues->n && !status; i++)
        status = gls_tissue_response_write_grouped(run->output[OUT_RESPONSE_WM + tissues->kind[i]], force, group,
                                                   tissues->response[i]);
    if (!status) status = gls_series_run_commit(&run->from, make_sidecar(run));
    gls_monitor_end(run->from.monitor, GLS_PHASE_WRITE);
    if (status) return status;
    gls_run_log_outputs(&run->from.run);
    if (!run->options->no_model)
        gls_log(GLS_LOG_INFO, "SH           order %d, %s basis, %s axes", run->model.order,
                gls_basis_name(run->options->model.sh_basis),
                gls_odf_frame_name(gls_model_frame(&run->options->model)));
    gls_log(GLS_LOG_INFO, "time         fit %s", GLS_DURATION(run->seconds_fit));
    return GLS_OK;
}

gls_status gls_fit_files(const gls_fit_options *o, const gls_monitor *monitor)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o);
    GLS_REQUIRE(o->dwi && o->prefix && !o->bval == !o->bvec);
    gls_status status = gls_model_options_check(&o->model);
    if (status) return status;
    fit_run run = {.options = o, .from.monitor = monitor};
    status = name_input(&run);
    if (!status) status = read_input(&run);
    if (!status) status = fit(&run);
    if (!status) status = write_output(&run);
    gls_series_model_finish(&run.model);
    for (int i = 0; i < OUT_MASK; i++) gls_image_destroy(run.image[i]);
    gls_series_run_end(&run.from);
    return status;
}
