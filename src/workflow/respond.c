/* Responses of tissues, or of one shell, from a series to text files. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/responses.h>

#include "dwi/response_parts.h"
#include "image/formats.h"
#include "util/clock.h"
#include "util/numbers.h"
#include "util/json_text.h"
#include "util/status.h"
#include "workflow/json.h"
#include "workflow/model.h"
#include "workflow/output.h"
#include "workflow/params.h"
#include "workflow/sidecar.h"

enum { FILE_DWI, FILE_BVAL, FILE_BVEC, FILE_MASK, FILE_DIRECTIONS, FILE_ACT, N_FILES };
enum { OUT_VOXELS = GLS_N_TISSUES, OUT_MASK, OUT_JSON, N_OUTPUTS }; /* after the responses */

typedef struct respond_run {
    const gls_respond_options *options;
    const gls_monitor *monitor;
    gls_input_file file[N_FILES];
    gls_inputs inputs;
    char *bval, *bvec; /* found beside the series */
    gls_series series;
    gls_model model; /* volumes and directions, as of msmt */
    gls_image *mask, *voxels;
    double (*direction)[3]; /* of tournier's constraint */
    size_t n_directions;
    size_t n; /* responses */
    gls_tissue_response *response[GLS_N_TISSUES];
    char *output[N_OUTPUTS]; /* NULL: not written */
    double start, seconds;
    gls_warnings warnings;
} respond_run;

gls_respond_options gls_respond_options_default(void)
{
    gls_responses_options o = gls_responses_options_default();
    return (gls_respond_options){.size = sizeof(gls_respond_options),
                                 .model = gls_model_options_default(GLS_MODEL_MSMT),
                                 .erode = o.erode,
                                 .pvf = o.pvf,
                                 .n_voxels = o.n_voxels,
                                 .fa_threshold = o.fa_threshold,
                                 .wm_percent = o.wm_percent,
                                 .gm_percent = o.gm_percent,
                                 .csf_percent = o.csf_percent};
}

static bool of_tissues(const gls_respond_options *o)
{
    return o->algorithm == GLS_RESPONSE_DHOLLANDER || o->algorithm == GLS_RESPONSE_MSMT_5TT;
}

static gls_status name_input(respond_run *run)
{
    const gls_respond_options *o = run->options;
    gls_status status = o->bval ? GLS_OK : gls_series_find_table(o->dwi, &run->bval, &run->bvec);
    const gls_input_file files[N_FILES] = {
        [FILE_DWI] = {.role = "dwi", .path = o->dwi},
        [FILE_BVAL] = {.role = "bval", .path = gls_table_path(o->bval ? o->bval : run->bval)},
        [FILE_BVEC] = {.role = "bvec", .path = gls_table_path(o->bval ? o->bvec : run->bvec)},
        [FILE_MASK] = {.role = "mask", .path = o->mask},
        [FILE_DIRECTIONS] = {.role = "csd_directions", .path = gls_csd_directions_file(&o->model)},
        [FILE_ACT] = {.role = "act", .path = o->act},
    };
    memcpy(run->file, files, sizeof files);
    for (int i = 0; i < N_FILES && !status; i++)
        status = gls_input_file_check(&run->file[i], i == FILE_DIRECTIONS ? GLS_DIRECTIONS_HINT : NULL);
    for (int i = 0; i < N_FILES && !status; i++) status = gls_inputs_add(&run->inputs, run->file[i].path);
    return status;
}

static gls_status name_output(respond_run *run)
{
    static const char *const suffixes[N_OUTPUTS] = {
        [GLS_WM] = "_wm.txt",        [GLS_GM] = "_gm.txt", [GLS_CSF] = "_csf.txt", [OUT_VOXELS] = "_voxels.nii.gz",
        [OUT_MASK] = "_mask.nii.gz", [OUT_JSON] = ".json"};
    const gls_respond_options *o = run->options;
    bool tissues = of_tissues(o);
    run->n = tissues ? GLS_N_TISSUES : 1;
    for (int i = 0; i < N_OUTPUTS; i++) {
        if ((i > GLS_WM && i < GLS_N_TISSUES && !tissues) || (i == OUT_MASK && o->mask)) continue;
        if (asprintf(&run->output[i], "%s%s", o->prefix, i == GLS_WM && !tissues ? "_response.txt" : suffixes[i]) < 0) {
            run->output[i] = NULL;
            return gls_fail(GLS_ERR_MEMORY, "out of memory");
        }
        gls_status status = (i == OUT_JSON ? gls_sidecar_check_named : gls_place_check)(
            run->output[i], o->force, &run->inputs, (const char *const *)run->output, (size_t)i);
        if (status) return status;
    }
    return GLS_OK;
}

