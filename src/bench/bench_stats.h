/* Figures of `glslines bench` that need no device. */
#ifndef GLS_BENCH_BENCH_STATS_H
#define GLS_BENCH_BENCH_STATS_H

#include <glslines/tractogram.h>

/* --- Figures of `glslines bench` that need no device. */

/* Order statistics of n >= 1 values; the median of an even number is the mean of the two in the middle. */
typedef struct bench_spread {
    double median, min, max;
} bench_spread;
bench_spread bench_spread_of(const double *value, int n);

/* Streamlines whose two ends lie on different sides of the plane x = 0 of world space: x < 0 at one, x > 0 at the
 * other. The phantom is centred there. */
uint64_t bench_commissural(const gls_streamlines *streamlines);

/* The words of a comma list. Each entry is the place of a word in choices ("a|b|c"), in the order of the list, repeated
 * words once; "all" stands for every word if all is true. Returns the number of entries, or -1 with the word that is
 * not among the choices in *bad (borrowed from list, *bad_length characters). max: room. */
int bench_parse_list(const char *list, const char *choices, bool all, int *place, int max, const char **bad,
                     int *bad_length);
/* "81x106x76": three whole numbers from 16 to 512. */
bool bench_parse_shape(const char *text, int shape[3]);

#endif
