/* Random choices of streamlines, and streamlines in the order of keys. */
#ifndef GLS_GEOMETRY_DRAWS_H
#define GLS_GEOMETRY_DRAWS_H

#include <glslines/clusters.h>

/* A number with the key by which it is sorted. */
typedef struct gls_keyed {
    uint64_t key, number;
} gls_keyed;
/* Sorts by key; equal keys, by number. */
void gls_keyed_sort(gls_keyed *list, uint64_t n);
/* Draws k of the numbers 0 to n - 1, none twice, in random order. draws: where they come from; NULL: from random keys
 * of `seed`, in which `use` makes two draws differ. *out: new memory. GLS_ERR_ARGUMENT: what `draws` gives is not that.
 */
gls_status gls_draws_take(const gls_draws *draws, uint64_t seed, uint32_t use, uint64_t n, uint64_t k, uint64_t **out);
/* Requires list[0 .. k - 1] to be numbers below n, none twice. */
gls_status gls_draws_check(const uint64_t *list, uint64_t k, uint64_t n);

#endif
