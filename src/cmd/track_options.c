#include "cmd/track_options.h"

#include <math.h>
#include <string.h>
#include <strings.h>

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
     .help = "Tractogram to write; the suffix .trx, .trk or .tck gives the format. A JSON sidecar with all parameters is written beside it."},
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
     .help = "Precision of positions in TRX files. Half is half the size, but its spacing is 0.06 mm at 100 mm from the origin."},
    {.group = OUTPUT,
     .name = "sidecar",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(sidecar),
     .default_text = "the output's name with .json",
     .help = "JSON file with parameters, counts and times; 'none' writes none."},
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

    {.group = INPUT,
     .name = "bvec-frame",
     .type = CMD_CHOICE,
     .choices = "fsl|image|world",
     FIELD(bvec_frame),
     .help = "Frame of the b-vectors: FSL's rule (voxel axes, x negated where the affine's determinant is positive), voxel axes as they are, or scanner axes."},
    {.group = INPUT,
     .name = "b0-threshold",
     .type = CMD_DOUBLE,
     .metavar = "B",
     .unit = "s/mm2",
     AT_LEAST(0),
     FIELD(b0_threshold),
     .help = "Volumes with a b-value up to this count as b = 0."},
    {.group = INPUT,
     .name = "fa",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(fa),
     .default_text = "from a tensor fit",
     .help = "Stop map (FA or another scalar image) in place of the FA of a tensor fit; counts as 0 outside the mask."},

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

    {.group = MODEL,
     .name = "model",
     .type = CMD_CHOICE,
     .choices = "opdt|csa|csd",
     FIELD(model),
     .help = "Orientation model: orientation probability density transform, constant solid angle, or constrained spherical deconvolution (csd: in a later "
             "version)."},
    {.group = MODEL, .name = "sh-order", .type = CMD_INT, .metavar = "L", BETWEEN(2, 8), FIELD(sh_order), .help = "Order of the spherical harmonics, even."},
    {.group = MODEL,
     .name = "sm-lambda",
     .type = CMD_DOUBLE,
     .metavar = "X",
     AT_LEAST(0),
     FIELD(sm_lambda),
     .help = "Laplace-Beltrami smoothing of the model."},
    {.group = MODEL,
     .name = "min-signal",
     .type = CMD_DOUBLE,
     .metavar = "S",
     MORE_THAN(0),
     FIELD(min_signal),
     .help = "Smaller values of the signal are raised to this."},
    {.group = MODEL,
     .name = "sphere",
     .type = CMD_STRING,
     .metavar = "default|small|FILE",
     FIELD(sphere),
     .help = "Directions on which ODFs are sampled: 724 points, 362 points, or those of a text file with 'x y z' a line."},
    {.group = MODEL,
     .name = "cache-dir",
     .type = CMD_STRING,
     .metavar = "DIR",
     FIELD(cache_dir),
     .default_text = "",
     .help = "Keep fitted images there (in a later version)."},

    {.group = TRACKING,
     .name = "dg",
     .type = CMD_CHOICE,
     .choices = "boot|prob|det|ptt",
     FIELD(dg),
     .help = "Direction getter: residual bootstrap, probabilistic, deterministic or parallel transport."},
    {.group = TRACKING,
     .name = "step-size",
     .type = CMD_LENGTH,
     .metavar = "X[vox|mm]",
     MORE_THAN(0),
     FIELD(step_size),
     .help = "Step; a bare number is in voxels, of which one is the smallest side of a voxel. The step is the same length in mm in every direction."},
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
     .help = "Initial directions from one bootstrap sample, or (newer DIPY's rule) from the fit of the measured signal."},
    {.group = TRACKING, .name = "keep-single-points", .type = CMD_FLAG, FIELD(keep_single_points), .help = "Keep streamlines that could not make a step."},
    {.group = TRACKING,
     .name = "rng-seed",
     .type = CMD_SEED,
     .metavar = "K",
     NO_BOUNDS,
     FIELD(rng_seed),
     .help = "Random seed of the tracking: a whole number, or 'random' to draw one and print it."},

    {.group = DEVICE,
     .name = "device",
     .type = CMD_STRING,
     .metavar = "NAME",
     FIELD(device),
     .help = "auto, an index of 'glslines devices', a render node such as /dev/dri/renderD128, llvmpipe, or a part of the renderer's name."},
    {.group = DEVICE, .name = "api", .type = CMD_CHOICE, .choices = "auto|gl|gles", FIELD(api), .help = "OpenGL or OpenGL ES."},
    {.group = DEVICE,
     .name = "mapping",
     .type = CMD_CHOICE,
     .choices = "auto|single|subgroup",
     FIELD(mapping),
     .help = "One invocation or one subgroup per streamline; auto takes subgroups on hardware that has them."},
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
     .help = "Largest batch; it is made smaller where the device's limits ask for it. Never changes the result."},
    {.group = DEVICE,
     .name = "ngpus",
     .type = CMD_INT,
     .metavar = "N",
     BETWEEN(1, 1024),
     FIELD(ngpus),
     .help = "Devices to use (more than one: in a later version)."},
    {.name = NULL},
};

