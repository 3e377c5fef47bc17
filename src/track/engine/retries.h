/* Rounds in which streamlines that were rejected are tracked again from the same seed with other random numbers. What
 * is found waits here, since the streamlines of earlier seeds may be found later. */
#ifndef GLS_TRACK_ENGINE_RETRIES_H
#define GLS_TRACK_ENGINE_RETRIES_H

#include "track/engine/batch_state.h"

/* Begins with the n_lines of batch->upload.line. */
gls_status gls_retries_begin(gls_batch *batch, uint32_t n_lines);
/* Tracks streamlines that are not yet decided, as many as the capacity; wants_points: somebody takes them. */
gls_status gls_retries_pass(gls_batch *batch, uint32_t capacity, bool wants_points);
/* Afterwards: the tally of seeds from .. until - 1 of the batch that begins with seed first, and their streamlines, in
 * order, into the parcel unless it is NULL. */
gls_status gls_retries_place(gls_batch *batch, uint64_t first, uint32_t from, uint32_t until, gls_parcel *parcel);

#endif
