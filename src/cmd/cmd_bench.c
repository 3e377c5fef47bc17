/* glslines bench: how fast the devices here track, phase by phase. */
#include <stdlib.h>

#include "cmd/bench_options.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/model_options.h"
#include "cmd/progress.h"
#include "util/trace.h"
#include "workflow/output.h"
#include "workflow/sidecar.h"

static int write_json(const bench_run *run, const char *path, bool force)
{
    char *text = bench_json_text(run);
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "%s: out of memory", path);
    gls_status status = gls_sidecar_write(path, force, NULL, text);
    free(text);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static int measure(const bench_options *options, const bench_values *o)
{
    cmd_progress progress = {.quiet_lines = true};
    gls_monitor monitor = cmd_progress_monitor(&progress);
    bench_run *run = malloc(sizeof *run);
    if (!run) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    if (o->trace) gls_trace_start();
    gls_status status = bench_measure_all(run, options, &monitor);
    if (!status && o->trace) status = gls_sidecar_write_trace(o->trace, o->force);
    int code = status ? cmd_error_status(status) : CMD_EXIT_OK;
    if (!code && o->json) code = write_json(run, o->json, o->force);
    if (!code) bench_print(run);
    bench_finish(run);
    free(run);
    return code;
}

static int run_bench(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const bench_values *o = values;
    bench_options options = {.n_devices = 0};
    int code = model_options_check(command, &o->model, arguments);
    gls_status status = !code && o->json ? gls_place_check(o->json, o->force, NULL, NULL, 0) : GLS_OK;
    if (!status && !code && o->trace) status = gls_place_check(o->trace, o->force, NULL, &o->json, 1);
    if (status) code = cmd_error_status(status);
    if (!code) code = bench_options_get(o, arguments, &options);
    if (!code) code = measure(&options, o);
    bench_options_finish(&options);
    return code;
}

static const char *const examples[] = {
    "Every direction getter on the best device:",
    "glslines bench",
    "A million seeds on the first device, both mappings, kept for a comparison:",
    "glslines bench --dg boot,prob,ptt --device 0 --mapping single,subgroup --nseeds 1000000 --json bench.json",
    "A quick look at the software renderer:",
    "glslines bench --dg boot --device llvmpipe --shape 40x52x38 --nseeds 1000 --repeat 3 --no-write",
    NULL,
};

const cmd_command cmd_bench = {
    .name = "bench",
    .synopsis = "[options]",
    .summary = "Measure how fast the devices here track, phase by phase",
    .description = "Makes a phantom of the size of a brain, fits it, and tracks it with each direction getter, "
                   "device and mapping asked for: steps of half a voxel, at most 60 degrees, FA above 0.1 and the "
                   "mask as --mask-stop says, 362 pairs of directions. Each is run once without being counted and "
                   "then --repeat times; times are of the host's clock.\n"
                   "'kernels and transfers' is the sum of the five phases above it; 'whole' is from the first seed "
                   "to the complete TRX file, which is written while tracking goes on and deleted afterwards. "
                   "'commissural' counts streamlines whose ends lie on different sides of the plane x = 0 of world "
                   "space, the middle of the phantom.\n"
                   "Samples, texels and FLOP are counted from the algorithm, for each point. With n weighted "
                   "volumes, k coefficients and v directions, boot takes (k + 1) / 4 + n / 4 + 1 samples and 2 n k "
                   "+ v k multiply-adds, prob and det k / 4 + 1 and v k + v, ptt, which tries two curves or so for "
                   "each of 20 short steps, 20 (2 x 4 + 2) and 20 x 9 x 18. A sample is eight texels of four "
                   "half-precision channels (ptt: one), a multiply-add two FLOP. In brackets is the part of what "
                   "the device reaches in kernels that only sample, copy or multiply. Caches let the texels exceed "
                   "what it copies, and symmetries of the directions save FLOP.",
    .options = bench_option_table,
    .aliases = model_option_aliases,
    .examples = examples,
    .values_size = sizeof(bench_values),
    .set_defaults = bench_options_default,
    .run = run_bench,
};
