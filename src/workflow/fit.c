/* Fits for other programs: diffusion data in, FA, tensor, ODFs and response out. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/response_parts.h"
#include "image/formats.h"
#include "util/clock.h"
#include "util/numbers.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/output_file.h"
#include "workflow/json.h"
#include "workflow/model.h"
#include "workflow/output.h"
#include "workflow/params.h"
#include "workflow/sidecar.h"

enum { FILE_DWI, FILE_BVAL, FILE_BVEC, FILE_MASK, FILE_RESPONSE, FILE_WM, FILE_GM, FILE_CSF, FILE_DIRECTIONS, N_FILES };
enum { OUT_FA, OUT_TENSOR, OUT_SH, OUT_WM, OUT_GM, OUT_CSF, OUT_VF, OUT_MASK, N_IMAGES };
enum { OUT_RESPONSE = N_IMAGES, OUT_RESPONSE_WM, OUT_RESPONSE_GM, OUT_RESPONSE_CSF, OUT_JSON, N_OUTPUTS };

static const struct {
    const char *suffix, *key;
} outputs[N_OUTPUTS] = {
    [OUT_FA] = {"_fa.nii.gz", "fa"},
    [OUT_TENSOR] = {"_tensor.nii.gz", "tensor"},
    [OUT_SH] = {"_sh.nii.gz", "sh"},
    [OUT_WM] = {"_wm.nii.gz", "wm"},
    [OUT_GM] = {"_gm.nii.gz", "gm"},
    [OUT_CSF] = {"_csf.nii.gz", "csf"},
    [OUT_VF] = {"_vf.nii.gz", "fractions"},
    [OUT_MASK] = {"_mask.nii.gz", "mask"},
    [OUT_RESPONSE] = {"_response.txt", "response"},
    [OUT_RESPONSE_WM] = {"_wm.txt", "response_wm"},
    [OUT_RESPONSE_GM] = {"_gm.txt", "response_gm"},
    [OUT_RESPONSE_CSF] = {"_csf.txt", "response_csf"},
    [OUT_JSON] = {".json", NULL},
};

typedef struct fit_run {
    const gls_fit_options *options;
    const gls_monitor *monitor;
    gls_input_file file[N_FILES];
    gls_inputs inputs;
    gls_series series;
    gls_image *image[N_IMAGES]; /* to write, NULL: not made; the mask wherever it comes from */
    gls_model model;
    char *bval, *bvec; /* found beside the series */
    uint64_t mask_voxels;
    char *output[N_OUTPUTS]; /* NULL: not written */
    double start, seconds_read, seconds_fit;
    gls_warnings warnings;
} fit_run;

gls_fit_options gls_fit_options_default(void)
{
    return (gls_fit_options){.size = sizeof(gls_fit_options), .model = gls_model_options_default(GLS_MODEL_CSD)};
}

/* Whether an output is of this run; which tissues there are is known once the table is read. */
static bool is_wanted(const fit_run *run, int output)
{
    gls_model_kind kind = run->model.kind;
    switch (output) {
    case OUT_SH: return kind != GLS_MODEL_MSMT;
    case OUT_RESPONSE: return kind == GLS_MODEL_CSD;
    case OUT_MASK: return !run->options->mask;
    case OUT_VF: return kind == GLS_MODEL_MSMT;
    default: break;
    }
    bool image = output >= OUT_WM && output <= OUT_CSF,
         response = output >= OUT_RESPONSE_WM && output <= OUT_RESPONSE_CSF;
    if (!image && !response) return true;
    const gls_tissues *tissues = &run->model.tissues;
    int of = output - (image ? OUT_WM : OUT_RESPONSE_WM);
    for (size_t i = 0; i < tissues->n; i++)
        if (tissues->kind[i] == of) return true;
    return false;
}

static gls_status set_output(fit_run *run)
{
    for (int i = 0; i < N_OUTPUTS; i++) {
        if (!is_wanted(run, i)) continue;
        if (asprintf(&run->output[i], "%s%s", run->options->prefix, outputs[i].suffix) < 0) {
            run->output[i] = NULL;
            return gls_fail(GLS_ERR_MEMORY, "out of memory");
        }
        const char *const *others = (const char *const *)run->output;
        gls_status status = (i == OUT_JSON ? gls_sidecar_check_named : gls_place_check)(
            run->output[i], run->options->force, &run->inputs, others, (size_t)i);
        if (status) return status;
    }
    return GLS_OK;
}

