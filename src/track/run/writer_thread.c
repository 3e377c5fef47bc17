/* Delivers finished streamlines to the sink in the order of seeds while the workers track the next batches. The sink is
 * called on the writer thread alone, one result at a time, so the bytes of its output do not depend on workers. */
#include "track/run/writer_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "track/engine/batch_result.h"
#include "track/seeds.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/threads.h"

/* Results that a worker may have in use. A single worker: FEW. Each of several workers: FEW at any time; up to MANY
 * while the results that wait for the sink take less than SHARED_BYTES; and one more for the seeds that are due. */
#define FEW 2
#define MANY 16
#define SHARED_BYTES ((uint64_t)512 << 20)

struct gls_writer_thread {
    pthread_t thread;
    gls_queue *queue; /* the queue, whose lock also guards this struct */
    gls_writer_task task;
    gls_batch_result *result; /* n_workers x per_worker results; the store owns them */
    size_t n_workers, per_worker;
    uint64_t due;      /* the next seed to deliver */
    uint64_t bytes;    /* bytes of the results that wait for the sink */
    uint64_t selected; /* streamlines delivered so far; counted only if gls_writer_counts() */
    bool closing;      /* no more results will come; the thread ends when none is due */
    gls_status status; /* first failure of sink or journal, with its message */
    char message[512];
};

/* The result with the seeds that come next in the output, if a worker has sent it; else NULL. The caller holds the
 * lock. */
static gls_batch_result *find_due(gls_writer_thread *c)
{
    for (size_t i = 0; i < c->n_workers * c->per_worker; i++)
        if (c->result[i].state == GLS_RESULT_SENT && c->result[i].first == c->due) return &c->result[i];
    return NULL;
}

bool gls_writer_counts(const gls_writer_task *task)
{
    return task->select > 0 || task->journal;
}

gls_status gls_writer_check_numbers(uint64_t end)
{
    if (end <= (uint64_t)UINT32_MAX + 1) return GLS_OK;
    return gls_fail(GLS_ERR_UNSUPPORTED, "a run has at most 4294967296 seeds, because seeds have numbers of 32 bits: "
                                         "start several runs with different --seed-seed and --rng-seed");
}

/* Counts the outcomes of the result that comes next, and shortens it to the streamlines that are still wanted. */
static gls_status choose(gls_writer_thread *c, gls_batch_result *result)
{
    const uint64_t select = c->task.select, limit = select > 0 ? select - c->selected : UINT64_MAX;
    if (result->journaled && !gls_outcomes_are_valid(&result->outcomes, limit, result->n, c->task.stats))
        return gls_fail(GLS_ERR_INPUT, "the journal (OUTPUT.resume) belongs to another run: remove this file, or give "
                                       "the inputs and options of that run");
    result->n = (size_t)gls_outcomes_count(&result->outcomes, limit, c->task.stats);
    c->selected += result->n;
    if (select > 0 && c->selected == select) c->queue->satisfied = c->queue->stopped = true;
    return GLS_OK;
}

/* Gives the result to the sink first, then to the journal, so that the journal never holds what no sink took. */
static gls_status pass_on(const gls_writer_thread *c, const gls_batch_result *result)
{
    /* Streamlines carry their seeds as columns; the arrays still belong to the result. */
    const gls_column column[] = {{GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, result->seed},
                                 {GLS_DPS_SEED_INDEX, GLS_TYPE_UINT32, 1, result->seed_index}};
    gls_streamlines streamlines = {
        .n = result->n, .offset = result->offset, .point = (const float(*)[3])result->point, .n_dps = 2, .dps = column};
    const gls_sink *sink = c->task.sink;
    if (c->task.visited)
        *c->task.visited = result->visited.valid || result->visited.ends_alone ? &result->visited : NULL;
    gls_status status = gls_writer_check_numbers(result->end);
    if (!status && result->n > 0 && sink) status = gls_sink_append(sink, &streamlines);
    if (!status && c->task.journal && !result->journaled) status = gls_journal_append(c->task.journal, result);
    return status;
}

/* Ends the delivery with a failure, whose message is this thread's last error. The caller holds the lock. */
static void fail(gls_writer_thread *c, gls_status status)
{
    c->status = status;
    snprintf(c->message, sizeof c->message, "%s", gls_last_error());
    c->queue->stopped = true;
}

