/* glslines bench: how fast the devices here track, phase by phase. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/bench_peer.h"
#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/output.h"
#include "cmd/sidecar.h"
#include "cmd/text.h"

/* Parallel transport makes twenty short steps a point. */
enum { SEEDS_HARDWARE = 100000, SEEDS_SOFTWARE = 5000, SEEDS_SOFTWARE_PTT = 100 };

uint64_t bench_seeds_for(const bench_run *run, int dg)
{
    bool software = false;
    for (int i = 0; i < run->lists.n_devices; i++) software = software || run->device[i].info->software;
    return !run->options->nseeds && software && dg == GLS_DG_PTT ? SEEDS_SOFTWARE_PTT : run->nseeds;
}

static int open_devices(bench_run *run)
{
    static const char *const apis[] = {NULL, "gl", "gles"};
    bool software = false;
    for (int i = 0; i < run->lists.n_devices; i++) {
        bench_device *d = &run->device[i];
        gls_status status = gls_device_open(run->lists.device[i], apis[run->options->api], &d->device);
        if (status) return cmd_error_status(status);
        d->info = gls_device_get_info(d->device);
        software = software || d->info->software;
        cmd_info("device: %s, %s", d->info->renderer, d->info->version);
    }
    run->nseeds = run->options->nseeds ? run->options->nseeds : software ? SEEDS_SOFTWARE : SEEDS_HARDWARE;
    return CMD_EXIT_OK;
}

/* A folder for the tractograms that are written to be timed. */
static int make_directory(bench_run *run)
{
    const char *place = getenv("TMPDIR");
    if (run->options->no_write) return CMD_EXIT_OK;
    if (!place || !*place) place = "/tmp";
    if (asprintf(&run->directory, "%s/glslines-bench-XXXXXX", place) < 0) {
        run->directory = NULL;
        return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    }
    if (mkdtemp(run->directory)) return CMD_EXIT_OK;
    free(run->directory);
    run->directory = NULL;
    return cmd_error(CMD_EXIT_OUTPUT,
                     "%s: no temporary folder can be made there: %s; TMPDIR names another place, --no-write needs none",
                     place, strerror(errno));
}

static int measure_columns(bench_run *run, int dg, const bench_model *model)
{
    static const char *const getters[] = {
        [GLS_DG_BOOT] = "boot", [GLS_DG_PROB] = "prob", [GLS_DG_DET] = "det", [GLS_DG_PTT] = "ptt"};
    int code = CMD_EXIT_OK;
    for (int d = 0; !code && d < run->lists.n_devices; d++)
        for (int m = 0; !code && m < run->lists.n_mapping; m++) {
            bench_column *c = &run->column[run->n_columns];
            *c = (bench_column){.dg = dg, .device = d, .mapping = run->lists.mapping[m]};
            if (c->mapping == GLS_MAPPING_SUBGROUP && run->device[d].info->subgroup_size == 0) {
                cmd_warn("%s: no subgroups, so that this column is left out", run->device[d].info->renderer);
                continue;
            }
            cmd_info("%s on %s", getters[dg], run->device[d].info->renderer);
            code = bench_measure(run, model, c);
            run->n_columns += !code;
        }
    return code;
}

static int measure_getter(bench_run *run, int dg)
{
    bench_model model;
    int code = bench_model_fit(run, dg, &model);
    if (!code) {
        /* the part in which temporary files exist; a fit would end it */
        cmd_interrupt_catch();
        code = make_directory(run);
        if (!code) code = measure_columns(run, dg, &model);
        if (run->directory) rmdir(run->directory);
        free(run->directory);
        run->directory = NULL;
        cmd_interrupt_release();
    }
    bench_model_finish(&model);
    return code;
}

static int measure_all(bench_run *run)
{
    int code = CMD_EXIT_OK;
    for (int i = 0; !code && i < run->lists.n_dg; i++) code = measure_getter(run, run->lists.dg[i]);
    if (!code && run->n_columns == 0)
        code = cmd_error(CMD_EXIT_UNSUPPORTED, "--mapping subgroup: no device here has subgroups");
    return code;
}

static int write_json(const bench_run *run)
{
    char error[1024];
    char *text = bench_json_text(run);
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "%s: out of memory", run->options->json);
    gls_status status = cmd_sidecar_write(run->options->json, text, error, sizeof error);
    free(text);
    return status ? cmd_error(cmd_exit_from_status(status), "%s", error) : CMD_EXIT_OK;
}

static int run_bench(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const bench_options *o = values;
    int code = model_options_check(command, &o->model, arguments);
    if (!code && o->json) code = cmd_output_check(o->json, o->force);
    if (code) return code;
    bench_run *run = calloc(1, sizeof *run);
    if (!run) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    run->command = command;
    run->arguments = arguments;
    run->options = o;
    run->started = time(NULL);
    run->busy = bench_busy_now();
    track_options_default(&run->track);
    run->track.model = o->model;
    code = bench_lists_parse(o, &run->lists);
    if (!code) code = bench_peers_check(run);
    if (!code) code = open_devices(run);
    for (int i = 0; !code && !o->no_ceilings && i < run->lists.n_devices; i++)
        code = bench_ceilings_measure(run->device[i].device, &run->device[i].ceilings);
    if (!code) code = bench_data_make(run);
    if (!code) code = measure_all(run);
    if (!code) code = bench_peers_measure(run);
    if (!code && o->json) code = write_json(run);
    if (!code) bench_print(run);
    track_input_finish(&run->data);
    for (int i = 0; i < run->lists.n_devices; i++) gls_device_close(run->device[i].device);
    bench_lists_finish(&run->lists);
    free(run);
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
    .description = "Makes a phantom of the size of a brain, fits it, and tracks it with each direction getter, device "
                   "and mapping asked for: steps of half a voxel, at "
                   "most 60 degrees, FA above 0.1, 362 pairs of directions. Each is run once without being counted and "
                   "then --repeat times; times are of the host's "
                   "clock.\n"
                   "'kernels and transfers' is the sum of the five phases above it; 'whole' is from the first seed to "
                   "the complete TRX file, which is written while "
                   "tracking goes on and deleted afterwards. 'commissural' counts streamlines whose ends lie on "
                   "different sides of the plane x = 0 of world space, the "
                   "middle of the phantom.\n"
                   "Samples, texels and FLOP are counted from the algorithm, for each point. With n weighted volumes, "
                   "k coefficients and v directions, boot takes "
                   "(k + 1) / 4 + n / 4 + 1 samples and 2 n k + v k multiply-adds, prob and det k / 4 + 1 and v k + v, "
                   "ptt 20 (25 x 9 + 1) and 20 x 25 x 9 x 12. A "
                   "sample is eight texels of four half-precision channels (ptt: one), a multiply-add two FLOP. In "
                   "brackets is the part of what the device reaches in "
                   "kernels that only sample, copy or multiply. Caches let the texels exceed what it copies, and "
                   "symmetries of the directions save FLOP.",
    .options = bench_option_table,
    .examples = examples,
    .values_size = sizeof(bench_options),
    .set_defaults = bench_options_default,
    .run = run_bench,
};