static gls_status name_input(fit_run *run)
{
    const gls_fit_options *o = run->options;
    gls_status status = o->bval ? GLS_OK : gls_series_find_table(o->dwi, &run->bval, &run->bvec);
    const gls_input_file files[N_FILES] = {
        [FILE_DWI] = {.role = "dwi", .path = o->dwi},
        [FILE_BVAL] = {.role = "bval", .path = gls_table_path(o->bval ? o->bval : run->bval)},
        [FILE_BVEC] = {.role = "bvec", .path = gls_table_path(o->bval ? o->bvec : run->bvec)},
        [FILE_MASK] = {.role = "mask", .path = o->mask},
        [FILE_RESPONSE] = {.role = "response", .path = o->model.response},
        [FILE_WM] = {.role = "response_wm", .path = o->model.response_wm},
        [FILE_GM] = {.role = "response_gm", .path = o->model.response_gm},
        [FILE_CSF] = {.role = "response_csf", .path = o->model.response_csf},
        [FILE_DIRECTIONS] = {.role = "csd_directions", .path = gls_csd_directions_file(&o->model)},
    };
    memcpy(run->file, files, sizeof files);
    for (int i = 0; i < N_FILES && !status; i++)
        status = gls_input_file_check(&run->file[i], i == FILE_DIRECTIONS ? GLS_DIRECTIONS_HINT : NULL);
    for (int i = 0; i < N_FILES && !status; i++) status = gls_inputs_add(&run->inputs, run->file[i].path);
    return status;
}

/* The model is chosen by the table, the names of outputs by the model, and only then comes what takes long. */
static gls_status read_input(fit_run *run)
{
    const gls_fit_options *o = run->options;
    gls_image **mask = &run->image[OUT_MASK];
    gls_status status = gls_series_read(&run->series, run->file, &o->model);
    if (status) return status;
    status = gls_series_log_shells(&run->series);
    if (!status) status = gls_series_model_init(&run->model, &o->model, &run->series);
    if (!status) status = set_output(run);
    if (!status)
        status = o->mask ? gls_image_read_on_grid(&run->series.dwi->grid, o->dwi, o->mask, mask)
                         : gls_series_make_mask(&run->series, mask);
    if (!status)
        status = gls_image_count_voxels(*mask, o->mask ? o->mask : "the mask made from the series", "mask",
                                        &run->mask_voxels);
    if (!status) status = gls_series_check(&run->series, *mask);
    for (int i = 0; i < N_FILES && !status; i++) status = gls_input_file_hash(&run->file[i]);
    run->seconds_read = gls_clock_seconds() - run->start;
    return status;
}

/* Coefficients in the basis and along the axes asked for. */
static gls_status convert(const fit_run *run, const gls_image *sh, gls_image **to)
{
    const gls_model_options *o = &run->options->model;
    return gls_odf_convert_sh(sh, "the fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, o->sh_basis,
                              gls_model_frame(o), to);
}

static gls_status fit(fit_run *run)
{
    double start = gls_clock_seconds();
    gls_image **image = run->image;
    const gls_image *mask = image[OUT_MASK];
    const gls_tissues *tissues = &run->model.tissues;
    gls_status status = gls_series_model_prepare(&run->model, mask);
    if (!status)
        status = gls_tensor_fit(run->series.dwi, run->series.gradients, mask, NULL, &image[OUT_FA], &image[OUT_TENSOR],
                                NULL);
    if (!status) status = gls_series_model_fit(&run->model, mask, NULL, run->monitor);
    if (!status && run->model.kind != GLS_MODEL_MSMT) status = convert(run, run->model.sh, &image[OUT_SH]);
    for (size_t i = 0; i < tissues->n && !status; i++)
        status = convert(run, tissues->image[i], &image[OUT_WM + tissues->kind[i]]);
    if (!status && run->model.kind == GLS_MODEL_MSMT) status = gls_tissues_fractions(tissues, &image[OUT_VF]);
    run->seconds_fit = gls_clock_seconds() - start;
    return status;
}

static void describe_output(cJSON *root, const fit_run *run)
{
    const gls_model_options *o = &run->options->model;
    cJSON *sh = cJSON_AddObjectToObject(root, "sh");
    cJSON_AddStringToObject(sh, "basis", gls_basis_name(o->sh_basis));
    cJSON_AddStringToObject(sh, "frame", gls_odf_frame_name(gls_model_frame(o)));
    gls_json_uint(sh, "coefficients", gls_sh_count(run->model.order));
    cJSON *tensor = cJSON_AddObjectToObject(root, "tensor");
    cJSON_AddStringToObject(tensor, "volumes", "Dxx Dxy Dyy Dxz Dyz Dzz");
    cJSON_AddStringToObject(tensor, "unit", "mm2/s");
    cJSON_AddStringToObject(tensor, "frame", gls_odf_frame_name(GLS_BVEC_IMAGE));
    cJSON *list = cJSON_AddObjectToObject(root, "outputs");
    for (int i = 0; i < N_OUTPUTS; i++)
        if (outputs[i].key && run->output[i]) cJSON_AddStringToObject(list, outputs[i].key, run->output[i]);
}

