/* Sums with 64 bits before and behind the point. The order of additions leaves no trace: they are whole numbers, and a
 * carry goes up whenever one occurs. */
#ifndef GLS_TRACTS_WIDE_H
#define GLS_TRACTS_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gls_wide {
    uint64_t low;
    int64_t high;
} gls_wide;

/* Adds a value below 2^63 in size, of which 63 bits behind the point count; shared: other threads add to it, too. */
static inline void gls_wide_add(gls_wide *to, double value, bool shared)
{
    int64_t high = 0;
    uint64_t low = 0, before;
    if (value >= 0 && value < 1) {
        low = (uint64_t)(int64_t)(value * 0x1p63) << 1;
    } else {
        high = (int64_t)value;
        high -= value < (double)high;
        double rest = value - (double)high;
        high += rest >= 1; /* less than nothing by less than the last bit */
        low = rest < 1 ? (uint64_t)(int64_t)(rest * 0x1p63) << 1 : 0;
    }
    if (!shared) {
        before = to->low;
        to->low += low;
        to->high += high + (before > UINT64_MAX - low);
        return;
    }
#pragma omp atomic capture
    {
        before = to->low;
        to->low += low;
    }
    high += before > UINT64_MAX - low;
    if (high == 0) return;
#pragma omp atomic
    to->high += high;
}

static inline void gls_wide_join(gls_wide *to, const gls_wide *other)
{
    to->high += other->high + (to->low > UINT64_MAX - other->low);
    to->low += other->low;
}

static inline double gls_wide_value(const gls_wide *sum)
{
    return (double)sum->high + (double)sum->low * 0x1p-64;
}

#endif
