/* glslines track: diffusion data in, tractogram out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/shard.h"
#include "cmd/sidecar.h"
#include "cmd/text.h"
#include "cmd/track_sidecar.h"

/* Hands streamlines to the writer and measures the time; runs on a thread of the tracker. */
typedef struct sink {
    gls_tractogram_writer *writer;
    double seconds;
    char error[1024]; /* the library keeps messages by thread, so the text is saved where it arises */
} sink;

static gls_status append(void *user, const gls_streamlines *streamlines)
{
    sink *s = user;
    double start = cmd_clock();
    gls_status status = gls_tractogram_writer_append(s->writer, streamlines);
    if (status) snprintf(s->error, sizeof s->error, "%s", gls_last_error());
    s->seconds += cmd_clock() - start;
    return status;
}

/* The name of this part of an output; frees path. */
static char *shard_name(char *path, const gls_shard *shard)
{
    if (!path || shard->count == 0) return path;
    char *name = cmd_shard_name(path, shard);
    free(path);
    return name;
}

/* Names and format of the output files. */
static int set_output(track_run *run)
{
    const track_options *o = run->options;
    char word[8];
    run->format = (gls_tractogram_format)o->write_method;
    if (o->output) {
        if (gls_tractogram_format_parse(o->output, &run->format)) return cmd_error_status(GLS_ERR_ARGUMENT);
        run->output = strdup(o->output);
    } else if (asprintf(&run->output, "%s.%s", o->output_prefix ? o->output_prefix : "tracks",
                        cmd_choice_word("trx|trk|tck", o->write_method, word, sizeof word)) < 0) {
        run->output = NULL;
    }
    run->output = shard_name(run->output, &run->shard);
    if (!run->output) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    if (!o->sidecar) {
        run->sidecar = cmd_sidecar_name(run->output);
    } else if (strcmp(o->sidecar, "none") != 0) {
        run->sidecar = shard_name(strdup(o->sidecar), &run->shard);
    }
    if (!run->sidecar && (!o->sidecar || strcmp(o->sidecar, "none") != 0))
        return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    if (run->sidecar && strcmp(run->sidecar, run->output) == 0)
        return cmd_error(CMD_EXIT_USAGE, "--sidecar: %s is the tractogram itself", run->sidecar);
    int code = cmd_output_check(run->output, o->force);
    return code || !run->sidecar ? code : cmd_output_check(run->sidecar, o->force);
}

static int draw_seed(cmd_seed *seed, const char *name)
{
    if (!seed->random) return CMD_EXIT_OK;
    if (getrandom(&seed->value, sizeof seed->value, 0) != sizeof seed->value)
        return cmd_error(CMD_EXIT_INTERNAL, "--%s random: no random number from the system: %s", name, strerror(errno));
    cmd_info("--%s random: drew %" PRIu64, name, seed->value);
    return CMD_EXIT_OK;
}

static int open_devices(track_run *run)
{
    static const char *const apis[] = {NULL, "gl", "gles"};
    const track_options *o = run->options;
    int code = device_set_open(&run->devices, o->device, (size_t)o->ngpus, apis[o->api]);
    if (!code) run->device = gls_device_get_info(run->devices.device[0]);
    return code;
}

static double in_mm(cmd_length length, double voxel_mm)
{
    return length.value * (length.mm ? 1 : voxel_mm);
}

static gls_track_params make_params(const track_options *o, double voxel_mm)
{
    gls_track_params params = gls_track_params_default();
    params.dg = (gls_direction_getter)o->dg;
    params.step_size = in_mm(o->step_size, voxel_mm);
    params.probe_length = in_mm(o->probe_length, voxel_mm);
    params.probe_radius = in_mm(o->probe_radius, voxel_mm);
    params.probe_count = o->probe_count;
    params.probe_quality = o->probe_quality;
    params.ptt_substep = in_mm(o->ptt_substep, voxel_mm);
    params.min_radius_of_curvature = in_mm(o->min_radius, voxel_mm);
    params.angular_weight = o->angular_weight;
    params.max_angle = o->max_angle;
    params.stop_threshold = o->fa_threshold;
    params.pmf_threshold = o->pmf_threshold;
    params.relative_peak_threshold = o->relative_peak_threshold;
    params.min_separation_angle = o->min_separation_angle;
    params.min_length = o->min_length;
    params.max_length = o->max_length;
    params.max_directions_per_seed = o->max_directions_per_seed;
    params.keep_single_points = o->keep_single_points;
    params.odf_interpolation = (gls_odf_interpolation)o->odf_interpolation;
    params.boot_retry = (gls_boot_retry)o->boot_retry;
    params.boot_start = (gls_boot_start)o->boot_start;
    params.rng_seed = o->rng_seed.value;
    params.mapping = (gls_mapping)o->mapping;
    params.float_textures = o->float_textures != 0;
    params.batch_seeds = o->chunk_size;
    return params;
}

