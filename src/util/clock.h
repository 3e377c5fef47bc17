/* Time: the clock, and the timeline of a run. */
#ifndef GLS_UTIL_CLOCK_H
#define GLS_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* --- The clock by which everything is timed. */

/* Seconds since an arbitrary moment; never goes back. */
double gls_clock_seconds(void);
/* For tests: so much time has passed, all at once. */
void gls_clock_skip(double seconds);
/* For tests: it stands still, but for what is skipped; until it goes again. */
void gls_clock_stop(bool stop);

/* --- A timeline of a run: phases by thread and device, for the viewers that read Chrome's trace format, such as
 * Perfetto. Nothing is kept before gls_trace_start(). */

/* From here on phases are kept, until gls_trace_text(). */
void gls_trace_start(void);
bool gls_trace_is_on(void);
/* The phase of this thread that began at start, a time of gls_clock_seconds(), ends now. number: the first seed that it
 * is about. Returns its seconds, whether or not they are kept. */
double gls_trace_phase(const char *name, double start, uint64_t number);
/* What this thread is called from here on: PREFIX, and NAME where there is one. */
void gls_trace_call_thread(const char *prefix, const char *name);
/* A phase of something that is no thread, such as a device, under a name of its own. */
void gls_trace_add(const char *lane, const char *name, double from, double until);
/* Ends the timeline. Its JSON, from malloc; NULL: memory ran out, also for a phase. */
char *gls_trace_text(void);

#endif
