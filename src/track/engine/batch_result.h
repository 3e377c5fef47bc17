/* Streamlines that one batch sends to the writer, and the host decisions that drop some of them. */
#ifndef GLS_TRACK_ENGINE_BATCH_RESULT_H
#define GLS_TRACK_ENGINE_BATCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

#include "track/engine/outcomes.h"
#include "track/engine/visited.h"
#include "track/guide/guide.h"

/* --- Streamlines of whole seeds, from the batch that tracks them to the sink. */

typedef enum gls_result_state { GLS_RESULT_FREE, GLS_RESULT_TAKEN, GLS_RESULT_SENT } gls_result_state;

typedef struct gls_batch_result {
    gls_result_state state;
    uint64_t first, end; /* seeds */
    size_t n, capacity;
    uint64_t *offset;
    uint32_t *seed_index;
    float (*seed)[3];
    float (*point)[3];
    size_t point_capacity;
    uint64_t bytes;        /* when it was sent */
    gls_outcomes outcomes; /* where it is counted in the order of seeds */
    bool journaled;        /* it comes from the journal */
    gls_visited visited;
} gls_batch_result;
gls_status gls_batch_result_reserve(gls_batch_result *result, size_t n, size_t n_points);
void gls_batch_result_finish(gls_batch_result *result);
/* Of its points and streamlines. */
uint64_t gls_batch_result_bytes(const gls_batch_result *result);
/* Of one with room for so many. */
uint64_t gls_batch_result_capacity_bytes(uint64_t n, uint64_t n_points);

/* The results of a tracker; their memory outlives a run. */
typedef struct gls_result_store {
    size_t n;
    gls_batch_result *result;
} gls_result_store;
/* n results, all free; NULL if memory ran out. */
gls_batch_result *gls_result_store_lend(gls_result_store *store, size_t n);
void gls_result_store_finish(gls_result_store *store);

/* --- What is done with the points of streamlines once they are gathered: ends that are cut at the border of grey
 * matter, the regions in which they lie, and points that are left out. */

bool gls_refine_is_needed(const gls_guide *guide);
/* Into how many pieces lengths divide a part of a step: 1, or more where ends are moved to a border. Those of what
 * gls_refine() keeps are then counted in them. */
uint32_t gls_refine_pieces(const gls_guide *guide);
/* parts: of a step. The result holds the streamlines that the outcomes says are kept, in the space to which the map
 * takes voxel coordinates; those that are not kept after all are removed from it. */
gls_status gls_refine(const gls_guide *guide, uint32_t parts, const double space[3][4], gls_outcomes *outcomes,
                      gls_batch_result *result);

#endif
