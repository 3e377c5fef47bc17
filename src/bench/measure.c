/* Measures a column of the benchmark: makes a tracker, runs once to warm up, then repeats. Also times plain writes
 * of files for comparison, and measures how busy other processes keep the machine, because
 * their load lengthens the times. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/measure.h"
#include "bench/bench.h"
#include "bench/bench_stats.h"
#include "record/run_params.h"
#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "tractogram/pieces.h"
#include "tractogram/writers.h"
#include "util/clock.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/threads.h"

bench_busy bench_busy_now(void)
{
    bench_busy now = {.clock = gls_clock_seconds(), .own = gls_clock_cpu_seconds()};
    /* Read the first line of /proc/stat: clock ticks of all CPUs together since the start of the machine. */
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "r");
    now.known = file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait,
                               &irq, &soft, &steal) == 8;
    if (now.known) now.all = (double)(user + nice + system + irq + soft + steal) / (double)sysconf(_SC_CLK_TCK);
    if (file) fclose(file);
    return now;
}

/* --- Plain writes: the rate at which the file system takes bytes without tracking, which is the ceiling for the writer
 * of a tractogram. */

#define PIECE ((size_t)16 << 20) /* bytes of one write */
/* Larger files give no better measurement, and the memory may be needed for the tractogram. */
#define MAX_BYTES ((uint64_t)4 << 30)

/* A file that is written without a format, to measure what the disk reaches. error: errno of a write that failed, set
 * by any thread; 0: none failed. */
typedef struct plain {
    gls_output output;
    uint64_t bytes;
    const unsigned char *data; /* PIECE bytes */
    atomic_int error;
} plain;

/* Writes pieces from .. until - 1 of the file; runs on any thread. */
static void write_some(void *user, int thread, size_t from, size_t until)
{
    plain *p = user;
    (void)thread;
    for (uint64_t i = from; i < until; i++) {
        const uint64_t at = i * PIECE, n = p->bytes - at < PIECE ? p->bytes - at : PIECE;
        if (gls_output_write_at(&p->output, at, p->data, (size_t)n) != GLS_OK) p->error = errno ? errno : EIO;
    }
}

/* Fills in *rate: bytes per second at which a new file of `bytes` bytes, at most MAX_BYTES, is written to this folder
 * in pieces of PIECE bytes, with fsync(). The file is removed. Measured once. */
static gls_status bench_plain_file(const char *directory, uint64_t bytes, int n_threads, double *rate)
{
    char path[4096];
    unsigned char *data = malloc(PIECE);
    plain p = {.bytes = bytes < MAX_BYTES ? bytes : MAX_BYTES, .data = data};
    *rate = 0;
    if (!data) return gls_no_memory();
    snprintf(path, sizeof path, "%s/plain", directory);
    memset(data, 1, PIECE); /* so that each page exists */
    gls_status status = gls_output_create(path, true, &p.output);
    if (!status) {
        double start = gls_clock_seconds();
        gls_parallel((size_t)((p.bytes + PIECE - 1) / PIECE), 1, n_threads, write_some, &p);
        (void)fsync(p.output.fd);
        *rate = (double)p.bytes / (gls_clock_seconds() - start);
        if (p.error) status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", path, strerror(p.error));
    }
    gls_output_discard(&p.output);
    free(data);
    return status;
}

/* Receiver of streamlines, on a thread of the tracker. writer: gets all streamlines; NULL: none; commissural: number of
 * streamlines between the hemispheres; seconds: time of the writer; error: message of a write that failed, because
 * gls_last_error() is kept by thread. */
typedef struct sink {
    gls_tractogram_writer *writer;
    uint64_t commissural;
    double seconds;
    char error[1024];
} sink;

/* Counts the commissural streamlines of a batch and hands the batch to the writer, if any; adds up the seconds of
 * writing. */
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

/* Tracks once, from the first seed to the complete file, and fills in the times and the result of the column. Deletes
 * the file afterwards. GLS_ERR_CANCELLED if the monitor cancelled the run. */
static gls_status run_once(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c,
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
    status = gls_tracker_run(tracker, seeds, &(gls_sink){.append = take, .user = &s}, gls_monitor_track,
                             (void *)run->monitor, r);
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

/* Measures plain writes right after repetition i, to the same folder. Memory that the machine has not used for a while
 * is slow at first, so the writer and the plain writes must meet it in the same state. */
static gls_status write_plainly(const bench_run *run, bench_column *c, int i)
{
    const int n_threads[BENCH_PLAIN] = {1, gls_pieces_threads()};
    gls_status status = GLS_OK;
    for (int k = 0; run->directory && k < BENCH_PLAIN && !status; k++)
        status = bench_plain_file(run->directory, c->file_bytes, n_threads[k], &c->plain[k][i]);
    return status;
}

/* Runs once to warm up, then repeats and stores the times. Fails if a repetition gives other numbers of streamlines,
 * points or commissural streamlines than the first run. */
static gls_status repeat(bench_run *run, gls_tracker *tracker, const gls_seeds *seeds, bench_column *c)
{
    double seconds[BENCH_TIMES];
    gls_status status = run_once(run, tracker, seeds, c, seconds);
    uint64_t streamlines = c->result.streamlines, points = c->result.points, commissural = c->commissural;
    for (int i = 0; !status && i < run->options->repeat; i++) {
        status = run_once(run, tracker, seeds, c, seconds);
        if (status) return status;
        if (c->result.streamlines != streamlines || c->result.points != points || c->commissural != commissural)
            return gls_fail(GLS_ERR_DEVICE,
                            "repetition %d gave other streamlines (%llu points of %llu streamlines) than the first run "
                            "(%llu of %llu): the device does not compute reliably: choose another --device",
                            i + 1, (unsigned long long)c->result.points, (unsigned long long)c->result.streamlines,
                            (unsigned long long)points, (unsigned long long)streamlines);
        for (int t = 0; t < BENCH_TIMES; t++) c->seconds[t][i] = seconds[t];
        status = write_plainly(run, c, i);
        c->n = i + 1;
    }
    return status;
}

/* Runs once more with a host that waits for each kernel, and stores the seconds of the kernels. Times of this run are
 * kept apart, because waiting costs time. */
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

/* Returns the parameters of a column. Getters that end streamlines by their own data take their own defaults for the
 * step, the angle, the maximum length, the number of directions of a seed, and single points. */
static gls_track_params params_of(const bench_run *run, gls_direction_getter dg)
{
    gls_track_params params = run->params, own = gls_track_params_default_for(dg);
    params.dg = dg;
    if (!gls_getter_row(dg)->own_end) return params;
    gls_track_params_scale(&own, run->data.voxel_mm);
    params.step_size = own.step_size;
    params.max_angle = own.max_angle;
    params.max_length = own.max_length;
    params.max_directions_per_seed = own.max_directions_per_seed;
    params.keep_single_points |= own.keep_single_points; /* seedtest keeps single points */
    if (own.keep_single_points) params.min_length = 0;
    return params;
}

/* Default number of seeds of ptt with software renderers; few, because ptt makes twenty short steps for each point. */
enum { SEEDS_SOFTWARE_PTT = 100 };

/* Number of seeds of a getter: the number of the command line, or the default, which is smaller for ptt if any device
 * is a software renderer. */
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
    const gls_getter_source source = gls_getter_row((gls_direction_getter)c->dg)->source;
    if (source == GLS_FROM_QBALL || source == GLS_FROM_SERIES) {
        input.dwi = run->data.series.dwi;
        input.gradients = run->data.series.gradients;
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
