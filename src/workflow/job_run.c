#include "workflow/job_run.h"

#include <stdio.h>

#include "util/clock.h"
#include "util/status.h"

typedef struct watcher {
    const gls_monitor *monitor;
    const gls_tracker *tracker;
} watcher;

static bool track_step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    const watcher *w = user;
    gls_progress progress = {.phase = GLS_PHASE_TRACK,
                             .done = seeds_done,
                             .total = seeds_total,
                             .streamlines = streamlines,
                             .points = points};
    gls_tracker_get_verdicts(w->tracker, progress.verdicts);
    return gls_monitor_step(w->monitor, &progress);
}

/* Hands streamlines on and measures the time; runs on a thread of the tracker. */
typedef struct outlet {
    const gls_sink *sink;
    double seconds;
    char error[1024]; /* messages are kept by thread, so the text is saved where it arises */
} outlet;

static gls_status deliver(void *user, const gls_streamlines *streamlines)
{
    outlet *o = user;
    double start = gls_clock_seconds();
    gls_status status = gls_sink_append(o->sink, streamlines);
    if (status) snprintf(o->error, sizeof o->error, "%s", gls_last_error());
    o->seconds += gls_clock_seconds() - start;
    return status;
}

gls_status gls_job_run(gls_job *job, gls_tracker *tracker, const gls_sink *sink)
{
    outlet o = {.sink = sink};
    watcher w = {&job->monitor, tracker};
    double start = gls_clock_seconds();
    gls_status status = gls_tracker_run(tracker, job->study.seeds, &(gls_sink){.append = deliver, .user = &o},
                                        track_step, &w, &job->result.track);
    job->result.seconds_track = gls_clock_seconds() - start;
    job->result.seconds_write = o.seconds;
    for (size_t i = 0; i < job->devices.n; i++) job->share[i] = gls_tracker_get_share(tracker, i);
    if (!status && gls_monitor_cancelled(&job->monitor, GLS_PHASE_TRACK)) status = GLS_ERR_CANCELLED;
    if (status && status != GLS_ERR_CANCELLED && *o.error) gls_fail(status, "%s", o.error);
    return status;
}