static gls_status read_input(respond_run *run)
{
    const gls_respond_options *o = run->options;
    uint64_t voxels;
    gls_status status = gls_series_read(&run->series, run->file, &o->model);
    if (status) return status;
    status = gls_series_log_shells(&run->series);
    if (!status)
        status = o->mask ? gls_image_read_on_grid(&run->series.dwi->grid, o->dwi, o->mask, &run->mask)
                         : gls_series_make_mask(&run->series, &run->mask);
    if (!status)
        status =
            gls_image_count_voxels(run->mask, o->mask ? o->mask : "the mask made from the series", "mask", &voxels);
    if (!status) status = gls_series_check(&run->series, run->mask);
    if (!status && (o->algorithm == GLS_RESPONSE_TOURNIER || o->algorithm == GLS_RESPONSE_FA) && o->model.shells.n > 1)
        status =
            gls_fail(GLS_ERR_ARGUMENT, "--shells: got %d b-values; this response is of one shell", o->model.shells.n);
    for (int i = 0; i < N_FILES && !status; i++) status = gls_input_file_hash(&run->file[i]);
    return status;
}

/* The constraint's, as given for tournier; the other algorithms take those of the model. */
static gls_status read_directions(respond_run *run)
{
    const char *name = run->options->model.csd_directions;
    if (!name) return GLS_OK;
    if (!gls_sphere_is_built_in(name)) return gls_csd_directions_read(name, &run->direction, &run->n_directions);
    gls_sphere *sphere = NULL;
    gls_status status = gls_sphere_create(name, &sphere);
    if (status) return status;
    run->direction = malloc(sphere->n * sizeof *run->direction);
    if (run->direction) memcpy(run->direction, sphere->vertex, sphere->n * sizeof *run->direction);
    run->n_directions = sphere->n;
    gls_sphere_destroy(sphere);
    return run->direction ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the directions of %s", name);
}

static gls_status run_algorithm(respond_run *run, const gls_responses_options *options)
{
    const gls_respond_options *o = run->options;
    const gls_image *dwi = run->series.dwi;
    const gls_gradients *gradients = run->series.gradients;
    gls_image *five = NULL;
    gls_status status;
    switch (o->algorithm) {
    case GLS_RESPONSE_DHOLLANDER:
        return gls_responses_dhollander(gls_series_model_dwi(&run->model), gls_series_model_gradients(&run->model),
                                        run->mask, options, run->response, &run->voxels);
    case GLS_RESPONSE_MANUAL:
        return gls_responses_manual(gls_series_model_dwi(&run->model), gls_series_model_gradients(&run->model),
                                    run->mask, options, run->response, &run->voxels);
    case GLS_RESPONSE_MSMT_5TT:
        status = gls_image_read(o->act, GLS_IMAGE_ANY, &five);
        if (!status)
            status = gls_responses_msmt_5tt(gls_series_model_dwi(&run->model), gls_series_model_gradients(&run->model),
                                            run->mask, five, o->act, options, run->response, &run->voxels);
        gls_image_destroy(five);
        return status;
    case GLS_RESPONSE_FA: return gls_responses_fa(dwi, gradients, run->mask, options, run->response, &run->voxels);
    default: return gls_responses_tournier(dwi, gradients, run->mask, options, run->response, &run->voxels);
    }
}

static gls_status estimate(respond_run *run)
{
    const gls_respond_options *o = run->options;
    double start = gls_clock_seconds();
    gls_responses_options options = gls_responses_options_default();
    options.erode = o->erode;
    options.fa_threshold = o->fa_threshold;
    options.wm_percent = o->wm_percent;
    options.gm_percent = o->gm_percent;
    options.csf_percent = o->csf_percent;
    options.n_voxels = o->n_voxels;
    options.pvf = o->pvf;
    options.wm = o->wm;
    const bool all_shells = of_tissues(o) || o->algorithm == GLS_RESPONSE_MANUAL;
    gls_status status = GLS_OK;
    run->model.series = &run->series;
    if (of_tissues(o) || (all_shells && o->model.shells.n))
        status = gls_series_model_init(&run->model, &o->model, &run->series);
    if (!status && all_shells) status = gls_series_model_subset(&run->model);
    if (!status && o->algorithm == GLS_RESPONSE_TOURNIER) status = read_directions(run);
    options.direction = (const double(*)[3])(run->direction ? run->direction : run->model.direction);
    options.n_directions = run->direction ? run->n_directions : run->model.n_directions;
    options.bval = !all_shells && o->model.shells.n ? o->model.shells.value[0] : 0;
    if (!status) status = gls_series_fail(&run->series, run_algorithm(run, &options));
    run->seconds = gls_clock_seconds() - start;
    return status;
}

