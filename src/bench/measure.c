/* One column of the benchmark: makes a tracker, runs once to warm up, then repeats. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "tractogram/writers.h"
#include "util/clock.h"
#include "util/status.h"
#include "workflow/run_params.h"

const char *const bench_time_names[BENCH_TIMES] = {"pass_1",          "prefix_sum", "pass_2",
                                                   "gather",          "readback",   "kernels_and_transfers",
                                                   "wait_for_writer", "write",      "whole"};

/* Counts streamlines, and passes them to the writer if there is one. Runs on a thread of the tracker. */
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
    double start = gls_clock_seconds();
    status = gls_tractogram_writer_append(s->writer, streamlines);
    if (status) snprintf(s->error, sizeof s->error, "%s", gls_last_error());
    s->seconds += gls_clock_seconds() - start;
    return status;
}

static bool step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    gls_progress progress = {.phase = GLS_PHASE_TRACK,
                             .done = seeds_done,
                             .total = seeds_total,
                             .streamlines = streamlines,
                             .points = points};
    return gls_monitor_step(user, &progress);
}

/* One run from the first seed to the complete file. Deletes the file afterwards. */
static int run_once(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c,
                    double seconds[BENCH_TIMES])
{
    sink s = {.writer = NULL};
    char path[4096] = "";
    struct stat info;
    gls_track_result *r = &c->result;
    gls_status status = GLS_OK;
    if (run->directory) {
        snprintf(path, sizeof path, "%s/bench.trx", run->directory);
        status = gls_tractogram_writer_create(path, GLS_FORMAT_TRX, run->data.grid, NULL, &s.writer);
        if (status) return status;
    }
    double start = gls_clock_seconds();
    status = gls_tracker_run(tracker, seeds, &(gls_sink){.append = take, .user = &s}, step, (void *)run->monitor, r);
    double tracked = gls_clock_seconds();
    (void)gls_trace_phase(gls_getter_name((gls_direction_getter)c->dg), start, 0);
    if (status || !s.writer) {
        gls_tractogram_writer_abort(s.writer);
    } else {
        status = gls_tractogram_writer_finish(s.writer);
        if (!status && stat(path, &info) == 0) c->file_bytes = (uint64_t)info.st_size;
    }
    double end = gls_clock_seconds();
    if (s.writer) unlink(path);
    if (status == GLS_ERR_CANCELLED || gls_monitor_cancelled(run->monitor, GLS_PHASE_TRACK))
        return gls_fail(GLS_ERR_CANCELLED, "interrupted");
    if (status) return *s.error ? gls_fail(status, "%s", s.error) : status;
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
    return GLS_OK;
}

/* Measures plain writes to the same place at this moment. Memory that the machine has not used for a while is slow at
 * first, for the writer and for plain writes. */
static gls_status write_plainly(const bench_run *run, bench_column *c, int i)
{
    const int n_threads[BENCH_PLAIN] = {1, gls_pieces_threads()};
    gls_status status = GLS_OK;
    for (int k = 0; run->directory && k < BENCH_PLAIN && !status; k++)
        status = bench_plain_file(run->directory, c->file_bytes, n_threads[k], &c->plain[k][i]);
    return status;
}

/* Warms up and repeats. Fails if a repetition gives other streamlines than the first run. */
static int repeat(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c)
{
    double seconds[BENCH_TIMES];
    gls_status status = run_once(run, tracker, seeds, c, seconds);
    uint64_t streamlines = c->result.streamlines, points = c->result.points, commissural = c->commissural;
    for (int i = 0; !status && i < run->options->repeat; i++) {
        status = run_once(run, tracker, seeds, c, seconds);
        if (status) return status;
        if (c->result.streamlines != streamlines || c->result.points != points || c->commissural != commissural)
            return gls_fail(GLS_ERR_MEMORY,
                            "repetition %d gave %llu points and %llu streamlines, the one before %llu and %llu", i + 1,
                            (unsigned long long)c->result.points, (unsigned long long)c->result.streamlines,
                            (unsigned long long)points, (unsigned long long)streamlines);
        for (int t = 0; t < BENCH_TIMES; t++) c->seconds[t][i] = seconds[t];
        status = write_plainly(run, c, i);
        c->n = i + 1;
    }
    return status;
}

