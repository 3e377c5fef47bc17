/* The worker: tracks one batch of seeds after the other with one engine, and recovers when the device is lost or out of
 * memory. The callbacks below connect a batch with the queue and the writer thread of the run. */
#include "gpu/open_device.h"
#include "gpu/timer.h"
#include "track/engine/batch_state.h"
#include "track/engine/pace.h"
#include "track/engine/refine.h"
#include "track/run/track_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "track/engine/batch.h"
#include "track/engine/batch_result.h"
#include "track/engine/outcomes.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/text.h"

/* Fewest items of a dispatch that keep all cores of a CPU busy. */
#define MIN_ON_CPU 64
/* GPUs of small boards (v3d, panfrost, lima, etnaviv): items of the first dispatch, fewest items of a dispatch, and the
 * time that a dispatch should take. Linux kills jobs of these GPUs after half a second, and a hot chip may become three
 * times slower from one job to the next. */
#define FIRST_ON_BOARD 64
#define MIN_ON_BOARD 16
#define SECONDS_ON_BOARD 0.12

/* Whether the driver is one for GPUs of small boards, by the name of the renderer. */
static bool is_board(const gls_device_info *device)
{
    static const char *const names[] = {"V3D", "VC4", "Mali", "Panfrost", "Vivante", "lima"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gls_case_find(device->renderer, names[i])) return true;
    return false;
}

/* Sets the limits of a pace that are known before the first dispatch on a device; keeps the measured times. */
static void set_pace(const gls_device_info *device, gls_pace *pace)
{
    if (device->software) pace->least = MIN_ON_CPU;
    if (!is_board(device)) return;
    pace->least = MIN_ON_BOARD;
    pace->wanted = SECONDS_ON_BOARD;
    pace->first = FIRST_ON_BOARD;
}

/* Chooses which points the device sends. Refinement and retries need all points. With select the device's counts of
 * visited voxels cannot be used, because they include streamlines that the host drops. */
static gls_batch_points choose_points(const gls_worker *w, const gls_engine *e)
{
    const gls_writer_task *task = &w->run->task;
    if (!task->ends_alone || gls_refine_is_needed(&e->guide) || e->params.retries > 0) return GLS_POINTS_ALL;
    if (!task->visited) return GLS_POINTS_ENDS;
    return e->visitor.words && e->params.select == 0 ? GLS_POINTS_COUNTED : GLS_POINTS_ALL;
}

/* Prepares the batch for the worker's current engine: its pace, its counting of visited voxels, its points, and host
 * arrays. */
static gls_status make_arrays(gls_worker *w)
{
    gls_batch *b = &w->batch;
    b->engine = w->run->tracker->engine[w->index];
    set_pace(gls_device_kept_info(b->engine->device), &b->initial_pace);
    set_pace(gls_device_kept_info(b->engine->device), &b->track_pace);
    b->counts_visits = w->run->task.visited != NULL;
    gls_engine *e = b->engine;
    if (b->counts_visits && !e->plan.packs_on_host)
        gls_visitor_create(&e->visitor, e->device, &e->grid, e->plan.batch_lines, e->plan.in_flight);
    b->points = choose_points(w, e);
    return gls_batch_make_arrays(b);
}

/* --- Callbacks of the batch, see gls_batch_host. */

/* Whether the worker is on the thread of the run, and so reports progress itself. */
static bool reports(const gls_worker *w)
{
    return w->run->tracker->n == 1;
}

/* Function poll() of the batch, called between dispatches: with a single device reports progress. GLS_ERR_CANCELLED:
 * the run was stopped. */
static gls_status poll(void *user)
{
    const gls_worker *w = user;
    if (reports(w)) w->run->ahead = w->batch.ended * w->batch.round_seeds;
    return gls_run_poll(w->run, reports(w));
}

/* Smallest number of seeds that keeps a device busy. */
#define FEW_SEEDS 256

/* Returns the number of seeds that this worker should take next; 0, only with select: it should wait for the seeds that
 * workers track. */
