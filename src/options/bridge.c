/* Commands, options and words of other programs, and their counterparts in glslines. A user who types one out of habit
 * gets the counterpart. */
#include "options/bridge.h"
#include "options/options.h"

#include <stdio.h>
#include <string.h>

#include "util/text.h"

/* Programs and commands of others ("a|b" are two), with what to type after "glslines" in their place. */
static const struct {
    const char *program, *command;
} programs[] = {
    {"version", "--version"},
    {"completions|completion", "help --format bash (or zsh, fish)"},
    {"tckgen|dipy_track|scil_tracking_local|run_gpu_streamlines.py|trekker|probtrackx2|probtrackx2_gpu", "track"},
    {"dipy_track_pft|scil_tracking_pft", "track"},
    {"5ttgen", "help anatomy"},
    {"dwi2fod|mtnormalise|dipy_fit_csd|dipy_fit_csa|dipy_fit_opdt|scil_fodf_ssst", "fit"},
    {"dwi2response|scil_frf_ssst", "response"},
    {"dwi2tensor|tensor2metric", "fit --no-model --tensor-maps --tensor mrtrix"},
    {"dtifit|dipy_fit_dti", "fit --no-model --tensor-maps"},
    {"fod2fixel|tck2fixel|afdconnectivity", "fixels"},
    {"sh2peaks", "peaks"},
    {"tck2connectome", "connectome"},
    {"connectome2tck", "edges"},
    {"connectomestats|vectorstats", "permute"},
    {"tckconvert|dipy_convert_tractogram", "convert"},
    {"tckedit|scil_tractogram_filter_by_length|scil_tractogram_filter_by_roi|scil_tractogram_resample_nb_points",
     "edit"},
    {"tckinfo|mrinfo|dipy_info", "info"},
    {"tckmap|scil_tractogram_compute_density_map", "density"},
    {"tcktransform|mrtransform|antsApplyTransforms|scil_tractogram_apply_transform", "transform"},
    {"tcksample|fixel2tsf", "sample"},
    {"tcksift|tcksift2", "weights"},
    {"tckstats", "stats"},
    {"mrview|view|dipy_horizon", "render"},
    {"qsirecon", "bids"},
    {"dipy_buan_profiles", "profile"},
};

/* Options of other programs, without dashes; "a|b" are two options with one counterpart. A row is used in the command
 * of glslines that does the work of its program, and in every other command that has the first option named in `here`.
 * Rows of MRtrix3, which programs[] lacks, are used in all commands. src/doc/coming-from.md has a table of the rows. */