/* Hands a result to the sink, unless delivery failed or has all wanted streamlines already, and frees the result. The
 * caller holds the lock before and after; the lock is released while the sink works. */
static void hand_over(gls_writer_thread *c, gls_batch_result *result)
{
    if (!c->status && !c->queue->satisfied) {
        gls_status status = gls_writer_counts(&c->task) ? choose(c, result) : GLS_OK;
        pthread_mutex_unlock(&c->queue->lock);
        const double start = gls_clock_seconds();
        if (!status) status = pass_on(c, result);
        (void)gls_trace_phase("hand over", start, result->first);
        pthread_mutex_lock(&c->queue->lock);
        if (status) fail(c, status);
    }
    /* Free the result, also after a failure, so that workers that wait for one can end. */
    c->due = result->end;
    c->bytes -= result->bytes;
    result->state = GLS_RESULT_FREE;
    pthread_cond_broadcast(&c->queue->changed);
}

/* Whether all seeds so far are delivered, and there may be another round. The caller holds the lock. */
static bool is_round_over(const gls_writer_thread *c)
{
    return c->queue->grows && c->due == c->queue->end && !c->queue->stopped;
}

/* Asks for the next round of seeds. The caller holds the lock before and after; it is released meanwhile. No worker
 * reads the seeds then, because all are delivered. */
static void begin_round(gls_writer_thread *c)
{
    pthread_mutex_unlock(&c->queue->lock);
    const double start = gls_clock_seconds();
    const gls_status status = c->task.next_round(c->task.round_user);
    (void)gls_trace_phase("next round of seeds", start, c->due);
    pthread_mutex_lock(&c->queue->lock);
    if (status) fail(c, status);
    gls_queue_grow(c->queue, gls_seeds_end(c->task.seeds));
}

/* Main function of the writer thread: hands over results in the order of seeds until the writer closes. */
static void *deliver(void *user)
{
    gls_writer_thread *c = user;
    gls_threads_apply();
    gls_trace_call_thread("output", "");
    pthread_mutex_lock(&c->queue->lock);
    for (;;) {
        gls_batch_result *result = find_due(c);
        if (result)
            hand_over(c, result);
        else if (is_round_over(c))
            begin_round(c);
        else if (c->closing)
            break;
        else
            pthread_cond_wait(&c->queue->changed, &c->queue->lock);
    }
    pthread_mutex_unlock(&c->queue->lock);
    return NULL;
}

size_t gls_writer_results_each(size_t n_workers)
{
    return n_workers > 1 ? MANY + 1 : FEW;
}

/* Bytes that the streamlines of a result take, without their outcomes. */
static uint64_t result_bytes(const gls_batch_result *result)
{
    return result->offset[result->n] * sizeof *result->point +
           result->n * (sizeof *result->offset + sizeof *result->seed_index + sizeof *result->seed);
}

/* Returns n free results, which the store still owns; NULL if memory ran out. */
static gls_batch_result *lend_results(gls_result_store *store, size_t n)
{
    if (store->n < n) {
        gls_batch_result *grown = realloc(store->result, n * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + store->n, 0, (n - store->n) * sizeof *grown);
        store->result = grown;
        store->n = n;
    }
    for (size_t i = 0; i < n; i++) store->result[i].state = GLS_RESULT_FREE;
    return store->result;
}

gls_status gls_writer_thread_create(gls_queue *queue, gls_result_store *store, const gls_writer_task *task,
                                    gls_writer_thread **out)
{
    gls_writer_thread *c = calloc(1, sizeof *c);
    if (!c) return gls_fail(GLS_ERR_MEMORY, "out of memory for the output thread");
    *c = (gls_writer_thread){.queue = queue,
                             .task = *task,
                             .n_workers = queue->n_workers,
                             .per_worker = gls_writer_results_each(queue->n_workers),
                             .due = queue->next};
    c->result = lend_results(store, c->n_workers * c->per_worker);
    if (!c->result || pthread_create(&c->thread, NULL, deliver, c) != 0) {
        free(c);
        return gls_fail(GLS_ERR_MEMORY, "the output thread cannot be started");
    }
    *out = c;
    return GLS_OK;
}

/* Returns the free result of the worker that has memory for the most points; NULL if none is free, or if the worker may
 * not use another result now. */
