/* Random choices of streamlines. */
#ifndef GLS_GEOMETRY_DRAWS_H
#define GLS_GEOMETRY_DRAWS_H

#include <glslines/clusters.h>

/* Draws k of the numbers 0 to n - 1, none twice, in random order. draws: where they come from; NULL: from random keys
 * of `seed`, in which `use` makes two draws differ. *out: new memory. GLS_ERR_ARGUMENT: what `draws` gives is not that.
 */
gls_status gls_draws_take(const gls_draws *draws, uint64_t seed, uint32_t use, uint64_t n, uint64_t k, uint64_t **out);
/* Requires list[0 .. k - 1] to be numbers below n, none twice. */
gls_status gls_draws_check(const uint64_t *list, uint64_t k, uint64_t n);

#endif