typedef struct option_row {
    const char *program, *option, *here;
} option_row;
static const option_row rows[] = {
    {"probtrackx2", "samples", "--bedpostx DIR, the folder that the samples lie in; tckgen's -samples is --samples N"},
    {"probtrackx2", "out", "--fdt-paths FILE and --waytotal FILE; -o none writes no tractogram"},
    {"probtrackx2", "ompl", "--fdt-lengths FILE"},
    {"probtrackx2", "pd", "--distance-correction"},
    {"probtrackx2", "network", "--fdt-network LABELS:FILE, one image of all regions; seeds: --roi LABELS"},
    {"probtrackx2", "omatrix1", "--fdt-matrix1 FILE"},
    {"probtrackx2", "omatrix2|target2", "--fdt-matrix2 MASK:FILE"},
    {"probtrackx2", "omatrix3|target3", "--fdt-matrix3 MASK:FILE"},
    {"probtrackx2", "lrtarget3", "--fdt-lrtarget3 MASK"},
    {"probtrackx2", "os2t|targetmasks", "--fdt-targets LABELS:FILE, one image of all targets"},
    {"probtrackx2", "nsamples|P", "--seeds-per-voxel N"},
    {"probtrackx2", "nsteps|S", "--max-length MM: N steps of --step-size for both half-streamlines together"},
    {"probtrackx2", "steplength", "--step-size Xmm"},
    {"probtrackx2", "cthr|c", "--max-angle DEGREES: the arc cosine, 78.463 for 0.2"},
    {"probtrackx2", "fibthresh", "--cutoff X"},
    {"probtrackx2", "distthresh", "--min-length MM, of the whole streamline"},
    {"probtrackx2", "sampvox", "--seed-radius MM"},
    {"probtrackx2", "randfib", "--start-fibre first, any, by-f or all, for 0 to 3"},
    {"probtrackx2", "loopcheck|l", "--loop-check"},
    {"probtrackx2", "usef|f", "--stop-by-fraction"},
    {"probtrackx2", "waypoints", "--include IMAGE, once for each, with --region-rule halves (waycond OR: halves-any)"},
    {"probtrackx2", "wayorder", "--region-rule halves-ordered"},
    {"probtrackx2", "onewaycondition", "--region-rule halves-one-way, for waycond AND"},
    {"probtrackx2", "stop", "--stop-at IMAGE; tckgen's -stop is --stop"},
    {"probtrackx2", "wtstop", "--stop-leaving IMAGE, once for each"},
    {"probtrackx2", "avoid",
     "--exclude IMAGE; with --region-rule halves only the half-streamline that meets it is lost"},
    {"probtrackx2", "s", "--bedpostx DIR, the folder that the samples lie in"},
    {"probtrackx2", "m", "--mask IMAGE"},
    {"probtrackx2", "x", "--roi IMAGE; --seeds FILE for coordinates"},
    {"probtrackx2", "dir",
     "a folder in the name of each file: --fdt-paths DIR/fdt_paths.nii.gz, --waytotal DIR/waytotal"},
    {"probtrackx2", "forcedir", "--force"},
    {"probtrackx2", "opd", "--fdt-paths FILE"},
    {"probtrackx2", "savepaths", "-o FILE.tck"},
    {"probtrackx2", "simple", "--seeds FILE, a text file of voxels"},
    {"probtrackx2", "waycond", "--region-rule halves for AND, halves-any for OR"},
    {"probtrackx2", "rseed", "--rng-seed N"},
    {"probtrackx2", "xfm|invxfm|seedref", "no option: all images have to lie in the space of the samples"},
    {"probtrackx2", "meshspace", "no option: surfaces are not read, make images of them"},
    {"tckgen", "seed_image", "--roi IMAGE (or the argument ROI)"},
    {"tckgen", "seed_random_per_voxel", "--roi IMAGE --seeds-per-voxel N"},
    {"tckgen", "seed_grid_per_voxel", "--roi IMAGE --seed-grid N"},
    {"tckgen", "seed_coordinates_fixed", "--seeds FILE --seed-space world, with a line for each seed"},
    {"tckgen", "seed_dynamic", "--seed-dynamic FOD, or auto for the FODs that are tracked, with --select N"},
    {"tckgen", "initdirection", "--seed-direction x,y,z"},
    {"tckgen", "seeds", "--nseeds N"},
    {"tckgen", "angle", "--max-angle DEGREES"},
    {"tckgen", "step", "--step-size MM (0.5mm)"},
    {"tckgen", "minlength", "--min-length MM"},
    {"tckgen", "maxlength", "--max-length MM"},
    {"tckgen", "algorithm",
     "--dg: iFOD1 is ifod1, iFOD2 is ifod2, SD_STREAM is sdstream, FACT is fact, Tensor_Det is tensordet, "
     "Tensor_Prob is tensorprob, NullDist1, NullDist2 and SeedTest are nulldist1, nulldist2 and seedtest; see "
     "'glslines help getters'"},
    {"tckgen", "rk4", "--rk4, with --dg tensordet and tensorprob"},
    {"MRtrix3", "fslgrad", "the arguments BVAL and BVEC, that of b-values first"},
    {"MRtrix3", "grad", "the argument BVAL, with - in place of BVEC"},
    {"MRtrix3", "config", "nothing: every setting is an option"},
    {"MRtrix3", "info", "-v"},
    {"MRtrix3", "debug", "-vv"},
    {"dwi2fod", "lmax", "--sh-order L"},
    {"dwi2fod", "shells", "--shells B"},
    {"dwi2fod", "directions", "--csd-directions FILE"},
    {"TractoFlow", "dti_shells", "--tensor-shells B ..."},
    {"TractoFlow", "fodf_shells", "--shells B ..."},
    {"dwi2response", "voxels", "nothing: PREFIX_voxels.nii.gz is always written"},
    {"dwi2response", "number", "--voxels N"},
    {"dwi2response", "fa", "--fa-threshold X"},
    {"dwi2response", "sfwm", "--wm-percent P"},
    {"dwi2response", "gm", "--gm-percent P"},
    {"dwi2response", "csf", "--csf-percent P"},
    {"dwi2response", "wm_algo", "--wm-algorithm WORD"},
    {"tckedit", "mask", "--crop REGION"},
    {"tckedit", "ends_only", "--endpoints"},
    {"tckedit", "maxweight", "--max-weight W"},
    {"tckedit", "minweight", "--min-weight W"},
    {"tckedit", "tck_weights_in", "--weights FILE"},
    {"tckmap", "vox", "--voxel-size X [Y Z]"},
    {"tckmap", "precise", "--mapping precise"},
    {"tckmap", "ends_only", "--mapping ends"},
    {"tck2connectome", "assignment_end_voxels", "--assign end"},
    {"tck2connectome", "assignment_radial_search", "--assign radial:R"},
    {"tck2connectome", "assignment_reverse_search", "--assign reverse:R"},
    {"tck2connectome", "assignment_forward_search", "--assign forward:R"},
    {"tck2connectome", "assignment_all_voxels", "--assign all --roi-test vertex"},
    {"tck2connectome", "scale_length", "--scale length"},
    {"tck2connectome", "scale_invlength", "--scale invlength"},
    {"tck2connectome", "scale_invnodevol", "--scale invnodevol"},
    {"tck2connectome", "out_assignments", "--assignments FILE"},
    {"connectome2tck", "tck_weights_in", "--weights FILE"},
    {"connectome2tck", "prefix_tck_weights_out", "nothing: weights lie beside each TCK file"},
    {"tcksample", "nointerp", "--interp nearest"},
    {"tcksample", "precise", "--by voxel"},
    {"tcksample", "use_tdi_fraction", "--fraction"},
    {"tckstats", "output", "nothing: the table has all statistics"},
    {"tcksift2", "no_dilate_lut", "--no-dilate"},
    {"tcksift2", "fd_thresh", "--fd-threshold X"},
    {"tcksift2", "out_mu", "--mu FILE"},
    {"tcksift2", "out_coeffs", "--coeffs"},
    {"tcksift2", "linear", "--method linear"},
    {"qsirecon", "recon-spec", "--preset qsirecon, behind --"},
    {"qsirecon", "atlases", "--atlas NAME"},
    {"qsirecon", "work-dir", "unneeded with its value: there is no working folder"},
    {"fod2fixel", "fmls_integral", "--fixel-integral X"},
    {"fod2fixel", "fmls_peak_value", "--fixel-peak X"},
    {"afdconnectivity", "wbft", "--tracks-all TRACKS"},
    {"sh2peaks", "num", "--number N"},
    {"dipy_track", "stopping_thr", "--fa-threshold X"},
    {"dipy_track", "stopping_path", "--fa IMAGE"},
    {"dipy_track", "seeding_path", "--roi IMAGE"},
    {"dipy_track", "seed_density", "--seeds-per-voxel: N^3 for its N along each axis"},
    {"dipy_track", "tracking_method", "--dg: deterministic is det, probabilistic is prob, ptt is ptt"},
    {"dipy_track", "random_seed", "--rng-seed N"},
    {"dipy_track", "seed_buffer_fraction", "--chunk-size N"},
    {"dipy_track", "out_tractogram", "-o FILE"},
    {"dipy_track", "save_seeds", "unneeded: TRX files always hold the seeds"},
    {"dipy_track", "minlen", "--min-length MM"},
    {"dipy_track", "maxlen", "--max-length MM"},
    {"dipy_track", "sphere_name", "--sphere NAME"},
    {"dipy_track", "pam_files", "--sh FILE (or --odf FILE, --peaks FILE)"},
    {"dipy_track", "nbr_threads", "--nthreads N, of the CPU: a GPU does the work"},
    {"scil_tracking_local", "npv", "--seeds-per-voxel N"},
    {"scil_tracking_local", "nt", "--nseeds N"},
    {"scil_tracking_local", "theta", "--max-angle DEGREES"},
    {"scil_tracking_local", "sfthres|sf_threshold", "--pmf-threshold X"},
    {"scil_tracking_local", "algo", "--dg: det, prob, ptt and eudx as here"},
    {"scil_tracking_local", "use_gpu", "--device gpu"},
    {"scil_tracking_local", "batch_size", "--chunk-size N"},
    {"scil_tracking_local", "sub_sphere", "--sphere NAME"},
    {"scil_tracking_local", "sh_interp_nn", "nothing: ODFs are always interpolated"},
    {"scil_tracking_local", "forward_only", "--seed-unidirectional"},
    {"scil_tracking_local", "seed", "--rng-seed N; a seed mask is --roi IMAGE"},
    {"scil_tracking_local", "overwrite", "--force"},
    {"scil_tracking_pft", "back", "--pft-back MM"},
    {"scil_tracking_pft", "forward", "--pft-front MM"},
    {"scil_tracking_pft", "particles", "--pft-particles N"},
    {"scil_tracking_pft", "all", "--keep-all-ends"},
    {"dipy_track_pft", "pft_back", "--pft-back MM"},
    {"dipy_track_pft", "pft_front", "--pft-front MM"},
    {"dipy_track_pft", "pft_count", "--pft-particles N"},
    {"dipy_track_pft", "pft_max_trial", "--pft-trials N"},
    {"scil_tracking_local", "max_length", "--max-length MM"},
    {"scil_tractogram_filter_by_length", "minL", "--min-length MM"},
    {"scil_tractogram_filter_by_length", "maxL", "--max-length MM"},
    {"scil_tractogram_filter_by_roi", "drawn_roi", "--include REGION (or --include-end, --exclude ...)"},
    {"scil_tractogram_filter_by_roi", "bdo", "--include REGION; a region is an image, a sphere or a mesh"},
    {"scil_tractogram_resample_nb_points", "nb_pts_per_streamline", "--points N"},
    {"scil_frf_ssst", "fa_thresh", "--fa-threshold X"},
    {"dipy_fit_csd", "sh_order_max", "--sh-order L"},
    {"dipy_fit_csd", "fa_thr", "--response-fa X"},
    {"dipy_fit_csd", "roi_radii", "--response-radius R"},
    {"dipy_fit_csd", "frf", "--response FILE"},
    {"run_gpu_streamlines.py", "use-fast-write", "unneeded: files are written while tracking goes on"},
    {"run_gpu_streamlines.py", "sampling-density", "--seeds-per-voxel: N^3 for its N along each axis"},
    {"trekker", "stepSize", "--ptt-substep (see 'glslines help parallel-transport')"},
    {"trekker", "writeInterval", "--step-size (see 'glslines help parallel-transport')"},
    {"trekker", "minRadiusOfCurvature", "--min-radius-of-curvature MM"},
    {"trekker", "probeLength", "--probe-length MM"},
    {"trekker", "probeQuality", "--probe-quality, one less"},
    {"trekker", "minFODamp", "--pmf-threshold (see 'glslines help parallel-transport')"},
    {"trekker", "seed_count", "--nseeds N"},
    {"trekker", "seed_countPerVoxel", "--seeds-per-voxel N"},
    {"trekker", "seed_maxTrials", "--retries, one less; Trekker's default is 100000 trials"},
    {"trekker", "directionality", "one_sided: --seed-unidirectional; two_sided is the default"},
    {"trekker", "pathway_require_entry", "--include REGION"},
    {"trekker", "pathway_discard_if_enters", "--exclude REGION"},
    {"trekker", "pathway_discard_if_ends_inside", "--exclude-end REGION"},
    {"trekker", "pathway_stop_at_entry", "--stop-at REGION"},
    {"trekker", "pathway_stop_at_exit", "--tracking-mask REGION"},
    {"trekker", "numberOfThreads", "--nthreads N, of the CPU: a GPU does the work"},
};

