/* Passes 1 and 2 on the device: uploads seeds or streamlines, dispatches the kernels in pieces that stay short, and
 * validates what comes back. */
#ifndef GLS_TRACK_ENGINE_PASSES_H
#define GLS_TRACK_ENGINE_PASSES_H

#include <glslines/common.h>

#include "track/engine/batch_parts.h"
#include "track/engine/engine.h"
#include "track/engine/schedule.h"
#include "track/shader/layout.h"

/* Pass 1, which finds the directions of seeds, in two steps, so that the device can get more work between them. This
 * step starts to find the directions of the seed batch that begins with seed `first`. */
gls_status gls_pass_initial_begin(gls_batch *batch, gls_seed_batch *seed_batch, uint64_t first);
/* Waits for pass 1 and validates the directions. GLS_ERR_DEVICE: the device returned values that cannot be right. */
gls_status gls_pass_initial_end(gls_batch *batch, gls_seed_batch *seed_batch);
/* Pass 2 in two steps, so that the host can work between them. This step starts the tracking; with plan.staged it
 * waits until no streamline goes on. */
gls_status gls_pass_track_begin(gls_batch *batch, uint32_t n_lines);
/* Waits for pass 2 and stores what it returns in batch->head and batch->state. */
gls_status gls_pass_track_end(gls_batch *batch);
/* Unit vector of a forward half-streamline's first direction, from the vertex word of its line record. */
void gls_start_direction(const gls_engine *engine, uint32_t vertex, float direction[3]);
/* Sorts n lines along a Morton curve through the voxels of their seeds; the sort is stable. Lines that are tracked
 * together then mostly read the same part of a field. entry: memory for 2 n entries; the first n get the new order. */
void gls_order_lines(const gls_line_record *line, size_t n, gls_order_entry *entry);

#endif
