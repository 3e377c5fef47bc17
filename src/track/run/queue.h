/* Ranges of seeds, handed out in order to those that track, and taken back from one that cannot go on. */
#ifndef GLS_TRACK_RUN_QUEUE_H
#define GLS_TRACK_RUN_QUEUE_H

#include <pthread.h>

#include <glslines/track.h>

typedef struct gls_range {
    uint64_t first, end;
} gls_range;

/* A range that comes back is put between others; as many can lie apart as were out at a time, twice for those that were
 * split. */
#define GLS_QUEUE_RETURNED (4 * GLS_TRACKER_MAX_DEVICES)

typedef struct gls_queue {
    pthread_mutex_t lock;   /* also of what is delivered and counted meanwhile */
    pthread_cond_t changed; /* any of these, or of those; timed by the monotonic clock */
    uint64_t next, end;     /* seeds that nobody has had */
    uint64_t total;
    gls_range returned[GLS_QUEUE_RETURNED];
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
bool gls_queue_take(gls_queue *queue, uint64_t limit, gls_range *range);
/* Ends what take began: what is left of the range is for others; nothing is left if it is empty. */
void gls_queue_put(gls_queue *queue, gls_range rest);
bool gls_queue_is_stopped(gls_queue *queue);
bool gls_queue_is_satisfied(gls_queue *queue);
/* Whether all seeds were tracked. */
bool gls_queue_is_done(gls_queue *queue);
/* Whether nobody has this seed, though seeds behind it are out; the lock is held. */
bool gls_queue_is_waiting(const gls_queue *queue, uint64_t seed);

#endif