static char *sidecar_text(const fit_run *run)
{
    const gls_fit_options *o = run->options;
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    cJSON_AddStringToObject(root, "Description", "Orientation model fitted by glslines");
    gls_sidecar_add_software(root, o->argc, o->argv);
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < N_FILES; i++) gls_sidecar_add_file(inputs, &run->file[i]);
    gls_sidecar_add_grid(root, &run->series.dwi->grid);
    gls_sidecar_add_gradients(root, &run->series);
    gls_json_uint(cJSON_AddObjectToObject(root, "voxels"), "mask", run->mask_voxels);
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    gls_model_options settled = o->model;
    settled.model = run->model.kind;
    settled.sh_order = run->model.order;
    gls_params_add_model(parameters, &settled);
    cJSON_AddBoolToObject(parameters, "force", o->force);
    gls_series_model_describe(root, &run->model);
    describe_output(root, run);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    gls_json_double(seconds, "read", run->seconds_read);
    gls_json_double(seconds, "fit", run->seconds_fit);
    gls_json_double(seconds, "total", gls_clock_seconds() - run->start);
    gls_sidecar_add_warnings(root, &run->warnings);
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}

static gls_status write_all(const fit_run *run, gls_output_group *group)
{
    const bool force = run->options->force;
    const gls_tissues *tissues = &run->model.tissues;
    gls_status status = GLS_OK;
    for (int i = 0; i < N_IMAGES && !status; i++) {
        if (!run->output[i]) continue;
        status = gls_image_write_grouped(run->output[i], force, group, run->image[i],
                                         i == OUT_MASK ? GLS_IMAGE_UINT8 : GLS_IMAGE_FLOAT32);
        if (status) return status;
        if (gls_monitor_cancelled(run->monitor, GLS_PHASE_WRITE)) return gls_fail(GLS_ERR_CANCELLED, "interrupted");
    }
    if (run->output[OUT_RESPONSE])
        status = gls_response_write_grouped(run->output[OUT_RESPONSE], force, group, &run->model.response);
    for (size_t i = 0; i < tissues->n && !status; i++)
        status = gls_tissue_response_write_grouped(run->output[OUT_RESPONSE_WM + tissues->kind[i]], force, group,
                                                   tissues->response[i]);
    if (status) return status;
    char *text = sidecar_text(run);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    status = gls_sidecar_write(run->output[OUT_JSON], force, group, text);
    free(text);
    return status ? status : gls_output_group_commit(group);
}

static gls_status write_output(fit_run *run)
{
    gls_output_group group = {0};
    gls_monitor_begin(run->monitor, GLS_PHASE_WRITE);
    gls_status status = write_all(run, &group);
    gls_monitor_end(run->monitor, GLS_PHASE_WRITE);
    gls_output_group_discard(&group);
    if (status) return status;
    char text[32];
    for (int i = 0; i < N_OUTPUTS; i++)
        if (run->output[i]) gls_log(GLS_LOG_INFO, "output       %s", run->output[i]);
    gls_log(GLS_LOG_INFO, "SH           order %d, %s basis, %s axes", run->model.order,
            gls_basis_name(run->options->model.sh_basis), gls_odf_frame_name(gls_model_frame(&run->options->model)));
    gls_log(GLS_LOG_INFO, "time         fit %s", gls_format_duration(run->seconds_fit, text, sizeof text));
    return GLS_OK;
}

gls_status gls_fit_files(const gls_fit_options *o, const gls_monitor *monitor)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o);
    GLS_REQUIRE(o->dwi && o->prefix && !o->bval == !o->bvec);
    fit_run run = {.options = o, .monitor = monitor, .start = gls_clock_seconds()};
    gls_warnings_begin(&run.warnings);
    gls_status status = gls_model_options_check(&o->model);
    if (!status) status = name_input(&run);
    if (!status) status = read_input(&run);
    if (!status) status = fit(&run);
    if (!status) status = write_output(&run);
    gls_warnings_end(&run.warnings);
    gls_series_model_finish(&run.model);
    gls_series_finish(&run.series);
    for (int i = 0; i < N_IMAGES; i++) gls_image_destroy(run.image[i]);
    gls_inputs_finish(&run.inputs);
    free(run.bval);
    free(run.bvec);
    for (int i = 0; i < N_OUTPUTS; i++) free(run.output[i]);
    return status;
}
