/* glslines fit: diffusion data in, FA, tensor, ODFs and response out, for other programs. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/model.h"
#include "cmd/output.h"
#include "cmd/sidecar.h"
#include "cmd/sidecar_json.h"
#include "cmd/text.h"

typedef struct fit_options {
    cmd_common common;
    model_options model;
    bool force;
} fit_options;

enum { FILE_DWI, FILE_BVAL, FILE_BVEC, FILE_MASK, FILE_RESPONSE, N_FILES };
enum { OUT_FA, OUT_TENSOR, OUT_SH, OUT_RESPONSE, OUT_JSON, N_OUTPUTS };

static const char *const suffixes[N_OUTPUTS] = {"_fa.nii.gz", "_tensor.nii.gz", "_sh.nii.gz", "_response.txt", ".json"};

typedef struct fit_run {
    const cmd_command *command;
    const cmd_arguments *arguments;
    const fit_options *options;
    cmd_file file[N_FILES];
    cmd_series series;
    gls_image *mask, *fa, *tensor, *sh;
    cmd_model model;
    uint64_t mask_voxels;
    char *output[N_OUTPUTS]; /* NULL: not written */
    double start, seconds_read, seconds_fit;
} fit_run;

static const cmd_option table[] = {
    MODEL_GRADIENT_ENTRIES("Input", fit_options),
    MODEL_ENTRIES("Model", fit_options),
    MODEL_BASIS_ENTRIES("Output", fit_options, "that are written"),
    {.group = "Output",
     .name = "force",
     .type = CMD_FLAG,
     .offset = offsetof(fit_options, force),
     .help = "Overwrite existing files."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    model_options_default(&((fit_options *)values)->model, MODEL_CSD);
}

static int set_output(fit_run *run)
{
    for (int i = 0; i < N_OUTPUTS; i++) {
        if (i == OUT_RESPONSE && run->options->model.model != MODEL_CSD) continue;
        if (asprintf(&run->output[i], "%s%s", run->arguments->positional[4], suffixes[i]) < 0) {
            run->output[i] = NULL;
            return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
        }
        bool force = run->options->force;
        int code = i == OUT_JSON ? cmd_sidecar_check(run->output[i], (const char *const *)run->output, OUT_JSON, force)
                                 : cmd_output_check(run->output[i], force);
        if (code) return code;
    }
    return CMD_EXIT_OK;
}

static int read_input(fit_run *run)
{
    static const char *const roles[N_FILES] = {"dwi", "bval", "bvec", "mask", "response"};
    int code = CMD_EXIT_OK;
    for (int i = 0; i < N_FILES && !code; i++) {
        run->file[i] = (cmd_file){
            .role = roles[i], .path = i < FILE_RESPONSE ? run->arguments->positional[i] : run->options->model.response};
        code = cmd_file_check(&run->file[i], NULL);
    }
    if (!code) code = cmd_series_read(&run->series, run->file, &run->options->model);
    if (!code)
        code =
            cmd_read_on_grid(&run->series.dwi->grid, run->file[FILE_DWI].path, run->file[FILE_MASK].path, &run->mask);
    if (!code) code = cmd_count_voxels(run->mask, run->file[FILE_MASK].path, "mask", &run->mask_voxels);
    if (!code) code = cmd_series_check(&run->series, run->mask);
    if (code) return code;
    cmd_series_print_shells(&run->series);
    code = cmd_model_init(&run->model, &run->options->model, &run->series);
    run->seconds_read = cmd_clock() - run->start;
    return code;
}

static int fit(fit_run *run)
{
    static const char *const names[] = {[MODEL_OPDT] = "OPDT fit", [MODEL_CSA] = "CSA fit", [MODEL_CSD] = "CSD fit"};
    const model_options *o = &run->options->model;
    double start = cmd_clock();
    int code = cmd_model_prepare(&run->model, run->mask);
    if (code) return code;
    gls_status status =
        gls_tensor_fit(run->series.dwi, run->series.gradients, run->mask, NULL, &run->fa, &run->tensor, NULL);
    if (status) return cmd_error_status(status);
    code = cmd_model_fit(&run->model, run->mask, NULL);
    if (code) return code;
    status = gls_odf_convert_sh(run->model.sh, names[o->model], GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE,
                                (gls_sh_basis)o->sh_basis, model_options_frame(o), &run->sh);
    if (status) return cmd_error_status(status);
    run->seconds_fit = cmd_clock() - start;
    return CMD_EXIT_OK;
}

static char *sidecar_text(const fit_run *run)
{
    static const char *const rules[] = {[GLS_BVEC_FSL] = "fsl", [GLS_BVEC_IMAGE] = "image", [GLS_BVEC_WORLD] = "world"};
    static const char *const keys[N_OUTPUTS] = {"fa", "tensor", "sh", "response", NULL};
    const model_options *o = &run->options->model;
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    cJSON_AddStringToObject(root, "Description", "Orientation model fitted by glslines");
    sidecar_add_software(root, run->arguments);
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < N_FILES; i++) sidecar_add_file(inputs, &run->file[i]);
    sidecar_add_grid(root, &run->series.dwi->grid);
    sidecar_add_gradients(root, &run->series, rules[o->bvec_frame]);
    cJSON *voxels = cJSON_AddObjectToObject(root, "voxels");
    json_uint(voxels, "mask", run->mask_voxels);
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    sidecar_add_options(parameters, run->command, run->options);
    if (o->model == MODEL_CSD) {
        sidecar_drop_option(parameters, run->command, "sm-lambda");
        sidecar_drop_option(parameters, run->command, "min-signal");
    }
    cmd_model_describe(root, &run->model);
    cJSON *sh = cJSON_AddObjectToObject(root, "sh");
    cJSON_AddStringToObject(sh, "basis", model_basis_name((gls_sh_basis)o->sh_basis));
    cJSON_AddStringToObject(sh, "frame", gls_odf_frame_name(model_options_frame(o)));
    json_uint(sh, "coefficients", run->sh->n_volumes);
    cJSON *tensor = cJSON_AddObjectToObject(root, "tensor");
    cJSON_AddStringToObject(tensor, "volumes", "Dxx Dxy Dyy Dxz Dyz Dzz");
    cJSON_AddStringToObject(tensor, "unit", "mm2/s");
    cJSON_AddStringToObject(tensor, "frame", gls_odf_frame_name(GLS_BVEC_IMAGE));
    cJSON *outputs = cJSON_AddObjectToObject(root, "outputs");
    for (int i = 0; i < N_OUTPUTS; i++)
        if (keys[i] && run->output[i]) cJSON_AddStringToObject(outputs, keys[i], run->output[i]);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    json_double(seconds, "read", run->seconds_read);
    json_double(seconds, "fit", run->seconds_fit);
    json_double(seconds, "total", cmd_clock() - run->start);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

/* Everything or nothing: what was written is removed after a failure, unless it took the place of an older file. */
static int write_all(fit_run *run, int *n_written)
{
    const gls_image *images[] = {[OUT_FA] = run->fa, [OUT_TENSOR] = run->tensor, [OUT_SH] = run->sh};
    char error[1024];
    for (int i = OUT_FA; i <= OUT_SH; i++) {
        gls_status status = gls_image_write(run->output[i], images[i], GLS_IMAGE_FLOAT32);
        if (status) return cmd_error_status(status);
        *n_written = i + 1;
        if (cmd_interrupted()) return cmd_error(CMD_EXIT_INTERRUPTED, "interrupted");
    }
    if (run->output[OUT_RESPONSE]) {
        gls_status status = gls_response_write(run->output[OUT_RESPONSE], &run->model.response);
        if (status) return cmd_error_status(status);
    }
    *n_written = OUT_JSON;
    char *text = sidecar_text(run);
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    gls_status status = cmd_sidecar_write(run->output[OUT_JSON], text, error, sizeof error);
    free(text);
    return status ? cmd_error(cmd_exit_from_status(status), "%s", error) : CMD_EXIT_OK;
}

static int write_output(fit_run *run)
{
    int n_written = 0;
    cmd_interrupt_catch();
    int code = write_all(run, &n_written);
    cmd_interrupt_release();
    for (int i = 0; i < n_written && code && !run->options->force; i++)
        if (run->output[i]) remove(run->output[i]);
    if (code) return code;
    char text[32];
    for (int i = 0; i < N_OUTPUTS; i++)
        if (run->output[i]) cmd_info("output       %s", run->output[i]);
    cmd_info("SH           order %d, %s basis, %s axes", run->options->model.sh_order,
             model_basis_name((gls_sh_basis)run->options->model.sh_basis),
             gls_odf_frame_name(model_options_frame(&run->options->model)));
    cmd_info("time         fit %s", cmd_text_duration(run->seconds_fit, text, sizeof text));
    return CMD_EXIT_OK;
}

static int run_fit(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    fit_run run = {.command = command, .arguments = arguments, .options = values, .start = cmd_clock()};
    int n = arguments->n_positionals;
    if (n != 5)
        return cmd_error(CMD_EXIT_USAGE, "fit: takes DWI BVAL BVEC MASK PREFIX, got %d argument%s", n,
                         n == 1 ? "" : "s");
    int code = model_options_check(command, &run.options->model, arguments);
    if (!code) code = set_output(&run);
    if (!code) code = read_input(&run);
    if (!code) code = fit(&run);
    if (!code) code = write_output(&run);
    cmd_model_finish(&run.model);
    cmd_series_finish(&run.series);
    gls_image *images[] = {run.mask, run.fa, run.tensor, run.sh};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) gls_image_destroy(images[i]);
    for (int i = 0; i < N_OUTPUTS; i++) free(run.output[i]);
    return code;
}