/* A value that other programs' users give to an option of glslines. value: compared without case; number, x,y,z,r and
 * folder/name stand for all values of that form. word: the value that replaces it; NULL: the error shows `here`. */
typedef struct value_row {
    const char *option, *value, *word, *here;
} value_row;
#define STATISTICS \
    "a column of the table, which has all of them; --histogram FILE writes their distribution, --output names a file"
static const value_row values[] = {
    {"seeds", "number", NULL,
     "--nseeds N for N seeds, or --select N for N streamlines; --seeds names a file of points"},
    {"select", "0", NULL, "--nseeds N without --select: all streamlines of N seeds"},
    {"samples", "folder/name", NULL, "--bedpostx DIR, the folder that the samples lie in; --samples is a number"},
    {"roi", "x,y,z,r", NULL, "--seed-sphere x,y,z,r; --roi names an image"},
    {"fa", "number", NULL, "--fa-threshold X; --fa names an image"},
    {"template", "number", NULL, "--voxel-size X; --template names an image"},
    {"ids", "number", NULL, "--number N for the first N streamlines, or --skip K; --ids names a file of indices"},
    {"response", "number", NULL, "--response-voxels N or --response-fa X; --response names a file"},
    {"device", "metal", "gpu", "taken as gpu; OpenGL drives every GPU, but macOS has no OpenGL compute shaders"},
    {"device", "cuda", "gpu", "taken as gpu; OpenGL drives NVIDIA's GPUs, too"},
    {"device", "webgpu", "auto", "taken as auto, since WebGPU, too, has devices on the CPU"},
    {"device", "opencl", "auto", "taken as auto, since OpenCL, too, has devices on the CPU"},
    {"device", "numba", "cpu", "taken as cpu"},
    {"output", "mean", NULL, STATISTICS},
    {"output", "median", NULL, STATISTICS},
    {"output", "std", NULL, STATISTICS},
    {"output", "min", NULL, STATISTICS},
    {"output", "max", NULL, STATISTICS},
    {"output", "count", NULL, STATISTICS},
    {"model", "default", "opdt", "taken as opdt with --dg boot, and as csd with other getters"},
    {"model", "dti", NULL, "--model opdt, csa, csd or msmt; FA comes from a tensor in any case"},
    {"model", "tensor", NULL, "--model opdt, csa, csd or msmt; FA comes from a tensor in any case"},
    {"model", "msmt_csd", "msmt", "taken as msmt"},
    {"dg", "deterministic", "det", "taken as det"},
    {"dg", "probabilistic", "prob", "taken as prob"},
    {"dg", "bootstrap", "boot", "taken as boot"},
    {"dg", "SD_STREAM", "sdstream", "taken as sdstream"},
    {"dg", "Tensor_Prob", "tensorprob", "taken as tensorprob"},
    {"dg", "Tensor_Det", "tensordet", "taken as tensordet"},
    {"dg", "NullDist1", "nulldist1", "taken as nulldist1"},
    {"dg", "NullDist2", "nulldist2", "taken as nulldist2"},
    {"dg", "SeedTest", "seedtest", "taken as seedtest"},
    {"dg", "FACT", "fact", "taken as fact"},
    {"dg", "closestpeaks", "closest", "taken as closest"},
    {"sh-basis", "mrtrix", "tournier07", "taken as tournier07"},
    {"sh-basis", "tournier", "tournier07", "taken as tournier07"},
    {"sh-basis", "dipy", "descoteaux07_legacy", "taken as descoteaux07_legacy, DIPY's default"},
    {"sh-basis", "descoteaux", NULL, "descoteaux07, or descoteaux07_legacy, DIPY's default"},
    {"output-precision", "float32", "float", "taken as float"},
    {"output-precision", "float16", "half", "taken as half"},
    {"precision", "float32", "float", "taken as float"},
    {"precision", "float16", "half", "taken as half"},
    {"preset", "mrtrix", "tckgen", "taken as tckgen"},
    {"preset", "mrtrix-ifod1", NULL, "--preset tckgen --dg ifod1"},
    {"preset", "probtrackx", NULL,
     "no preset: --bedpostx DIR has probtrackx2's values; --region-rule halves its rule of waypoints"},
    {"preset", "probtrackx2", NULL,
     "no preset: --bedpostx DIR has probtrackx2's values; --region-rule halves its rule of waypoints"},
};

