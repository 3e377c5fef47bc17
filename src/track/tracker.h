/* A tracker: its engines, one for each device, and how one is made anew. */
#ifndef GLS_TRACK_TRACKER_H
#define GLS_TRACK_TRACKER_H

#include "track/engine/engine.h"
#include "track/engine/batch_result.h"

/* How often a device may be lost over the same seeds. */
#define GLS_MAX_LOSSES 3

struct gls_tracker {
    gls_result_store results;
    size_t n;
    gls_device *device[GLS_TRACKER_MAX_DEVICES];
    gls_engine *engine[GLS_TRACKER_MAX_DEVICES];  /* NULL: of a device that failed */
    bool failed[GLS_TRACKER_MAX_DEVICES];         /* while engines were made */
    gls_mapping mapping[GLS_TRACKER_MAX_DEVICES]; /* as asked for, or what another failed for */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    uint64_t verdicts[GLS_VERDICT_COUNT]; /* of the run, when progress was last told */
    gls_track_params params;              /* in the precision that was possible */
    gls_track_input input;
};
/* gls_tracker_create_group() with arguments that were checked, and a mapping for each device: GLS_MAPPING_AUTO for the
 * one that suits its kind. */
gls_status gls_tracker_create_mapped(gls_device *const *devices, size_t n, const gls_track_params *params,
                                     const gls_track_input *input, const gls_mapping *mapping, gls_tracker **tracker);
/* Makes engine i anew, with batches of at most this many seeds, on a new context if the old one is lost. After a
 * failure there is no engine. */
gls_status gls_tracker_renew(gls_tracker *tracker, size_t i, bool lost, uint64_t batch);

#endif
