/* Values of given ranks among numbers that are not kept: quartiles of the lengths of any number of streamlines, exact,
 * in memory that does not grow.
 *
 * Up to a limit the numbers are kept. With more, a first pass over them counts how many lie in each of 131,072 ranges,
 * so that it is known in which range each wanted rank lies; a second pass keeps the numbers of these ranges, or, where
 * they are too many, divides the ranges again. */
#ifndef GLS_TRACTS_RANKS_H
#define GLS_TRACTS_RANKS_H

#include <glslines/common.h>

#define GLS_MAX_RANKS 6 /* ranks that can be asked for */

typedef struct gls_ranks gls_ranks;

/* limit: numbers that are kept. Memory: 8 bytes each of them for each wanted rank, and 1 MB a rank. */
gls_status gls_ranks_create(size_t limit, gls_ranks **ranks);
/* Accepts NULL. */
void gls_ranks_destroy(gls_ranks *ranks);
/* A number from 0 on, not NaN. In each pass the same ones have to come, in any order. */
gls_status gls_ranks_add(gls_ranks *ranks, double value);
/* Ends a pass, in which n numbers came; rank: which of them, counted from 0 in ascending order, are wanted, the same in
 * each call. *again: another pass is needed. GLS_ERR_INPUT: other numbers came than in the pass before. */
gls_status gls_ranks_end_pass(gls_ranks *ranks, const uint64_t *rank, size_t n_ranks, bool *again);
/* Once no pass is needed: the value of rank[k]. */
double gls_ranks_get(const gls_ranks *ranks, size_t k);
/* All numbers in ascending order, where they are kept; NULL where there were too many. */
const double *gls_ranks_sorted(gls_ranks *ranks, size_t *n);

#endif
