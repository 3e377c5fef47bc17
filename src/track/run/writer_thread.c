/* Delivery of finished streamlines to the sink, in the order of seeds, while the next ones are tracked. */
#include "track/run/writer_thread.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/status.h"
#include "util/threads.h"

/* Parcels that one worker may have on their way: two, or with several workers as many more as fit in the memory that
 * they share, and one besides for what is due. */
#define FEW 2
#define MANY 16
#define SHARED_BYTES ((uint64_t)512 << 20)

struct gls_courier {
    pthread_t thread;
    gls_queue *queue; /* its lock is ours, too */
    gls_courier_task task;
    gls_parcel *parcel; /* n_workers x per_worker, lent by the store */
    size_t n_workers, per_worker;
    uint64_t due;      /* the seed that comes next */
    uint64_t bytes;    /* of parcels that wait */
    uint64_t selected; /* streamlines that were handed over, where they are counted */
    bool closing;
    gls_status status;
    char message[512];
};

static gls_parcel *find_due(gls_courier *c)
{
    for (size_t i = 0; i < c->n_workers * c->per_worker; i++)
        if (c->parcel[i].state == GLS_PARCEL_SENT && c->parcel[i].first == c->due) return &c->parcel[i];
    return NULL;
}

bool gls_courier_counts(const gls_courier_task *task)
{
    return task->select > 0 || task->journal;
}

gls_status gls_courier_check_numbers(uint64_t end)
{
    if (end <= (uint64_t)UINT32_MAX + 1) return GLS_OK;
    return gls_fail(GLS_ERR_UNSUPPORTED, "a run has 4294967296 seeds at most, by whose numbers streamlines are known; "
                                         "more take several runs with other random seeds");
}

/* Of the parcel that is due only what is wanted. */
static gls_status choose(gls_courier *c, gls_parcel *parcel)
{
    const uint64_t select = c->task.select, limit = select > 0 ? select - c->selected : UINT64_MAX;
    if (parcel->journaled && !gls_tally_is_valid(&parcel->tally, limit, parcel->n, c->task.stats))
        return gls_fail(GLS_ERR_INPUT, "the journal is not of this run");
    parcel->n = (size_t)gls_tally_count(&parcel->tally, limit, c->task.stats);
    c->selected += parcel->n;
    if (select > 0 && c->selected == select) c->queue->satisfied = c->queue->stopped = true;
    return GLS_OK;
}

/* What the sink takes, then the journal, which so never has what no sink took. */
static gls_status pass_on(const gls_courier *c, const gls_parcel *parcel)
{
    const gls_column column[] = {{GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, parcel->seed},
                                 {GLS_DPS_SEED_INDEX, GLS_TYPE_UINT32, 1, parcel->seed_index}};
    gls_streamlines streamlines = {
        .n = parcel->n, .offset = parcel->offset, .point = (const float(*)[3])parcel->point, .n_dps = 2, .dps = column};
    const gls_sink *sink = c->task.sink;
    if (c->task.visited)
        *c->task.visited = parcel->visited.valid || parcel->visited.ends_alone ? &parcel->visited : NULL;
    gls_status status = gls_courier_check_numbers(parcel->end);
    if (status == GLS_OK && parcel->n > 0 && sink) status = gls_sink_append(sink, &streamlines);
    if (status == GLS_OK && c->task.journal && !parcel->journaled) status = gls_journal_append(c->task.journal, parcel);
    return status;
}

/* Called and returns with the lock held. */
static void hand_over(gls_courier *c, gls_parcel *parcel)
{
    if (c->status == GLS_OK && !c->queue->satisfied) {
        gls_status status = gls_courier_counts(&c->task) ? choose(c, parcel) : GLS_OK;
        pthread_mutex_unlock(&c->queue->lock);
        const double start = gls_clock_seconds();
        if (status == GLS_OK) status = pass_on(c, parcel);
        (void)gls_trace_phase("hand over", start, parcel->first);
        pthread_mutex_lock(&c->queue->lock);
        if (status != GLS_OK) {
            c->status = status;
            snprintf(c->message, sizeof c->message, "%s", gls_last_error());
            c->queue->stopped = true;
        }
    }
    c->due = parcel->end;
    c->bytes -= parcel->bytes;
    parcel->state = GLS_PARCEL_FREE;
    pthread_cond_broadcast(&c->queue->changed);
}

static void *deliver(void *user)
{
    gls_courier *c = user;
    gls_threads_apply();
    gls_trace_call_thread("output", "");
    pthread_mutex_lock(&c->queue->lock);
    for (;;) {
        gls_parcel *parcel = find_due(c);
        if (parcel)
            hand_over(c, parcel);
        else if (c->closing)
            break;
        else
            pthread_cond_wait(&c->queue->changed, &c->queue->lock);
    }
    pthread_mutex_unlock(&c->queue->lock);
    return NULL;
}

size_t gls_courier_parcels(size_t n_workers)
{
    return n_workers > 1 ? MANY + 1 : FEW;
}

