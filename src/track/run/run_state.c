/* The state of a run, which its workers share with the thread that started it: the queue of seeds, the first failure,
 * and progress. The queue hands ranges to workers in order, and takes back what a worker could not finish. Ranges are
 * disjoint, and each seed is delivered once; which worker tracks a seed never changes the result. */
#include "track/run/track_run.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/clock.h"
#include "util/status.h"

/* --- The queue of seeds. */

/* With several workers ranges get shorter towards the end, so that all workers finish at about the same time. Unless
 * fewer seeds are left, a range has at least 1 / SMALLEST_PART of the seeds that the worker asks for, or of an equal
 * share of all seeds if that is less. */
#define SMALLEST_PART 2

void gls_queue_init(gls_queue *q, uint64_t first, uint64_t end, bool grows, size_t n_workers)
{
    pthread_condattr_t attributes;
    *q = (gls_queue){
        .next = first, .end = end, .total = end - first, .round = end - first, .grows = grows, .n_workers = n_workers};
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&q->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void gls_queue_finish(gls_queue *q)
{
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
}

void gls_queue_grow(gls_queue *q, uint64_t end)
{
    q->round = end - q->end;
    q->total += q->round;
    q->end = end;
    q->grows = q->round > 0;
    pthread_cond_broadcast(&q->changed);
}

/* End of the seeds that share the upper 32 bits with `first`: kernels get these bits once for a whole range. */
static uint64_t word_end(uint64_t first)
{
    return first >> 32 < UINT32_MAX ? ((first >> 32) + 1) << 32 : UINT64_MAX;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Cuts up to `limit` seeds off the front of *first .. end - 1, and moves *first behind them. */
static gls_seed_range cut(uint64_t *first, uint64_t end, uint64_t limit)
{
    gls_seed_range range = {*first, min_u64(word_end(*first), end - *first < limit ? end : *first + limit)};
    *first = range.end;
    return range;
}

/* Takes up to `limit` seeds, from a returned range if there is one. The caller holds the lock. */
static gls_seed_range take_first(gls_queue *q, uint64_t limit)
{
    /* Returned ranges come first, in the order of seeds, because their streamlines are due first. */
    if (q->n_returned > 0) {
        gls_seed_range range = cut(&q->returned[0].first, q->returned[0].end, limit);
        if (q->returned[0].first == q->returned[0].end)
            memmove(q->returned, q->returned + 1, --q->n_returned * sizeof *q->returned);
        return range;
    }
    if (q->n_workers > 1) {
        /* fair: half of an equal share of what is left; least: a lower bound, so that ranges do not become tiny. */
        uint64_t fair = (q->end - q->next) / (2 * q->n_workers) + 1,
                 least = min_u64(limit, q->total / q->n_workers) / SMALLEST_PART + 1;
        limit = min_u64(limit, fair > least ? fair : least);
    }
    return cut(&q->next, q->end, limit);
}

bool gls_queue_take(gls_queue *q, uint64_t limit, bool wait, gls_seed_range *range)
{
    /* While no range is free, wait as long as workers track ranges, which may come back, and for the next round. */
    while (wait && !q->stopped && q->n_returned == 0 && q->next == q->end && (q->n_out > 0 || q->grows))
        pthread_cond_wait(&q->changed, &q->lock);
    if (q->stopped || (q->n_returned > 0 ? !wait : q->next == q->end)) return false;
    *range = take_first(q, limit);
    q->n_out++;
    return true;
}

uint64_t gls_queue_taken(const gls_queue *q)
{
    uint64_t n = q->total - (q->end - q->next);
    for (size_t i = 0; i < q->n_returned; i++) n -= q->returned[i].end - q->returned[i].first;
    return n;
}

/* Inserts a range in the order of seeds and joins it with its neighbours. */
static void insert(gls_queue *q, gls_seed_range range)
{
    /* Join the range with the next one, or insert it if they do not touch; then join it with the range before. */
    size_t at = 0;
    while (at < q->n_returned && q->returned[at].first < range.first) at++;
    if (at < q->n_returned && q->returned[at].first == range.end) {
        q->returned[at].first = range.first;
    } else {
        assert(q->n_returned < GLS_QUEUE_RETURNED);
        memmove(q->returned + at + 1, q->returned + at, (q->n_returned++ - at) * sizeof *q->returned);
        q->returned[at] = range;
    }
    if (at > 0 && q->returned[at - 1].end == q->returned[at].first) {
        q->returned[at - 1].end = q->returned[at].end;
        memmove(q->returned + at, q->returned + at + 1, (--q->n_returned - at) * sizeof *q->returned);
    }
}

void gls_queue_give_back(gls_queue *q, gls_seed_range rest)
{
    if (rest.first < rest.end) insert(q, rest);
    q->n_out--;
    pthread_cond_broadcast(&q->changed);
}

bool gls_queue_is_stopped(gls_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool stopped = q->stopped;
    pthread_mutex_unlock(&q->lock);
    return stopped;
}

bool gls_queue_is_satisfied(gls_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool satisfied = q->satisfied;
    pthread_mutex_unlock(&q->lock);
    return satisfied;
}

bool gls_queue_is_waiting(const gls_queue *q, uint64_t seed)
{
    return q->n_returned > 0 && q->returned[0].first == seed;
}

/* --- Failure and progress. */

void gls_run_fail(gls_run *run, gls_status status)
{
    pthread_mutex_lock(&run->queue.lock);
    if (!run->status) {
        run->status = status;
        snprintf(run->message, sizeof run->message, "%s", gls_last_error());
    }
    run->queue.stopped = true;
    pthread_cond_broadcast(&run->queue.changed);
    pthread_mutex_unlock(&run->queue.lock);
}

gls_status gls_run_report(gls_run *run)
{
    run->polled = gls_clock_seconds();
    if (!run->progress) return GLS_OK;
    pthread_mutex_lock(&run->queue.lock);
    gls_track_result r = run->stats.result;
    pthread_mutex_unlock(&run->queue.lock);
    memcpy(run->tracker->verdicts, r.verdicts, sizeof r.verdicts);
    uint64_t total = gls_seeds_count(run->seeds), wanted = run->tracker->params.select;
    /* with select: the streamlines found so far show about how many seeds the run will take */
    double expected =
        wanted > 0 && r.streamlines > 0 ? (double)r.seeds * ((double)wanted / (double)r.streamlines) : (double)total;
    if (expected < (double)total) total = (uint64_t)expected > r.seeds ? (uint64_t)expected : r.seeds;
    /* the seeds of a round that ends are counted a moment after their streamlines have ended */
    const uint64_t done = r.seeds + (uint64_t)run->ahead;
    if (done > run->shown) run->shown = done;
    if (run->shown > total) run->shown = total;
    if (r.seeds == total) run->shown = total;
    if (run->progress(run->progress_user, run->shown, total, r.streamlines, r.points)) return GLS_OK;
    return gls_fail(GLS_ERR_CANCELLED, "cancelled");
}

gls_status gls_run_poll(gls_run *run, bool reports)
{
    if (gls_queue_is_stopped(&run->queue)) return gls_fail(GLS_ERR_CANCELLED, "the run was stopped");
    bool due = reports && gls_clock_seconds() - run->polled >= GLS_SECONDS_BETWEEN_REPORTS;
    return due ? gls_run_report(run) : GLS_OK;
}
