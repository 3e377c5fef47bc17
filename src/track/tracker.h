/* A tracker: one engine for each device, and their replacement after failures. */
#ifndef GLS_TRACK_TRACKER_H
#define GLS_TRACK_TRACKER_H

#include "gpu/devices.h"
#include "track/engine/engine.h"
#include "track/engine/batch_result.h"

/* How often a device may be lost on the same seeds, or while its engine is made. */
#define GLS_MAX_LOSSES 3

struct gls_tracker {
    gls_result_store results;
    size_t n;
    gls_device *device[GLS_TRACKER_MAX_DEVICES];
    gls_device_team *team;                        /* the threads of the devices */
    gls_engine *engine[GLS_TRACKER_MAX_DEVICES];  /* NULL: the device failed */
    bool failed[GLS_TRACKER_MAX_DEVICES];         /* the device failed while its engine was made */
    gls_mapping mapping[GLS_TRACKER_MAX_DEVICES]; /* mapping of each device: the mapping asked for, or a replacement
                                                     that compiles */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    uint64_t verdicts[GLS_VERDICT_COUNT]; /* number of streamlines by verdict at the last progress report */
    gls_track_params params;              /* the given parameters, with the precision that memory allowed */
    gls_track_input input;
};
/* Like gls_tracker_create_group(), for arguments that have been checked. mapping: how invocations are
 * mapped to streamlines, one entry for each device; GLS_MAPPING_AUTO: getter and device decide. */
gls_status gls_tracker_create_mapped(gls_device *const *devices, size_t n, const gls_track_params *params,
                                     const gls_track_input *input, const gls_mapping *mapping, gls_tracker **tracker);
/* Makes engine i again. lost: on a new context; batch: largest number of seeds of a batch, 0: the default. After a
 * failure engine i is NULL. */
gls_status gls_tracker_renew(gls_tracker *tracker, size_t i, bool lost, uint64_t batch);
/* Makes the kernels that count visited voxels, on devices whose plan has in_flight. A device on which that fails tracks
 * without them. */
void gls_tracker_expect_visits(gls_tracker *tracker);

#endif
