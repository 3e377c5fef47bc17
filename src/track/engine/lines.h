/* From the initial directions of seeds to streamlines that are tracked: which seeds are taken, and in which sense. */
#ifndef GLS_TRACK_ENGINE_LINES_H
#define GLS_TRACK_ENGINE_LINES_H

#include "track/engine/batch_state.h"
#include "track/engine/plan.h"

/* What gls_lines_choose() notes of a seed beside the number of its directions. */
#define SEED_ONE_SIDED 0x80000000u
#define SEED_NOT_ADMITTED 0x40000000u

static inline uint32_t gls_lines_word(const gls_batch *batch, uint32_t seed)
{
    return batch->direction[seed * (size_t)gls_direction_words(&batch->engine->params) + DIRECTIONS_COUNT];
}

/* Streamlines of a seed of the batch. */
static inline uint32_t gls_lines_of_seed(const gls_batch *batch, uint32_t seed)
{
    return gls_lines_word(batch, seed) & ~(SEED_ONE_SIDED | SEED_NOT_ADMITTED);
}

/* The same for the tally: GLS_SEED_REJECTED where none may start. */
static inline uint32_t gls_lines_to_tally(const gls_batch *batch, uint32_t seed)
{
    return gls_lines_word(batch, seed) & SEED_NOT_ADMITTED ? GLS_SEED_REJECTED : gls_lines_of_seed(batch, seed);
}

/* Goes through what pass 1 found for seeds first .. first + n - 1: none where the guide lets no streamline start, one
 * where a direction was given, turned round where only one sense is wanted. */
void gls_lines_choose(gls_batch *batch, uint64_t first, uint32_t n);
/* Lines of seeds from, from + 1 ... as far as they fit; returns the seed after the last, *n_lines their number. */
uint32_t gls_lines_list(gls_batch *batch, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity,
                        uint32_t *n_lines);

#endif
