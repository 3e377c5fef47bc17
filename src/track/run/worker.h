/* A worker of a run: tracks with one engine, on a thread of its own if there are several. */
#ifndef GLS_TRACK_RUN_WORKER_H
#define GLS_TRACK_RUN_WORKER_H

#include "track/run/state.h"

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
