/* Allocates batch results and keeps their memory from one run of a tracker to the next. */
#include "track/engine/batch_result.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "util/status.h"

/* Allocates memory, from 8 MiB on in pages of 2 MiB where the system has them: the first access to small pages takes
 * longer than copying the data, and to huge pages an eighth of that time. */
static void *allocate_large(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < 4 * page) return malloc(bytes);
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory) (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

gls_status gls_batch_result_reserve(gls_batch_result *result, size_t n, size_t n_points)
{
    if (n > result->capacity || !result->offset) {
        if (n == 0) n = 1; /* an empty result also needs one offset */
        free(result->offset);
        free(result->seed_index);
        free(result->seed);
        result->capacity = 0;
        result->offset = malloc((n + 1) * sizeof *result->offset);
        result->seed_index = malloc(n * sizeof *result->seed_index);
        result->seed = malloc(n * sizeof *result->seed);
        if (!result->offset || !result->seed_index || !result->seed)
            return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", n);
        result->capacity = n;
    }
    if (n_points > result->point_capacity) {
        free(result->point);
        result->point_capacity = 0;
        result->point = allocate_large(n_points * sizeof *result->point);
        if (!result->point) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu points", n_points);
        result->point_capacity = n_points;
    }
    return GLS_OK;
}

void gls_batch_result_finish(gls_batch_result *result)
{
    free(result->offset);
    free(result->seed_index);
    free(result->seed);
    free(result->point);
    free(result->visited.word);
    gls_outcomes_finish(&result->outcomes);
    *result = (gls_batch_result){0};
}

uint64_t gls_batch_result_capacity_bytes(uint64_t n, uint64_t n_points)
{
    const gls_batch_result *result = NULL;
    return n_points * sizeof *result->point +
           (n + 1) * (sizeof *result->offset + sizeof *result->seed_index + sizeof *result->seed);
}

void gls_result_store_finish(gls_result_store *store)
{
    for (size_t i = 0; i < store->n; i++) gls_batch_result_finish(&store->result[i]);
    free(store->result);
    *store = (gls_result_store){0};
}
