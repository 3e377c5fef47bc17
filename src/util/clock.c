#include "util/clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static _Atomic uint64_t skipped; /* nanoseconds */

void gls_clock_skip(double seconds)
{
    atomic_fetch_add(&skipped, (uint64_t)(1e9 * seconds));
}

double gls_clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * ((double)t.tv_nsec + (double)atomic_load_explicit(&skipped, memory_order_relaxed));
}
