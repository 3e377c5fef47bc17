/* Figures and lists of `glslines bench` that need no device. */
#ifndef GLS_BENCH_BENCH_STATS_H
#define GLS_BENCH_BENCH_STATS_H

#include <glslines/streamlines.h>

/* Order statistics of n >= 1 values. The median of an even number of values is the mean of the middle two. */
typedef struct bench_spread {
    double median, min, max;
} bench_spread;

/* Computes the order statistics of n >= 1 values, which may be in any order. */
bench_spread bench_spread_of(const double *value, int n);
/* Number of streamlines that begin at x < 0 and end at x > 0 in world space, or the other way round. The phantom is
 * centred at x = 0. */
uint64_t bench_commissural(const gls_streamlines *streamlines);
/* Parses a list with commas. index: gets for each word its index in choices ("a|b|c"), in the order of the list,
 * without repetitions; has space for max entries. "all" stands for every word if all is true. Returns the number of
 * entries; -1 if a word is not among the choices, with that word in *bad (borrowed from list, *bad_length characters).
 */
int bench_parse_list(const char *list, const char *choices, bool all, int *index, int max, const char **bad,
                     int *bad_length);
/* Parses "81x106x76": three whole numbers from 16 to 512. Returns false otherwise. */
bool bench_parse_shape(const char *text, int shape[3]);

#endif
