/* `glslines track`: tracks streamlines in diffusion data and writes a tractogram. */

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/track_options.h"
#include "record/sidecar.h"
#include "render/illustrate.h"
#include "run/job.h"
#include "util/clock.h"

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
static gls_status track(gls_job *job, const gls_run_options *run, const gls_illustrations *illustrations)
{
    cmd_event_device(job->device->renderer, gls_job_seeds(job));
    gls_status status = gls_job_fit(job);
    if (!status) status = gls_job_track(job);
    if (status) return status;
    cmd_interrupt_done();
    if (run->trace) status = gls_sidecar_write_trace(run->trace, run->job.force);
    if (status) return status;
    const gls_job_result *result = gls_job_get_result(job);
    cmd_event_output(result->output);
    cmd_event_output(result->sidecar);
    gls_job_log_result(job);
    gls_illustrations_make(illustrations, job);
    return GLS_OK;
}

/* Entry of the command: tracks, or with --dry-run plans. Does nothing if --skip-existing found the outputs complete.
 * With --fail-if-empty the exit code of an empty result is 6, although the files are complete. */
static int run_track(void *values, const cmd_arguments *arguments)
{
    track_options *options = values;
    gls_job *job = NULL;
    int code = track_options_check(options, arguments);
    if (code) return code;
    const gls_run_options *run = &options->run;
    const gls_illustrations illustrations = {run->report, run->picture, run->trace, run->json};
    /* the timeline includes the reading of inputs, so tracing starts before the job */
    if (run->trace) gls_trace_start();
    gls_status status = gls_job_create(&run->job, cmd_monitor(true), &job);
    if (!status) status = gls_illustrations_open(&illustrations, job);
    bool skipped = !status && gls_job_get_result(job)->skipped;
    if (!status && !skipped && run->dry_run)
        code = plan(job, run);
    else if (!status && !skipped)
        status = track(job, run, &illustrations);
    if (status) code = cmd_error_status(status);
    const gls_job_result *result = status || run->dry_run ? NULL : gls_job_get_result(job);
    if (result && result->track.streamlines == 0 && run->job.fail_if_empty)
        code = cmd_error(CMD_EXIT_EMPTY, "%s: no streamline, and --fail-if-empty was given", result->output);
    gls_job_destroy(job);
    return code;
}

const cmd_command command_track = {
    .name = "track",
    .synopsis = "DWI [BVAL BVEC [MASK [ROI]]] [options] | --phantom [options]",
    .summary = "Track streamlines through diffusion data or the built-in phantom",
    .description = "Tracks streamlines through diffusion data and writes them as TRX, TRK or TCK with a JSON sidecar. "
                   "Directions come from the data by the "
                   "bootstrap of a model (--dg boot), or from orientation distribution functions (the other getters), "
                   "which are fitted (--model) or given (--sh, --odf, --peaks). "
                   "With the series alone, mask and seed region are made, "
                   "and the model is multi-tissue deconvolution (msmt). "
                   "The same inputs and options give the same file on the same device, whatever the batch size.",
    .positionals = CMD_TEXTS(CMD_SERIES_POSITIONALS, "MASK",
                             "Brain mask. Voxels above 0 are fitted; streamlines end where they leave these voxels. "
                             "Default: the brain, made from DWI.",
                             "ROI",
                             "Seed mask. Seeds lie in voxels above 0 that are also in the brain mask. Default: white "
                             "matter, made from the fit."),
    .max_positionals = 5,
    .rows = {{.table = gls_params, .at = offsetof(track_options, run)}},
    .aliases = model_option_aliases,
    .examples = CMD_TEXTS(
        "The built-in phantom, to tracks.trx:", "glslines track --phantom",
        "A series with its table beside it (dwi.bval, dwi.bvec); mask, responses, model and seeds are made from it:",
        "glslines track dwi.nii.gz", "Your data, a million seeds, on the best device found:",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --nseeds 1000000 -o tracks.trx",
        "Steps of 1 mm, at most 45 degrees, only streamlines of 20 mm or more, for MRtrix3:",
        "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --step-size 1mm --max-angle 45 --min-length "
        "20 "
        "-o tracks.tck",
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
