/* Measures time by the clock, records the timeline of a run, and reports its progress. */
#ifndef GLS_UTIL_CLOCK_H
#define GLS_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <glslines/workflow.h>

/* --- The clock: every duration that the library measures comes from this clock. */

/* Seconds since an arbitrary moment. Never decreases. */
double gls_clock_seconds(void);
/* CPU seconds so far, in user mode and in the kernel, of this process and of its children that have ended. */
double gls_clock_cpu_seconds(void);
/* For tests: moves the clock forward by this many seconds. */
void gls_clock_skip(double seconds);
/* Only in builds with tests: true stops the clock, except for gls_clock_skip(); false starts it again. */
void gls_clock_stop(bool stop);

/* --- Timeline of a run: phases by thread and by device, for viewers of Chrome's trace format such as Perfetto. Phases
 * are recorded only between gls_trace_start() and gls_trace_text(). */

/* Starts recording phases. */
void gls_trace_start(void);
/* Whether phases are being recorded. */
bool gls_trace_is_on(void);
/* Ends a phase of the calling thread. start: value of gls_clock_seconds() when the phase began. number: the first seed
 * that the phase works on. Returns the duration in seconds, recorded or not. */
double gls_trace_phase(const char *name, double start, uint64_t number);
/* Names the calling thread in the timeline: "PREFIX NAME", or PREFIX alone if name is "". */
void gls_trace_call_thread(const char *prefix, const char *name);
/* Records a phase of something that is not a thread, such as a device. lane: its name in the timeline. from, until:
 * values of gls_clock_seconds(). */
void gls_trace_add(const char *lane, const char *name, double from, double until);
/* Stops recording and returns the timeline as JSON, allocated by malloc. NULL: out of memory, now or while
 * recording. */
char *gls_trace_text(void);

/* --- Calls of a gls_monitor, by which long work reports how far it is. The monitor and each of its members may be
 * NULL. */

/* Call begin() and end() of the monitor, see gls_monitor. */
static inline void gls_monitor_begin(const gls_monitor *m, gls_phase phase)
{
    if (m && m->begin) m->begin(m->user, phase);
}

static inline void gls_monitor_end(const gls_monitor *m, gls_phase phase)
{
    if (m && m->end) m->end(m->user, phase);
}

/* Passes progress to the monitor. Returns false if the monitor asks the run to stop. */
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
