#include "track/engine/batch_result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/status.h"

/* Fresh memory costs more time than what is copied into it: in pages of 2 MiB, where the system has them, an eighth of
 * that. */
static void *allocate_large(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < 4 * page) return malloc(bytes);
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory) (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

gls_status gls_parcel_reserve(gls_parcel *parcel, size_t n, size_t n_points)
{
    if (n > parcel->capacity || !parcel->offset) {
        if (n == 0) n = 1; /* the end of no streamlines has a place, too */
        free(parcel->offset);
        free(parcel->seed_index);
        free(parcel->seed);
        parcel->capacity = 0;
        parcel->offset = malloc((n + 1) * sizeof *parcel->offset);
        parcel->seed_index = malloc(n * sizeof *parcel->seed_index);
        parcel->seed = malloc(n * sizeof *parcel->seed);
        if (!parcel->offset || !parcel->seed_index || !parcel->seed)
            return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", n);
        parcel->capacity = n;
    }
    if (n_points > parcel->point_capacity) {
        free(parcel->point);
        parcel->point_capacity = 0;
        parcel->point = allocate_large(n_points * sizeof *parcel->point);
        if (!parcel->point) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu points", n_points);
        parcel->point_capacity = n_points;
    }
    return GLS_OK;
}

void gls_parcel_finish(gls_parcel *parcel)
{
    free(parcel->offset);
    free(parcel->seed_index);
    free(parcel->seed);
    free(parcel->point);
    free(parcel->visited.word);
    gls_tally_finish(&parcel->tally);
    *parcel = (gls_parcel){0};
}

uint64_t gls_parcel_bytes(const gls_parcel *parcel)
{
    return parcel->offset[parcel->n] * sizeof *parcel->point +
           parcel->n * (sizeof *parcel->offset + sizeof *parcel->seed_index + sizeof *parcel->seed);
}

uint64_t gls_parcel_capacity_bytes(uint64_t n, uint64_t n_points)
{
    const gls_parcel *parcel = NULL;
    return n_points * sizeof *parcel->point +
           (n + 1) * (sizeof *parcel->offset + sizeof *parcel->seed_index + sizeof *parcel->seed);
}

gls_parcel *gls_parcel_store_lend(gls_parcel_store *store, size_t n)
{
    if (store->n < n) {
        gls_parcel *grown = realloc(store->parcel, n * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + store->n, 0, (n - store->n) * sizeof *grown);
        store->parcel = grown;
        store->n = n;
    }
    for (size_t i = 0; i < n; i++) store->parcel[i].state = GLS_PARCEL_FREE;
    return store->parcel;
}

void gls_parcel_store_finish(gls_parcel_store *store)
{
    for (size_t i = 0; i < store->n; i++) gls_parcel_finish(&store->parcel[i]);
    free(store->parcel);
    *store = (gls_parcel_store){0};
}