static gls_status create_writer(const track_run *run, gls_tractogram_writer **writer)
{
    static const char *const getters[] = {
        [GLS_DG_BOOT] = "boot", [GLS_DG_PROB] = "prob", [GLS_DG_DET] = "det", [GLS_DG_PTT] = "ptt"};
    const track_options *o = run->options;
    char line[8][96];
    const char *lines[9] = {NULL};
    int n = 0;
    snprintf(line[n++], sizeof *line, "software: glslines %s", gls_version());
    snprintf(line[n++], sizeof *line, "method: %s", getters[o->dg]);
    snprintf(line[n++], sizeof *line, "step_size: %.9g", run->params.step_size);
    snprintf(line[n++], sizeof *line, "max_angle: %.9g", o->max_angle);
    snprintf(line[n++], sizeof *line, "threshold: %.9g", o->fa_threshold);
    snprintf(line[n++], sizeof *line, "max_dist: %.9g", o->max_length);
    snprintf(line[n++], sizeof *line, "max_num_seeds: %" PRIu64, track_total_seeds(run));
    snprintf(line[n++], sizeof *line, "rng_seed: %" PRIu64, o->rng_seed.value);
    for (int i = 0; i < n; i++) lines[i] = line[i];
    gls_tractogram_options options = gls_tractogram_options_default();
    options.half_precision = o->output_half != 0;
    options.overwrite = o->force;
    options.header_lines = lines;
    if (run->shard.count > 0) options.shard = &run->shard;
    return gls_tractogram_writer_create(run->output, run->format, run->input.grid, &options, writer);
}

/* Tracks into the open writer and completes the file; the writer is gone afterwards. */
static int track_into(track_run *run, gls_tracker *tracker, gls_tractogram_writer *writer)
{
    sink s = {.writer = writer};
    cmd_progress progress;
    double start = cmd_clock();
    struct stat info;
    cmd_progress_init(&progress);
    gls_status status = gls_tracker_run(tracker, run->input.seeds, &(gls_sink){.append = append, .user = &s},
                                        cmd_progress_step, &progress, &run->result);
    run->seconds_track = cmd_clock() - start;
    for (size_t i = 0; i < run->devices.n; i++) run->share[i] = gls_tracker_get_share(tracker, i);
    cmd_progress_finish(&progress);
    if (!status && cmd_interrupted()) status = GLS_ERR_CANCELLED;
    if (status) {
        gls_tractogram_writer_abort(writer);
        if (status == GLS_ERR_CANCELLED)
            return cmd_error(CMD_EXIT_INTERRUPTED, "interrupted: %s was not written", run->output);
        return *s.error ? cmd_error(cmd_exit_from_status(status), "%s", s.error) : cmd_error_status(status);
    }
    start = cmd_clock();
    status = gls_tractogram_writer_finish(writer);
    if (status) return cmd_error_status(status);
    run->seconds_write = s.seconds + cmd_clock() - start;
    if (stat(run->output, &info) == 0) run->output_bytes = (uint64_t)info.st_size;
    return CMD_EXIT_OK;
}

/* The part in which temporary files exist. */
static int write_results(track_run *run, gls_tracker *tracker)
{
    gls_tractogram_writer *writer = NULL;
    cmd_sidecar *sidecar = NULL;
    char error[1024];
    int code = CMD_EXIT_OK;
    cmd_interrupt_catch();
    gls_status status = run->sidecar ? cmd_sidecar_create(run->sidecar, &sidecar, error, sizeof error) : GLS_OK;
    if (status) {
        code = cmd_error(cmd_exit_from_status(status), "%s", error);
        goto done;
    }
    status = create_writer(run, &writer);
    code = status ? cmd_error_status(status) : track_into(run, tracker, writer);
    if (code) goto done;
    run->seconds_total = cmd_clock() - run->start;
    if (sidecar) {
        char *text = track_sidecar_text(run);
        status = text ? cmd_sidecar_finish(sidecar, text, error, sizeof error) : GLS_ERR_MEMORY;
        if (text)
            sidecar = NULL;
        else
            snprintf(error, sizeof error, "%s: out of memory", run->sidecar);
        free(text);
        if (status) code = cmd_error(cmd_exit_from_status(status), "%s (%s is complete)", error, run->output);
    }
done:
    cmd_sidecar_abort(sidecar);
    cmd_interrupt_release();
    return code;
}

