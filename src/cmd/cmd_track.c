/* `glslines track`: tracks streamlines in diffusion data and writes a tractogram. `glslines merge`: joins the shards of
 * a tractogram, or adds up the maps of shards. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/help.h"
#include "record/sidecar.h"
#include "render/illustrate.h"
#include "run/job_parts.h"
#include "run/job_text.h"
#include "sinks/merge_maps.h"
#include "util/clock.h"

/* --- track: options. */

void track_options_default(void *values)
{
    ((track_options *)values)->run.job = gls_job_options_default();
}

/* pairs: an alternative spelling and the option that it stands for */
const char *const model_option_aliases[] = {"normalize", "normalise", "no-normalize", "no-normalise", NULL};

/* Stores the names of the options of params.def that were given, and NULL behind them. */
static void list_given(const cmd_arguments *arguments, const char *given[GLS_N_PARAMS + 1])
{
    size_t n = 0;
    /* the table of a command may lack rows of params.def */
    for (size_t i = 0; i < arguments->table.n; i++) {
        const char *name = arguments->table.option[i].name;
        if (arguments->given[i] && gls_options_find(gls_params, name)) given[n++] = name;
    }
    given[n] = NULL;
}

int model_options_check(const gls_model_options *o, const cmd_arguments *arguments)
{
    const char *given[GLS_N_PARAMS + 1];
    list_given(arguments, given);
    gls_status status = gls_model_options_check(o);
    return cmd_finish(status ? status : gls_model_require(o, given));
}

/* Draws a seed where option `name` has the value "random", and shows it, so that the run can be repeated. */
static int draw_seed(uint64_t *seed, const char *name, const cmd_arguments *arguments)
{
    if (!cmd_options_random(arguments, name)) return CMD_EXIT_OK;
    if (getrandom(seed, sizeof *seed, 0) != sizeof *seed)
        return cmd_error(CMD_EXIT_INTERNAL, "--%s random: the system gives no random number: %s; give a number", name,
                         strerror(errno));
    cmd_info("--%s random: drew %" PRIu64, name, *seed);
    return CMD_EXIT_OK;
}

/* Checks the arguments, and stores them as the files of the series, its masks and the output. */
static int take_files(gls_job_options *o, const cmd_arguments *arguments)
{
    const char **files[] = {&o->dwi, &o->bval, &o->bvec, &o->mask, &o->roi};
    int n = arguments->n_positionals;
    gls_tractogram_format format;
    /* a tractogram among the inputs is a frequent slip; the message names the option that was meant */
    for (int i = 0; i < n; i++)
        if (gls_tractogram_format_parse(arguments->positional[i], &format) == GLS_OK)
            return cmd_error(
                CMD_EXIT_USAGE,
                "track: %s: a tractogram is no input; the last argument or --output names the one to write",
                arguments->positional[i]);
    if (n > 5)
        return cmd_error(CMD_EXIT_USAGE, "track: unexpected argument '%s': OUT ends in .trx, .trk or .tck",
                         arguments->positional[5]);
    /* two arguments: BVAL without BVEC, or a mask behind DWI, which needs the option --mask */
    if (n == 2)
        return cmd_error(CMD_EXIT_USAGE,
                         "track: takes DWI or DWI BVAL BVEC [MASK [ROI]], got 2 arguments; the last is '%s'. BVAL with "
                         "rows x y z b needs - for BVEC. With DWI alone, --mask FILE and --roi FILE name the masks",
                         arguments->positional[n - 1]);
    /* DWI BVAL BVEC MASK ROI: the fourth and the fifth argument are the masks */
    if ((n > 3 && o->mask) || (n > 4 && o->roi))
        return cmd_error(CMD_EXIT_USAGE, "--%s: the argument %s names this image already; leave out one of them",
                         n > 3 && o->mask ? "mask" : "roi", n > 3 && o->mask ? "MASK" : "ROI");
    for (int i = 0; i < n; i++) *files[i] = arguments->positional[i];
    return CMD_EXIT_OK;
}

