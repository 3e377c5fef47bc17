/* Calls of a gls_monitor, by which long work reports how far it is. The monitor and each of its members may be NULL. */
#ifndef GLS_UTIL_MONITOR_H
#define GLS_UTIL_MONITOR_H

#include <glslines/workflow.h>

/* Call begin() and end() of the monitor, see gls_monitor. */
static inline void gls_monitor_begin(const gls_monitor *m, gls_phase phase)
{
    if (m && m->begin) m->begin(m->user, phase);
}

static inline void gls_monitor_end(const gls_monitor *m, gls_phase phase)
{
    if (m && m->end) m->end(m->user, phase);
}

/* Returns false if the monitor asks the run to stop. */
static inline bool gls_monitor_step(const gls_monitor *m, const gls_progress *progress)
{
    return !m || !m->step || m->step(m->user, progress);
}

/* Passes the progress of a tracker to the monitor, `user`: a callback for gls_tracker_run(). Returns false to cancel.
 */
static inline bool gls_monitor_track(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines,
                                     uint64_t points)
{
    const gls_progress progress = {.phase = GLS_PHASE_TRACK,
                                   .done = seeds_done,
                                   .total = seeds_total,
                                   .streamlines = streamlines,
                                   .points = points};
    return gls_monitor_step(user, &progress);
}

/* Asks the monitor whether to stop, without progress to report. */
static inline bool gls_monitor_cancelled(const gls_monitor *m, gls_phase phase)
{
    return !gls_monitor_step(m, &(gls_progress){.phase = phase});
}

#endif
