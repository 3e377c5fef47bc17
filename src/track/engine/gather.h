/* From halves that were tracked to streamlines: which of them have a place in the output, and pass 3, which packs their
 * points there. */
#ifndef GLS_TRACK_ENGINE_GATHER_H
#define GLS_TRACK_ENGINE_GATHER_H

#include "track/engine/batch_state.h"

/* Whether both halves of a line have ended: others found the pool full, or did not begin for that reason. */
bool gls_line_is_finished(const gls_batch *batch, uint32_t line);
/* The parcel's next streamline: its points begin at first, its seed is at, voxels. */
void gls_place_seed(const gls_batch *batch, const float at[3], uint32_t seed_index, uint64_t first, gls_parcel *parcel);
/* Judges a line of a pass of n_lines, notes its outcome, and gives it the next place in the output, *points on, if it
 * is kept; in the parcel, too, unless that is NULL. at: its seed. */
void gls_place_line(gls_batch *batch, const float at[3], uint32_t seed_index, uint32_t n_lines, uint32_t line,
                    gls_parcel *parcel, uint64_t *points);
/* Packs the n_points of n_placed lines, of n_items halves, and reads them into the parcel. */
gls_status gls_gather(gls_batch *batch, uint32_t n_items, uint32_t n_placed, uint64_t n_points, gls_parcel *parcel);

#endif
