/* Runs with a journal. */
#ifndef GLS_TRACK_RUN_JOURNALED_H
#define GLS_TRACK_RUN_JOURNALED_H

#include <glslines/track.h>

#include "track/engine/visited.h"
#include "track/run/journal.h"

/* gls_tracker_run() that begins with what a journal has, and adds to it; NULL: without. *visited, unless visited is
 * NULL, tells the sink while it is called which voxels the streamlines visit, where a device has counted that. */
gls_status gls_tracker_run_journaled(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                                     gls_journal *journal, const gls_visited **visited, gls_track_progress progress,
                                     void *progress_user, gls_track_result *result);

#endif
