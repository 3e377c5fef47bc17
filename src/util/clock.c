#include "util/clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static _Atomic uint64_t skipped;    /* nanoseconds */
static _Atomic uint64_t stopped_at; /* the same; 0: it goes */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void gls_clock_stop(bool stop)
{
    atomic_store(&stopped_at, stop ? now() : 0);
}

void gls_clock_skip(double seconds)
{
    atomic_fetch_add(&skipped, (uint64_t)(1e9 * seconds));
}

double gls_clock_seconds(void)
{
    uint64_t at = atomic_load_explicit(&stopped_at, memory_order_relaxed);
    if (at == 0) at = now();
    return 1e-9 * (double)(at + atomic_load_explicit(&skipped, memory_order_relaxed));
}
