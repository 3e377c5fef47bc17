/* Calls of a gls_monitor whose members, or which itself, may be missing. */
#ifndef GLS_WORKFLOW_MONITOR_H
#define GLS_WORKFLOW_MONITOR_H

#include <glslines/workflow.h>

static inline void gls_monitor_begin(const gls_monitor *m, gls_phase phase)
{
    if (m && m->begin) m->begin(m->user, phase);
}

static inline void gls_monitor_end(const gls_monitor *m, gls_phase phase)
{
    if (m && m->end) m->end(m->user, phase);
}

/* False: the caller asks to stop. */
static inline bool gls_monitor_step(const gls_monitor *m, const gls_progress *progress)
{
    return !m || !m->step || m->step(m->user, progress);
}

static inline bool gls_monitor_cancelled(const gls_monitor *m, gls_phase phase)
{
    return !gls_monitor_step(m, &(gls_progress){.phase = phase});
}

#endif
