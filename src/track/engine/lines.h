/* From the initial directions of seeds to streamlines that are tracked: which seeds are taken, and in which sense. */
#ifndef GLS_TRACK_ENGINE_LINES_H
#define GLS_TRACK_ENGINE_LINES_H

#include "track/engine/batch_state.h"

/* Whether streamlines may start at this seed of the batch. */
bool gls_lines_admit(const gls_batch *batch, uint32_t seed);
/* Goes through what pass 1 found for seeds first .. first + n - 1: none where the guide lets no streamline start, one
 * where a direction was given, turned round where only one sense is wanted. */
void gls_lines_choose(gls_batch *batch, uint64_t first, uint32_t n);
/* Lines of seeds from, from + 1 ... as far as they fit; returns the seed after the last, *n_lines their number. */
uint32_t gls_lines_list(gls_batch *batch, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity,
                        uint32_t *n_lines);

#endif
