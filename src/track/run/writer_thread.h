/* The thread that hands finished streamlines to the sink in the order of seeds, and the queue of seeds. */
#ifndef GLS_TRACK_RUN_WRITER_THREAD_H
#define GLS_TRACK_RUN_WRITER_THREAD_H

#include <pthread.h>

#include <glslines/track.h>

#include "track/engine/batch_result.h"
#include "track/run/journal.h"

/* --- Ranges of seeds, handed out in order to those that track, and taken back from one that cannot go on. */

typedef struct gls_seed_range {
    uint64_t first, end;
} gls_seed_range;

/* A range that comes back is put between others; as many can lie apart as were out at a time, twice for those that were
 * split. */
#define GLS_QUEUE_RETURNED (4 * GLS_TRACKER_MAX_DEVICES)

typedef struct gls_queue {
    pthread_mutex_t lock;   /* also of what is delivered and counted meanwhile */
    pthread_cond_t changed; /* any of these, or of those; timed by the monotonic clock */
    uint64_t next, end;     /* seeds that nobody has had */
    uint64_t total;
    gls_seed_range returned[GLS_QUEUE_RETURNED];
    size_t n_returned; /* in the order of seeds */
    size_t n_out;      /* ranges that are being tracked */
    size_t n_workers;
    bool stopped;
    bool satisfied; /* stopped because all that is wanted is there */
} gls_queue;

void gls_queue_init(gls_queue *queue, uint64_t first, uint64_t end, size_t n_workers);
void gls_queue_finish(gls_queue *queue);

/* The first range that nobody has, of at most limit seeds. Where there is none it waits for those that are out, which
 * may come back. False once all is done or stopped. */
bool gls_queue_take(gls_queue *queue, uint64_t limit, gls_seed_range *range);
/* Ends what take began: what is left of the range is for others; nothing is left if it is empty. */
void gls_queue_put(gls_queue *queue, gls_seed_range rest);
/* Nobody takes any more. */
void gls_queue_stop(gls_queue *queue);
bool gls_queue_is_stopped(gls_queue *queue);
bool gls_queue_is_satisfied(gls_queue *queue);
/* Whether all seeds were tracked. */
bool gls_queue_is_done(gls_queue *queue);
/* Whether nobody has this seed, though seeds behind it are out; the lock is held. */
bool gls_queue_is_waiting(const gls_queue *queue, uint64_t seed);

/* --- Streamlines on their way to the sink: parcels of those of whole seeds, handed over on a thread of their own in
 * the order of seeds, whoever tracked them. */

typedef struct gls_courier gls_courier;

/* What becomes of the parcels. */
typedef struct gls_courier_task {
    const gls_sink *sink;        /* NULL: nobody takes streamlines */
    uint64_t select;             /* so many streamlines at most, 0: all; with the last of them the queue is satisfied */
    gls_journal *journal;        /* keeps what was handed over; NULL: none */
    const gls_visited **visited; /* tells the sink what the streamlines visit, where it is known; NULL: nobody asks */
    bool ends_alone;             /* the sink looks at the ends of streamlines alone: see gls_track_extras */
    gls_track_stats *stats;
} gls_courier_task;

/* Whether the tallies of parcels are counted into stats when they are handed over: in the order of seeds. */
bool gls_courier_counts(const gls_courier_task *task);
/* Whether seeds before `end` have numbers that go with streamlines, of 32 bits; GLS_ERR_UNSUPPORTED. */
gls_status gls_courier_check_numbers(uint64_t end);

/* Parcels that each of n workers may have. */
size_t gls_courier_parcels(size_t n_workers);
/* Hands parcels over; the store lends them and must outlive the courier; the first is that of the queue's first seed. A
 * failure of the sink or the journal stops the queue. */
gls_status gls_courier_create(gls_queue *queue, gls_parcel_store *store, const gls_courier_task *task,
                              gls_courier **courier);
/* Before anybody works: hands over what the journal has, from one parcel to the next as poll allows, and lets the queue
 * begin behind it. */
gls_status gls_courier_replay(gls_courier *courier, gls_status (*poll)(void *user), void *user);
/* An empty parcel for the streamlines of seeds from first on. Waits for one: a worker that is ahead of the others has
 * to let them come up. *parcel is NULL where the worker must hand back its range instead, because nobody tracks what is
 * due. GLS_ERR_CANCELLED once the queue is stopped. */
gls_status gls_courier_take(gls_courier *courier, size_t worker, uint64_t first, gls_parcel **parcel);
/* Sends a parcel with all streamlines up to seed end; the queue's lock is held. */
void gls_courier_send(gls_courier *courier, gls_parcel *parcel, uint64_t end);
/* Gives an empty parcel back. */
void gls_courier_drop(gls_courier *courier, gls_parcel *parcel);
/* Waits until all that is complete is delivered, frees the courier and returns the sink's first failure with its
 * message. Accepts NULL. */
gls_status gls_courier_destroy(gls_courier *courier);

#endif