/* An additional run in which the host waits for each kernel. Its times are kept apart, because waiting costs time. */
static gls_status time_kernels(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c)
{
    double seconds[BENCH_TIMES];
    gls_track_result kept = c->result;
    gls_tracker_time_kernels(tracker, true);
    gls_status status = run_once(run, tracker, seeds, c, seconds);
    for (int k = 0; k < GLS_ENGINE_TIMES; k++) c->kernel[k] = gls_tracker_kernel_seconds(tracker, (gls_engine_time)k);
    gls_tracker_time_kernels(tracker, false);
    c->result = kept;
    return status;
}

/* Parameters of all columns; MRtrix3's getters have their own step, angle and maximum length. */
static gls_track_params params_of(const bench_run *run, gls_direction_getter dg)
{
    gls_track_params params = run->params, own = gls_track_params_default_for(dg);
    params.dg = dg;
    if (!gls_getter_ends_itself(dg)) return params;
    gls_track_params_scale(&own, run->data.voxel_mm);
    params.step_size = own.step_size;
    params.max_angle = own.max_angle;
    params.max_length = own.max_length;
    params.max_directions_per_seed = own.max_directions_per_seed;
    params.keep_single_points |= own.keep_single_points; /* for seedtest: single points */
    if (own.keep_single_points) params.min_length = 0;
    return params;
}

/* Seeds of a run on a CPU renderer: parallel transport makes twenty short steps for each point. */
enum { SEEDS_SOFTWARE_PTT = 100 };

static uint64_t seeds_for(const bench_run *run, int dg)
{
    bool software = false;
    for (int i = 0; i < run->options->n_devices; i++) software = software || run->device[i].info->software;
    return !run->options->nseeds && software && dg == GLS_DG_PTT ? SEEDS_SOFTWARE_PTT : run->nseeds;
}

gls_status bench_measure(bench_run *run, const bench_model *model, bench_column *c)
{
    gls_device *device = run->device[c->device].device;
    gls_track_input input = {.stop_map = run->data.stop_map,
                             .sphere = run->data.sphere,
                             .odf = model->odf,
                             .peaks = model->peaks,
                             .regions = run->data.regions};
    gls_track_memory planned;
    gls_tracker *tracker = NULL;
    gls_seeds *seeds = NULL;
    c->nseeds = seeds_for(run, c->dg);
    c->params = params_of(run, (gls_direction_getter)c->dg);
    c->params.mapping = (gls_mapping)c->mapping;
    const gls_getter_source source = gls_getter_source_of((gls_direction_getter)c->dg);
    if (source == GLS_FROM_QBALL || source == GLS_FROM_SERIES) {
        input.dwi = gls_series_model_dwi(&model->model);
        input.gradients = gls_series_model_gradients(&model->model);
        input.qball = model->model.qball;
    }
    gls_status status = gls_track_plan_memory(run->device[c->device].info, 1, &c->params, &input, &planned);
    if (status) return status;
    c->host_bytes = planned.host_bytes;
    uint64_t before = gls_device_get_memory(device).allocated_bytes;
    double start = gls_clock_seconds();
    status = gls_tracker_create(device, &c->params, &input, &tracker);
    c->seconds_create = gls_clock_seconds() - start;
    c->seconds_fit = model->seconds_fit;
    if (!status) status = gls_seeds_create_random(run->data.roi, run->data.mask, c->nseeds, 0, &seeds);
    if (status) {
        gls_tracker_destroy(tracker);
        return status;
    }
    c->device_bytes = gls_device_get_memory(device).allocated_bytes - before;
    c->work = bench_work_count(run, model, &c->params);
    status = repeat(run, tracker, seeds, c);
    if (!status) status = time_kernels(run, tracker, seeds, c);
    gls_seeds_destroy(seeds);
    gls_tracker_destroy(tracker);
    return status;
}

double bench_median(const bench_column *c, bench_time time)
{
    return c->n > 0 ? bench_spread_of(c->seconds[time], c->n).median : 0;
}

double bench_median_plain(const bench_column *c, bench_plain plain)
{
    return c->n > 0 ? bench_spread_of(c->plain[plain], c->n).median : 0;
}
