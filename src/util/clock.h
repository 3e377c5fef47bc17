/* The clock by which everything is timed. */
#ifndef GLS_UTIL_CLOCK_H
#define GLS_UTIL_CLOCK_H

#include <stdbool.h>

/* Seconds since an arbitrary moment; never goes back. */
double gls_clock_seconds(void);
/* For tests: so much time has passed, all at once. */
void gls_clock_skip(double seconds);
/* For tests: it stands still, but for what is skipped; until it goes again. */
void gls_clock_stop(bool stop);

#endif
