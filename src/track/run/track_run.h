/* A run of tracking in progress: what its workers share, and one worker. */
#ifndef GLS_TRACK_RUN_TRACK_RUN_H
#define GLS_TRACK_RUN_TRACK_RUN_H

#include "track/engine/batch.h"
#include "track/run/writer_thread.h"
#include "track/tracker.h"

/* --- A run in progress: what its workers share. */

#define GLS_SECONDS_BETWEEN_REPORTS 0.2

typedef struct gls_run {
    gls_tracker *tracker;
    const gls_seeds *seeds;
    const double (*space)[4];
    gls_queue queue;
    gls_writer_task task;
    gls_writer_thread *writer; /* NULL: nobody wants the streamlines */
    gls_track_stats stats;     /* of all that is finished; under the queue's lock, as are the next four */
    size_t n_workers, n_alive; /* those that did not fail */
    size_t n_threads;          /* that have not ended */
    gls_status status;         /* why the run ends early */
    char message[512];
    bool threaded;               /* workers are on threads of their own, not the one on that of the run */
    gls_track_progress progress; /* may be NULL */
    void *progress_user;
    double polled; /* when progress was last called */
} gls_run;

/* Ends the run with the status and message of this thread's last failure, unless it ends already. */
void gls_run_fail(gls_run *run, gls_status status);
/* Calls progress; GLS_ERR_CANCELLED if it asks to stop. On the thread of the run. */
gls_status gls_run_report(gls_run *run);
/* Between dispatches: reports progress if the last time is some time ago; GLS_ERR_CANCELLED if the run was stopped. */
gls_status gls_run_poll(gls_run *run);

/* gls_tracker_run() with points in any space, e.g. voxel coordinates for exact comparisons. */
gls_status gls_tracker_run_in(gls_tracker *tracker, const gls_seeds *seeds, const double voxel_to_space[3][4],
                              const gls_sink *sink, gls_track_progress progress, void *progress_user,
                              gls_track_result *result);

/* --- A worker of a run: tracks with one engine, on a thread of its own if there are several. */

typedef struct gls_worker {
    gls_run *run;
    size_t index; /* of its engine */
    size_t place; /* among the workers */
    gls_batch batch;
    gls_track_stats round; /* of what is not finished yet */
    gls_track_share *share;
    unsigned losses; /* of the context, since a streamline was last finished */
    pthread_t thread;
} gls_worker;

/* The worker of the n-th place in the run, with engine index. It must not move. */
gls_status gls_worker_init(gls_worker *worker, gls_run *run, size_t place, size_t index);
void gls_worker_finish(gls_worker *worker);
/* Tracks ranges until there are none, or it cannot go on: then others take over what it leaves, and without others the
 * run ends with its failure. */
void gls_worker_work(gls_worker *worker);

#endif
