/* Random choices of streamlines: by random keys, which depend neither on threads nor on the machine, or as the caller
 * draws. */
#include "geometry/draws.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"

/* Comparison for qsort(): by key, then by number. */
static int by_key(const void *a, const void *b)
{
    const gls_keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void gls_keyed_sort(gls_keyed *list, uint64_t n)
{
    qsort(list, n, sizeof *list, by_key);
}

/* Draws by random keys. */
static gls_status draw(uint64_t seed, uint32_t use, uint64_t n, uint64_t k, uint64_t *out)
{
    gls_keyed *list = malloc((n + 1) * sizeof *list);
    if (!list) return gls_no_memory();
    for (uint64_t i = 0; i < n; i++) {
        uint32_t word[4];
        gls_philox((const uint32_t[4]){(uint32_t)i, (uint32_t)(i >> 32), use, GLS_PHILOX_ORDER}, seed, word);
        list[i] = (gls_keyed){(uint64_t)word[1] << 32 | word[0], i};
    }
    gls_keyed_sort(list, n);
    for (uint64_t i = 0; i < k; i++) out[i] = list[i].number;
    free(list);
    return GLS_OK;
}

gls_status gls_draws_check(const uint64_t *list, uint64_t k, uint64_t n)
{
    uint8_t *seen = calloc(n + 1, 1);
    gls_status status = seen ? GLS_OK : gls_no_memory();
    for (uint64_t i = 0; i < k && !status; i++)
        if (list[i] >= n)
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "clusters: the order names streamline %" PRIu64
                              " (counted from 0), but there are only %" PRIu64,
                              list[i], n);
        else if (seen[list[i]]++)
            status = gls_fail(GLS_ERR_ARGUMENT, "clusters: the order names streamline %" PRIu64 " twice", list[i]);
    free(seen);
    return status;
}

gls_status gls_draws_take(const gls_draws *draws, uint64_t seed, uint32_t use, uint64_t n, uint64_t k, uint64_t **out)
{
    GLS_REQUIRE(k <= n && out);
    *out = calloc(k + 1, sizeof **out);
    if (!*out) return gls_no_memory();
    if (!draws) return draw(seed, use, n, k, *out);
    draws->draw(draws->user, n, k, *out);
    return gls_draws_check(*out, k, n);
}
