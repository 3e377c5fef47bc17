/* Counts, on the device, the voxels that the streamlines of a round visit. */
#ifndef GLS_TRACK_ENGINE_VISITOR_H
#define GLS_TRACK_ENGINE_VISITOR_H

#include "track/engine/batch_state.h"

/* Behind gls_gather_begin(): counts what it packs, of n_placed lines, for the parcel, which gets it by the second, and
 * with GLS_POINTS_COUNTED its points. */
gls_status gls_visitor_begin(gls_batch *batch, uint32_t n_placed, gls_parcel *parcel);
gls_status gls_visitor_end(gls_batch *batch, uint32_t n_placed, gls_parcel *parcel);

#endif
