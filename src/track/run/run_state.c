/* Failure and progress of a run. The workers and the thread that started the run share them. */
#include "track/run/track_run.h"

#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/status.h"

void gls_run_fail(gls_run *run, gls_status status)
{
    pthread_mutex_lock(&run->queue.lock);
    if (!run->status) {
        run->status = status;
        snprintf(run->message, sizeof run->message, "%s", gls_last_error());
    }
    run->queue.stopped = true;
    pthread_cond_broadcast(&run->queue.changed);
    pthread_mutex_unlock(&run->queue.lock);
}

gls_status gls_run_report(gls_run *run)
{
    run->polled = gls_clock_seconds();
    if (!run->progress) return GLS_OK;
    pthread_mutex_lock(&run->queue.lock);
    gls_track_result r = run->stats.result;
    pthread_mutex_unlock(&run->queue.lock);
    memcpy(run->tracker->verdicts, r.verdicts, sizeof r.verdicts);
    uint64_t total = gls_seeds_count(run->seeds), wanted = run->tracker->params.select;
    /* with select: estimate the seeds that the run will take from the streamlines found so far */
    double expected =
        wanted > 0 && r.streamlines > 0 ? (double)r.seeds * ((double)wanted / (double)r.streamlines) : (double)total;
    if (expected < (double)total) total = (uint64_t)expected > r.seeds ? (uint64_t)expected : r.seeds;
    if (run->progress(run->progress_user, r.seeds, total, r.streamlines, r.points)) return GLS_OK;
    return gls_fail(GLS_ERR_CANCELLED, "cancelled");
}

gls_status gls_run_poll(gls_run *run)
{
    if (gls_queue_is_stopped(&run->queue)) return gls_fail(GLS_ERR_CANCELLED, "the run was stopped");
    bool due = !run->threaded && gls_clock_seconds() - run->polled >= GLS_SECONDS_BETWEEN_REPORTS;
    return due ? gls_run_report(run) : GLS_OK;
}