/* As in GPUStreamlines, --model default stands for csd if a getter is given that needs no q-ball model. */
static void take_model(gls_job_options *o, const cmd_arguments *arguments)
{
    bool is_default = strstr(arguments->taken, "--model default:") != NULL;
    if (is_default && gls_method_of(o).source != GLS_FROM_QBALL && cmd_options_given(arguments, "dg"))
        o->model.model = GLS_MODEL_CSD;
}

int track_options_take(track_options *options, const cmd_arguments *arguments)
{
    gls_job_options *o = &options->run.job;
    int code = take_files(o, arguments);
    if (code) return code;
    take_model(o, arguments);
    list_given(arguments, options->given);
    o->given = options->given;
    o->argc = arguments->argc;
    o->argv = arguments->argv;
    if (options->run.json && !options->run.dry_run)
        return cmd_error(CMD_EXIT_USAGE, "--json: needs --dry-run; a run writes its JSON to --sidecar");
    const char *drawn = cmd_options_random(arguments, "rng-seed")    ? "rng-seed"
                        : cmd_options_random(arguments, "seed-seed") ? "seed-seed"
                                                                     : NULL;
    if (o->shard && drawn)
        return cmd_error(CMD_EXIT_USAGE, "--%s random: every shard would draw a number of its own; give one number",
                         drawn);
    code = draw_seed(&o->seed_seed, "seed-seed", arguments);
    return code ? code : draw_seed(&o->track.rng_seed, "rng-seed", arguments);
}

/* --- track: the command. */

/* Does --dry-run: prints what the run would do and how much memory it would take, as text or JSON. */
static int plan(gls_job *job, const gls_run_options *run)
{
    gls_track_memory memory;
    gls_status status = gls_job_plan(job, &memory);
    char *json = !status && run->json ? gls_job_plan_json(job, &memory) : NULL;
    int code = status ? cmd_error_status(status) : cmd_json_to(run->json, run->job.force, json);
    if (!code && (!run->json || *run->json)) code = cmd_print(gls_job_plan_text(job, &memory));
    return code;
}

/* Fits the model, tracks, and writes the outputs. Once the tractogram is complete, the first signal has no effect. */
static gls_status track(gls_job *job)
{
    const char *trace = job->extra[GLS_EXTRA_TRACE];
    cmd_event_device(job->device->renderer, gls_job_seeds(job));
    gls_status status = gls_job_fit(job);
    if (!status) status = gls_job_track(job);
    if (status) return status;
    cmd_interrupt_done();
    if (trace) status = gls_sidecar_write_trace(trace, job->options.force);
    if (status) return status;
    gls_job_log_result(job);
    gls_illustrations_make(job);
    return GLS_OK;
}

/* Entry of the command: tracks, or with --dry-run plans. Does nothing if --skip-existing found the outputs complete.
 * With --fail-if-empty the exit code of an empty result is 6, although the files are complete. */
static int run_track(void *values, const cmd_arguments *arguments)
{
    track_options *options = values;
    gls_job *job = NULL;
    int code = track_options_take(options, arguments);
    if (code) return code;
    const gls_run_options *run = &options->run;
    /* the timeline includes the reading of inputs, so tracing starts before the job */
    if (run->trace) gls_trace_start();
    gls_status status = gls_job_create(&run->job, cmd_monitor(true), &job);
    if (!status) job->plans = run->dry_run;
    if (!status) status = gls_illustrations_name(job, run);
    if (!status) status = gls_job_open(job);
    bool skipped = !status && gls_job_get_result(job)->skipped;
    if (!status && !skipped && run->dry_run)
        code = plan(job, run);
    else if (!status && !skipped)
        status = track(job);
    if (status) code = cmd_error_status(status);
    const gls_job_result *result = status || run->dry_run ? NULL : gls_job_get_result(job);
    if (result && result->track.streamlines == 0 && run->job.fail_if_empty)
        code = cmd_error(CMD_EXIT_EMPTY, "%s: has no streamline (--fail-if-empty)", result->output);
    gls_job_destroy(job);
    return code;
}

