/* The order of seeds in a run: the queue that gives ranges of seeds to workers, and the writer thread that hands
 * finished streamlines to the sink in the order of seeds. */
#ifndef GLS_TRACK_RUN_WRITER_THREAD_H
#define GLS_TRACK_RUN_WRITER_THREAD_H

#include <pthread.h>

#include <glslines/track.h>

#include "track/engine/batch_parts.h"
#include "track/run/journal.h"

/* --- The queue of seeds. Workers take ranges in order and give back what they cannot finish. */

/* Largest number of separate returned ranges: two for each range that workers have at a time, because each may be
 * split. */
#define GLS_QUEUE_RETURNED (2 * GLS_BATCHES_OUT * GLS_TRACKER_MAX_DEVICES)

/* The seeds that are left to track. Workers take ranges of them in order. */
typedef struct gls_queue {
    pthread_mutex_t lock;   /* also guards the statistics of the run and the writer thread */
    pthread_cond_t changed; /* signalled when a thread may go on; timed waits use the monotonic clock */
    uint64_t next, end;     /* seeds next .. end - 1: no worker has taken them yet */
    uint64_t total;         /* number of seeds that the queue has had */
    uint64_t round;         /* number of seeds of the last round, where seeds come in rounds; else `total` */
    bool grows;             /* seeds come in rounds, and there may be another one behind `end` */
    gls_seed_range returned[GLS_QUEUE_RETURNED];
    size_t n_returned; /* number of elements of `returned`, which are in the order of seeds */
    size_t n_out;      /* number of ranges that workers are tracking */
    size_t n_workers;
    bool stopped;
    bool satisfied; /* stopped because the sink has all streamlines that were asked for */
} gls_queue;

/* Begins with the seeds first .. end - 1. grows: more seeds may come. Call gls_queue_finish() at the end. */
void gls_queue_init(gls_queue *queue, uint64_t first, uint64_t end, bool grows, size_t n_workers);
/* Adds the seeds up to end - 1; if there are none, the queue grows no longer. The caller holds the lock. */
void gls_queue_grow(gls_queue *queue, uint64_t end);
/* Frees the queue. All workers must have ended. */
void gls_queue_finish(gls_queue *queue);

/* Takes up to `limit` seeds: of the first returned range or, if there is none, of the seeds that no worker has had.
 * wait: if there are no such seeds, waits as long as workers track ranges, which may come back, or the queue grows.
 * Without `wait` takes nothing while there is a returned range, because that range lies before the one that the worker
 * took last. Returns false if nothing was taken, or if the queue is stopped. The caller holds the lock. */
bool gls_queue_take(gls_queue *queue, uint64_t limit, bool wait, gls_seed_range *range);
/* Returns the unfinished rest of a range to the queue; `rest` may be empty. Call this once after each gls_queue_take().
 * The caller holds the lock. */
void gls_queue_give_back(gls_queue *queue, gls_seed_range rest);
/* Number of seeds that were taken, or came from a journal, and not returned. The caller holds the lock. */
uint64_t gls_queue_taken(const gls_queue *queue);
/* Whether the run must stop: it failed, was cancelled, or has all wanted streamlines. Takes the lock. */
bool gls_queue_is_stopped(gls_queue *queue);
/* Whether the wanted number of streamlines is reached, so that no more seeds are needed. Takes the lock. */
bool gls_queue_is_satisfied(gls_queue *queue);
/* Whether the first returned range, which no worker has taken again, begins with `seed`. The caller holds the lock. */
bool gls_queue_is_waiting(const gls_queue *queue, uint64_t seed);

/* --- The writer thread: receives batch results from all workers and passes them on in the order of seeds. */

typedef struct gls_writer_thread gls_writer_thread;

/* Who gets the results from the writer thread, and how many streamlines. */
typedef struct gls_writer_task {
    const gls_sink *sink; /* NULL: streamlines are not stored */
    uint64_t select;      /* number of streamlines after which the thread stops the queue and marks it satisfied; 0: no
                           * limit */
    gls_journal *journal; /* gets a copy of each result; NULL: none */
    const gls_visited **visited; /* see gls_track_extras; NULL: counts are not wanted */
    bool ends_alone;             /* the sink reads only first and last points, see gls_track_extras */
    gls_track_stats *stats;      /* counts of the run, guarded by the queue's lock */
    const gls_seeds *seeds;      /* next_round() adds to these; see gls_track_extras */
    gls_status (*next_round)(void *user);
    void *round_user;
} gls_writer_task;

/* Whether the writer thread counts outcomes into stats, not the worker: true with select or a journal, because the
 * order of seeds then decides which outcomes count. */
bool gls_writer_counts(const gls_writer_task *task);
/* Returns GLS_ERR_UNSUPPORTED if seeds before `end` need indices of more than 32 bits, which streamlines cannot carry.
 */
gls_status gls_writer_check_numbers(uint64_t end);

/* Number of results that each of n workers may hold. */
size_t gls_writer_results_each(size_t n_workers);
/* Starts the thread. `store` lends the results and must outlive the writer. Delivery begins at the queue's first seed.
 * A failure of the sink or of the journal stops the queue. */
gls_status gls_writer_thread_create(gls_queue *queue, gls_result_store *store, const gls_writer_task *task,
                                    gls_writer_thread **writer);
/* Delivers the results of the journal, calls poll() after each, and moves the start of the queue behind them. Call this
 * before any worker starts. */
gls_status gls_writer_thread_replay(gls_writer_thread *writer, gls_status (*poll)(void *user), void *user);
/* Lends an empty result for streamlines of seeds from `first` on. Waits while the worker has as many results as it may,
 * because the sink or earlier seeds are not ready. Sets *result to NULL if the worker must return its range because no
 * worker tracks the seed that is due. GLS_ERR_CANCELLED if the queue is stopped. */
gls_status gls_writer_thread_take(gls_writer_thread *writer, size_t worker, uint64_t first, gls_batch_result **result);
/* Sends a result with all streamlines of seeds result->first .. end - 1. The caller holds the queue's lock. */
void gls_writer_thread_send(gls_writer_thread *writer, gls_batch_result *result, uint64_t end);
/* Returns a lent result unused. */
void gls_writer_thread_give_back(gls_writer_thread *writer, gls_batch_result *result);
/* Waits until all results sent are delivered, and frees the writer. Returns the first failure of the sink or journal
 * with its message. Accepts NULL. */
gls_status gls_writer_thread_destroy(gls_writer_thread *writer);

#endif
