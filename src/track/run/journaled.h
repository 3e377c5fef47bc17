/* Runs with a journal. */
#ifndef GLS_TRACK_RUN_JOURNALED_H
#define GLS_TRACK_RUN_JOURNALED_H

#include <glslines/track.h>

#include "track/run/journal.h"

/* gls_tracker_run() that begins with what a journal has, and adds to it; NULL: without. */
gls_status gls_tracker_run_journaled(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                                     gls_journal *journal, gls_track_progress progress, void *progress_user,
                                     gls_track_result *result);

#endif
