/* Delivery of finished streamlines to the sink, in the order of seeds, while the next ones are tracked. */
#include "track/run/courier.h"

#include <stdio.h>
#include <stdlib.h>

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
    gls_sink sink;
    gls_parcel *parcel; /* n_workers x per_worker, lent by the store */
    size_t n_workers, per_worker;
    uint64_t due;              /* the seed that comes next */
    uint64_t bytes;            /* of parcels that wait */
    uint64_t select, selected; /* streamlines that are wanted, 0: all, and that were handed over */
    gls_track_stats *stats;
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

/* Of the parcel that is due only what is wanted. */
static void choose(gls_courier *c, gls_parcel *parcel)
{
    if (c->selected < c->select) {
        parcel->n = (size_t)gls_tally_count(&parcel->tally, c->select - c->selected, c->stats);
        c->selected += parcel->n;
    } else {
        parcel->n = 0;
    }
    if (c->selected == c->select) c->queue->satisfied = c->queue->stopped = true;
}

/* Called and returns with the lock held. */
static void hand_over(gls_courier *c, gls_parcel *parcel)
{
    if (c->select > 0) choose(c, parcel);
    if (c->status == GLS_OK && parcel->n > 0 && c->sink.append) {
        pthread_mutex_unlock(&c->queue->lock);
        const gls_column column[] = {{GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, parcel->seed},
                                     {GLS_DPS_SEED_INDEX, GLS_TYPE_UINT32, 1, parcel->seed_index}};
        gls_streamlines streamlines = {.n = parcel->n,
                                       .offset = parcel->offset,
                                       .point = (const float(*)[3])parcel->point,
                                       .n_dps = 2,
                                       .dps = column};
        gls_status status = gls_sink_append(&c->sink, &streamlines);
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

gls_status gls_courier_create(gls_queue *queue, gls_parcel_store *store, const gls_sink *sink, uint64_t select,
                              gls_track_stats *stats, gls_courier **out)
{
    gls_courier *c = calloc(1, sizeof *c);
    if (!c) return gls_fail(GLS_ERR_MEMORY, "out of memory for the output thread");
    *c = (gls_courier){.queue = queue,
                       .sink = sink ? *sink : (gls_sink){.append = NULL},
                       .select = select,
                       .stats = stats,
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
