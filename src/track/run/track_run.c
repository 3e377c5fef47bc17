/* Runs a tracker: one worker for each device, streamlines delivered in the order of seeds. The thread of the caller
 * reports progress; a single device works on that thread, too. Of several devices each works on the thread that made
 * its engine, because the first use of a context on a thread, and the end of such a thread, take NVIDIA's driver some
 * 30 ms. If there is something to deliver, the writer thread does so meanwhile. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "track/run/track_run.h"
#include "gpu/device_team.h"
#include "gpu/handle.h"
#include "track/engine/outcomes.h"
#include "track/engine/refine.h"
#include "track/run/journal.h"
#include "track/seeds.h"
#include "util/clock.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

/* Reports progress after each batch and at intervals until the work of all devices has ended. */
static void watch(gls_run *run)
{
    uint64_t batches = 0;
    struct timespec until;
    pthread_mutex_lock(&run->queue.lock);
    while (run->n_away > 0) {
        /* Wake up at every change of the queue, and at least twice between two reports. */
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(GLS_SECONDS_BETWEEN_REPORTS / 2 * 1e9);
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&run->queue.changed, &run->queue.lock, &until);
        bool due =
            run->stats.result.batches != batches || gls_clock_seconds() - run->polled >= GLS_SECONDS_BETWEEN_REPORTS;
        if (!due || run->queue.stopped) continue;
        /* Call progress() without the lock, because the caller's function may take long. */
        batches = run->stats.result.batches;
        pthread_mutex_unlock(&run->queue.lock);
        gls_status status = gls_run_report(run);
        if (status) gls_run_fail(run, status);
        pthread_mutex_lock(&run->queue.lock);
    }
    pthread_mutex_unlock(&run->queue.lock);
}

/* A run and its workers, in the order of devices. */
typedef struct crew {
    gls_run *run;
    gls_worker *workers;
} crew;

/* Does the work of the worker of device i, if there is one; called by gls_device_team_begin(). */
static gls_status work_on_device(void *user, size_t i)
{
    const crew *c = user;
    gls_run *run = c->run;
    for (size_t k = 0; k < run->n_workers; k++)
        if (c->workers[k].index == i) gls_worker_work(&c->workers[k]);
    pthread_mutex_lock(&run->queue.lock);
    run->n_away--;
    pthread_cond_broadcast(&run->queue.changed);
    pthread_mutex_unlock(&run->queue.lock);
    return GLS_OK;
}

/* Function poll() for the replay of the journal. A queue that is stopped because all wanted streamlines are delivered
 * is not a failure. */
static gls_status poll(void *user)
{
    gls_run *run = user;
    gls_status status = gls_run_poll(run, true);
    return gls_queue_is_satisfied(&run->queue) ? GLS_OK : status;
}

/* Delivers the results of the journal, then tracks the remaining seeds. */
static void work(gls_run *run, gls_worker *workers)
{
    const uint64_t first = run->queue.next;
    gls_status status = run->writer ? gls_writer_thread_replay(run->writer, poll, run) : GLS_OK;
    if (run->queue.next > first)
        gls_log(GLS_LOG_INFO, "the journal has %" PRIu64 " of %" PRIu64 " seeds", run->queue.next - first,
                run->queue.total);
    if (status) {
        gls_run_fail(run, status);
        return;
    }
    run->n_away = run->tracker->n;
    gls_device_team_begin(run->tracker->team, work_on_device, &(crew){run, workers});
    watch(run);
    (void)gls_device_team_end(run->tracker->team);
}

/* Tracks all seeds of the queue and delivers their streamlines. */
static gls_status run_workers(gls_run *run, gls_worker *workers)
{
    const bool delivers = run->task.sink || gls_writer_counts(&run->task) || run->task.next_round;
    gls_status status = delivers && run->task.select == 0 ? gls_writer_check_numbers(run->queue.end) : GLS_OK;
    if (!status && delivers)
        status = gls_writer_thread_create(&run->queue, &run->tracker->results, &run->task, &run->writer);
    if (status) return status;
    work(run, workers);
    double start = gls_clock_seconds();
    status = gls_writer_thread_destroy(run->writer);
    run->stats.result.seconds_sink += gls_clock_seconds() - start;
    if (status) return status;
    return !run->status ? GLS_OK : gls_fail(run->status, "%s", run->message);
}

/* The value with index i, from 0, among all values in ascending order. */
static size_t ranked(const gls_track_histogram *h, uint64_t i)
{
    return gls_histogram_bin(h->bin, h->n_bins, i);
}

/* Median of n values; the mean of the two middle ones if n is even. */
static double median(const gls_track_histogram *h, uint64_t n)
{
    return gls_histogram_median(h->bin, h->n_bins, n);
}

/* Number of streamlines whose value is above `most`. */
static uint64_t count_above(const gls_track_histogram *h, double most)
{
    uint64_t n = 0;
    for (size_t bin = most < 0 ? 0 : (size_t)most + 1; bin < h->n_used; bin++) n += h->bin[bin];
    return n;
}

/* Fills in means, medians and extremes from the histograms. step_size: mm. */
static void complete_stats(gls_track_stats *stats, double step_size)
{
    gls_track_result *r = &stats->result;
    uint64_t n = r->streamlines;
    if (n == 0) return;
    /* Lengths in mm follow from numbers of parts, all of which have the same length. */
    double part = step_size / stats->each;
    r->mean_length = stats->parts.sum / (double)n * part;
    r->median_length = median(&stats->parts, n) * part;
    r->max_length = (double)ranked(&stats->parts, n - 1) * part;
    r->min_length = (double)ranked(&stats->parts, 0) * part;
    r->long_streamlines = count_above(&stats->parts, GLS_LONG_STREAMLINE / part * (1 + 1e-9));
    r->mean_points = stats->steps.sum / (double)n + 1;
    r->median_points = median(&stats->steps, n) + 1;
    r->max_points = ranked(&stats->steps, n - 1) + 1;
}

