/* Turns the initial directions of seeds into streamlines to track: checks seeds with the guide, picks the direction and
 * the sense, and fills the records for pass 2. */
#ifndef GLS_TRACK_ENGINE_START_LINES_H
#define GLS_TRACK_ENGINE_START_LINES_H

#include "track/engine/batch_parts.h"

/* Edits the directions that pass 1 found for the n seeds from `first` on. Seeds that the guide rejects keep none. With
 * a seed_direction the others keep one at most, see nearest() in start_lines.c. Picks the sense of one-sided
 * streamlines. */
void gls_lines_choose(gls_batch *batch, uint64_t first, uint32_t n);
/* Fills batch->line with the streamlines of seeds from .. n - 1 of the batch that begins with seed `first`.
 * Takes whole seeds, at least one, as long as they have no more than `capacity` streamlines together. Returns the index
 * behind the last seed taken; *n_lines gets the number of streamlines. */
uint32_t gls_lines_list(gls_batch *batch, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity,
                        uint32_t *n_lines);

#endif
