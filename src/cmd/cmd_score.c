/* glslines score: tracks the built-in phantom with every model and direction getter and scores the results against its
 * bundles. */
#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/model.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/sidecar.h"
#include "cmd/sidecar_json.h"
#include "cmd/text.h"

/* Of --model. The usual models: what people run each getter with, and on which parallel transport does not take
 * minutes. */
enum { USUAL, ALL, FIRST_MODEL };

enum { N_MODELS = 3, N_GETTERS = 4, MAX_ROWS = N_MODELS * N_GETTERS };

/* Voxels. Parallel transport draws among curves, so it needs sharper ones than the bundles have; and where the probe is
 * much longer than their radius, it turns round and has as much support as one that goes on. */
#define PTT_MIN_RADIUS 0.6
#define PTT_PROBE_LENGTH 0.8

static const char *const model_names[N_MODELS] = {[MODEL_OPDT] = "opdt", [MODEL_CSA] = "csa", [MODEL_CSD] = "csd"};
static const char *const getter_names[N_GETTERS] = {
    [GLS_DG_BOOT] = "boot", [GLS_DG_PROB] = "prob", [GLS_DG_DET] = "det", [GLS_DG_PTT] = "ptt"};

typedef struct score_options {
    cmd_common common;
    int model; /* USUAL, ALL or FIRST_MODEL + MODEL_OPDT ... */
    int dg;    /* 0: all, else 1 + gls_direction_getter */
    int sh_order;
    uint64_t nseeds, seed;
    double snr, max_angle, fa_threshold, min_length;
    cmd_length probe_length, min_radius;
    int api;
    bool bundles;
    const char *device, *json;
    bool force;
} score_options;

typedef struct score_row {
    int model, dg;
    gls_score_result result;
    gls_score_bundle bundle[GLS_SCORE_MAX_BUNDLES];
    double seconds; /* kernels compiled, tracked and scored */
} score_row;

typedef struct score_run {
    const cmd_command *command;
    const cmd_arguments *arguments;
    const score_options *options;
    gls_phantom *phantom;
    cmd_series series;
    gls_image *fa, *mask; /* the part of the phantom's mask that the stop map lets through */
    gls_seeds *seeds;
    gls_sphere *sphere;
    gls_device *device;
    score_row row[MAX_ROWS];
    int n_rows;
} score_run;

#define FIELD(f) .offset = offsetof(score_options, f)