gls_status gls_courier_create(gls_queue *queue, gls_parcel_store *store, const gls_courier_task *task,
                              gls_courier **out)
{
    gls_courier *c = calloc(1, sizeof *c);
    if (!c) return gls_fail(GLS_ERR_MEMORY, "out of memory for the output thread");
    *c = (gls_courier){.queue = queue,
                       .task = *task,
                       .n_workers = queue->n_workers,
                       .per_worker = gls_courier_parcels(queue->n_workers),
                       .due = queue->next};
    c->parcel = gls_parcel_store_lend(store, c->n_workers * c->per_worker);
    if (!c->parcel || pthread_create(&c->thread, NULL, deliver, c) != 0) {
        free(c);
        return gls_fail(GLS_ERR_MEMORY, "the output thread cannot be started");
    }
    *out = c;
    return GLS_OK;
}

/* A free parcel of the worker, if it may have one more; rather one that has its memory already. */
static gls_parcel *find_free(gls_courier *c, size_t worker, uint64_t first)
{
    gls_parcel *parcel = &c->parcel[worker * c->per_worker], *best = NULL;
    size_t n_used = 0;
    for (size_t i = 0; i < c->per_worker; i++) {
        if (parcel[i].state != GLS_PARCEL_FREE)
            n_used++;
        else if (!best || parcel[i].point_capacity > best->point_capacity)
            best = &parcel[i];
    }
    bool allowed = n_used < FEW || first == c->due || (n_used < MANY && c->bytes < SHARED_BYTES);
    return allowed ? best : NULL;
}

gls_status gls_courier_take(gls_courier *c, size_t worker, uint64_t first, gls_parcel **out)
{
    gls_parcel *parcel = NULL;
    pthread_mutex_lock(&c->queue->lock);
    /* what is due comes first: with nobody on it, one that waits to deliver what comes later would wait for ever */
    while (!c->queue->stopped && !(parcel = find_free(c, worker, first)) && !gls_queue_is_waiting(c->queue, c->due))
        pthread_cond_wait(&c->queue->changed, &c->queue->lock);
    bool stopped = c->queue->stopped;
    if (parcel && !stopped) {
        parcel->state = GLS_PARCEL_TAKEN;
        parcel->first = first;
        parcel->n = 0;
        parcel->journaled = false;
        parcel->visited.valid = parcel->visited.ends_alone = false;
    }
    pthread_mutex_unlock(&c->queue->lock);
    if (stopped) return gls_fail(GLS_ERR_CANCELLED, "the run was stopped");
    *out = parcel;
    return GLS_OK;
}

void gls_courier_send(gls_courier *c, gls_parcel *parcel, uint64_t end)
{
    parcel->end = end;
    parcel->state = GLS_PARCEL_SENT;
    parcel->bytes = gls_parcel_bytes(parcel);
    c->bytes += parcel->bytes;
    pthread_cond_broadcast(&c->queue->changed);
}

/* A parcel of the journal whose turn it is: in no other order were they added. */
static gls_status replay_next(gls_courier *c, bool *found)
{
    gls_parcel *parcel;
    uint64_t first = c->queue->next;
    gls_status status = gls_courier_take(c, 0, first, &parcel);
    if (status != GLS_OK) {
        *found = false; /* stopped: by the sink, whose failure is told in the end, or because all is there */
        return GLS_OK;
    }
    status = gls_journal_read(c->task.journal, parcel, found);
    if (status == GLS_OK && *found && (parcel->first != first || gls_journal_end(c->task.journal) > c->queue->end))
        status = gls_fail(GLS_ERR_INPUT, "the journal is not of this run");
    if (status != GLS_OK || !*found) {
        gls_courier_drop(c, parcel);
        return status;
    }
    parcel->journaled = true;
    pthread_mutex_lock(&c->queue->lock);
    c->queue->next = gls_journal_end(c->task.journal);
    gls_courier_send(c, parcel, c->queue->next);
    pthread_mutex_unlock(&c->queue->lock);
    return GLS_OK;
}

gls_status gls_courier_replay(gls_courier *c, gls_status (*poll)(void *user), void *user)
{
    bool found = c->task.journal != NULL;
    gls_status status = GLS_OK;
    while (found && status == GLS_OK) {
        status = replay_next(c, &found);
        if (status == GLS_OK) status = poll(user);
    }
    return status;
}

void gls_courier_drop(gls_courier *c, gls_parcel *parcel)
{
    pthread_mutex_lock(&c->queue->lock);
    parcel->state = GLS_PARCEL_FREE;
    pthread_mutex_unlock(&c->queue->lock);
}

gls_status gls_courier_destroy(gls_courier *c)
{
    if (!c) return GLS_OK;
    pthread_mutex_lock(&c->queue->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->queue->changed);
    pthread_mutex_unlock(&c->queue->lock);
    pthread_join(c->thread, NULL);
    gls_status status = c->status == GLS_OK ? GLS_OK : gls_fail(c->status, "%s", c->message);
    free(c);
    return status;
}