static const char *const positionals[] = {
    "DWI",    "Diffusion series, NIfTI (.nii, .nii.gz), 4D.",
    "BVAL",   "Text file of b-values in s/mm2, a row or a column.",
    "BVEC",   "Text file of gradient directions, three rows or three columns.",
    "MASK",   "Voxels > 0 are fitted.",
    "PREFIX", "Of the files to write.",
    NULL,
};

static const char *const examples[] = {
    "Fibre orientation distributions of order 8 for MRtrix3:",
    "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01 --sh-order 8",
    "Track them, with the stop map of the same fit:",
    "glslines track --sh sub01_sh.nii.gz --fa sub01_fa.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg prob",
    "The OPDT for DIPY:",
    "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01 --model opdt --sh-basis descoteaux07_legacy",
    NULL,
};

const cmd_command cmd_fit = {
    .name = "fit",
    .synopsis = "DWI BVAL BVEC MASK PREFIX [options]",
    .summary = "Fit tensor and orientation model, write them as NIfTI for other programs",
    .description = "Writes PREFIX_fa.nii.gz, PREFIX_tensor.nii.gz (Dxx Dxy Dyy Dxz Dyz Dzz in mm2/s along the voxel "
                   "axes), PREFIX_sh.nii.gz (spherical "
                   "harmonics of the model), with csd PREFIX_response.txt, and PREFIX.json with all parameters. The "
                   "defaults of basis and axes are those of "
                   "MRtrix3.",
    .positionals = positionals,
    .max_positionals = 5,
    .options = table,
    .examples = examples,
    .values_size = sizeof(fit_options),
    .set_defaults = set_defaults,
    .run = run_fit,
};
