/* One column of the benchmark: a tracker, one run that is not counted, and the repetitions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/bench.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/text.h"

const char *const bench_time_names[BENCH_TIMES] = {"pass_1",          "prefix_sum", "pass_2",
                                                   "gather",          "readback",   "kernels_and_transfers",
                                                   "wait_for_writer", "write",      "whole"};

/* Counts, and hands to the writer where there is one; runs on a thread of the tracker. */
typedef struct sink {
    gls_tractogram_writer *writer;
    uint64_t commissural;
    double seconds;
    char error[1024];
} sink;

static gls_status take(void *user, const gls_streamlines *streamlines)
{
    sink *s = user;
    gls_status status = GLS_OK;
    s->commissural += bench_commissural(streamlines);
    if (!s->writer) return status;
    double start = cmd_clock();
    status = gls_tractogram_writer_append(s->writer, streamlines);
    if (status) snprintf(s->error, sizeof s->error, "%s", gls_last_error());
    s->seconds += cmd_clock() - start;
    return status;
}

/* One run from the first seed to the complete file, which is deleted again. */
static int run_once(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c,
                    double seconds[BENCH_TIMES])
{
    sink s = {.writer = NULL};
    char path[4096] = "";
    cmd_progress progress;
    struct stat info;
    gls_track_result *r = &c->result;
    gls_status status = GLS_OK;
    if (run->directory) {
        snprintf(path, sizeof path, "%s/bench.trx", run->directory);
        status = gls_tractogram_writer_create(path, GLS_FORMAT_TRX, run->data.grid, NULL, &s.writer);
        if (status) return cmd_error_status(status);
    }
    cmd_progress_init(&progress);
    progress.shown = progress.shown && progress.terminal;
    double start = cmd_clock();
    status = gls_tracker_run(tracker, seeds, &(gls_sink){.append = take, .user = &s}, cmd_progress_step, &progress, r);
    double tracked = cmd_clock();
    if (status || !s.writer) {
        gls_tractogram_writer_abort(s.writer);
    } else {
        status = gls_tractogram_writer_finish(s.writer);
        if (!status && stat(path, &info) == 0) c->file_bytes = (uint64_t)info.st_size;
    }
    double end = cmd_clock();
    cmd_progress_finish(&progress);
    if (s.writer) unlink(path);
    if (status == GLS_ERR_CANCELLED || cmd_interrupted()) return cmd_error(CMD_EXIT_INTERRUPTED, "interrupted");
    if (status) return *s.error ? cmd_error(cmd_exit_from_status(status), "%s", s.error) : cmd_error_status(status);
    c->commissural = s.commissural;
    seconds[BENCH_INITIAL] = r->seconds_initial;
    seconds[BENCH_SCAN] = r->seconds_scan;
    seconds[BENCH_TRACK] = r->seconds_track;
    seconds[BENCH_GATHER] = r->seconds_gather;
    seconds[BENCH_READBACK] = r->seconds_readback;
    seconds[BENCH_COMPUTE] =
        r->seconds_initial + r->seconds_scan + r->seconds_track + r->seconds_gather + r->seconds_readback;
    seconds[BENCH_WAIT] = r->seconds_sink;
    seconds[BENCH_WRITE] = s.writer ? s.seconds + end - tracked : 0;
    seconds[BENCH_WHOLE] = end - start;
    return CMD_EXIT_OK;
}

static int repeat(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c)
{
    double seconds[BENCH_TIMES];
    int code = run_once(run, tracker, seeds, c, seconds);
    uint64_t streamlines = c->result.streamlines, points = c->result.points, commissural = c->commissural;
    for (int i = 0; !code && i < run->options->repeat; i++) {
        code = run_once(run, tracker, seeds, c, seconds);
        if (code) return code;
        if (c->result.streamlines != streamlines || c->result.points != points || c->commissural != commissural)
            return cmd_error(CMD_EXIT_INTERNAL,
                             "repetition %d gave %llu points and %llu streamlines, the one before %llu and %llu", i + 1,
                             (unsigned long long)c->result.points, (unsigned long long)c->result.streamlines,
                             (unsigned long long)points, (unsigned long long)streamlines);
        for (int t = 0; t < BENCH_TIMES; t++) c->seconds[t][i] = seconds[t];
        c->n = i + 1;
    }
    return code;
}

int bench_measure(bench_run *run, const bench_model *model, bench_column *c)
{
    gls_device *device = run->device[c->device].device;
    gls_track_input input = {.stop_map = run->data.stop_map, .sphere = run->data.sphere, .odf = model->odf};
    gls_track_memory planned;
    gls_tracker *tracker = NULL;
    gls_seeds *seeds = NULL;
    c->nseeds = bench_seeds_for(run, c->dg);
    c->params = run->params;
    c->params.dg = (gls_direction_getter)c->dg;
    c->params.mapping = (gls_mapping)c->mapping;
    if (c->dg == GLS_DG_BOOT) {
        input.dwi = cmd_model_dwi(&model->model);
        input.gradients = cmd_model_gradients(&model->model);
        input.qball = model->model.qball;
    }
    gls_status status = gls_track_plan_memory(run->device[c->device].info, 1, &c->params, &input, &planned);
    if (status) return cmd_error_status(status);
    c->host_bytes = planned.host_bytes;
    uint64_t before = gls_device_get_memory(device).allocated_bytes;
    double start = cmd_clock();
    status = gls_tracker_create(device, &c->params, &input, &tracker);
    c->seconds_create = cmd_clock() - start;
    c->seconds_fit = model->seconds_fit;
    if (!status) status = gls_seeds_create_random(run->data.roi, run->data.mask, c->nseeds, 0, &seeds);
    if (status) {
        gls_tracker_destroy(tracker);
        return cmd_error_status(status);
    }
    c->device_bytes = gls_device_get_memory(device).allocated_bytes - before;
    c->work = bench_work_count(run, model, &c->params);
    int code = repeat(run, tracker, seeds, c);
    gls_seeds_destroy(seeds);
    gls_tracker_destroy(tracker);
    return code;
}

double bench_median(const bench_column *c, bench_time time)
{
    return c->n > 0 ? bench_spread_of(c->seconds[time], c->n).median : 0;
}
