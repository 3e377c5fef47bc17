/* One batch of seeds on one engine: pass 1 finds their initial directions, pass 2 tracks from there, round by round,
 * and pass 3 packs finished streamlines for the sink. What belongs to the whole run is behind the host's functions. */
#ifndef GLS_TRACK_ENGINE_BATCH_H
#define GLS_TRACK_ENGINE_BATCH_H

#include "track/engine/batch_state.h"

/* Tracks seeds first .. first + n - 1, batch by batch. *done seeds were finished and committed, after a failure too;
 * fewer than n without one where earlier seeds wait for somebody. Where the plan says so, the device has always the
 * next to do:
 *
 *     device   pass 2 of k-1 | pass 3 of k-2 | pass 1 of k+1 | pass 2 of k | pass 3 of k-1 | pass 1 of k+2 | ...
 *     host                     reads k-2, places k-1 | lists k+1 ...
 */
gls_status gls_batch_run(gls_batch *batch, uint64_t first, uint64_t n, uint64_t *done);

#endif