/* Fills in the statistics of the result, and the members that follow from the engines. */
static void complete_result(gls_run *run)
{
    gls_track_result *r = &run->stats.result;
    const gls_tracker *t = run->tracker;
    complete_stats(&run->stats, t->params.step_size);
    r->precision = t->params.precision;
    for (size_t i = 0; i < t->n; i++) {
        const gls_engine *e = t->engine[i];
        if (!e) continue;
        r->n_devices++;
        if (r->lanes == 0) r->mapping = e->plan.mapping->mapping;
        r->lanes = e->plan.lanes > r->lanes ? e->plan.lanes : r->lanes;
        r->batch_seeds = e->plan.batch_seeds > r->batch_seeds ? e->plan.batch_seeds : r->batch_seeds;
        r->seconds_upload += e->seconds_upload;
        r->seconds_compile += e->seconds_compile;
    }
}

/* GLS_ERR_ARGUMENT if the program has closed a device of the tracker. */
static gls_status require_devices(const gls_tracker *tracker)
{
    for (size_t i = 0; i < tracker->n; i++)
        if (!gls_handle_alive(tracker->device[i], GLS_HANDLE_DEVICE))
            return gls_fail(GLS_ERR_ARGUMENT, "gls_tracker_run: a device of the tracker was closed");
    return GLS_OK;
}

/* Tracks as `proto` says. Works on a copy, in which the members for the state of the run are filled in. */
static gls_status run_all(const gls_run *proto, gls_track_result *result)
{
    gls_run run = *proto;
    gls_tracker *tracker = run.tracker;
    gls_status status = require_devices(tracker);
    if (status) return status;
    const gls_seeds *seeds = run.seeds;
    run.task.stats = &run.stats;
    gls_worker *workers = calloc(tracker->n, sizeof *workers);
    if (!workers) return gls_fail(GLS_ERR_MEMORY, "out of memory for the run");
    uint64_t first = gls_seeds_first(seeds);
    size_t model = 0; /* index of any engine: all have the same number of steps */
    /* Make a worker for each device that has an engine. */
    for (size_t i = 0; i < tracker->n && !status; i++) {
        tracker->share[i] = (gls_track_share){.failed = !tracker->engine[i]};
        if (!tracker->engine[i]) continue;
        tracker->share[i].halvings = tracker->engine[i]->halvings;
        model = i;
        status = gls_worker_init(&workers[run.n_workers], &run, run.n_workers, i);
        run.n_workers++;
    }
    if (!status && run.n_workers == 0) status = gls_fail(GLS_ERR_DEVICE, "all devices of the tracker have failed");
    if (!status)
        status = gls_track_stats_init(&run.stats, tracker->engine[model]->plan.max_steps,
                                      tracker->engine[model]->plan.parts *
                                          gls_refine_pieces(&tracker->engine[model]->guide));
    if (!status) {
        /* Run the workers; the statistics are complete afterwards, because the writer thread has ended. */
        run.n_alive = run.n_workers;
        gls_queue_init(&run.queue, first, gls_seeds_end(seeds), run.task.next_round != NULL, run.n_workers);
        status = run_workers(&run, workers);
        gls_queue_finish(&run.queue);
    }
    if (!status) {
        complete_result(&run);
        *result = run.stats.result;
    }
    for (size_t i = 0; i < run.n_workers; i++) gls_worker_finish(&workers[i]);
    free(workers);
    gls_track_stats_finish(&run.stats);
    return status;
}

gls_status gls_tracker_run(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                           gls_track_progress progress, void *progress_user, gls_track_result *result)
{
    GLS_REQUIRE(tracker);
    return gls_tracker_run_journaled(tracker, seeds, sink, &(gls_track_extras){.journal = NULL}, progress,
                                     progress_user, result);
}

gls_status gls_tracker_run_journaled(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                                     const gls_track_extras *extras, gls_track_progress progress, void *progress_user,
                                     gls_track_result *result)
{
    GLS_REQUIRE(tracker && seeds && result && (!sink || sink->append) && !(extras->journal && extras->ends_alone));
    return run_all(&(gls_run){.tracker = tracker,
                              .seeds = seeds,
                              .space = (const double(*)[4])tracker->input.stop_map->grid.affine,
                              .task = {.sink = sink,
                                       .select = tracker->params.select,
                                       .journal = extras->journal,
                                       .visited = extras->visited,
                                       .ends_alone = extras->ends_alone,
                                       .seeds = seeds,
                                       .next_round = extras->next_round,
                                       .round_user = extras->round_user},
                              .progress = progress,
                              .progress_user = progress_user},
                   result);
}

#ifdef GLS_TEST_VARIABLES
gls_status gls_tracker_run_in(gls_tracker *tracker, const gls_seeds *seeds, const double voxel_to_space[3][4],
                              const gls_sink *sink, gls_track_progress progress, void *progress_user,
                              gls_track_result *result)
{
    GLS_REQUIRE(tracker && seeds && result && (!sink || sink->append));
    return run_all(&(gls_run){.tracker = tracker,
                              .seeds = seeds,
                              .space = voxel_to_space,
                              .task = {.sink = sink, .select = tracker->params.select},
                              .progress = progress,
                              .progress_user = progress_user},
                   result);
}
#endif
