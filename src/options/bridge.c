/* Options and words of other programs, and what stands for them here: whoever types one out of habit is told. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

#include "util/numbers.h"
#include "util/text.h"

/* Names without dashes, for `glslines track` and `fit`. The table in src/doc/coming-from.md is made of these rows. */
static const struct {
    const char *program, *option, *here;
} rows[] = {
    {"tckgen", "seed_image", "--roi IMAGE (or the argument ROI)"},
    {"tckgen", "seed_random_per_voxel", "--roi IMAGE --seeds-per-voxel N"},
    {"tckgen", "seeds", "--nseeds N"},
    {"tckgen", "angle", "--max-angle DEGREES"},
    {"tckgen", "step", "--step-size MM (0.5mm)"},
    {"tckgen", "minlength", "--min-length MM"},
    {"tckgen", "maxlength", "--max-length MM"},
    {"tckgen", "algorithm",
     "--dg: iFOD1 is ifod1, iFOD2 is ifod2, SD_STREAM is sdstream, FACT is fact; see 'glslines help getters'"},
    {"tckgen", "fslgrad", "the arguments BVAL and BVEC"},
    {"tckgen", "grad", "the arguments BVAL and BVEC"},
    {"tckgen", "rk4", "nothing: steps are made as the direction getter says"},
    {"tckgen", "config", "nothing: every setting is an option"},
    {"tckgen", "info", "-v"},
    {"tckgen", "debug", "-vv"},
    {"dwi2fod", "lmax", "--sh-order L"},
    {"dwi2fod", "shells", "--shells B"},
    {"dwi2fod", "directions", "--csd-directions FILE"},
    {"dipy_track", "stopping_thr", "--fa-threshold X"},
    {"dipy_track", "stopping_path", "--fa IMAGE"},
    {"dipy_track", "seeding_path", "--roi IMAGE"},
    {"dipy_track", "seed_density", "--seeds-per-voxel: N^3 for its N along each axis"},
    {"dipy_track", "tracking_method", "--dg: deterministic is det, probabilistic is prob, ptt is ptt"},
    {"dipy_track", "random_seed", "--rng-seed N"},
    {"dipy_track", "seed_buffer_fraction", "--chunk-size N"},
    {"dipy_track", "out_tractogram", "-o FILE"},
    {"dipy_track", "save_seeds", "unneeded: TRX files always hold the seeds"},
    {"dipy_track", "nbr_threads", "--nthreads N, of the CPU: a GPU does the work"},
    {"scil_tracking_local", "npv", "--seeds-per-voxel N"},
    {"scil_tracking_local", "nt", "--nseeds N"},
    {"scil_tracking_local", "theta", "--max-angle DEGREES"},
    {"scil_tracking_local", "sfthres", "--pmf-threshold X"},
    {"scil_tracking_local", "sf_threshold", "--pmf-threshold X"},
    {"scil_tracking_local", "algo", "--dg: det, prob, ptt and eudx as here"},
    {"scil_tracking_local", "use_gpu", "--device gpu"},
    {"scil_tracking_local", "batch_size", "--chunk-size N"},
    {"scil_tracking_local", "sub_sphere", "--sphere NAME"},
    {"scil_tracking_local", "sh_interp_nn", "nothing: ODFs are always interpolated"},
    {"scil_tracking_local", "forward_only", "--seed-unidirectional"},
    {"scil_tracking_local", "seed", "--rng-seed N"},
    {"scil_tracking_local", "overwrite", "--force"},
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

/* value: in any case; "number" and "x,y,z,r" stand for all that are such. word: what the value is taken for; NULL: here
 * is said in the error. */
typedef struct value_row {
    const char *option, *value, *word, *here;
} value_row;
static const value_row values[] = {
    {"seeds", "number", NULL,
     "--nseeds N for N seeds, or --select N for N streamlines; --seeds names a file of points"},
    {"select", "0", NULL, "--nseeds N without --select: all streamlines of N seeds"},
    {"roi", "x,y,z,r", NULL, "--seed-sphere x,y,z,r; --roi names an image"},
    {"fa", "number", NULL, "--fa-threshold X; --fa names an image"},
    {"response", "number", NULL, "--response-voxels N or --response-fa X; --response names a file"},
    {"device", "metal", "gpu", "taken as gpu; OpenGL drives every GPU, but macOS has no OpenGL compute shaders"},
    {"device", "cuda", "gpu", "taken as gpu; OpenGL drives NVIDIA's GPUs, too"},
    {"device", "webgpu", "gpu", "taken as gpu"},
    {"device", "opencl", "gpu", "taken as gpu; OpenGL is used in place of OpenCL"},
    {"device", "numba", "cpu", "taken as cpu"},
    {"model", "default", "opdt", "taken as opdt with --dg boot, and as csd with other getters"},
    {"model", "dti", NULL, "--model opdt, csa, csd or msmt; FA comes from a tensor in any case"},
    {"model", "tensor", NULL, "--model opdt, csa, csd or msmt; FA comes from a tensor in any case"},
    {"model", "msmt_csd", "msmt", "taken as msmt"},
    {"dg", "deterministic", "det", "taken as det"},
    {"dg", "probabilistic", "prob", "taken as prob"},
    {"dg", "bootstrap", "boot", "taken as boot"},
    {"dg", "SD_STREAM", "sdstream", "taken as sdstream"},
    {"dg", "Tensor_Prob", NULL, "--dg boot, the nearest to it"},
    {"dg", "Tensor_Det", NULL, "--dg det, the nearest to it"},
    {"dg", "FACT", "fact", "taken as fact"},
    {"dg", "closestpeaks", NULL, "--dg det, the nearest to it"},
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
};

static const char *option_here(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].option, name) == 0) return rows[i].here;
    return NULL;
}

/* How many numbers with commas between them value is, 0: it is something else. */
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

static const value_row *find_value(const char *option, const char *value)
{
    const int numbers = count_numbers(value);
    const char *kind = numbers == 1 ? "number" : numbers == 4 ? "x,y,z,r" : value;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].option, option) != 0) continue;
        if (strcmp(values[i].value, kind) == 0 || gls_case_compare(values[i].value, value) == 0) return &values[i];
    }
    return NULL;
}

static const char *value_here(const char *option, const char *value)
{
    const value_row *row = find_value(option, value);
    return row ? row->here : NULL;
}

static const char *word_here(const char *option, const char *value)
{
    const value_row *row = find_value(option, value);
    return row ? row->word : NULL;
}

const cmd_hints cmd_bridge = {option_here, value_here, word_here};
