/* Pass 3: packs the points of the streamlines that have a place in the output. */
#ifndef GLS_TRACK_ENGINE_GATHER_H
#define GLS_TRACK_ENGINE_GATHER_H

#include "track/engine/batch_state.h"

/* Packs the points of n_placed lines, of n_items halves, and sends the first n_points to the host, which gets them by
 * the second; with 0 they stay. */
gls_status gls_gather_begin(gls_batch *batch, uint32_t n_items, uint32_t n_placed, uint64_t n_points);
gls_status gls_gather_end(gls_batch *batch, gls_parcel *parcel);

#endif
