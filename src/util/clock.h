/* Time: the clock, and the timeline of a run. */
#ifndef GLS_UTIL_CLOCK_H
#define GLS_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* --- The clock: every duration that the library measures comes from this clock. */

/* Seconds since an arbitrary moment. Never decreases. */
double gls_clock_seconds(void);
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

#endif
