/* From halves that were tracked to streamlines: what becomes of each, and its place in the output. The device waits
 * while this is done, so that it is worth its speed. */
#ifndef GLS_TRACK_ENGINE_PLACE_H
#define GLS_TRACK_ENGINE_PLACE_H

#include "track/engine/batch_state.h"

/* Whether both halves of a line have ended: others found the pool full, or did not begin for that reason. */
bool gls_line_is_finished(const gls_batch *batch, uint32_t line);
/* The parcel's next streamline: its points begin at first, its seed is at, voxels. */
void gls_place_seed(const gls_batch *batch, const float at[3], uint32_t seed_index, uint64_t first, gls_parcel *parcel);
/* Judges a line of a pass of n_lines, notes its outcome, and gives it the next place in the output, *points on, if it
 * is kept; in the parcel, too, unless that is NULL. at: its seed. */
void gls_place_line(gls_batch *batch, const float at[3], uint32_t seed_index, uint32_t n_lines, uint32_t line,
                    gls_parcel *parcel, uint64_t *points);
/* The prefix sum between tracking and gathering. Goes through the n_lines lines of seeds from ... until - 1 in order,
 * gives each its place, and stops before the first seed with an unfinished half. Returns the number of lines placed;
 * *next_seed is the first seed not done, *n_points the points of all. */
uint32_t gls_place_lines(gls_batch *batch, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                         gls_parcel *parcel, uint32_t *next_seed, uint64_t *n_points);

#endif
