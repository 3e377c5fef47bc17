/* The two passes of a batch that track, on the device: as one persistent kernel each, or staged. */
#ifndef GLS_TRACK_ENGINE_PASSES_H
#define GLS_TRACK_ENGINE_PASSES_H

#include "track/engine/batch_state.h"

/* Pass 1: directions of seeds first .. first + n - 1 (positions in batch->seed) into batch->direction. */
gls_status gls_pass_initial(gls_batch *batch, uint64_t first, uint32_t n);
/* The same in two steps, for a crop: between them the device can be told more. */
gls_status gls_pass_initial_begin(gls_batch *batch, gls_crop *crop, uint64_t first);
gls_status gls_pass_initial_end(gls_batch *batch, gls_crop *crop);
/* Pass 2: tracks n_lines streamlines of batch->upload.line; afterwards batch->state says how each half stands. */
gls_status gls_pass_track(gls_batch *batch, uint32_t n_lines);
/* The same in two steps. */
gls_status gls_pass_track_begin(gls_batch *batch, uint32_t n_lines);
gls_status gls_pass_track_end(gls_batch *batch);

/* The random stream of a seed's direction: the fourth word of its counters, see glsl/base/common.glsl. Directions have
 * five bits of it; those of retries come above. */
#define DRAW_STREAM_RETRY (1u << 21)
static inline uint32_t gls_draw_stream(uint64_t seed, uint32_t direction)
{
    return ((uint32_t)(seed >> 32) & 0xffffu) | direction << 16 | 0x80000000u;
}

/* The first direction of a forward half, from the word of its line. */
void gls_start_direction(const gls_engine *engine, uint32_t vertex, float direction[3]);

#endif
