/* Order statistics by successive histograms over the bits of doubles. */
#ifndef GLS_TRACTS_RANKS_H
#define GLS_TRACTS_RANKS_H

#include <glslines/common.h>

typedef struct gls_ranks gls_ranks;

/* Creates ranks without values. limit: number of values to keep. Memory: 8 bytes times kept values times wanted ranks,
 * and 1 MB for each rank. GLS_ERR_MEMORY: out of memory. */
gls_status gls_ranks_create(size_t limit, gls_ranks **ranks);
/* Frees `ranks`, which may be NULL. */
void gls_ranks_destroy(gls_ranks *ranks);
/* Adds a value >= 0, not NaN. Every pass must add the same values, in any order. */
gls_status gls_ranks_add(gls_ranks *ranks, double value);
/* Ends a pass over n values. rank: wanted ranks, from 0 in ascending order, below n; the same in each call. *again:
 * another pass is needed. GLS_ERR_INPUT if other values came than in the first pass. */
gls_status gls_ranks_end_pass(gls_ranks *ranks, const uint64_t *rank, size_t n_ranks, bool *again);
/* The value of rank[k], once no further pass is needed. */
double gls_ranks_get(const gls_ranks *ranks, size_t k);
/* All values in ascending order if they were kept, *n of them; NULL if there were too many, or none. Owned by `ranks`.
 */
const double *gls_ranks_sorted(gls_ranks *ranks, size_t *n);

#endif