static int track_all(track_run *run)
{
    gls_tracker *tracker = NULL;
    int code = open_devices(run);
    if (!code) code = track_input_read(&run->input, run->options);
    if (code) goto done;
    run->params = make_params(run->options, run->input.voxel_mm);
    code = track_shard_restrict(run);
    if (code) goto done;
    if (run->options->dry_run) {
        code = track_input_plan(&run->input, run->options);
        if (!code) code = track_print_plan(run);
        goto done;
    }
    code = track_input_fit(&run->input, run->options);
    if (code) goto done;
    gls_track_input input = track_input_tracker(&run->input, run->options);
    double start = cmd_clock();
    gls_status status = gls_tracker_create_group(run->devices.device, run->devices.n, &run->params, &input, &tracker);
    run->seconds_upload = cmd_clock() - start;
    code = status ? cmd_error_status(status) : write_results(run, tracker);
    if (code) goto done;
    track_print_summary(run);
    if (run->result.streamlines == 0 && run->options->fail_if_empty)
        code = cmd_error(CMD_EXIT_EMPTY, "%s: no streamline, and --fail-if-empty was given", run->output);
done:
    gls_tracker_destroy(tracker);
    device_set_close(&run->devices);
    return code;
}

static int run_track(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    track_options *options = values;
    track_run run = {
        .command = command, .arguments = arguments, .options = options, .started = time(NULL), .start = cmd_clock()};
    int code = track_options_check(command, options, arguments);
    if (!code) code = track_shard_init(&run);
    if (!code) code = set_output(&run);
    if (!code) code = track_input_init(&run.input, options, arguments);
    if (!code) code = draw_seed(&options->seed_seed, "seed-seed");
    if (!code) code = draw_seed(&options->rng_seed, "rng-seed");
    if (!code) code = track_all(&run);
    track_input_finish(&run.input);
    free(run.output);
    free(run.sidecar);
    return code;
}

static const char *const positionals[] = {
    "DWI",  "Diffusion series, NIfTI (.nii, .nii.gz), 4D.",
    "BVAL", "Text file of b-values in s/mm2, a row or a column.",
    "BVEC", "Text file of gradient directions, three rows or three columns.",
    "MASK", "Voxels > 0 are fitted; streamlines end outside.",
    "ROI",  "Seeds lie in voxels > 0 (and in the mask).",
    NULL,
};

static const char *const examples[] = {
    "The built-in phantom, to tracks.trx:",
    "glslines track",
    "Your data, a million seeds, on the best device found:",
    "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --nseeds 1000000 -o tracks.trx",
    "Steps of 1 mm, at most 45 degrees, only streamlines of 20 mm or more, for MRtrix3:",
    "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --step-size 1mm --max-angle 45 --min-length 20 "
    "-o tracks.tck",
    "Deconvolution, fits kept for the next run, parallel transport:",
    "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --model csd --sh-order 8 --dg ptt --max-angle "
    "20 --cache-dir fits -o ptt.trx",
    "Fibre orientation distributions of MRtrix3:",
    "glslines track --sh wmfod.nii.gz --fa fa.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg prob -o prob.tck",
    "The third of eight parts, to big_shard-3of8.trx, for 'glslines merge':",
    "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --nseeds 10000000 --shard 3/8 -o big.trx",
    "What would be done, on the software renderer:",
    "glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz --device llvmpipe --dry-run",
    NULL,
};

const cmd_command cmd_track = {
    .name = "track",
    .synopsis = "[DWI BVAL BVEC MASK ROI] [options]",
    .summary = "Track streamlines through diffusion data, or through the built-in phantom",
    .description = "Tracks streamlines through diffusion data and writes them as TRX, TRK or TCK with a JSON sidecar. "
                   "Directions come from the data by the "
                   "bootstrap of a model (--dg boot), or from orientation distribution functions (prob, det, ptt), "
                   "which are fitted (--model) or given (--sh, --odf). "
                   "Without files the built-in phantom is tracked. "
                   "The same inputs and options give the same file on the same device, whatever the batch size.",
    .positionals = positionals,
    .max_positionals = 5,
    .options = track_option_table,
    .examples = examples,
    .values_size = sizeof(track_options),
    .set_defaults = track_options_default,
    .run = run_track,
};
