/* Quantiles, medians and sorting. */
#include "util/maths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11 /* three digits hold the bits of a float */
#define DIGITS (1 << DIGIT_BITS)
#define MANY_FLOATS 4096 /* number of floats from which on digits sort them faster than comparisons do */

/* Comparison for qsort(): doubles in ascending order. */
static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Comparison for qsort(): floats in ascending order. */
static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Sorts n floats, whose bits make whole numbers of the same order, by one digit of these after the other. A
 * million take 8 % of the processor time of qsort(). Returns false if there is no memory. */
static bool sort_by_digits(float *value, size_t n)
{
    uint32_t *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to);
    const bool ok = from && to;
    for (size_t i = 0; ok && i < n; i++) {
        const float number = value[i] + 0.0f; /* -0 becomes 0, to which it is equal */
        memcpy(&from[i], &number, sizeof number);
        from[i] ^= from[i] >> 31 ? UINT32_MAX : 1u << 31;
    }
    for (int shift = 0; ok && shift < 32; shift += DIGIT_BITS) {
        size_t place[DIGITS + 1] = {0};
        for (size_t i = 0; i < n; i++) place[(from[i] >> shift & (DIGITS - 1)) + 1]++;
        for (size_t d = 0; d < DIGITS; d++) place[d + 1] += place[d];
        for (size_t i = 0; i < n; i++) to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint32_t *const other = from;
        from = to;
        to = other;
    }
    for (size_t i = 0; ok && i < n; i++) {
        const uint32_t bits = from[i] ^ (from[i] >> 31 ? 1u << 31 : UINT32_MAX);
        memcpy(&value[i], &bits, sizeof bits);
    }
    free(from);
    free(to);
    return ok;
}

static void sort_floats(float *value, size_t n)
{
    if (n > 0 && (n < MANY_FLOATS || !sort_by_digits(value, n))) qsort(value, n, sizeof *value, compare_floats);
}

void gls_sort(double *value, size_t n)
{
    if (n > 0) qsort(value, n, sizeof *value, compare);
}

int gls_sized_compare(const void *a, const void *b)
{
    const gls_sized *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

gls_quantile gls_quantile_find(uint64_t n, double q)
{
    const double place = q * (double)(n - 1), whole = floor(place);
    const uint64_t lower = (uint64_t)whole;
    return (gls_quantile){.lower = lower, .upper = lower + (place > whole), .part = place - whole};
}

double gls_quantile_between(const gls_quantile *quantile, double lower, double upper)
{
    const double t = quantile->part;
    /* interpolate from the nearer of both values, as numpy does, so that rounding cannot lead beyond the other value */
    if (t == 0 || lower == upper) return lower;
    if (t == 0.5) return 0.5 * (lower + upper);
    return t < 0.5 ? lower + t * (upper - lower) : upper - (1 - t) * (upper - lower);
}

double gls_quantile_of_sorted(const double *sorted, size_t n, double q)
{
    if (n == 0) return NAN;
    const gls_quantile at = gls_quantile_find(n, q);
    return gls_quantile_between(&at, sorted[at.lower], sorted[at.upper]);
}

double gls_median(double *value, size_t n)
{
    gls_sort(value, n);
    return gls_quantile_of_sorted(value, n, 0.5);
}

void gls_quantiles_of_floats(float *value, size_t n, const double *q, size_t n_quantiles, double *out)
{
    sort_floats(value, n);
    for (size_t i = 0; i < n_quantiles; i++) {
        if (n == 0) {
            out[i] = NAN;
            continue;
        }
        const gls_quantile at = gls_quantile_find(n, q[i]);
        out[i] = gls_quantile_between(&at, (double)value[at.lower], (double)value[at.upper]);
    }
}

size_t gls_histogram_bin(const uint64_t *bin, size_t n_bins, uint64_t rank)
{
    size_t b = 0;
    for (uint64_t below = bin[0]; below <= rank && b + 1 < n_bins; below += bin[b]) b++;
    return b;
}

double gls_histogram_median(const uint64_t *bin, size_t n_bins, uint64_t n)
{
    const gls_quantile at = gls_quantile_find(n, 0.5);
    return gls_quantile_between(&at, (double)gls_histogram_bin(bin, n_bins, at.lower),
                                (double)gls_histogram_bin(bin, n_bins, at.upper));
}
