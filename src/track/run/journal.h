/* The journal of a run, from which an interrupted run goes on. */
#ifndef GLS_TRACK_RUN_JOURNAL_H
#define GLS_TRACK_RUN_JOURNAL_H

#include <glslines/track.h>

#include "track/engine/batch_result.h"
#include "track/engine/visited.h"

/* --- A journal of a run beside its output: results as they were handed over, so that a run that was killed goes on
 * behind the last of them. What was journaled goes to the sink again, byte by byte the same, so any sink can go on. */

typedef struct gls_journal gls_journal;

/* What the outputs of a run were when they were about to get their names. */
typedef struct gls_journal_file {
    uint64_t device, inode;
} gls_journal_file;
#define GLS_JOURNAL_MAX_FILES 16

/* Opens the journal of a run at path, or begins one. identity tells runs apart that do not give the same streamlines;
 * GLS_ERR_OUTPUT where there is a journal with another one, unless anew, which begins again; where another process has
 * it; where path is no regular file. origin tells what made the streamlines, e.g. the device: gls_journal_origin() is
 * that of the run that began. */
gls_status gls_journal_open(const char *path, const char *identity, const char *origin, bool anew, gls_journal **out);
const char *gls_journal_origin(const gls_journal *journal);
/* The next of the results that the journal had when it was opened; *found is false behind the last that is sound, and
 * the journal is cut there: once that was said, results may be added. */
gls_status gls_journal_read(gls_journal *journal, gls_batch_result *result, bool *found);
/* Where the next result has to begin: behind those that were read and added; 0 if there were none. */
uint64_t gls_journal_end(const gls_journal *journal);
/* Adds a result, whose end is told. It outlives the process at once, and a crash of the machine when
 * some seconds are over. */
gls_status gls_journal_append(gls_journal *journal, const gls_batch_result *result);
/* Notes the files of a run that is complete, right before they get their names, beside those that were noted when the
 * journal was opened. */
gls_status gls_journal_complete(gls_journal *journal, const gls_journal_file *files, size_t n);
/* Closes the journal; remove: the run is over and nobody needs it. Accepts NULL. */
void gls_journal_close(gls_journal *journal, bool remove);

/* The files that a journal at path notes as complete, at most GLS_JOURNAL_MAX_FILES; 0 where there are none or no
 * journal. */
size_t gls_journal_files(const char *path, gls_journal_file files[GLS_JOURNAL_MAX_FILES]);

/* --- Runs with a journal, and with sinks that want more or less than streamlines. */

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
