/* Allocates the host arrays of a batch, and computes their size beforehand, for gls_track_plan_memory(). */
#ifndef GLS_TRACK_ENGINE_BATCH_STATE_H
#define GLS_TRACK_ENGINE_BATCH_STATE_H

#include <glslines/common.h>
#include <glslines/track.h>

#include "track/engine/batch_parts.h"
#include "track/engine/track_plan.h"

/* Bytes on the host of all arrays of a batch for this plan. */
uint64_t gls_batch_array_bytes(const gls_track_params *params, const gls_track_plan *plan);
/* Frees earlier arrays and allocates those for the plan of batch->engine. On failure call gls_batch_free_arrays(). */
gls_status gls_batch_make_arrays(gls_batch *batch);
/* Frees all arrays of the batch. They may be missing. */
void gls_batch_free_arrays(gls_batch *batch);

#endif
