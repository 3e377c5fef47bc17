/* `glslines response`: estimates from a series the responses of three tissues, or a single response, and writes them to
 * text files, with an image of the voxels that gave them. */
#include <cJSON.h>
#include <stdlib.h>

#include "dwi/fit_model.h"
#include "dwi/fit_model_parts.h"
#include "dwi/fit_tissues.h"
#include "dwi/model_options.h"
#include "dwi/tissue_response.h"
#include "image/image_write.h"
#include "record/run_params.h"
#include "run/series_run.h"
#include "transform/bring.h"
#include "util/clock.h"
#include "util/json_text.h"

enum { OUT_VOXELS = GLS_N_TISSUES, OUT_MASK, N_OUTPUTS }; /* outputs after the responses */

/* State of `glslines response`. */
typedef struct respond_run {
    /* series, mask and files of the run */
    gls_series_run from;
    /* borrowed */
    const gls_respond_options *options;
    gls_series_model model; /* holds the directions that the algorithm uses */
    gls_image *voxels;
    size_t n; /* number of responses */
    gls_tissue_response *response[GLS_N_TISSUES];
    const char *output[N_OUTPUTS]; /* path; NULL: not written */
    double seconds;
} respond_run;

gls_respond_options gls_respond_options_default(void)
{
    return (gls_respond_options){.size = sizeof(gls_respond_options),
                                 .model = gls_model_options_default(GLS_MODEL_MSMT),
                                 .estimate = gls_responses_options_default()};
}

/* Whether the algorithm estimates the responses of three tissues from all shells. */
static bool of_tissues(const gls_respond_options *o)
{
    return o->algorithm == GLS_RESPONSE_DHOLLANDER || o->algorithm == GLS_RESPONSE_MSMT_5TT;
}

/* Begins the run with its input files. */
static gls_status name_input(respond_run *run)
{
    const gls_respond_options *o = run->options;
    const gls_input_file others[] = {
        {.role = "csd_directions", .path = gls_csd_directions_file(&o->model), .hint = GLS_DIRECTIONS_HINT},
        {.role = "act", .path = o->act},
    };
    gls_status status =
        gls_series_run_begin(&run->from, o->force, (const char *const[]){o->dwi, o->bval, o->bvec, o->mask}, others,
                             sizeof others / sizeof *others);
    return status ? status : gls_run_reads_chain(&run->from.run, &o->transform);
}

/* Names the outputs of the algorithm, and the sidecar. */
static gls_status name_output(respond_run *run)
{
    static const char *const suffixes[N_OUTPUTS] = {[GLS_WM] = "_wm.txt",
                                                    [GLS_GM] = "_gm.txt",
                                                    [GLS_CSF] = "_csf.txt",
                                                    [OUT_VOXELS] = "_voxels.nii.gz",
                                                    [OUT_MASK] = "_mask.nii.gz"};
    const gls_respond_options *o = run->options;
    const bool tissues = of_tissues(o);
    gls_status status = GLS_OK;
    run->n = tissues ? GLS_N_TISSUES : 1;
    for (int i = 0; i < N_OUTPUTS && !status; i++) {
        /* one response for algorithms of one tissue; the mask is written only if it was made */
        if ((i > GLS_WM && i < GLS_N_TISSUES && !tissues) || (i == OUT_MASK && o->mask)) continue;
        status = gls_run_writes_named(&run->from.run, o->prefix,
                                      i == GLS_WM && !tissues ? "_response.txt" : suffixes[i], &run->output[i]);
    }
    return status ? status : gls_run_writes_sidecar(&run->from.run, o->prefix, ".json");
}

/* Reads the series, its table and the mask. */
static gls_status read_input(respond_run *run)
{
    const gls_respond_options *o = run->options;
    gls_status status = gls_series_run_read(&run->from, &o->model);
    if (!status) status = gls_series_run_read_mask(&run->from);
    /* tournier and fa use one shell: the highest, or the shell of --shells */
    const size_t n = gls_model_shells(&o->model, &(double){0});
    if (!status && (o->algorithm == GLS_RESPONSE_TOURNIER || o->algorithm == GLS_RESPONSE_FA) && n > 1)
        status =
            gls_fail(GLS_ERR_ARGUMENT,
                     "--shells: got %zu b-values, but --algorithm tournier and fa use one shell: give one b-value", n);
    return status;
}