static char *sidecar_text(const respond_run *run)
{
    static const char *const algorithms[] = {"dhollander", "tournier", "fa", "manual", "msmt_5tt"};
    const gls_respond_options *o = run->options;
    bool tissues = of_tissues(o);
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    cJSON_AddStringToObject(root, "Description", "Response functions estimated by glslines");
    gls_sidecar_add_software(root, o->argc, o->argv);
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < N_FILES; i++) gls_sidecar_add_file(inputs, &run->file[i]);
    gls_sidecar_add_grid(root, &run->series.dwi->grid);
    gls_sidecar_add_gradients(root, &run->series);
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    cJSON_AddStringToObject(parameters, "algorithm", algorithms[o->algorithm]);
    const bool dhollander = o->algorithm == GLS_RESPONSE_DHOLLANDER, five = o->algorithm == GLS_RESPONSE_MSMT_5TT;
    if (dhollander || o->algorithm == GLS_RESPONSE_FA) gls_json_uint(parameters, "erode", (uint64_t)o->erode);
    if (tissues || o->n_voxels == 0) gls_json_double(parameters, "fa_threshold", o->fa_threshold);
    if (dhollander) {
        gls_json_double(parameters, "wm_percent", o->wm_percent);
        gls_json_double(parameters, "gm_percent", o->gm_percent);
        gls_json_double(parameters, "csf_percent", o->csf_percent);
    } else if (o->algorithm != GLS_RESPONSE_MANUAL && o->n_voxels > 0) {
        gls_json_uint(parameters, "voxels", o->n_voxels);
    }
    cJSON *shells = cJSON_AddArrayToObject(parameters, "shells_s_per_mm2");
    for (int i = 0; i < o->model.shells.n; i++) gls_json_append_double(shells, o->model.shells.value[i]);
    if (o->model.csd_directions) cJSON_AddStringToObject(parameters, "csd_directions", o->model.csd_directions);
    if (five) {
        gls_json_double(parameters, "pvf", o->pvf);
        cJSON_AddStringToObject(parameters, "wm_algorithm", o->wm == GLS_SINGLE_FIBRES_FA ? "fa" : "tournier");
    }
    cJSON *responses = cJSON_AddObjectToObject(root, "responses");
    for (size_t i = 0; i < run->n; i++) {
        cJSON *object = cJSON_AddObjectToObject(responses, tissues ? gls_tissue_name((int)i) : "response");
        cJSON_AddStringToObject(object, "path", run->output[i]);
        gls_json_uint(object, "voxels", run->response[i]->n_voxels);
    }
    gls_json_double(cJSON_AddObjectToObject(root, "seconds"), "estimate", run->seconds);
    gls_sidecar_add_warnings(root, &run->warnings);
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}

static gls_status write_all(const respond_run *run, gls_output_group *group)
{
    const bool force = run->options->force;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < run->n && !status; i++)
        status = gls_tissue_response_write_grouped(run->output[i], force, group, run->response[i]);
    if (!status) status = gls_image_write_grouped(run->output[OUT_VOXELS], force, group, run->voxels, GLS_IMAGE_UINT8);
    if (!status && run->output[OUT_MASK])
        status = gls_image_write_grouped(run->output[OUT_MASK], force, group, run->mask, GLS_IMAGE_UINT8);
    if (status) return status;
    if (gls_monitor_cancelled(run->monitor, GLS_PHASE_WRITE)) return gls_fail(GLS_ERR_CANCELLED, "interrupted");
    char *text = sidecar_text(run);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    status = gls_sidecar_write(run->output[OUT_JSON], force, group, text);
    free(text);
    return status ? status : gls_output_group_commit(group);
}

static gls_status write_output(respond_run *run)
{
    gls_output_group group = {0};
    char text[32];
    gls_monitor_begin(run->monitor, GLS_PHASE_WRITE);
    gls_status status = write_all(run, &group);
    gls_monitor_end(run->monitor, GLS_PHASE_WRITE);
    gls_output_group_discard(&group);
    if (status) return status;
    for (int i = 0; i < N_OUTPUTS; i++)
        if (run->output[i]) gls_log(GLS_LOG_INFO, "output       %s", run->output[i]);
    gls_log(GLS_LOG_INFO, "time         estimate %s", gls_format_duration(run->seconds, text, sizeof text));
    return GLS_OK;
}

gls_status gls_respond_files(const gls_respond_options *o, const gls_monitor *monitor)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o && o->size == sizeof *o && o->dwi && o->prefix && !o->bval == !o->bvec);
    GLS_REQUIRE(!o->act == (o->algorithm != GLS_RESPONSE_MSMT_5TT));
    respond_run run = {.options = o, .monitor = monitor, .start = gls_clock_seconds()};
    gls_warnings_begin(&run.warnings);
    gls_status status = name_input(&run);
    if (!status) status = name_output(&run);
    if (!status) status = read_input(&run);
    if (!status) status = estimate(&run);
    if (!status) status = write_output(&run);
    gls_warnings_end(&run.warnings);
    gls_series_model_finish(&run.model);
    gls_series_finish(&run.series);
    gls_inputs_finish(&run.inputs);
    free(run.direction);
    gls_image_destroy(run.mask);
    gls_image_destroy(run.voxels);
    for (int i = 0; i < GLS_N_TISSUES; i++) gls_tissue_response_destroy(run.response[i]);
    for (int i = 0; i < N_OUTPUTS; i++) free(run.output[i]);
    free(run.bval);
    free(run.bvec);
    return status;
}
