/* Checks of streamlines that need all their points: crops ends at the border of grey matter, tests the regions of ends,
 * thins points, and removes streamlines that fail. */
#ifndef GLS_TRACK_ENGINE_REFINE_H
#define GLS_TRACK_ENGINE_REFINE_H

#include <glslines/common.h>

#include "track/engine/batch_result.h"
#include "track/engine/outcomes.h"
#include "track/guide/guide.h"

struct gls_guide;

/* Whether parameters or regions ask for any refinement. */
bool gls_refine_is_needed(const struct gls_guide *guide);
/* Number of pieces into which a part of a step is divided to measure lengths: more than 1 if ends are cropped.
 * gls_refine() then counts gls_outcome.parts in pieces. */
uint32_t gls_refine_pieces(const struct gls_guide *guide);
/* Crops, checks and thins the kept streamlines of `outcomes`, which `result` holds in the same order; removes from
 * `result` the streamlines that fail a check. parts: number of parts of a step. space: affine map from voxel
 * coordinates to the space of the points. */
gls_status gls_refine(const struct gls_guide *guide, uint32_t parts, const double space[3][4], gls_outcomes *outcomes,
                      gls_batch_result *result);

#endif