/* Runs the algorithm on the series. */
static gls_status run_algorithm(respond_run *run, const gls_responses_options *options)
{
    static gls_status (*const algorithms[])(const gls_image *, const gls_gradients *, const gls_image *,
                                            const gls_responses_options *, gls_tissue_response **, gls_image **) = {
        [GLS_RESPONSE_DHOLLANDER] = gls_responses_dhollander,
        [GLS_RESPONSE_TOURNIER] = gls_responses_tournier,
        [GLS_RESPONSE_FA] = gls_responses_fa,
        [GLS_RESPONSE_MANUAL] = gls_responses_manual,
    };
    const gls_respond_options *o = run->options;
    const gls_image *dwi = run->from.series.dwi, *mask = run->from.mask;
    const gls_gradients *gradients = run->from.series.gradients;
    gls_image *five = NULL;
    if (o->algorithm != GLS_RESPONSE_MSMT_5TT)
        return algorithms[o->algorithm](dwi, gradients, mask, options, run->response, &run->voxels);
    /* the 5TT image is needed for the estimation only */
    gls_transform space;
    gls_status status = gls_transform_read(o->transform.value, (size_t)o->transform.n, &space);
    if (!status) status = gls_image_read(o->act, GLS_IMAGE_ANY, &five);
    if (!status) status = gls_image_bring(&five, &space, GLS_RESAMPLE_LINEAR, 0, o->act);
    gls_transform_finish(&space);
    if (!status)
        status = gls_responses_msmt_5tt(dwi, gradients, mask, five, o->act, options, run->response, &run->voxels);
    gls_image_destroy(five);
    return status;
}

/* Chooses directions as the algorithm needs them, and estimates the responses. */
static gls_status estimate(respond_run *run)
{
    const gls_respond_options *o = run->options;
    double start = gls_clock_seconds();
    gls_responses_options options = o->estimate;
    /* model options choose tissues and directions in the same way as for a fit */
    gls_status status = GLS_OK;
    run->model.series = &run->from.series;
    if (of_tissues(o)) status = gls_series_model_init(&run->model, &o->model, &run->from.series);
    if (!status && o->algorithm == GLS_RESPONSE_TOURNIER && o->model.csd_directions) {
        run->model.kind = GLS_MODEL_MSMT; /* the model msmt takes directions, not a sphere */
        status = gls_series_model_directions(&run->model, o->model.csd_directions);
    }
    options.direction = (const double(*)[3])run->model.direction;
    options.n_directions = run->model.n_directions;
    options.bval = 0; /* the highest shell of those in use */
    options.monitor = run->from.monitor;
    gls_monitor_begin(run->from.monitor, GLS_PHASE_FIT);
    if (!status) status = gls_series_fail(&run->from.series, run_algorithm(run, &options));
    if (!status && gls_monitor_cancelled(run->from.monitor, GLS_PHASE_FIT))
        status = gls_fail(GLS_ERR_CANCELLED, "interrupted");
    gls_monitor_end(run->from.monitor, GLS_PHASE_FIT);
    run->seconds = gls_clock_seconds() - start;
    return status;
}

