/* Judges streamlines from the states of their two half-streamlines, and stores where the points of each kept streamline
 * begin in the output. */
#ifndef GLS_TRACK_ENGINE_PLACE_H
#define GLS_TRACK_ENGINE_PLACE_H

#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"

/* Whether both half-streamlines of a line have ended. One that found the pool of points full has not ended. */
bool gls_line_is_finished(const gls_batch *batch, uint32_t line);
/* Appends a streamline to the result: its points begin at index `first`, its seed lies at `at` (voxel coordinates). */
void gls_place_seed(const gls_batch *batch, const float at[3], uint32_t seed_index, uint64_t first,
                    gls_batch_result *result);
/* Judges line `line` of a pass of n_lines, stores its outcome in batch->outcomes, and, if the line is kept, places it
 * at *points in the output and advances *points. Also appends a kept line to result unless result is NULL. at: the seed
 * of the line in voxel coordinates. Returns false if the output has no space for the line, which then counts as not
 * finished. */
bool gls_place_line(gls_batch *batch, const float at[3], uint32_t seed_index, uint32_t n_lines, uint32_t line,
                    gls_batch_result *result, uint64_t *points);
/* Judges and places the n_lines lines of seeds from .. until - 1 in order. Stops before the first seed with an
 * unfinished half-streamline, or whose points the output has no space for. Returns the number of lines placed.
 * *next_seed: index in the batch of the first seed that was not placed; *n_points: number of points of the placed
 * lines in the output. result may be NULL. */
uint32_t gls_place_lines(gls_batch *batch, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                         gls_batch_result *result, uint32_t *next_seed, uint64_t *n_points);

#endif
