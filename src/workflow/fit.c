/* Fits for other programs: diffusion data in, FA, tensor, ODFs and response out. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/response_file.h"
#include "image/nifti.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/log.h"
#include "util/output.h"
#include "util/status.h"
#include "workflow/json.h"
#include "workflow/model.h"
#include "workflow/output.h"
#include "workflow/params.h"
#include "workflow/sidecar.h"

enum { FILE_DWI, FILE_BVAL, FILE_BVEC, FILE_MASK, FILE_RESPONSE, FILE_DIRECTIONS, N_FILES };
enum { OUT_FA, OUT_TENSOR, OUT_SH, OUT_RESPONSE, OUT_JSON, N_OUTPUTS };

static const char *const suffixes[N_OUTPUTS] = {"_fa.nii.gz", "_tensor.nii.gz", "_sh.nii.gz", "_response.txt", ".json"};

typedef struct fit_run {
    const gls_fit_options *options;
    const gls_monitor *monitor;
    gls_input_file file[N_FILES];
    gls_series series;
    gls_image *mask, *fa, *tensor, *sh;
    gls_model model;
    uint64_t mask_voxels;
    char *output[N_OUTPUTS]; /* NULL: not written */
    double start, seconds_read, seconds_fit;
} fit_run;

gls_fit_options gls_fit_options_default(void)
{
    return (gls_fit_options){.size = sizeof(gls_fit_options), .model = gls_model_options_default(GLS_MODEL_CSD)};
}

static gls_status set_output(fit_run *run)
{
    const gls_fit_options *o = run->options;
    const char *inputs[] = {o->dwi,  gls_table_path(o->bval), gls_table_path(o->bvec),
                            o->mask, o->model.response,       gls_csd_directions_file(&o->model)};
    bool force = o->force;
    for (int i = 0; i < N_OUTPUTS; i++) {
        if (i == OUT_RESPONSE && run->options->model.model != GLS_MODEL_CSD) continue;
        if (asprintf(&run->output[i], "%s%s", run->options->prefix, suffixes[i]) < 0) {
            run->output[i] = NULL;
            return gls_fail(GLS_ERR_MEMORY, "out of memory");
        }
        const char *const *others = (const char *const *)run->output;
        gls_status status = (i == OUT_JSON ? gls_sidecar_check : gls_place_check)(
            run->output[i], force, inputs, sizeof inputs / sizeof *inputs, others, (size_t)i);
        if (status) return status;
    }
    return GLS_OK;
}

static gls_status read_input(fit_run *run)
{
    const gls_fit_options *o = run->options;
    const gls_input_file files[N_FILES] = {
        {.role = "dwi", .path = o->dwi},
        {.role = "bval", .path = gls_table_path(o->bval)},
        {.role = "bvec", .path = gls_table_path(o->bvec)},
        {.role = "mask", .path = o->mask},
        {.role = "response", .path = o->model.response},
        {.role = "csd_directions", .path = gls_csd_directions_file(&o->model)},
    };
    gls_status status = GLS_OK;
    memcpy(run->file, files, sizeof files);
    for (int i = 0; i < N_FILES && !status; i++)
        status = gls_input_file_check(&run->file[i], i == FILE_DIRECTIONS ? GLS_DIRECTIONS_HINT : NULL);
    if (!status) status = gls_series_read(&run->series, run->file, &o->model);
    if (!status) status = gls_image_read_on_grid(&run->series.dwi->grid, o->dwi, o->mask, &run->mask);
    if (!status) status = gls_image_count_voxels(run->mask, o->mask, "mask", &run->mask_voxels);
    if (!status) status = gls_series_check(&run->series, run->mask);
    if (status) return status;
    status = gls_series_log_shells(&run->series);
    if (!status) status = gls_series_model_init(&run->model, &o->model, &run->series);
    for (int i = 0; i < N_FILES && !status; i++) status = gls_input_file_hash(&run->file[i]);
    run->seconds_read = gls_clock_seconds() - run->start;
    return status;
}

static gls_status fit(fit_run *run)
{
    static const char *const names[] = {
        [GLS_MODEL_OPDT] = "OPDT fit", [GLS_MODEL_CSA] = "CSA fit", [GLS_MODEL_CSD] = "CSD fit"};
    const gls_model_options *o = &run->options->model;
    double start = gls_clock_seconds();
    gls_status status = gls_series_model_prepare(&run->model, run->mask);
    if (!status)
        status = gls_tensor_fit(run->series.dwi, run->series.gradients, run->mask, NULL, &run->fa, &run->tensor, NULL);
    if (!status) status = gls_series_model_fit(&run->model, run->mask, NULL, run->monitor);
    if (!status)
        status = gls_odf_convert_sh(run->model.sh, names[o->model], GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE,
                                    o->sh_basis, gls_model_frame(o), &run->sh);
    run->seconds_fit = gls_clock_seconds() - start;
    return status;
}