/* Makes the sidecar: options that the algorithm uses, shells, responses and outputs. */
static cJSON *make_sidecar(const respond_run *run)
{
    const gls_respond_options *o = run->options;
    const gls_responses_options *e = &o->estimate;
    bool tissues = of_tissues(o);
    cJSON *root = gls_series_run_sidecar(&run->from, "Response functions estimated by glslines", o->argc, o->argv);
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    cJSON_AddStringToObject(parameters, "algorithm", GLS_WORD(GLS_RESPONSE_CHOICES, (int)o->algorithm));
    const bool dhollander = o->algorithm == GLS_RESPONSE_DHOLLANDER, five = o->algorithm == GLS_RESPONSE_MSMT_5TT;
    /* only parameters that this algorithm reads */
    if (dhollander || o->algorithm == GLS_RESPONSE_FA) gls_json_uint(parameters, "erode", (uint64_t)e->erode);
    /* the FA threshold selects voxels unless a number of voxels is given */
    if (tissues || e->n_voxels == 0) gls_json_double(parameters, "fa_threshold", e->fa_threshold);
    if (dhollander) {
        GLS_JSON_MEMBERS(parameters, e, wm_percent, gm_percent, csf_percent);
    } else if (o->algorithm != GLS_RESPONSE_MANUAL && e->n_voxels > 0) {
        gls_json_uint(parameters, "voxels", e->n_voxels);
    }
    cJSON *shells = cJSON_AddArrayToObject(parameters, "shells_s_per_mm2");
    for (int i = 0; i < o->model.shells.n; i++) gls_json_append_double(shells, o->model.shells.value[i]);
    if (o->model.csd_directions) cJSON_AddStringToObject(parameters, "csd_directions", o->model.csd_directions);
    if (five) {
        gls_json_double(parameters, "pvf", e->pvf);
        cJSON *chain = o->transform.n > 0 ? cJSON_AddArrayToObject(parameters, "transform") : NULL;
        for (int i = 0; i < o->transform.n; i++) cJSON_AddItemToArray(chain, cJSON_CreateString(o->transform.value[i]));
        cJSON_AddStringToObject(parameters, "wm_algorithm", GLS_WORD(GLS_SINGLE_FIBRES_CHOICES, (int)e->wm));
    }
    /* one response for each tissue, or a single response */
    cJSON *responses = cJSON_AddObjectToObject(root, "responses");
    for (size_t i = 0; i < run->n; i++) {
        cJSON *object = cJSON_AddObjectToObject(responses, tissues ? gls_tissue_name((int)i) : "response");
        cJSON_AddStringToObject(object, "path", run->output[i]);
        gls_json_uint(object, "voxels", run->response[i]->n_voxels);
    }
    gls_json_double(cJSON_AddObjectToObject(root, "seconds"), "estimate", run->seconds);
    return root;
}

/* Writes all outputs with the sidecar, or none, and logs what was written. */
static gls_status write_output(respond_run *run)
{
    const bool force = run->options->force;
    gls_output_group *group = &run->from.run.group;
    gls_status status = GLS_OK;
    gls_monitor_begin(run->from.monitor, GLS_PHASE_WRITE);
    for (size_t i = 0; i < run->n && !status; i++)
        status = gls_tissue_response_write_grouped(run->output[i], force, group, run->response[i]);
    if (!status) status = gls_image_write_grouped(run->output[OUT_VOXELS], force, group, run->voxels, GLS_IMAGE_UINT8);
    if (!status && run->output[OUT_MASK])
        status = gls_image_write_grouped(run->output[OUT_MASK], force, group, run->from.mask, GLS_IMAGE_UINT8);
    if (!status) status = gls_series_run_commit(&run->from, make_sidecar(run));
    gls_monitor_end(run->from.monitor, GLS_PHASE_WRITE);
    if (status) return status;
    gls_run_log_outputs(&run->from.run);
    gls_log(GLS_LOG_INFO, "time         estimate %s", GLS_DURATION(run->seconds));
    return GLS_OK;
}

gls_status gls_respond_files(const gls_respond_options *o, const gls_monitor *monitor)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o && o->size == sizeof *o && o->dwi && o->prefix && !o->bval == !o->bvec);
    GLS_REQUIRE((unsigned)o->algorithm <= GLS_RESPONSE_MSMT_5TT);
    GLS_REQUIRE(o->model.shells.n >= 0 && o->model.shells.n <= GLS_MAX_NUMBERS);
    GLS_REQUIRE(!o->act == (o->algorithm != GLS_RESPONSE_MSMT_5TT));
    respond_run run = {.options = o, .from.monitor = monitor};
    gls_status status = name_input(&run);
    if (!status) status = name_output(&run);
    if (!status) status = read_input(&run);
    if (!status) status = estimate(&run);
    if (!status) status = write_output(&run);
    gls_series_model_finish(&run.model);
    gls_image_destroy(run.voxels);
    for (int i = 0; i < GLS_N_TISSUES; i++) gls_tissue_response_destroy(run.response[i]);
    gls_series_run_end(&run.from);
    return status;
}
