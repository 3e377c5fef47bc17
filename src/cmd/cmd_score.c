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
#include "cmd/progress.h"
#include "cmd/tract.h"
#include "track/params.h"
#include "workflow/json.h"
#include "workflow/methods.h"
#include "workflow/output.h"
#include "workflow/params.h"
#include "workflow/sidecar.h"

/* Of --model. The usual models: what people run each getter with, and on which parallel transport does not take
 * minutes. */
enum { USUAL, ALL, FIRST_MODEL };

typedef struct score_options {
    tract_values tract;
    gls_score_cli o;
    int model; /* USUAL, ALL or FIRST_MODEL + GLS_MODEL_OPDT ... */
    int dg;    /* 0: all, else 1 + gls_direction_getter */
    int sh_order;
    uint64_t nseeds, seed;
    double snr, max_angle, fa_threshold, min_length;
    cmd_length probe_length, min_radius;
    int api, preset;
    bool act;
    const char *device;
} score_options;
#define TRACT_OWNER score_options

typedef struct score_run {
    const cmd_command *command;
    const cmd_arguments *arguments;
    const score_options *options;
    gls_method_scores scores;
} score_run;

#define FIELD(f) .offset = offsetof(score_options, f)

static const cmd_option table[] = {
    {.group = "Methods",
     .name = "model",
     .type = CMD_CHOICE,
     .choices = "usual|all|opdt|csa|csd|msmt",
     FIELD(model),
     .help = "Models that are scored. usual: opdt and csa with the bootstrap, csd with the other getters."},
    {.group = "Methods",
     .name = "dg",
     .type = CMD_CHOICE,
     .choices = "all|" GLS_GETTER_CHOICES,
     FIELD(dg),
     .help = "Direction getters that are scored; the bootstrap is of opdt and csa only."},
    {.group = "Methods",
     .name = "sh-order",
     .like = "sh-order",
     .type = CMD_INT,
     .metavar = "L",
     FIELD(sh_order),
     .default_text = "4; msmt 8",
     .help = "Order of the models, even."},
    {.group = "Methods",
     .name = "max-angle",
     .like = "max-angle",
     .type = CMD_DOUBLE,
     .metavar = "A",
     .unit = "degrees",
     FIELD(max_angle),
     .default_text = GLS_BY_GETTER,
     .help = "Largest angle between successive steps."},
    {.group = "Methods",
     .name = "probe-length",
     .like = "probe-length",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     FIELD(probe_length),
     .help = "Length of the probe of ptt; bare numbers are in voxels."},
    {.group = "Methods",
     .name = "min-radius-of-curvature",
     .like = "min-radius-of-curvature",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     FIELD(min_radius),
     .default_text = "from --max-angle, the largest bend of a step",
     .help = "Smallest radius of the curves of ptt."},
    {.group = "Methods",
     .name = "fa-threshold",
     .like = "fa-threshold",
     .type = CMD_DOUBLE,
     .metavar = "X",
     FIELD(fa_threshold),
     .default_text = GLS_BY_GETTER,
     .help = "Streamlines end where FA is this or less."},
    {.group = "Methods",
     .name = "min-length",
     .like = "min-length",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     FIELD(min_length),
     .default_text = GLS_BY_GETTER,
     .help = "Shorter streamlines are left out of the scores."},
    {.group = "Methods",
     .name = "preset",
     .type = CMD_CHOICE,
     .metavar = "NAME",
     .choices = GLS_PRESET_CHOICES,
     FIELD(preset),
     .help = "Whose values hold for all that is not given, as for 'glslines track'."},
    {.group = "Methods",
     .name = "act",
     .type = CMD_FLAG,
     FIELD(act),
     .help = "Constrain streamlines by the phantom's tissue, as 'glslines track' does with --act; the stop map ends "
             "them only if --fa-threshold is given."},
    {.group = "Phantom",
     .name = "nseeds",
     .min = 1,
     .max = UINT32_MAX,
     .type = CMD_UINT64,
     .metavar = "N",
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
    {.group = "Device",
     .name = "device",
     .type = CMD_STRING,
     .metavar = "DEVICE",
     FIELD(device),
     .help =
         "auto, gpu, cpu, an index from 'glslines devices', a render node's path, or a part of the renderer's name."},
    {.group = "Device",
     .name = "api",
     .type = CMD_CHOICE,
     .choices = GLS_GRAPHICS_CHOICES,
     FIELD(api),
     .help = "OpenGL or OpenGL ES; auto takes OpenGL where the device offers both."},
#define ROW TRACT_ROW
#include "workflow/tracts/score.def"
#undef ROW
#define ROW TRACT_SHARED_ROW
#include "workflow/tracts/common.def"
#undef ROW
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(score_options *)values = (score_options){
        .o =
            {
#define ROW GLS_ROW_DEFAULT
#include "workflow/tracts/score.def"
#undef ROW
            },
        .sh_order = gls_qball_options_default().sh_order,
        .nseeds = 10000,
        .snr = gls_phantom_params_default().snr,
        .probe_length = {gls_track_params_default().probe_length, false},
        .device = "auto",
    };
}

static bool wanted(const score_options *o, int model, int dg)
{
    if (o->model >= FIRST_MODEL && o->model - FIRST_MODEL != model) return false;
    if (o->dg && o->dg - 1 != dg) return false;
    if (dg == GLS_DG_BOOT) return model <= GLS_MODEL_CSA;
    return o->model != USUAL || model == GLS_MODEL_CSD;
}

static gls_status score(score_run *run)
{
    const score_options *o = run->options;
    gls_job_options job = gls_job_options_default();
    bool chosen[GLS_N_MODELS][GLS_N_GETTERS];
    cmd_progress progress = {.begun = false};
    gls_monitor monitor = cmd_progress_monitor(&progress);
    for (int model = 0; model < GLS_N_MODELS; model++)
        for (int dg = 0; dg < GLS_N_GETTERS; dg++) chosen[model][dg] = wanted(o, model, dg);
    const char *given[16] = {NULL};
    static const char *const of_track[] = {"sh-order",     "max-angle",    "min-length",
                                           "probe-length", "fa-threshold", "min-radius-of-curvature"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof of_track / sizeof *of_track; i++)
        if (cmd_options_given(run->command, run->arguments, of_track[i])) given[n++] = of_track[i];
    job.preset = (gls_preset)o->preset;
    job.model.sh_order = o->sh_order;
    job.nseeds = o->nseeds;
    job.seed_seed = o->seed;
    job.device = o->device;
    job.api = (gls_graphics)o->api;
    job.track.rng_seed = o->seed;
    job.track.max_angle = o->max_angle;
    bool stop_map = !o->act || cmd_options_given(run->command, run->arguments, "fa-threshold");
    run->scores.act = o->act;
    job.track.stop_threshold = stop_map ? o->fa_threshold : -1;
    if (!stop_map) given[n++] = "fa-threshold";
    job.track.min_length = o->min_length;
    job.track.probe_length = o->probe_length.value;
    job.in_mm.probe_length = o->probe_length.mm;
    job.track.min_radius_of_curvature = o->min_radius.value;
    job.in_mm.min_radius_of_curvature = o->min_radius.mm;
    return gls_methods_score(&job, given, o->snr, (const bool(*)[GLS_N_GETTERS])chosen, &monitor, &run->scores);
}

static void print_bundles(const gls_method_score *row)
{
    printf("\n%s %s\n%-30s %8s %7s %7s %7s\n", gls_model_name(row->model), gls_getter_name(row->dg), "bundle", "VS",
           "OL %", "OR %", "f1 %");
    for (size_t b = 0; b < row->result.n_bundles; b++) {
        const gls_score_bundle *s = &row->bundle[b];
        printf("%-30s %8" PRIu64 " %7.1f %7.1f %7.1f\n", s->name, s->valid, 100 * s->overlap, 100 * s->overreach,
               100 * s->f1);
    }
}

static void print_rows(const score_run *run)
{
    printf("%-5s %-8s %11s %6s %6s %6s %6s %6s %4s %6s %6s %6s %8s\n", "model", "dg", "streamlines", "VS %", "WPC %",
           "IC %", "NC %", "VB", "IB", "OL %", "OR %", "f1 %", "time s");
    for (int i = 0; i < run->scores.n; i++) {
        const gls_method_score *row = &run->scores.row[i];
        const gls_score_result *r = &row->result;
        double percent = r->streamlines ? 100 / (double)r->streamlines : 0;
        printf("%-5s %-8s %11" PRIu64 " %6.1f %6.1f %6.1f %6.1f %3" PRIu64 "/%-2zu %4" PRIu64
               " %6.1f %6.1f %6.1f %8.1f\n",
               gls_model_name(row->model), gls_getter_name(row->dg), r->streamlines, percent * (double)r->valid,
               percent * (double)r->wrong_path, percent * (double)r->invalid, percent * (double)r->no_connection,
               r->valid_bundles, r->n_bundles, r->invalid_bundles, 100 * r->mean_overlap, 100 * r->mean_overreach,
               100 * r->mean_f1, row->seconds);
    }
    printf("VS valid streamlines, WPC wrong path, IC invalid connections, NC no connection; VB valid bundles, IB "
           "invalid pairs of end regions;\n"
           "OL overlap, OR overreach and f1: means over all bundles\n");
    for (int i = 0; i < run->scores.n && run->options->o.bundles; i++) print_bundles(&run->scores.row[i]);
}

static int write_json(const score_run *run)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Description", "Scores of tracking methods on the phantom of glslines");
    gls_sidecar_add_software(root, run->arguments->argc, run->arguments->argv);
    cmd_options_json(cJSON_AddObjectToObject(root, "parameters"), run->command, run->options);
    gls_method_scores_add(root, &run->scores);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    cmd_interrupt_catch();
    gls_status status = gls_sidecar_write(run->options->o.json, run->options->tract.shared.force, NULL, text);
    cmd_interrupt_release();
    free(text);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static int run_score(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const score_options *o = values;
    if (arguments->n_positionals > 0)
        return tract_run(command, values, arguments,
                         &(tract_work){"Scores by glslines", gls_tract_score, offsetof(score_options, o),
                                       "takes TRACKS or nothing", 1});
    if (o->o.truth || o->o.against) return cmd_error(CMD_EXIT_USAGE, "--truth and --against need TRACKS");
    if (o->sh_order % 2) return cmd_error(CMD_EXIT_USAGE, "--sh-order: %d is odd: must be even, 2 to 12", o->sh_order);
    if (o->model - FIRST_MODEL > GLS_MODEL_CSA && o->dg - 1 == GLS_DG_BOOT)
        return cmd_error(CMD_EXIT_USAGE, "--dg boot: only with --model opdt or csa");
    gls_status status = o->o.json ? gls_place_check(o->o.json, o->tract.shared.force, NULL, 0, NULL, 0) : GLS_OK;
    if (status) return cmd_error_status(status);
    score_run *run = calloc(1, sizeof *run);
    if (!run) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    run->command = command;
    run->arguments = arguments;
    run->options = o;
    status = score(run);
    int code = status ? cmd_error_status(status) : CMD_EXIT_OK;
    if (!code) print_rows(run);
    if (!code && o->o.json) code = write_json(run);
    gls_method_scores_finish(&run->scores);
    free(run);
    return code;
}

static const char *const positionals[] = {
    "TRACKS",
    "Tractogram to score with --truth or --against; none: the phantom is tracked.",
    NULL,
};

static const char *const examples[] = {
    "The usual methods:",
    "glslines score",
    "Deconvolution of order 8, a narrow cone, by bundle:",
    "glslines score --model csd --sh-order 8 --max-angle 30 --bundles --json scores.json",
    "A tractogram against bundles that are known:",
    "glslines score tracks.trx --truth bundles.tsv --json scores.json",
    "Two tractograms:",
    "glslines score tracks.trx --against other.trx",
    NULL,
};

const cmd_command cmd_score = {
    .name = "score",
    .synopsis = "[TRACKS] [options]",
    .summary = "Score a tractogram against known bundles, or every method on the phantom",
    .description = "Makes the built-in phantom, tracks it with each direction getter over its usual or over all "
                   "models, and prints how the streamlines compare with its "
                   "bundles. With TRACKS, a tractogram is scored in the same way against the bundles of --truth, or "
                   "compared with another one. A streamline is valid (VS) if it joins both end regions of a bundle, to "
                   "one voxel, and "
                   "stays within two voxels of bundle and ends; it has a "
                   "wrong path (WPC) if it leaves them; it is an invalid connection (IC) if it joins regions that "
                   "belong to no one bundle, and no connection (NC) "
                   "otherwise. Overlap is the share of a bundle's voxels that its valid streamlines visit, overreach "
                   "the share of their voxels outside bundle and "
                   "end regions, f1 the harmonic mean of overlap and 1 - overreach.",
    .positionals = positionals,
    .max_positionals = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(score_options),
    .set_defaults = set_defaults,
    .run = run_score,
};
