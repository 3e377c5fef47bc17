/* What is done with the points of streamlines once they are gathered: ends that are cut at the border of grey matter,
 * the regions in which they lie, and points that are left out. */
#ifndef GLS_TRACK_ENGINE_REFINE_H
#define GLS_TRACK_ENGINE_REFINE_H

#include "track/engine/parcel.h"
#include "track/engine/tally.h"
#include "track/guide/guide.h"

bool gls_refine_is_needed(const gls_guide *guide);
/* Into how many pieces lengths divide a part of a step: 1, or more where ends are moved to a border. Those of what
 * gls_refine() keeps are then counted in them. */
uint32_t gls_refine_pieces(const gls_guide *guide);
/* parts: of a step. The parcel holds the streamlines that the tally says are kept, in the space to which the map takes
 * voxel coordinates; those that are not kept after all are removed from it. */
gls_status gls_refine(const gls_guide *guide, uint32_t parts, const double space[3][4], gls_tally *tally,
                      gls_parcel *parcel);

#endif