static gls_batch_result *find_free(gls_writer_thread *c, size_t worker, uint64_t first)
{
    gls_batch_result *result = &c->result[worker * c->per_worker], *best = NULL;
    size_t n_used = 0;
    for (size_t i = 0; i < c->per_worker; i++) {
        if (result[i].state != GLS_RESULT_FREE)
            n_used++;
        else if (!best || result[i].point_capacity > best->point_capacity)
            best = &result[i];
    }
    bool allowed = n_used < FEW || first == c->due || (n_used < MANY && c->bytes < SHARED_BYTES);
    return allowed ? best : NULL;
}

gls_status gls_writer_thread_take(gls_writer_thread *c, size_t worker, uint64_t first, gls_batch_result **out)
{
    gls_batch_result *result = NULL;
    pthread_mutex_lock(&c->queue->lock);
    /* if no worker tracks the seed that is due, return NULL: waiting would never end */
    while (!c->queue->stopped && !(result = find_free(c, worker, first)) && !gls_queue_is_waiting(c->queue, c->due))
        pthread_cond_wait(&c->queue->changed, &c->queue->lock);
    bool stopped = c->queue->stopped;
    if (result && !stopped) {
        result->state = GLS_RESULT_TAKEN;
        result->first = first;
        result->n = 0;
        result->journaled = false;
        result->visited.valid = result->visited.ends_alone = false;
    }
    pthread_mutex_unlock(&c->queue->lock);
    if (stopped) return gls_fail(GLS_ERR_CANCELLED, "the run was stopped");
    *out = result;
    return GLS_OK;
}

void gls_writer_thread_send(gls_writer_thread *c, gls_batch_result *result, uint64_t end)
{
    result->end = end;
    result->state = GLS_RESULT_SENT;
    result->bytes = result_bytes(result);
    c->bytes += result->bytes;
    pthread_cond_broadcast(&c->queue->changed);
}

/* Reads the next result of the journal and sends it to the writer thread; the journal holds results in the order of
 * seeds. */
static gls_status replay_next(gls_writer_thread *c, bool *found)
{
    gls_batch_result *result;
    /* the results of a round come behind it */
    pthread_mutex_lock(&c->queue->lock);
    while (c->queue->grows && c->queue->next == c->queue->end && !c->queue->stopped)
        pthread_cond_wait(&c->queue->changed, &c->queue->lock);
    const uint64_t first = c->queue->next;
    pthread_mutex_unlock(&c->queue->lock);
    gls_status status = gls_writer_thread_take(c, 0, first, &result);
    if (status) {
        *found = false; /* the queue is stopped: all wanted streamlines are there, or the sink failed, which
                           gls_writer_thread_destroy() reports */
        return GLS_OK;
    }
    status = gls_journal_read(c->task.journal, result, found);
    if (!status && *found && (result->first != first || gls_journal_end(c->task.journal) > c->queue->end))
        status = gls_fail(GLS_ERR_INPUT, "the journal (OUTPUT.resume) belongs to another run: remove this file, or "
                                         "give the inputs and options of that run");
    if (status || !*found) {
        gls_writer_thread_give_back(c, result);
        return status;
    }
    result->journaled = true;
    pthread_mutex_lock(&c->queue->lock);
    c->queue->next = gls_journal_end(c->task.journal);
    gls_writer_thread_send(c, result, c->queue->next);
    pthread_mutex_unlock(&c->queue->lock);
    return GLS_OK;
}

gls_status gls_writer_thread_replay(gls_writer_thread *c, gls_status (*poll)(void *user), void *user)
{
    bool found = c->task.journal != NULL;
    gls_status status = GLS_OK;
    while (found && !status) {
        status = replay_next(c, &found);
        if (!status) status = poll(user);
    }
    return status;
}

void gls_writer_thread_give_back(gls_writer_thread *c, gls_batch_result *result)
{
    pthread_mutex_lock(&c->queue->lock);
    result->state = GLS_RESULT_FREE;
    pthread_mutex_unlock(&c->queue->lock);
}

gls_status gls_writer_thread_destroy(gls_writer_thread *c)
{
    if (!c) return GLS_OK;
    pthread_mutex_lock(&c->queue->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->queue->changed);
    pthread_mutex_unlock(&c->queue->lock);
    pthread_join(c->thread, NULL);
    gls_status status = !c->status ? GLS_OK : gls_fail(c->status, "%s", c->message);
    free(c);
    return status;
}