static uint64_t needed_seeds(const gls_worker *w)
{
    const gls_queue *q = &w->run->queue;
    const gls_track_result *r = &w->run->stats.result;
    const uint64_t wanted = w->run->tracker->params.select, in_work = gls_queue_taken(q) - r->seeds;
    /* Without select: an equal share of all seeds, and of those of a round, all of which are needed. With select, if
     * the finished seeds gave no streamline: a whole batch. Else estimate the seeds that the missing streamlines need:
     * by the yield so far, and 10 % more; before any seed is finished, one seed for each. Less the seeds in work, each
     * worker has an equal share. A share below FEW_SEEDS is not worth a batch while seeds are in work. */
    if (wanted == 0 || w->run->task.next_round) return 1 + q->round / w->run->n_workers;
    if (r->seeds > 0 && r->streamlines == 0) return w->batch.engine->plan.batch_seeds;
    const double seeds_each = r->seeds > 0 ? 1.1 * (double)r->seeds / (double)r->streamlines : 1,
                 missing = (double)(wanted - r->streamlines) * seeds_each - (double)in_work,
                 part = missing / (double)w->run->n_workers;
    return part >= FEW_SEEDS ? (uint64_t)part : in_work > 0 ? 0 : FEW_SEEDS;
}

/* Takes seeds for the next batch from the queue, see gls_batch_host.next(). */
static bool next(void *user, bool wait, gls_seed_range *range)
{
    gls_worker *w = user;
    gls_queue *q = &w->run->queue;
    const gls_track_plan *plan = &w->batch.engine->plan;
    uint64_t needed;
    pthread_mutex_lock(&q->lock);
    while ((needed = needed_seeds(w)) == 0 && wait && !q->stopped && q->n_returned == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    /* Returned seeds must be tracked in any case, so the estimate does not limit them. */
    if (q->n_returned > 0) needed = plan->batch_seeds;
    const uint64_t piece = gls_track_plan_piece(plan, needed), limit = needed < piece ? needed : piece;
    const bool found = limit > 0 && gls_queue_take(q, limit, wait, range);
    if (found) w->range[w->n_ranges++] = *range;
    pthread_mutex_unlock(&q->lock);
    return found;
}

/* Moves the beginning of the first range to `end`, behind the finished seeds, and drops the range if nothing is left of
 * it. The caller holds the queue's lock. */
static void advance(gls_worker *w, uint64_t end)
{
    w->range[0].first = end;
    if (end < w->range[0].end) return;
    gls_queue_give_back(&w->run->queue, w->range[0]);
    memmove(w->range, w->range + 1, --w->n_ranges * sizeof *w->range);
}

/* Returns all ranges of this worker to the queue: after a failure, or when the batch ended because a seed was due that
 * no worker tracks. */
static void give_all_back(gls_worker *w)
{
    pthread_mutex_lock(&w->run->queue.lock);
    while (w->n_ranges > 0) gls_queue_give_back(&w->run->queue, w->range[--w->n_ranges]);
    pthread_mutex_unlock(&w->run->queue.lock);
}

/* Called by the batch when it has streamlines to deliver: gets an empty result from the writer thread, and waits for
 * one if need be. Sets *gave_way if the batch must end, because a seed is due that no worker tracks. */
static gls_status take(void *user, uint64_t seed, gls_batch_result **result, bool *gave_way)
{
    const gls_worker *w = user;
    *gave_way = false;
    if (!w->run->writer) return GLS_OK;
    gls_status status = gls_writer_thread_take(w->run->writer, w->worker_index, seed, result);
    *gave_way = !status && !*result;
    return status;
}

/* Returns a result that was lent and not used. */
static void drop(void *user, gls_batch_result *result)
{
    const gls_worker *w = user;
    gls_writer_thread_give_back(w->run->writer, result);
}

/* Makes *t a copy of *from. GLS_ERR_MEMORY. */
static gls_status copy_outcomes(gls_outcomes *t, const gls_outcomes *from)
{
    gls_status status = gls_outcomes_reserve(t, from->n_seeds, from->n_outcomes);
    if (status) return status;
    if (from->n_seeds) memcpy(t->lines, from->lines, from->n_seeds * sizeof *t->lines);
    if (from->n_outcomes) memcpy(t->outcome, from->outcome, from->n_outcomes * sizeof *t->outcome);
    t->n_seeds = from->n_seeds;
    t->n_outcomes = from->n_outcomes;
    return GLS_OK;
}

/* Counts the outcomes. With select or a journal, copies them into the result instead: the writer thread counts them,
 * because only that thread knows which streamlines are still wanted. */
static gls_status count(void *user, gls_batch_result *result, const gls_outcomes *outcomes)
{
    gls_worker *w = user;
    const bool later = w->run->writer && gls_writer_counts(&w->run->task);
    w->kept = later ? result->n : gls_outcomes_count(outcomes, UINT64_MAX, &w->round);
    return later ? copy_outcomes(&result->outcomes, outcomes) : GLS_OK;
}

/* Adds the counts of count() to the statistics of the run, and sends the result to the writer thread. */
static gls_status commit(void *user, uint64_t end, uint64_t n_seeds, gls_batch_result *result)
{
    gls_worker *w = user;
    gls_run *run = w->run;
    pthread_mutex_lock(&run->queue.lock);
    w->share->seeds += n_seeds;
    w->share->streamlines += w->kept;
    gls_track_stats_move(&run->stats, &w->round);
    if (result) gls_writer_thread_send(run->writer, result, end);
    advance(w, end);
    w->losses = 0;
    pthread_mutex_unlock(&run->queue.lock);
    return GLS_OK;
}

/* Called by the batch after its last streamline was committed: counts the batch. The worker of a single device also
 * reports progress. */
static gls_status finished(void *user)
{
    gls_worker *w = user;
    gls_run *run = w->run;
    pthread_mutex_lock(&run->queue.lock);
    run->stats.result.batches++;
    w->share->batches++;
    pthread_cond_broadcast(&run->queue.changed);
    pthread_mutex_unlock(&run->queue.lock);
    return reports(w) ? gls_run_report(run) : GLS_OK;
}

gls_status gls_worker_init(gls_worker *w, gls_run *run, size_t worker_index, size_t index)
{
    *w = (gls_worker){.run = run, .worker_index = worker_index, .index = index, .share = &run->tracker->share[index]};
    w->batch = (gls_batch){.seeds = run->seeds,
                           .space = run->space,
                           .host = {.user = w,
                                    .poll = poll,
                                    .next = next,
                                    .take = take,
                                    .drop = drop,
                                    .count = count,
                                    .commit = commit,
                                    .finished = finished},
                           .stats = &w->round,
                           .points_per_line = 100};
    const gls_engine *engine = run->tracker->engine[index];
    gls_status status =
        gls_track_stats_init(&w->round, engine->plan.max_steps, engine->plan.parts * gls_refine_pieces(&engine->guide));
    return !status ? make_arrays(w) : status;
}

void gls_worker_finish(gls_worker *w)
{
    gls_batch_free_arrays(&w->batch);
    gls_track_stats_finish(&w->round);
}

/* Name of the worker's device, for messages. */
static const char *name_of(const gls_worker *w)
{
    return gls_device_kept_info(w->run->tracker->device[w->index])->renderer;
}

/* Makes the context of the worker's device current on this thread, until release(). The engine may be missing. */
static void hold(gls_worker *w)
{
    gls_engine *engine = w->run->tracker->engine[w->index];
    if (engine) gls_device_hold(engine->device);
}

/* Releases what hold() held. */
static void release(gls_worker *w)
{
    gls_engine *engine = w->run->tracker->engine[w->index];
    if (engine) gls_device_release(engine->device);
}

/* Recovers from a failure of the device: makes a new context if the old one was lost, and halves the batch if memory
 * ran out or the context was lost again. Returns the failure if it cannot recover; the device may then have no engine.
 */
static gls_status recover(gls_worker *w, gls_status status, uint64_t seed)
{
    gls_tracker *t = w->run->tracker;
    uint32_t batch = w->batch.engine->plan.batch_seeds;
    char reason[512];
    for (;;) {
        /* Failures that a new context or a smaller batch may cure; all others end the worker. */
        bool lost = status == GLS_ERR_LOST;
        if (!lost && (!gls_status_is_memory(status) || batch == 1 || !t->engine[w->index])) return status;
        snprintf(reason, sizeof reason, "%s", gls_last_error());
        if (lost && w->losses == GLS_MAX_LOSSES)
            return gls_fail(status, "%s (the device was lost %d times while it tracked the seeds from %" PRIu64 " on)",
                            reason, GLS_MAX_LOSSES + 1, seed);
        uint32_t before = batch;
        /* a device that exceeds its driver's time limit gets smaller batches */
        if (!lost || w->losses > 0) batch = (batch + 1) / 2;
        w->losses += lost;
        if (lost) gls_pace_slow(&w->batch.initial_pace);
        if (lost) gls_pace_slow(&w->batch.track_pace);
        w->share->resumes += lost;
        w->share->halvings += !lost;
        if (lost)
            gls_log(GLS_LOG_WARNING, "%s: %s: resuming from seed %" PRIu64 " on a new context", name_of(w), reason,
                    seed);
        else
            gls_log(GLS_LOG_WARNING, "%s: %s: batches now have %u instead of %u seeds", name_of(w), reason, batch,
                    before);
        /* Release the hold of this thread on the device, because the new engine needs the device. */
        release(w);
        status = gls_tracker_renew(t, w->index, lost, batch);
        hold(w);
        if (!status) status = make_arrays(w);
        if (!status) return GLS_OK;
    }
}

/* Leaves the remaining work to the other workers if only this device failed; otherwise fails the run. */
static void leave(gls_worker *w, gls_status status)
{
    gls_run *run = w->run;
    bool device_failed = status == GLS_ERR_LOST || gls_status_is_memory(status) || status == GLS_ERR_DEVICE ||
                         status == GLS_ERR_UNSUPPORTED;
    pthread_mutex_lock(&run->queue.lock);
    bool others = --run->n_alive > 0;
    pthread_mutex_unlock(&run->queue.lock);
    w->share->failed = device_failed;
    if (device_failed && others)
        gls_log(GLS_LOG_WARNING, "%s: %s: the other devices do its work", name_of(w), gls_last_error());
    else
        gls_run_fail(run, status);
}

/* Tracks until the queue has no seeds, with recovery after failures. */
static gls_status track(gls_worker *w)
{
    for (;;) {
        gls_status status = gls_batch_run(&w->batch);
        /* Ranges that are left were not finished: the queue gets them back, and this worker or another one takes them
         * again. */
        const bool any = w->n_ranges > 0;
        const uint64_t due = any ? w->range[0].first : w->batch.delivered;
        give_all_back(w);
        if (status) {
            gls_track_stats_drop(&w->round);
            status = recover(w, status, due);
        } else if (!any) {
            return GLS_OK;
        }
        if (status) return status;
    }
}

void gls_worker_work(gls_worker *w)
{
    double start = gls_clock_seconds();
    char number[16];
    snprintf(number, sizeof number, "%zu", w->worker_index + 1);
    gls_trace_call_thread("host of device", number);
    hold(w);
    gls_status status = track(w);
    if (status == GLS_ERR_CANCELLED && gls_queue_is_satisfied(&w->run->queue)) status = GLS_OK;
    release(w);
    w->share->seconds += gls_trace_phase("track", start, gls_seeds_first(w->run->seeds));
    if (w->run->tracker->engine[w->index]) gls_device_trace(w->run->tracker->engine[w->index]->device);
    /* Keep the longest dispatch, for the report of the run. */
    const gls_batch *c = &w->batch;
    double *longest = &w->run->stats.result.seconds_longest;
    pthread_mutex_lock(&w->run->queue.lock);
    if (c->initial_pace.longest > *longest) *longest = c->initial_pace.longest;
    if (c->track_pace.longest > *longest) *longest = c->track_pace.longest;
    pthread_mutex_unlock(&w->run->queue.lock);
    if (status) leave(w, status);
}
