/* Hands all streamlines of a file to a sink. With more than one thread, a reading thread reads, decompresses and checks
 * the next blocks while the sink works; gls_reader_ahead_start() starts it before there is a sink. */
#include "tractogram/readers.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/status.h"

/* A block of streamlines, or the end of the file, or an error. */
typedef struct block {
    /* borrowed from the reader's memory; valid until the slot is filled again */
    gls_streamlines lines; /* n == 0: end of the file */
    /* status of the reader, with its message, since each thread has its own last error */
    gls_status status;
    /* share of the file that was read, 0 .. 1 */
    double done;
    /* message of `status` */
    char message[1024];
} block;

/* A slot in the ring: a block and its memory. */
typedef struct slot {
    /* memory to which the reader writes the block */
    gls_reader_room room;
    block block;
} slot;

/* A ring of blocks between the reading thread and the one that calls the sink. `lock` guards first, n_full and stopped.
 */
typedef struct gls_reader_ahead {
    /* used by the reading thread alone */
    gls_tractogram_reader *reader;
    /* the thread that fills slots ahead of the caller */
    pthread_t thread;
    size_t n_slots, first, n_full; /* slots in the ring, the first full slot, number of full slots */
    bool stopped;
    pthread_mutex_t lock;
    /* signalled when a slot becomes full or free, and at the end */
    pthread_cond_t changed;
    /* n_slots entries */
    slot slot[];
} ahead;

/* Reads the next block into *p, with its status, message and progress. */
static void read_block(gls_tractogram_reader *r, block *p)
{
    p->lines = (gls_streamlines){0};
    p->status = gls_tractogram_reader_next(r, &p->lines);
    p->done = p->lines.n > 0 ? r->done : 1;
    if (p->status) snprintf(p->message, sizeof p->message, "%s", gls_last_error());
}

/* The reading thread: fills the ring of blocks, and waits while it is full. Ends after the last block, a failure, or a
 * stop. */
static void *read_ahead(void *user)
{
    ahead *a = user;
    block next;
    bool last = false;
    while (!last) {
        read_block(a->reader, &next);
        pthread_mutex_lock(&a->lock);
        while (a->n_full == a->n_slots && !a->stopped) pthread_cond_wait(&a->changed, &a->lock);
        /* the last block carries the end or the failure to the other thread */
        last = a->stopped || next.status || next.lines.n == 0;
        if (!a->stopped) {
            slot *to = &a->slot[(a->first + a->n_full) % a->n_slots];
            /* the block's memory goes to the ring, that of an older block to the reader */
            gls_reader_exchange(a->reader, &to->room);
            to->block = next;
            a->n_full++;
            pthread_cond_signal(&a->changed);
        }
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

/* Frees the ring and the memory of its blocks. The reading thread has ended. */
static void finish(ahead *a)
{
    for (size_t i = 0; i < a->n_slots; i++) gls_reader_room_finish(a->reader, &a->slot[i].room);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

gls_status gls_reader_ahead_start(gls_tractogram_reader *r, size_t n_blocks)
{
    if (r->ahead || omp_get_max_threads() < 2) return GLS_OK;
    ahead *a = calloc(1, sizeof *a + n_blocks * sizeof *a->slot);
    if (!a) return gls_reader_no_memory(r);
    a->reader = r;
    a->n_slots = n_blocks;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n_blocks && !status; i++) status = gls_reader_room_create(r, &a->slot[i].room);
    /* if no thread can be started, the caller reads; that is not a failure */
    if (!status && pthread_create(&a->thread, NULL, read_ahead, a) == 0)
        r->ahead = a;
    else
        finish(a);
    return status;
}

void gls_reader_ahead_stop(gls_tractogram_reader *r)
{
    ahead *a = r->ahead;
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->stopped = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    r->ahead = NULL;
    finish(a);
}

/* Hands a block to the sink and reports progress. *more: another block follows. */
static gls_status pass_on(const block *p, const gls_sink *sink, gls_tractogram_progress progress, void *user,
                          bool *more)
{
    *more = false;
    if (p->status) return gls_fail(p->status, "%s", p->message);
    gls_status status = p->lines.n > 0 ? gls_sink_append(sink, &p->lines) : GLS_OK;
    if (status) return status;
    if (progress && !progress(user, p->done)) return gls_fail(GLS_ERR_CANCELLED, "cancelled");
    *more = p->lines.n > 0;
    return GLS_OK;
}

/* Reads and hands on blocks on the calling thread. */
static gls_status pump_alone(gls_tractogram_reader *r, const gls_sink *sink, gls_tractogram_progress progress,
                             void *user)
{
    gls_status status = GLS_OK;
    block p;
    for (bool more = true; more && !status;) {
        read_block(r, &p);
        status = pass_on(&p, sink, progress, user, &more);
    }
    return status;
}

/* Hands on the blocks of the ring; waits while the reading thread has none ready. */
static gls_status pump_ahead(ahead *a, const gls_sink *sink, gls_tractogram_progress progress, void *user)
{
    gls_status status = GLS_OK;
    for (bool more = true; more && !status;) {
        pthread_mutex_lock(&a->lock);
        while (a->n_full == 0) pthread_cond_wait(&a->changed, &a->lock);
        pthread_mutex_unlock(&a->lock);
        /* the sink works without the lock: the slot stays full, so that the reading thread does not touch it */
        status = pass_on(&a->slot[a->first].block, sink, progress, user, &more);
        pthread_mutex_lock(&a->lock);
        a->first = (a->first + 1) % a->n_slots;
        a->n_full--;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return status;
}

gls_status gls_tractogram_pump(gls_tractogram_reader *r, const gls_sink *sink, gls_tractogram_progress progress,
                               void *user)
{
    GLS_REQUIRE(r && sink && sink->append);
    gls_status status = gls_reader_ahead_start(r, 1);
    if (status) return status;
    status = r->ahead ? pump_ahead(r->ahead, sink, progress, user) : pump_alone(r, sink, progress, user);
    gls_reader_ahead_stop(r);
    return status;
}
