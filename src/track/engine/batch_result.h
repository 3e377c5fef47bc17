/* Streamlines of whole seeds on their way from a batch to the writer thread, and the checks on the host that crop, thin
 * or reject them. */
#ifndef GLS_TRACK_ENGINE_BATCH_RESULT_H
#define GLS_TRACK_ENGINE_BATCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

#include "track/engine/outcomes.h"
#include "track/engine/visited.h"

/* --- Batch results. */

typedef enum gls_result_state { GLS_RESULT_FREE, GLS_RESULT_TAKEN, GLS_RESULT_SENT } gls_result_state;

/* The seeds first .. end - 1. */
typedef struct gls_seed_range {
    uint64_t first, end;
} gls_seed_range;

/* Streamlines of successive seeds. Streamline i has points offset[i] .. offset[i + 1] - 1 in the output space. Its seed
 * has the index seed_index[i] in the run, and lies at seed[i], in the same space. One thread at a time owns a result:
 * the worker until it sends the result, then the writer thread, which gives the result back empty. */
typedef struct gls_batch_result {
    gls_result_state state;
    uint64_t first, end; /* streamlines of seeds first .. end - 1 */
    size_t n, capacity;
    uint64_t *offset;
    uint32_t *seed_index;
    float (*seed)[3];
    float (*point)[3];
    size_t point_capacity;
    uint64_t bytes;        /* bytes that the streamlines took when the result was sent */
    gls_outcomes outcomes; /* set if the writer thread counts outcomes, see gls_writer_counts() */
    bool journaled;        /* read from the journal, not tracked in this run */
    gls_visited visited;
} gls_batch_result;

/* Allocates memory for n streamlines and n_points points; earlier contents may be lost. GLS_ERR_MEMORY: out of
 * memory. */
gls_status gls_batch_result_reserve(gls_batch_result *result, size_t n, size_t n_points);
/* Frees all arrays. */
void gls_batch_result_finish(gls_batch_result *result);
/* Bytes of a result with space for n streamlines and n_points points. */
uint64_t gls_batch_result_capacity_bytes(uint64_t n, uint64_t n_points);

/* The results of a tracker. Their memory is kept from run to run. */
typedef struct gls_result_store {
    size_t n;
    gls_batch_result *result;
} gls_result_store;

/* Frees all results. */
void gls_result_store_finish(gls_result_store *store);

#endif