/* How many numbers, separated by commas, the value consists of. 0: it is something else. */
static int count_numbers(const char *value)
{
    char number[64];
    double v;
    for (int n = 1;; n++) {
        size_t length = strcspn(value, ",");
        if (length >= sizeof number) return 0;
        snprintf(number, sizeof number, "%.*s", (int)length, value);
        if (!gls_parse_double(number, &v)) return 0;
        if (!value[length]) return n;
        value += length + 1;
    }
}

/* Returns the row for a value that the user gave to an option of glslines; NULL: none. */
static const value_row *find_value(const char *option, const char *value)
{
    const int numbers = count_numbers(value);
    const char *kind = numbers == 1 ? "number" : numbers == 4 ? "x,y,z,r" : strchr(value, '/') ? "folder/name" : value;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].option, option) != 0) continue;
        if (strcmp(values[i].value, kind) == 0 || gls_case_compare(values[i].value, value) == 0) return &values[i];
    }
    return NULL;
}

const char *cmd_bridge_command(const char *program)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (gls_choice_find(programs[i].program, program, strlen(program)) >= 0) return programs[i].command;
    return NULL;
}

/* Sets *name to the first option "--name" in a text, without dashes, and returns the length of the name; 0: none. */
static size_t first_option(const char *text, const char **name)
{
    const char *dashes = strstr(text, "--");
    *name = dashes ? dashes + 2 : "";
    return strspn(*name, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

/* Whether the first option "--name" in a text is in the table. */
static bool names_option_of(const cmd_table *table, const char *text)
{
    const char *name;
    const size_t n = first_option(text, &name);
    for (size_t i = 0; n > 0 && i < table->n; i++)
        if (strncmp(table->option[i].name, name, n) == 0 && !table->option[i].name[n]) return true;
    return false;
}

cmd_bridged cmd_bridge_option(const char *command, const cmd_table *table, const char *name)
{
    cmd_bridged found = {.here = NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (gls_choice_find(rows[i].option, name, strlen(name)) < 0) continue;
        /* a row of this command, or one for all commands, wins */
        const char *of = cmd_bridge_command(rows[i].program);
        if (!of || strcmp(of, command) == 0) return (cmd_bridged){rows[i].here, command};
        const bool other = !found.command || strcmp(found.command, command) != 0;
        if (names_option_of(table, rows[i].here) && other)
            found = (cmd_bridged){rows[i].here, command};
        else if (!found.here)
            found = (cmd_bridged){rows[i].here, of};
    }
    return found;
}

const char *cmd_bridge_value(const cmd_table *table, const char *option, const char *value)
{
    const value_row *row = find_value(option, value);
    const char *name;
    /* A row that names another option is used only in commands with that option. */
    return row && (first_option(row->here, &name) == 0 || names_option_of(table, row->here)) ? row->here : NULL;
}

const char *cmd_bridge_word(const char *option, const char *value)
{
    const value_row *row = find_value(option, value);
    return row ? row->word : NULL;
}
