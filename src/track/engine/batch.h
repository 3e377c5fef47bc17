/* Tracks one batch of seeds after the other on one engine. Pass 1 finds the initial directions of the seeds, pass 2
 * tracks streamlines from these directions, pass 3 packs the points of finished streamlines. */
#ifndef GLS_TRACK_ENGINE_BATCH_H
#define GLS_TRACK_ENGINE_BATCH_H

#include "track/engine/batch_parts.h"
#include "track/engine/outcomes.h"
#include "track/engine/track_plan.h"
#include "track/shader/layout.h"

/* Tracks the seeds that host.next() gives, batch by batch, until there are none. After a failure, and after the batch
 * gave way to earlier seeds, up to GLS_BATCHES_OUT of the given batches are not committed to their ends. If
 * plan.in_flight, the device always has its next work queued, as long as there are seeds:
 *
 *     device   pass 2 of k-1 | pass 3 of k-2 | pass 1 of k+1 | pass 2 of k | pass 3 of k-1 | pass 1 of k+2 | ...
 *     host                     reads k-2, places k-1 | lists k+1 ... */
gls_status gls_batch_run(gls_batch *batch);

#endif