static const cmd_option table[] = {
    {.group = "Methods",
     .name = "model",
     .type = CMD_CHOICE,
     .choices = "usual|all|" MODEL_CHOICES,
     FIELD(model),
     .help = "Models that are scored. usual: opdt and csa with the bootstrap, csd with the other getters."},
    {.group = "Methods",
     .name = "dg",
     .type = CMD_CHOICE,
     .choices = "all|boot|prob|det|ptt",
     FIELD(dg),
     .help = "Direction getters that are scored; the bootstrap is of opdt and csa only."},
    {.group = "Methods",
     .name = "sh-order",
     .type = CMD_INT,
     .metavar = "L",
     .min = 2,
     .max = 8,
     FIELD(sh_order),
     .help = "Order of the models, even."},
    {.group = "Methods",
     .name = "max-angle",
     .type = CMD_DOUBLE,
     .metavar = "A",
     .unit = "degrees",
     .min = 0,
     .max = 90,
     .min_open = true,
     FIELD(max_angle),
     .help = "Largest angle between successive steps of boot, prob and det."},
    {.group = "Methods",
     .name = "probe-length",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     .min = 0,
     .max = INFINITY,
     .min_open = true,
     FIELD(probe_length),
     .help = "Length of the probe of ptt; bare numbers are in voxels."},
    {.group = "Methods",
     .name = "min-radius-of-curvature",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     .min = 0,
     .max = INFINITY,
     .min_open = true,
     FIELD(min_radius),
     .help = "Smallest radius of the curves of ptt."},
    {.group = "Methods",
     .name = "fa-threshold",
     .type = CMD_DOUBLE,
     .metavar = "X",
     .min = 0,
     .max = 1,
     FIELD(fa_threshold),
     .help = "Streamlines end where FA is this or less."},
    {.group = "Methods",
     .name = "min-length",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     .min = 0,
     .max = 500,
     FIELD(min_length),
     .help = "Shorter streamlines are left out of the scores."},
    {.group = "Phantom",
     .name = "nseeds",
     .type = CMD_UINT64,
     .metavar = "N",
     .min = 1,
     .max = 4294967295.0,
     FIELD(nseeds),
     .help = "Random seeds in the white matter, the same ones for each method."},
    {.group = "Phantom",
     .name = "seed",
     .type = CMD_UINT64,
     .metavar = "K",
     .min = 0,
     .max = INFINITY,
     FIELD(seed),
     .help = "Random seed of noise, seeds and tracking."},
    {.group = "Phantom",
     .name = "snr",
     .type = CMD_DOUBLE,
     .metavar = "S",
     .min = 1,
     .max = 1e6,
     FIELD(snr),
     .help = "Signal of white matter at b = 0 over the standard deviation of the noise."},
    {.group = "Output",
     .name = "bundles",
     .type = CMD_FLAG,
     FIELD(bundles),
     .help = "Also a table of the bundles for each method."},
    {.group = "Output",
     .name = "json",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(json),
     .default_text = "none",
     .help = "Scores of methods and bundles as JSON."},
    {.group = "Output", .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite an existing file."},
    {.group = "Device",
     .name = "device",
     .type = CMD_STRING,
     .metavar = "DEVICE",
     FIELD(device),
     .help =
         "auto, an index from 'glslines devices', a render node's path, llvmpipe, or a part of the renderer's name."},
    {.group = "Device",
     .name = "api",
     .type = CMD_CHOICE,
     .choices = "auto|gl|gles",
     FIELD(api),
     .help = "OpenGL or OpenGL ES; auto takes OpenGL where the device offers both."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(score_options *)values = (score_options){
        .sh_order = gls_qball_options_default().sh_order,
        .nseeds = 10000,
        .snr = gls_phantom_params_default().snr,
        .fa_threshold = gls_track_params_default().stop_threshold,
        .max_angle = gls_track_params_default().max_angle,
        .probe_length = {PTT_PROBE_LENGTH, false},
        .min_radius = {PTT_MIN_RADIUS, false},
        .device = "auto",
    };
}

static bool wanted(const score_options *o, int model, int dg)
{
    if (o->model >= FIRST_MODEL && o->model - FIRST_MODEL != model) return false;
    if (o->dg && o->dg - 1 != dg) return false;
    if (dg == GLS_DG_BOOT) return model != MODEL_CSD;
    return o->model != USUAL || model == MODEL_CSD;
}

/* Phantom, stop map, seeds and directions. */
static int prepare(score_run *run)
{
    static const char *const apis[] = {"auto", "gl", "gles"};
    const score_options *o = run->options;
    gls_phantom_params params = gls_phantom_params_default();
    params.snr = o->snr;
    params.seed = o->seed;
    gls_status status = gls_device_open(o->device, apis[o->api], &run->device);
    if (!status) status = gls_phantom_create(&params, &run->phantom);
    if (status) return cmd_error_status(status);
    run->series =
        (cmd_series){.name = "built-in phantom", .dwi = run->phantom->dwi, .gradients = run->phantom->gradients};
    status = gls_tensor_fit(run->phantom->dwi, run->phantom->gradients, run->phantom->mask, NULL, &run->fa, NULL, NULL);
    if (!status) status = gls_image_create(&run->phantom->dwi->grid, 1, &run->mask);
    if (!status)
        status = gls_seeds_create_random(run->phantom->roi, run->phantom->mask, o->nseeds, o->seed, &run->seeds);
    if (!status) status = gls_sphere_create("default", &run->sphere);
    if (status) return cmd_error_status(status);
    for (size_t v = 0; v < gls_grid_voxels(&run->fa->grid); v++)
        run->mask->data[v] = run->fa->data[v] >= o->fa_threshold && run->phantom->mask->data[v] > 0;
    cmd_info("phantom: %d x %d x %d voxels, %zu volumes, %zu bundles; device: %s", run->fa->grid.dim[0],
             run->fa->grid.dim[1], run->fa->grid.dim[2], run->phantom->dwi->n_volumes, run->phantom->n_bundles,
             gls_device_get_info(run->device)->renderer);
    return CMD_EXIT_OK;
}

static gls_status make_source(const score_run *run, const cmd_model *model, int dg, gls_odf_source **source)
{
    gls_odf_options options = gls_odf_options_default();
    /* the curves of parallel transport look ahead of the stop map, so ODFs beyond it have to be gone */
    if (dg == GLS_DG_PTT) {
        options.stop_map = run->fa;
        options.stop_threshold = run->options->fa_threshold;
    }
    return gls_odf_source_create_sh(model->sh, "the fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, run->sphere,
                                    &options, source);
}

static gls_track_params make_params(const score_options *o, int dg, double voxel_mm)
{
    gls_track_params params = gls_track_params_default();
    params.dg = (gls_direction_getter)dg;
    params.max_angle = o->max_angle;
    params.stop_threshold = o->fa_threshold;
    params.min_length = o->min_length;
    params.rng_seed = o->seed;
    gls_track_params_scale(&params, voxel_mm);
    params.probe_length = o->probe_length.value * (o->probe_length.mm ? 1 : voxel_mm);
    params.min_radius_of_curvature = o->min_radius.value * (o->min_radius.mm ? 1 : voxel_mm);
    return params;
}

/* Tracks and scores one method into the next row. */
static int score_method(score_run *run, const cmd_model *model, int model_index, int dg)
{
    const score_options *o = run->options;
    const double *side = run->fa->grid.voxel_size;
    gls_track_params params = make_params(o, dg, fmin(side[0], fmin(side[1], side[2])));
    gls_track_input input = {.stop_map = run->fa, .sphere = run->sphere};
    score_row *row = &run->row[run->n_rows];
    double start = cmd_clock();
    gls_odf_source *source = NULL;
    gls_tracker *tracker = NULL;
    gls_score *score = NULL;
    gls_track_result result;
    cmd_progress progress;
    cmd_info("%s %s", model_names[model_index], getter_names[dg]);
    gls_status status = GLS_OK;
    if (dg == GLS_DG_BOOT) {
        input.dwi = cmd_model_dwi(model);
        input.gradients = cmd_model_gradients(model);
        input.qball = model->qball;
    } else {
        status = make_source(run, model, dg, &source);
        input.odf = source;
    }
    if (!status) status = gls_score_create(run->phantom, NULL, &score);
    if (!status) status = gls_tracker_create(run->device, &params, &input, &tracker);
    if (!status) {
        cmd_progress_init(&progress);
        status = gls_tracker_run(tracker, run->seeds, &(gls_sink){.append = gls_score_add, .user = score},
                                 cmd_progress_step, &progress, &result);
        cmd_progress_finish(&progress);
    }
    if (!status) {
        *row = (score_row){.model = model_index, .dg = dg};
        gls_score_get(score, &row->result);
        memcpy(row->bundle, row->result.bundle, row->result.n_bundles * sizeof *row->bundle);
        row->result.bundle = row->bundle;
        row->seconds = cmd_clock() - start;
        run->n_rows++;
    }
    gls_tracker_destroy(tracker);
    gls_score_destroy(score);
    gls_odf_source_destroy(source);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static int score_model(score_run *run, int index)
{
    const score_options *o = run->options;
    model_options options;
    cmd_model model = {.options = NULL};
    bool any = false, odf = false;
    for (int dg = 0; dg < N_GETTERS; dg++) {
        any |= wanted(o, index, dg);
        odf |= dg != GLS_DG_BOOT && wanted(o, index, dg);
    }
    if (!any) return CMD_EXIT_OK;
    model_options_default(&options, index);
    options.sh_order = o->sh_order;
    int code = cmd_model_init(&model, &options, &run->series);
    if (!code) code = cmd_model_prepare(&model, run->phantom->mask);
    if (!code && odf) code = cmd_model_fit(&model, run->mask, NULL);
    for (int dg = 0; dg < N_GETTERS && !code; dg++)
        if (wanted(o, index, dg)) code = score_method(run, &model, index, dg);
    cmd_model_finish(&model);
    return code;
}

static void print_bundles(const score_row *row)
{
    printf("\n%s %s\n%-30s %8s %7s %7s %7s\n", model_names[row->model], getter_names[row->dg], "bundle", "VS", "OL %",
           "OR %", "f1 %");
    for (size_t b = 0; b < row->result.n_bundles; b++) {
        const gls_score_bundle *s = &row->bundle[b];
        printf("%-30s %8" PRIu64 " %7.1f %7.1f %7.1f\n", s->name, s->valid, 100 * s->overlap, 100 * s->overreach,
               100 * s->f1);
    }
}

static void print_rows(const score_run *run)
{
    printf("%-5s %-4s %11s %6s %6s %6s %6s %6s %4s %6s %6s %6s %8s\n", "model", "dg", "streamlines", "VS %", "WPC %",
           "IC %", "NC %", "VB", "IB", "OL %", "OR %", "f1 %", "time s");
    for (int i = 0; i < run->n_rows; i++) {
        const score_row *row = &run->row[i];
        const gls_score_result *r = &row->result;
        double percent = r->streamlines ? 100 / (double)r->streamlines : 0;
        printf("%-5s %-4s %11" PRIu64 " %6.1f %6.1f %6.1f %6.1f %3" PRIu64 "/%-2zu %4" PRIu64
               " %6.1f %6.1f %6.1f %8.1f\n",
               model_names[row->model], getter_names[row->dg], r->streamlines, percent * (double)r->valid,
               percent * (double)r->wrong_path, percent * (double)r->invalid, percent * (double)r->no_connection,
               r->valid_bundles, r->n_bundles, r->invalid_bundles, 100 * r->mean_overlap, 100 * r->mean_overreach,
               100 * r->mean_f1, row->seconds);
    }
    printf("VS valid streamlines, WPC wrong path, IC invalid connections, NC no connection; VB valid bundles, IB "
           "invalid pairs of end regions;\n"
           "OL overlap, OR overreach and f1: means over all bundles\n");
    for (int i = 0; i < run->n_rows && run->options->bundles; i++) print_bundles(&run->row[i]);
}

static void add_row(cJSON *methods, const score_row *row)
{
    const gls_score_result *r = &row->result;
    cJSON *method = cJSON_CreateObject();
    cJSON_AddItemToArray(methods, method);
    cJSON_AddStringToObject(method, "model", model_names[row->model]);
    cJSON_AddStringToObject(method, "dg", getter_names[row->dg]);
    const struct {
        const char *key;
        uint64_t n;
    } counts[] = {{"streamlines", r->streamlines},      {"valid", r->valid},
                  {"wrong_path", r->wrong_path},        {"invalid_connections", r->invalid},
                  {"no_connections", r->no_connection}, {"valid_bundles", r->valid_bundles},
                  {"bundles_in_phantom", r->n_bundles}, {"invalid_bundles", r->invalid_bundles}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) json_uint(method, counts[i].key, counts[i].n);
    json_double(method, "mean_overlap", r->mean_overlap);
    json_double(method, "mean_overreach", r->mean_overreach);
    json_double(method, "mean_overreach_gt", r->mean_overreach_gt);
    json_double(method, "mean_f1", r->mean_f1);
    json_double(method, "seconds", row->seconds);
    cJSON *bundles = cJSON_AddArrayToObject(method, "bundles");
    for (size_t b = 0; b < r->n_bundles; b++) {
        const gls_score_bundle *s = &row->bundle[b];
        cJSON *bundle = cJSON_CreateObject();
        cJSON_AddItemToArray(bundles, bundle);
        cJSON_AddStringToObject(bundle, "name", s->name);
        json_uint(bundle, "valid", s->valid);
        json_uint(bundle, "voxels", s->truth);
        json_uint(bundle, "voxels_found", s->found);
        json_uint(bundle, "voxels_beyond", s->beyond);
        json_double(bundle, "overlap", s->overlap);
        json_double(bundle, "overreach", s->overreach);
        json_double(bundle, "overreach_gt", s->overreach_gt);
        json_double(bundle, "f1", s->f1);
    }
}

static int write_json(const score_run *run)
{
    gls_score_options rules = gls_score_options_default();
    char error[1024];
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Description", "Scores of tracking methods on the phantom of glslines");
    sidecar_add_software(root, run->arguments);
    sidecar_add_options(cJSON_AddObjectToObject(root, "parameters"), run->command, run->options);
    cJSON *scoring = cJSON_AddObjectToObject(root, "scoring");
    json_uint(scoring, "end_distance_voxels", (uint64_t)rules.end_distance);
    json_uint(scoring, "route_distance_voxels", (uint64_t)rules.route_distance);
    sidecar_add_grid(root, &run->fa->grid);
    cJSON_AddStringToObject(root, "device", gls_device_get_info(run->device)->renderer);
    cJSON *methods = cJSON_AddArrayToObject(root, "methods");
    for (int i = 0; i < run->n_rows; i++) add_row(methods, &run->row[i]);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    cmd_interrupt_catch();
    gls_status status = cmd_sidecar_write(run->options->json, text, error, sizeof error);
    cmd_interrupt_release();
    free(text);
    return status ? cmd_error(cmd_exit_from_status(status), "%s", error) : CMD_EXIT_OK;
}

static void finish(score_run *run)
{
    gls_device_close(run->device);
    gls_image_destroy(run->fa);
    gls_image_destroy(run->mask);
    gls_seeds_destroy(run->seeds);
    gls_sphere_destroy(run->sphere);
    gls_phantom_destroy(run->phantom);
    free(run);
}

static int run_score(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const score_options *o = values;
    if (o->sh_order % 2) return cmd_error(CMD_EXIT_USAGE, "--sh-order: %d is odd: must be even, 2 to 8", o->sh_order);
    if (o->model - FIRST_MODEL == MODEL_CSD && o->dg - 1 == GLS_DG_BOOT)
        return cmd_error(CMD_EXIT_USAGE, "--dg boot: only with --model opdt or csa");
    int code = o->json ? cmd_output_check(o->json, o->force) : CMD_EXIT_OK;
    if (code) return code;
    score_run *run = calloc(1, sizeof *run);
    if (!run) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    run->command = command;
    run->arguments = arguments;
    run->options = o;
    code = prepare(run);
    for (int model = 0; model < N_MODELS && !code; model++) code = score_model(run, model);
    if (!code) print_rows(run);
    if (!code && o->json) code = write_json(run);
    finish(run);
    return code;
}

static const char *const examples[] = {
    "The usual methods:",
    "glslines score",
    "Deconvolution of order 8, a narrow cone, by bundle:",
    "glslines score --model csd --sh-order 8 --max-angle 30 --bundles --json scores.json",
    NULL,
};

const cmd_command cmd_score = {
    .name = "score",
    .synopsis = "[options]",
    .summary = "Track the built-in phantom with every method and score the results",
    .description = "Makes the built-in phantom, tracks it with each direction getter over its usual or over all "
                   "models, and prints how the streamlines compare with its "
                   "bundles. A streamline is valid (VS) if it joins both end regions of a bundle, to one voxel, and "
                   "stays within two voxels of bundle and ends; it has a "
                   "wrong path (WPC) if it leaves them; it is an invalid connection (IC) if it joins regions that "
                   "belong to no one bundle, and no connection (NC) "
                   "otherwise. Overlap is the share of a bundle's voxels that its valid streamlines visit, overreach "
                   "the share of their voxels outside bundle and "
                   "end regions, f1 the harmonic mean of overlap and 1 - overreach.",
    .max_positionals = 0,
    .options = table,
    .examples = examples,
    .values_size = sizeof(score_options),
    .set_defaults = set_defaults,
    .run = run_score,
};
