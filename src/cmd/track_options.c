#include "cmd/track_options.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "cmd/device_set.h"
#include "cmd/message.h"

#define FIELD(f) .offset = offsetof(track_options, f)
#define NO_BOUNDS .min = -INFINITY, .max = INFINITY
#define AT_LEAST(low) .min = (low), .max = INFINITY
#define MORE_THAN(low) .min = (low), .max = INFINITY, .min_open = true
#define BETWEEN(low, high) .min = (low), .max = (high)

#define OUTPUT "Output"
#define INPUT "Input"
#define SEEDS "Seeds"
#define MODEL "Model"
#define TRACKING "Tracking"
#define PTT "Parallel transport (--dg ptt)"
#define DEVICE "Device"

/* The order of the words of each choice is that of the enum behind it. */
const cmd_option track_option_table[] = {
    {.group = OUTPUT,
     .name = "output",
     .letter = 'o',
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(output),
     .default_text = "tracks.trx",
     .help = "Tractogram to write; the suffix .trx, .trk or .tck gives the format. A JSON sidecar with all parameters "
             "is written beside it."},
    {.group = OUTPUT,
     .name = "output-prefix",
     .type = CMD_STRING,
     .metavar = "PREFIX",
     FIELD(output_prefix),
     .default_text = "",
     .help = "In place of --output: write PREFIX.trx, PREFIX.trk or PREFIX.tck by --write-method."},
    {.group = OUTPUT,
     .name = "write-method",
     .type = CMD_CHOICE,
     .choices = "trx|trk|tck",
     FIELD(write_method),
     .help = "Format where --output does not give it."},
    {.group = OUTPUT,
     .name = "output-precision",
     .type = CMD_CHOICE,
     .choices = "float|half",
     FIELD(output_half),
     .help = "Precision of positions in TRX files. Half is half the size, but its spacing is 0.06 mm at 100 mm from "
             "the origin."},
    {.group = OUTPUT,
     .name = "sidecar",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(sidecar),
     .default_text = "the output's name with .json",
     .help = "JSON file with parameters, counts and times; 'none' writes none. Where another output's sidecar has the "
             "default name, .json is appended to the "
             "output's whole name."},
    {.group = OUTPUT, .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite existing output files."},
    {.group = OUTPUT,
     .name = "fail-if-empty",
     .type = CMD_FLAG,
     FIELD(fail_if_empty),
     .help = "Exit with code 6 if no streamline was found (the empty file is written all the same)."},
    {.group = OUTPUT,
     .name = "dry-run",
     .type = CMD_FLAG,
     FIELD(dry_run),
     .help = "Read and check the inputs and the device, print what would be done, write nothing."},

    MODEL_GRADIENT_ENTRIES(INPUT, track_options),
    {.group = INPUT,
     .name = "fa",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(fa),
     .default_text = "from a tensor fit",
     .help = "Stop map (FA or another scalar image) in place of the FA of a tensor fit; counts as 0 outside the mask."},
    {.group = INPUT,
     .name = "sh",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(sh),
     .default_text = "from a fit of the model",
     .help = "ODFs as an image of spherical harmonics, even orders or (asymmetric) all, in place of a model. DWI and "
             "its tables are then needed only for FA: "
             "without them --fa, --roi and where wanted --mask name the other images."},
    MODEL_BASIS_ENTRIES(INPUT, track_options, "in the file of --sh"),
    {.group = INPUT,
     .name = "odf",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(odf),
     .default_text = "",
     .help = "In place of --sh: ODFs as an image of amplitudes, one volume for each of the directions that the file of "
             "--sphere lists; --sh-frame tells their "
             "axes."},
    {.group = INPUT,
     .name = "mask",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(mask),
     .default_text = "all voxels",
     .help = "With --sh or --odf and no DWI: what the argument MASK is otherwise."},
    {.group = INPUT,
     .name = "roi",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(roi),
     .default_text = "",
     .help = "With --sh or --odf and no DWI: what the argument ROI is otherwise."},

    {.group = SEEDS,
     .name = "nseeds",
     .type = CMD_UINT64,
     .metavar = "N",
     BETWEEN(1, 4294967295.0),
     FIELD(nseeds),
     .help = "Random seeds, uniform over the voxels of the region of interest and inside each."},
    {.group = SEEDS,
     .name = "seeds-per-voxel",
     .type = CMD_UINT64,
     .metavar = "N",
     BETWEEN(1, 1000000),
     FIELD(seeds_per_voxel),
     .default_text = "",
     .help = "In place of --nseeds: random seeds in each voxel of the region of interest."},
    {.group = SEEDS,
     .name = "seeds",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(seeds),
     .default_text = "",
     .help = "In place of --nseeds: text file with one seed 'x y z' a line; '#' starts a comment."},
    {.group = SEEDS,
     .name = "seed-space",
     .type = CMD_CHOICE,
     .choices = "voxel|world",
     FIELD(seed_space),
     .help = "Coordinates in the file of --seeds: voxels, with voxel centres at whole numbers, or world mm (RAS+)."},
    {.group = SEEDS,
     .name = "seed-seed",
     .type = CMD_SEED,
     .metavar = "K",
     NO_BOUNDS,
     FIELD(seed_seed),
     .help = "Random seed of the seed positions: a whole number, or 'random' to draw one and print it."},
    {.group = SEEDS,
     .name = "shard",
     .type = CMD_STRING,
     .metavar = "I/N|auto",
     FIELD(shard),
     .default_text = "",
     .help = "Track part I of N of the seeds only, counted from 1, into files with _shard-IofN before the suffix; "
             "'glslines merge' joins them. auto: I and N "
             "from srun or mpirun."},

    MODEL_ENTRIES(MODEL, track_options),
    {.group = MODEL,
     .name = "sphere",
     .type = CMD_STRING,
     .metavar = "default|small|FILE",
     FIELD(sphere),
     .help =
         "Directions on which ODFs are sampled: 724 points, 362 points, or those of a text file with 'x y z' a line."},
    {.group = MODEL,
     .name = "cache-dir",
     .type = CMD_STRING,
     .metavar = "DIR",
     FIELD(cache_dir),
     .default_text = "",
     .help = "Keep FA and spherical harmonics there as NIfTI; a later run with the same data and parameters reads them "
             "instead of fitting. Made where it does "
             "not exist."},

    {.group = TRACKING,
     .name = "dg",
     .type = CMD_CHOICE,
     .choices = "boot|prob|det|ptt",
     FIELD(dg),
     .default_text = "boot; prob with --model csd, --sh or --odf",
     .help = "Direction getter: residual bootstrap, probabilistic, deterministic or parallel transport."},
    {.group = TRACKING,
     .name = "step-size",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     MORE_THAN(0),
     FIELD(step_size),
     .help = "Step; a bare number is in voxels, of which one is the smallest side of a voxel. The step is the same "
             "length in mm in every direction."},
    {.group = TRACKING,
     .name = "max-angle",
     .type = CMD_DOUBLE,
     .metavar = "A",
     .unit = "degrees",
     .min = 0,
     .max = 90,
     .min_open = true,
     FIELD(max_angle),
     .help = "Largest angle between two steps."},
    {.group = TRACKING,
     .name = "fa-threshold",
     .type = CMD_DOUBLE,
     .metavar = "X",
     NO_BOUNDS,
     FIELD(fa_threshold),
     .help = "Streamlines end where the stop map is at or below this."},
    {.group = TRACKING,
     .name = "min-length",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     AT_LEAST(0),
     FIELD(min_length),
     .help = "Shorter streamlines are rejected."},
    {.group = TRACKING,
     .name = "max-length",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     MORE_THAN(0),
     FIELD(max_length),
     .help = "Longer streamlines are cut, and counted."},
    {.group = TRACKING,
     .name = "max-directions-per-seed",
     .type = CMD_INT,
     .metavar = "N",
     BETWEEN(1, 32),
     FIELD(max_directions_per_seed),
     .help = "Streamlines from one seed, strongest peak first."},
    {.group = TRACKING,
     .name = "relative-peak-threshold",
     .type = CMD_DOUBLE,
     .metavar = "X",
     BETWEEN(0, 1),
     FIELD(relative_peak_threshold),
     .help = "Peaks below this fraction of the ODF's range are dropped."},
    {.group = TRACKING,
     .name = "min-separation-angle",
     .type = CMD_DOUBLE,
     .metavar = "A",
     .unit = "degrees",
     BETWEEN(0, 90),
     FIELD(min_separation_angle),
     .help = "Of two peaks that are closer the weaker one is dropped."},
    {.group = TRACKING,
     .name = "pmf-threshold",
     .type = CMD_DOUBLE,
     .metavar = "X",
     BETWEEN(0, 1),
     FIELD(pmf_threshold),
     .help = "ODF values below this fraction of the maximum count as 0."},
    {.group = TRACKING,
     .name = "angular-weight",
     .type = CMD_DOUBLE,
     .metavar = "W",
     BETWEEN(0, 1),
     FIELD(angular_weight),
     .help = "boot, prob and det: prefer directions near the last step; ODF values are multiplied by (1 - W) + W |cos| "
             "of the angle to it."},
    {.group = TRACKING,
     .name = "boot-retry",
     .type = CMD_CHOICE,
     .choices = "cone|peak",
     FIELD(boot_retry),
     .help = "Repeat a bootstrap sample without a peak inside the cone, or (DIPY's rule) without any peak."},
    {.group = TRACKING,
     .name = "boot-start",
     .type = CMD_CHOICE,
     .choices = "sample|fit",
     FIELD(boot_start),
     .help =
         "Initial directions from one bootstrap sample, or (newer DIPY's rule) from the fit of the measured signal."},
    {.group = TRACKING,
     .name = "odf-interpolation",
     .type = CMD_CHOICE,
     .choices = "auto|coefficients|amplitudes",
     FIELD(odf_interpolation),
     .help = "prob and det: interpolate SH coefficients between voxels and evaluate the ODF there (as DIPY and MRtrix3 "
             "do with SH), or amplitudes that were clipped "
             "at 0 in each voxel (as GPUStreamlines does). auto: coefficients where there are some."},
    {.group = TRACKING,
     .name = "keep-single-points",
     .type = CMD_FLAG,
     FIELD(keep_single_points),
     .help = "Keep streamlines that could not make a step."},
    {.group = TRACKING,
     .name = "rng-seed",
     .type = CMD_SEED,
     .metavar = "K",
     NO_BOUNDS,
     FIELD(rng_seed),
     .help = "Random seed of the tracking: a whole number, or 'random' to draw one and print it."},

    {.group = PTT,
     .name = "probe-length",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     MORE_THAN(0),
     FIELD(probe_length),
     .help = "Length of the curve ahead that the data must support; bare numbers are in voxels, as for --step-size."},
    {.group = PTT,
     .name = "probe-radius",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     AT_LEAST(0),
     FIELD(probe_radius),
     .help = "Radius of the circle on which the threads of the probe lie round its axis."},
    {.group = PTT,
     .name = "probe-count",
     .type = CMD_INT,
     .metavar = "N",
     BETWEEN(1, 32),
     FIELD(probe_count),
     .help = "Threads of the probe: 1 is its axis alone."},
    {.group = PTT,
     .name = "probe-quality",
     .type = CMD_INT,
     .metavar = "N",
     BETWEEN(1, 64),
     FIELD(probe_quality),
     .help = "Samples along the probe besides its start."},
    {.group = PTT,
     .name = "min-radius-of-curvature",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     MORE_THAN(0),
     FIELD(min_radius),
     .default_text = "from --max-angle, the largest bend between two samples of the probe",
     .help = "Smallest radius of the curves."},
    {.group = PTT,
     .name = "ptt-substep",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     MORE_THAN(0),
     FIELD(ptt_substep),
     .help = "Short step after which a new curve is drawn; about a whole number of them make a step."},

    {.group = DEVICE,
     .name = "device",
     .type = CMD_STRING,
     .metavar = "NAME[,NAME]",
     FIELD(device),
     .help = "auto, an index of 'glslines devices', a render node such as /dev/dri/renderD128, llvmpipe, or a part of "
             "the renderer's name. Several names, with commas and no blanks "
             "between them: devices that share the work."},
    {.group = DEVICE,
     .name = "api",
     .type = CMD_CHOICE,
     .choices = "auto|gl|gles",
     FIELD(api),
     .help = "OpenGL or OpenGL ES; auto takes OpenGL where the device offers both."},
    {.group = DEVICE,
     .name = "mapping",
     .type = CMD_CHOICE,
     .choices = "auto|single|subgroup|group",
     FIELD(mapping),
     .help = "One invocation, subgroup or work group per streamline; auto takes subgroups on hardware that has them, else work "
             "groups."},
    {.group = DEVICE,
     .name = "precision",
     .type = CMD_CHOICE,
     .choices = "half|float",
     FIELD(float_textures),
     .help = "Precision of the volumes on the device."},
    {.group = DEVICE,
     .name = "chunk-size",
     .type = CMD_UINT64,
     .metavar = "N",
     BETWEEN(1, 4294967295.0),
     .unit = "seeds",
     FIELD(chunk_size),
     .default_text = "100000 seeds on a GPU, 25000 on a CPU",
     .help = "Largest batch; it is made smaller where the device's limits ask for it. Never changes the result."},
    {.group = DEVICE,
     .name = "ngpus",
     .type = CMD_INT,
     .metavar = "N",
     BETWEEN(1, GLS_TRACKER_MAX_DEVICES),
     FIELD(ngpus),
     .help = "Devices that share the work: the first N GPUs, or N of the name that --device gives; of a software "
             "renderer, N contexts. On equal devices the result is that of one."},
    {.name = NULL},
};

void track_options_default(void *values)
{
    gls_track_params track = gls_track_params_default();
    *(track_options *)values = (track_options){
        .write_method = GLS_FORMAT_TRX,
        .nseeds = 100000,
        .sphere = "default",
        .dg = track.dg,
        .step_size = {track.step_size, false},
        .max_angle = track.max_angle,
        .fa_threshold = track.stop_threshold,
        .min_length = track.min_length,
        .max_length = track.max_length,
        .pmf_threshold = track.pmf_threshold,
        .relative_peak_threshold = track.relative_peak_threshold,
        .min_separation_angle = track.min_separation_angle,
        .angular_weight = track.angular_weight,
        .max_directions_per_seed = track.max_directions_per_seed,
        .odf_interpolation = track.odf_interpolation,
        .boot_retry = track.boot_retry,
        .boot_start = track.boot_start,
        .keep_single_points = track.keep_single_points,
        .probe_length = {track.probe_length, false},
        .probe_radius = {track.probe_radius, false},
        .probe_count = track.probe_count,
        .probe_quality = track.probe_quality,
        .min_radius = {track.min_radius_of_curvature, false},
        .ptt_substep = {track.ptt_substep, false},
        .rng_seed = {track.rng_seed, false},
        .device = "auto",
        .mapping = track.mapping,
        .float_textures = track.float_textures,
        .ngpus = 1,
    };
    model_options_default(&((track_options *)values)->model, MODEL_OPDT);
}

/* The first of these options that was given, or NULL. */
static const char *first_given(const cmd_command *command, const cmd_arguments *arguments, const char *const *names)
{
    for (; *names; names++)
        if (cmd_options_given(command, arguments, *names)) return *names;
    return NULL;
}

static int check_output(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    bool method_given = cmd_options_given(command, arguments, "write-method");
    if (o->output && o->output_prefix)
        return cmd_error(CMD_EXIT_USAGE, "--output and --output-prefix exclude each other");
    gls_tractogram_format format = (gls_tractogram_format)o->write_method;
    if (o->output) {
        gls_status status = gls_tractogram_format_parse(o->output, &format);
        if (status) return cmd_error_status(status);
        if (method_given && (int)format != o->write_method)
            return cmd_error(CMD_EXIT_USAGE, "--write-method: contradicts the suffix of --output %s", o->output);
    }
    if (o->output_half && format != GLS_FORMAT_TRX)
        return cmd_error(CMD_EXIT_USAGE, "--output-precision half: only TRX files have it");
    return CMD_EXIT_OK;
}

/* Which images there are: a series, ODFs, both, or the phantom. */
static int check_inputs(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    static const char *const for_series[] = {"bvec-frame", "b0-threshold", NULL}, *const for_odf[] = {"mask", "roi",
                                                                                                      NULL};
    static const char *const for_fit[] = {"model", "sh-order", "shells", "response", "sm-lambda", "min-signal", NULL};
    const char *odf = o->sh ? "sh" : o->odf ? "odf" : NULL, *name;
    int n = arguments->n_positionals;
    if (n != 0 && n != 5)
        return cmd_error(CMD_EXIT_USAGE,
                         "track: takes DWI BVAL BVEC MASK ROI, all five or none; got %d: '%s' is the last", n,
                         arguments->positional[n - 1]);
    if (n == 0 && (name = first_given(command, arguments, for_series)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs input files; the built-in phantom has no use for it", name);
    if ((n == 5 || !odf) && (name = first_given(command, arguments, for_odf)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: only for --sh or --odf without DWI BVAL BVEC MASK ROI", name);
    if (o->sh && o->odf) return cmd_error(CMD_EXIT_USAGE, "--sh and --odf exclude each other");
    if (odf && n == 0 && !o->fa)
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs --fa FILE as stop map, or DWI BVAL BVEC MASK ROI", odf);
    if (odf && n == 0 && !o->roi && !o->seeds)
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs --roi FILE or --seeds FILE, or DWI BVAL BVEC MASK ROI", odf);
    if (odf && (name = first_given(command, arguments, for_fit)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --%s, which is not fitted", name, odf);
    if (o->odf && (strcmp(o->sphere, "default") == 0 || strcmp(o->sphere, "small") == 0))
        return cmd_error(CMD_EXIT_USAGE, "--odf: needs --sphere FILE, the directions of its volumes");
    if (!o->sh && cmd_options_given(command, arguments, "sh-basis"))
        return cmd_error(CMD_EXIT_USAGE, "--sh-basis: needs --sh FILE");
    if (!odf && cmd_options_given(command, arguments, "sh-frame"))
        return cmd_error(CMD_EXIT_USAGE, "--sh-frame: needs --sh FILE or --odf FILE");
    if (odf && n == 0 && o->cache_dir) return cmd_error(CMD_EXIT_USAGE, "--cache-dir: nothing is fitted");
    return CMD_EXIT_OK;
}

static int check_seeds(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    bool nseeds = cmd_options_given(command, arguments, "nseeds"), per_voxel = o->seeds_per_voxel > 0,
         list = o->seeds != NULL;
    if (nseeds + per_voxel + list > 1)
        return cmd_error(CMD_EXIT_USAGE, "--nseeds, --seeds-per-voxel and --seeds exclude each other");
    if (!list && cmd_options_given(command, arguments, "seed-space"))
        return cmd_error(CMD_EXIT_USAGE, "--seed-space: needs --seeds FILE");
    if (list && cmd_options_given(command, arguments, "seed-seed"))
        return cmd_error(CMD_EXIT_USAGE, "--seed-seed: has no effect with --seeds FILE");
    return CMD_EXIT_OK;
}

/* Models that the direction getter can use, and options that only some have. */
static int check_getter(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    static const char *const for_ptt[] = {
        "probe-length", "probe-radius", "probe-count", "probe-quality", "min-radius-of-curvature", "ptt-substep", NULL};
    bool csd = o->model.model == MODEL_CSD, odf = o->sh || o->odf;
    const char *name;
    if (!cmd_options_given(command, arguments, "dg") && (csd || odf)) o->dg = GLS_DG_PROB;
    if (o->dg == GLS_DG_BOOT && odf)
        return cmd_error(CMD_EXIT_USAGE,
                         "--dg boot: cannot use --%s: the bootstrap draws from the residuals of the measured signal; "
                         "take prob, det or ptt",
                         o->sh ? "sh" : "odf");
    if (o->dg == GLS_DG_BOOT && csd)
        return cmd_error(CMD_EXIT_USAGE, "--dg boot: cannot use --model csd: the bootstrap refits the signal at every "
                                         "step, for which the model must be linear "
                                         "(opdt, csa); take prob, det or ptt");
    if (o->dg != GLS_DG_PTT && (name = first_given(command, arguments, for_ptt)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: only --dg ptt has it", name);
    if (o->dg == GLS_DG_PTT && o->angular_weight > 0)
        return cmd_error(CMD_EXIT_USAGE, "--angular-weight: only --dg boot, prob and det have it");
    if (o->dg != GLS_DG_PROB && o->dg != GLS_DG_DET && o->odf_interpolation != GLS_ODF_INTERPOLATE_AUTO)
        return cmd_error(CMD_EXIT_USAGE, "--odf-interpolation: only --dg prob and det have it");
    if (o->odf && o->odf_interpolation == GLS_ODF_INTERPOLATE_COEFFICIENTS)
        return cmd_error(CMD_EXIT_USAGE, "--odf-interpolation coefficients: --odf gives amplitudes");
    if (o->probe_count == 1 && o->probe_radius.value > 0)
        return cmd_error(CMD_EXIT_USAGE, "--probe-radius: needs --probe-count of at least 2");
    return CMD_EXIT_OK;
}

int track_options_check(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    int code = check_inputs(command, o, arguments);
    if (!code) code = check_seeds(command, o, arguments);
    if (!code) code = check_getter(command, o, arguments);
    if (!code) code = model_options_check(command, &o->model, arguments);
    if (code) return code;
    if (o->min_length > o->max_length)
        return cmd_error(CMD_EXIT_USAGE, "--min-length: %g mm is more than --max-length %g mm", o->min_length,
                         o->max_length);
    size_t n_names = device_set_count(o->device);
    if (n_names > 1 && cmd_options_given(command, arguments, "ngpus") && n_names != (size_t)o->ngpus)
        return cmd_error(CMD_EXIT_USAGE, "--ngpus %d: --device names %zu", o->ngpus, n_names);
    return check_output(command, o, arguments);
}