const cmd_command command_track = {
    .name = "track",
    .synopsis = "DWI [BVAL BVEC [MASK [ROI]]] [OUT] [options] | --phantom [OUT] [options]",
    .summary = "Track streamlines through diffusion data or the built-in phantom",
    .description = "Tracks streamlines through diffusion data and writes them as TRX, TRK or TCK with a JSON sidecar. "
                   "Directions come from the data by the bootstrap of a model (--dg boot), or from orientation "
                   "distribution functions, peaks, samples or tensors (other getters), which are fitted (--model) or "
                   "given (--sh, --odf, --peaks, --bedpostx). With the series alone, mask and seed region are made, "
                   "and its shells decide the model: csd with --dg det for one shell of high b-value, else msmt "
                   "(multi-tissue deconvolution) with --dg ifod2 for most series. The same inputs and options give "
                   "the same file on the same device, whatever the batch size.",
    .positionals = CMD_TEXTS(CMD_SERIES_POSITIONALS, "MASK",
                             "Brain mask. Voxels above 0 are fitted; streamlines end where they leave these voxels. "
                             "Default: the brain, made from DWI.",
                             "ROI",
                             "Seed mask. Seeds lie in voxels above 0 that are also in the brain mask. Default: white "
                             "matter, by the fit of msmt or by FA.",
                             "OUT", "The tractogram of --output: .trx, .trk or .tck."),
    .max_positionals = 6,
    .out_suffixes = ".trx .trk .tck",
    .rows = {{.table = gls_params, .at = offsetof(track_options, run)}},
    .aliases = model_option_aliases,
    .examples = CMD_TEXTS(
        "The built-in phantom, to tracks.trx:", "glslines track --phantom",
        "A series with its table beside it (dwi.bval, dwi.bvec); mask, responses, model and seeds are made from it:",
        "glslines track dwi.nii.gz", "Your data, a million seeds, on the best device found:",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --nseeds 1000000 -o tracks.trx",
        "Steps of 1 mm, at most 45 degrees, only streamlines of 20 mm or more, for MRtrix3:",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --step-size 1mm --max-angle 45 --min-length "
        "20 -o tracks.tck",
        "Deconvolution, fits kept for the next run, parallel transport:",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --model csd --dg ptt "
        "--cache-dir fits -o ptt.trx",
        "Fibre orientation distributions of MRtrix3:",
        "glslines track --sh wmfod.nii.gz --fa fa.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg prob -o prob.tck",
        "The same as MRtrix3's tckgen does it:",
        "glslines track --sh wmfod.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg ifod2 -o ifod2.tck",
        "The third of eight parts, to big_shard-3of8.trx, for 'glslines merge':",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --nseeds 10000000 --shard 3/8 -o big.trx",
        "What would be done, on the software renderer:",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --device cpu --dry-run"),
    .values_size = sizeof(track_options),
    .set_defaults = track_options_default,
    .run = run_track,
};

/* --- merge: joins shards to the tractogram of the whole run, or adds up the maps of shards. */

CMD_VALUES(merge, gls_merge_options, gls_merge_options_default())

#define OPTION_OWNER gls_merge_options

static const gls_option table[] = {
    GLS_OPTION("Output", STRING, output, "output", 'o', "FILE", NULL, GLS_ANY, "", NULL,
               "Required: file to write, in the format of the shards.",
               .writes = GLS_WRITES_TRACTOGRAM | GLS_WRITES_IMAGE | GLS_WRITES_TEXT),
    GLS_TEXT("Output", sidecar, "sidecar", "FILE", "the output's name with .json in place of its suffix",
             "JSON file with parameters, counts and times, made from the sidecars of the shards. With 'none' "
             "sidecars are neither read nor written.",
             .writes = GLS_WRITES_TEXT),
    GLS_FLAG("Output", force, "force", "Overwrite existing output files."),
    GLS_FLAG("Output", fail_if_empty, "fail-if-empty",
             "Exit with code 6 if no shard has a streamline (an empty, valid file is still written)."),
    {.name = NULL},
};

/* Prints what was merged, in how long, and into which files. */
static void print_summary(const gls_merge_options *o, const gls_merge_result *result, const char *sidecar,
                          double seconds)
{
    struct stat info;
    uint64_t bytes = stat(o->output, &info) == 0 ? (uint64_t)info.st_size : 0;
    cmd_info("merged       %zu shards in %s", o->n_shards, GLS_DURATION(seconds));
    cmd_info("streamlines  %s, %s points", GLS_COUNT(result->streamlines), GLS_COUNT(result->points));
    cmd_info("output       %s, %s%s%s", o->output, GLS_BYTES(bytes), *sidecar ? "; sidecar " : "", sidecar);
    if (result->streamlines == 0) gls_log(GLS_LOG_WARNING, "no streamline in any shard; the output is valid and empty");
}

/* Entry of the command: joins shards of a tractogram, or adds up the parts of a map. Returns an exit code. */
static int run_merge(void *values, const cmd_arguments *arguments)
{
    gls_merge_options *o = &((merge_values *)values)->o;
    gls_merge_result result;
    char sidecar[4096];
    double start = gls_clock_seconds();
    /* check for arguments and --output here, because the table of options cannot require them */
    if (arguments->n_positionals == 0) return cmd_error(CMD_EXIT_USAGE, "merge: needs the shards to merge");
    if (!o->output) return cmd_error(CMD_EXIT_USAGE, "merge: needs --output FILE");
    o->shards = arguments->positional;
    o->n_shards = (size_t)arguments->n_positionals;
    o->argc = arguments->argc;
    o->argv = arguments->argv;
    gls_status status = gls_merge_files(o, cmd_monitor(true), &result, sidecar, sizeof sidecar);
    if (status) return cmd_error_status(status);
    /* all files are complete: a signal no longer changes the exit code */
    cmd_interrupt_done();
    if (gls_map_is_name(o->output)) {
        cmd_info("%s: the sum of %zu parts", o->output, o->n_shards);
        return CMD_EXIT_OK;
    }
    print_summary(o, &result, sidecar, gls_clock_seconds() - start);
    return CMD_EXIT_OK;
}

const cmd_command command_merge = {
    CMD_ENTRY(merge),
    .synopsis = "SHARD... --output FILE",
    .summary = "Join the files of 'track --shard' into the file of a single run",
    .description =
        "Writes the tractogram that one run over all seeds writes on the same device, byte for byte, and a "
        "sidecar that differs from that run's in its command line, its times (\"seconds\": sums over the "
        "shards), \"run\" (lists the shards) and, where it cannot be known, the median length (null). Maps "
        "of shards (.nii, .nii.gz, .mif, .mif.gz), such as of --density, and matrices of --connectome (.csv, .tsv) are "
        "added up; they need no sidecar, but their names must say which part they are. A shard that is "
        "missing, doubled, damaged or of another run ends the command, and nothing is written.",
    .positionals = CMD_TEXTS("SHARD", "Files of 'glslines track --shard', all of one run, in any order. Each "
                                      "tractogram needs its sidecar beside it, unless --sidecar none is given."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .rows = {{.table = table, .at = offsetof(merge_values, o)}},
    .examples = CMD_TEXTS("The three parts of a run into the file that one run writes:",
                          "glslines merge -o tracks.trx tracks_shard-*of3.trx",
                          "The maps of three parts:", "glslines merge -o density.nii.gz density_shard-*of3.nii.gz"),
};
