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

/* --- Streamlines on their way to the sink: results of those of whole seeds, handed over on a thread of their own in
 * the order of seeds, whoever tracked them. */

typedef struct gls_writer_thread gls_writer_thread;

/* What becomes of the results. */
typedef struct gls_writer_task {
    const gls_sink *sink;        /* NULL: nobody takes streamlines */
    uint64_t select;             /* so many streamlines at most, 0: all; with the last of them the queue is satisfied */
    gls_journal *journal;        /* keeps what was handed over; NULL: none */
    const gls_visited **visited; /* tells the sink what the streamlines visit, where it is known; NULL: nobody asks */
    bool ends_alone;             /* the sink looks at the ends of streamlines alone: see gls_track_extras */
    gls_track_stats *stats;
} gls_writer_task;

/* Whether the outcomes of results are counted into stats when they are handed over: in the order of seeds. */
bool gls_writer_counts(const gls_writer_task *task);
/* Whether seeds before `end` have numbers that go with streamlines, of 32 bits; GLS_ERR_UNSUPPORTED. */
gls_status gls_writer_check_numbers(uint64_t end);

/* Parcels that each of n workers may have. */
size_t gls_writer_results_each(size_t n_workers);
/* Hands results over; the store lends them and must outlive the writer; the first is that of the queue's first seed. A
 * failure of the sink or the journal stops the queue. */
gls_status gls_writer_thread_create(gls_queue *queue, gls_result_store *store, const gls_writer_task *task,
                                    gls_writer_thread **writer);
/* Before anybody works: hands over what the journal has, from one result to the next as poll allows, and lets the queue
 * begin behind it. */
gls_status gls_writer_thread_replay(gls_writer_thread *writer, gls_status (*poll)(void *user), void *user);
/* An empty result for the streamlines of seeds from first on. Waits for one: a worker that is ahead of the others has
 * to let them come up. *result is NULL where the worker must hand back its range instead, because nobody tracks what is
 * due. GLS_ERR_CANCELLED once the queue is stopped. */
gls_status gls_writer_thread_take(gls_writer_thread *writer, size_t worker, uint64_t first, gls_batch_result **result);
/* Sends a result with all streamlines up to seed end; the queue's lock is held. */
void gls_writer_thread_send(gls_writer_thread *writer, gls_batch_result *result, uint64_t end);
/* Gives an empty result back. */
void gls_writer_thread_give_back(gls_writer_thread *writer, gls_batch_result *result);
/* Waits until all that is complete is delivered, frees the writer and returns the sink's first failure with its
 * message. Accepts NULL. */
gls_status gls_writer_thread_destroy(gls_writer_thread *writer);

#endif
