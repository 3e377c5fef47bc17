/* Lets the device count the voxels that streamlines visit, while they are there: a map of density needs no walk of the
 * host but for the few streamlines whose way depends on rounding, so that it is the same map. */
#ifndef GLS_TRACK_ENGINE_VISITOR_H
#define GLS_TRACK_ENGINE_VISITOR_H

#include "track/engine/batch_state.h"
#include "track/engine/visitor_choice.h"

/* What the engine needs, unless it has it. A device without memory for it, or whose compiler refuses the kernel, goes
 * without. */
void gls_visitor_create(gls_engine *engine);
void gls_visitor_finish(gls_visitor *visitor);
/* Behind gls_gather_begin(): counts what it packs, of n_placed lines, for the parcel, which gets it by the second. */
gls_status gls_visitor_begin(gls_batch *batch, uint32_t n_placed, gls_parcel *parcel);
gls_status gls_visitor_end(gls_batch *batch, gls_parcel *parcel);

/* The kernel and its parameters: bindings 0 gls_placed_record, 1 points, 2 counts of voxels and a word a line. */
gls_status gls_visitor_load(gls_device *device, gls_kernel **kernel);
gls_visit_uniforms gls_visitor_uniforms(const gls_grid *grid, uint32_t n_lines);

#endif
