/* Pass 3: packs the points of the streamlines that have a place in the output. */
#ifndef GLS_TRACK_ENGINE_GATHER_H
#define GLS_TRACK_ENGINE_GATHER_H

#include "track/engine/batch_state.h"

/* Packs the n_points of n_placed lines, of n_items halves, and reads them into the parcel. */
gls_status gls_gather(gls_batch *batch, uint32_t n_items, uint32_t n_placed, uint64_t n_points, gls_parcel *parcel);

#endif