void track_options_default(void *values)
{
    gls_track_params track = gls_track_params_default();
    gls_qball_options qball = gls_qball_options_default();
    gls_gradients_options gradients = gls_gradients_options_default();
    *(track_options *)values = (track_options){
        .write_method = GLS_FORMAT_TRX,
        .bvec_frame = gradients.frame,
        .b0_threshold = gradients.b0_threshold,
        .nseeds = 100000,
        .model = qball.model,
        .sh_order = qball.sh_order,
        .sm_lambda = qball.smooth,
        .min_signal = qball.min_signal,
        .sphere = "default",
        .dg = track.dg,
        .step_size = {0.5, false},
        .max_angle = track.max_angle,
        .fa_threshold = track.stop_threshold,
        .min_length = track.min_length,
        .max_length = track.max_length,
        .pmf_threshold = track.pmf_threshold,
        .relative_peak_threshold = track.relative_peak_threshold,
        .min_separation_angle = track.min_separation_angle,
        .max_directions_per_seed = track.max_directions_per_seed,
        .boot_retry = track.boot_retry,
        .boot_start = track.boot_start,
        .keep_single_points = track.keep_single_points,
        .rng_seed = {track.rng_seed, false},
        .device = "auto",
        .mapping = track.mapping,
        .float_textures = track.float_textures,
        .chunk_size = 25000,
        .ngpus = 1,
    };
}

static int check_later(const track_options *o)
{
    if (o->ngpus > 1) return cmd_error(CMD_EXIT_UNSUPPORTED, "--ngpus %d: several devices come with a later version", o->ngpus);
    if (o->model == TRACK_MODEL_CSD) return cmd_error(CMD_EXIT_UNSUPPORTED, "--model csd: constrained spherical deconvolution comes with a later version");
    if (o->cache_dir) return cmd_error(CMD_EXIT_UNSUPPORTED, "--cache-dir: keeping fitted images comes with a later version");
    return CMD_EXIT_OK;
}

static int check_output(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    bool method_given = cmd_options_given(command, arguments, "write-method");
    if (o->output && o->output_prefix) return cmd_error(CMD_EXIT_USAGE, "--output and --output-prefix exclude each other");
    gls_tractogram_format format = (gls_tractogram_format)o->write_method;
    if (o->output) {
        gls_status status = gls_tractogram_format_parse(o->output, &format);
        if (status) return cmd_error_status(status);
        if (method_given && (int)format != o->write_method)
            return cmd_error(CMD_EXIT_USAGE, "--write-method: contradicts the suffix of --output %s", o->output);
    }
    if (o->output_half && format != GLS_FORMAT_TRX) return cmd_error(CMD_EXIT_USAGE, "--output-precision half: only TRX files have it");
    return CMD_EXIT_OK;
}

int track_options_check(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    int n = arguments->n_positionals;
    if (n != 0 && n != 5)
        return cmd_error(CMD_EXIT_USAGE, "track: takes DWI BVAL BVEC MASK ROI, all five or none; got %d: '%s' is the last", n, arguments->positional[n - 1]);
    bool nseeds = cmd_options_given(command, arguments, "nseeds"), per_voxel = o->seeds_per_voxel > 0, list = o->seeds != NULL;
    if (nseeds + per_voxel + list > 1) return cmd_error(CMD_EXIT_USAGE, "--nseeds, --seeds-per-voxel and --seeds exclude each other");
    if (!list && cmd_options_given(command, arguments, "seed-space")) return cmd_error(CMD_EXIT_USAGE, "--seed-space: needs --seeds FILE");
    if (list && cmd_options_given(command, arguments, "seed-seed")) return cmd_error(CMD_EXIT_USAGE, "--seed-seed: has no effect with --seeds FILE");
    if (n == 0) {
        static const char *const for_files[] = {"bvec-frame", "b0-threshold"};
        for (size_t i = 0; i < sizeof for_files / sizeof *for_files; i++)
            if (cmd_options_given(command, arguments, for_files[i]))
                return cmd_error(CMD_EXIT_USAGE, "--%s: needs input files; the built-in phantom has no use for it", for_files[i]);
    }
    if (o->sh_order % 2) return cmd_error(CMD_EXIT_USAGE, "--sh-order: %d is odd: must be even, 2 to 8", o->sh_order);
    if (o->min_length > o->max_length) return cmd_error(CMD_EXIT_USAGE, "--min-length: %g mm is more than --max-length %g mm", o->min_length, o->max_length);
    int code = check_output(command, o, arguments);
    return code ? code : check_later(o);
}
