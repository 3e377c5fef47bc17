/* The clock by which everything is timed. */
#ifndef GLS_UTIL_CLOCK_H
#define GLS_UTIL_CLOCK_H

/* Seconds since an arbitrary moment; never goes back. */
double gls_clock_seconds(void);

#endif
