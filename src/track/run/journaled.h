/* Runs with a journal, and with sinks that want more or less than streamlines. */
#ifndef GLS_TRACK_RUN_JOURNALED_H
#define GLS_TRACK_RUN_JOURNALED_H

#include <glslines/track.h>

#include "track/engine/visited.h"
#include "track/run/journal.h"

typedef struct gls_track_extras {
    gls_journal *journal;        /* the run begins with what it has, and adds to it; NULL: none */
    const gls_visited **visited; /* tells the sink while it is called which voxels the streamlines visit, where a device
                                    has counted that; NULL: nobody asks */
    bool ends_alone; /* the sink looks at the ends of streamlines alone, and with visited at all points of those that
                        are left to it: the others may come with these two points, or with the one that is both; not
                        with a journal */
} gls_track_extras;

/* gls_tracker_run() with these. */
gls_status gls_tracker_run_journaled(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                                     const gls_track_extras *extras, gls_track_progress progress, void *progress_user,
                                     gls_track_result *result);

/* batch_seeds of the parameters for a run that tracks so many seeds on each device: as they are, or, where none are
 * given and the run is short, as many as its batches will have. Drivers take time to make buffers, by their size. */
uint64_t gls_tracker_short_batch(const gls_device_info *device, const gls_track_params *params,
                                 const gls_track_input *input, uint64_t n_seeds);

#endif