static void describe_output(cJSON *root, const fit_run *run)
{
    static const char *const keys[N_OUTPUTS] = {"fa", "tensor", "sh", "response", NULL};
    const gls_model_options *o = &run->options->model;
    cJSON *sh = cJSON_AddObjectToObject(root, "sh");
    cJSON_AddStringToObject(sh, "basis", gls_basis_name(o->sh_basis));
    cJSON_AddStringToObject(sh, "frame", gls_odf_frame_name(gls_model_frame(o)));
    gls_json_uint(sh, "coefficients", run->sh->n_volumes);
    cJSON *tensor = cJSON_AddObjectToObject(root, "tensor");
    cJSON_AddStringToObject(tensor, "volumes", "Dxx Dxy Dyy Dxz Dyz Dzz");
    cJSON_AddStringToObject(tensor, "unit", "mm2/s");
    cJSON_AddStringToObject(tensor, "frame", gls_odf_frame_name(GLS_BVEC_IMAGE));
    cJSON *outputs = cJSON_AddObjectToObject(root, "outputs");
    for (int i = 0; i < N_OUTPUTS; i++)
        if (keys[i] && run->output[i]) cJSON_AddStringToObject(outputs, keys[i], run->output[i]);
}

static char *sidecar_text(const fit_run *run)
{
    static const char *const rules[] = {[GLS_BVEC_FSL] = "fsl", [GLS_BVEC_IMAGE] = "image", [GLS_BVEC_WORLD] = "world"};
    const gls_fit_options *o = run->options;
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    cJSON_AddStringToObject(root, "Description", "Orientation model fitted by glslines");
    gls_sidecar_add_software(root, o->argc, o->argv);
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < N_FILES; i++) gls_sidecar_add_file(inputs, &run->file[i]);
    gls_sidecar_add_grid(root, &run->series.dwi->grid);
    gls_sidecar_add_gradients(root, &run->series, rules[o->model.bvec_frame]);
    gls_json_uint(cJSON_AddObjectToObject(root, "voxels"), "mask", run->mask_voxels);
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    gls_params_add_model(parameters, &o->model);
    cJSON_AddBoolToObject(parameters, "force", o->force);
    gls_series_model_describe(root, &run->model);
    describe_output(root, run);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    gls_json_double(seconds, "read", run->seconds_read);
    gls_json_double(seconds, "fit", run->seconds_fit);
    gls_json_double(seconds, "total", gls_clock_seconds() - run->start);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

static gls_status write_all(const fit_run *run, gls_output_group *group)
{
    const bool force = run->options->force;
    const gls_image *images[] = {[OUT_FA] = run->fa, [OUT_TENSOR] = run->tensor, [OUT_SH] = run->sh};
    gls_status status = GLS_OK;
    for (int i = OUT_FA; i <= OUT_SH && !status; i++) {
        status = gls_image_write_grouped(run->output[i], force, group, images[i], GLS_IMAGE_FLOAT32);
        if (status) return status;
        if (gls_monitor_cancelled(run->monitor, GLS_PHASE_WRITE)) return gls_fail(GLS_ERR_CANCELLED, "interrupted");
    }
    if (run->output[OUT_RESPONSE])
        status = gls_response_write_grouped(run->output[OUT_RESPONSE], force, group, &run->model.response);
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
    gls_log(GLS_LOG_INFO, "SH           order %d, %s basis, %s axes", run->options->model.sh_order,
            gls_basis_name(run->options->model.sh_basis), gls_odf_frame_name(gls_model_frame(&run->options->model)));
    gls_log(GLS_LOG_INFO, "time         fit %s", gls_format_duration(run->seconds_fit, text, sizeof text));
    return GLS_OK;
}

gls_status gls_fit_files(const gls_fit_options *o, const gls_monitor *monitor)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o);
    GLS_REQUIRE(o->dwi && o->bval && o->bvec && o->mask && o->prefix);
    fit_run run = {.options = o, .monitor = monitor, .start = gls_clock_seconds()};
    gls_status status = gls_model_options_check(&o->model);
    if (!status) status = set_output(&run);
    if (!status) status = read_input(&run);
    if (!status) status = fit(&run);
    if (!status) status = write_output(&run);
    gls_series_model_finish(&run.model);
    gls_series_finish(&run.series);
    gls_image *images[] = {run.mask, run.fa, run.tensor, run.sh};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) gls_image_destroy(images[i]);
    for (int i = 0; i < N_OUTPUTS; i++) free(run.output[i]);
    return status;
}
