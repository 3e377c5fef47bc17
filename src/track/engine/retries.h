/* Retries (--retries): tracks rejected streamlines again until they are kept or their retries are used up, then hands
 * all streamlines over in the order of seeds. */
#ifndef GLS_TRACK_ENGINE_RETRIES_H
#define GLS_TRACK_ENGINE_RETRIES_H

#include <glslines/common.h>

#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"

/* Frees the arrays; the struct may be used again. */
void gls_retries_finish(gls_retries *retries);
/* Takes over the n_lines streamlines of batch->line, none of them decided. */
gls_status gls_retries_begin(gls_batch *batch, uint32_t n_lines);
/* Tracks at most `capacity` undecided streamlines once. wants_points: the run has a sink. */
gls_status gls_retries_pass(gls_batch *batch, uint32_t capacity, bool wants_points);
/* Call when no streamline is pending. Stores the outcomes of seeds from .. until - 1 of the batch that begins with seed
 * `first`, and appends their kept streamlines in order to result unless result is NULL. */
gls_status gls_retries_place(gls_batch *batch, uint64_t first, uint32_t from, uint32_t until, gls_batch_result *result);

#endif
