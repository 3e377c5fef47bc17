/* A run of tracking: the state that all workers share, and the worker, which tracks with one engine. */
#ifndef GLS_TRACK_RUN_TRACK_RUN_H
#define GLS_TRACK_RUN_TRACK_RUN_H

#include "track/run/writer_thread.h"
#include "track/tracker.h"

/* --- State of a run. */

/* Shortest time between two calls of progress() during a batch, s. */
#define GLS_SECONDS_BETWEEN_REPORTS 0.2

/* The state of a run, which all workers share. The lock of `queue` guards the queue, and the members from `stats` to
 * `message`. The other members are set before the workers start and then only read, except `polled`, which the thread
 * that reports progress sets. */
typedef struct gls_run {
    gls_tracker *tracker;
    const gls_seeds *seeds;
    const double (*space)[4]; /* affine map from voxel coordinates to the space of the points */
    gls_queue queue;
    gls_writer_task task;      /* what happens to the streamlines */
    gls_writer_thread *writer; /* NULL: nothing to deliver */
    gls_track_stats
        stats; /* statistics of all committed seeds; guarded by the lock of `queue`, as are all members to `message` */
    size_t n_workers, n_alive; /* number of all workers; number of workers that have not failed */
    size_t n_away;             /* number of devices whose work has not ended */
    gls_status status;         /* first failure, with its message */
    char message[512];
    gls_track_progress progress; /* may be NULL */
    void *progress_user;
    double polled;  /* time of the last call of progress, s */
    double ahead;   /* one device: seeds of its round that are tracked, but not yet counted; grows within the round */
    uint64_t shown; /* largest number of seeds that progress was given */
} gls_run;

/* Stops the run with this thread's last failure. Keeps an earlier failure. */
void gls_run_fail(gls_run *run, gls_status status);
/* Calls progress(). GLS_ERR_CANCELLED if progress() asks to stop. Call on the thread that started the run. */
gls_status gls_run_report(gls_run *run);
/* Call this between dispatches. reports: on the thread that started the run; progress is then reported if the last
 * report is older than GLS_SECONDS_BETWEEN_REPORTS. GLS_ERR_CANCELLED if the run was stopped. */
gls_status gls_run_poll(gls_run *run, bool reports);

/* Like gls_tracker_run(), with points in any space, such as voxel coordinates for exact comparisons. Exists in builds
 * with tests only. */
gls_status gls_tracker_run_in(gls_tracker *tracker, const gls_seeds *seeds, const double voxel_to_space[3][4],
                              const gls_sink *sink, gls_track_progress progress, void *progress_user,
                              gls_track_result *result);

/* --- The worker. The worker of a single device runs on the thread that started the run; of several devices each worker
 * runs on the thread of its device. */

/* Belongs to one thread, except `share`, which is guarded by the lock of the queue. */
typedef struct gls_worker {
    gls_run *run;
    size_t index;        /* index of the worker's engine in the tracker */
    size_t worker_index; /* index of this worker among the workers of the run */
    gls_batch batch;
    gls_seed_range range[GLS_BATCHES_OUT]; /* unfinished ranges from the queue, in order */
    size_t n_ranges;
    gls_track_stats round; /* counts that are not committed yet */
    uint64_t kept;         /* number of streamlines that the worker commits next */
    gls_track_share *share;
    unsigned losses; /* how often the context was lost since this worker last committed results */
} gls_worker;

/* Initialises worker number worker_index of the run, for engine number `index`. The struct must not be moved
 * afterwards. */
gls_status gls_worker_init(gls_worker *worker, gls_run *run, size_t worker_index, size_t index);
/* Frees the worker's arrays; its engine still belongs to the tracker. */
void gls_worker_finish(gls_worker *worker);
/* Tracks batches until the queue has no seeds. A worker whose device fails leaves its seeds to the other workers. The
 * run fails if this was the last worker, or after a failure other than of a device. */
void gls_worker_work(gls_worker *worker);

#endif
