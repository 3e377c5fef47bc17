/* Quantiles by numpy's default rule: values between two ranks are interpolated, so that the median of an even number is
 * the mean of the two in the middle. */
#ifndef GLS_UTIL_QUANTILE_H
#define GLS_UTIL_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Where a quantile lies among n sorted values: between those of two ranks, counted from 0. */
typedef struct gls_quantile {
    uint64_t lower, upper; /* equal where a value is the quantile */
    double part;           /* of the way from the lower to the upper value, 0 <= part < 1 */
} gls_quantile;

/* n >= 1, 0 <= q <= 1. */
gls_quantile gls_quantile_find(uint64_t n, double q);
/* The quantile, once both values are known. */
double gls_quantile_between(const gls_quantile *quantile, double lower, double upper);

/* Of values in ascending order; NaN without any. */
double gls_quantile_of_sorted(const double *sorted, size_t n, double q);
/* Both sort the values; NaN without any. */
double gls_median(double *value, size_t n);
void gls_quantiles_of_floats(float *value, size_t n, const double *q, size_t n_quantiles, double *out);

/* Of a histogram that has n > 0 values: the bin of the value of a rank, and the median of the bins' numbers. */
size_t gls_histogram_bin(const uint64_t *bin, size_t n_bins, uint64_t rank);
double gls_histogram_median(const uint64_t *bin, size_t n_bins, uint64_t n);

/* In ascending order; no value may be NaN. */
void gls_sort(double *value, size_t n);

#endif
