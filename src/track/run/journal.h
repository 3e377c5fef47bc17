/* The journal of a run: batch results in a file beside the output, from which an interrupted run is resumed. */
#ifndef GLS_TRACK_RUN_JOURNAL_H
#define GLS_TRACK_RUN_JOURNAL_H

#include <glslines/track.h>

#include "track/engine/batch_result.h"
#include "track/engine/visited.h"

/* --- The journal. It holds results in the order in which the sink got them. A resumed run first gives them to the sink
 * again, with the same bytes, and then tracks the remaining seeds; so any kind of sink can be resumed. */

typedef struct gls_journal gls_journal;

/* Identifies an output file independently of its name, which changes when the file is complete. */
typedef struct gls_journal_file {
    uint64_t device, inode;
} gls_journal_file;
/* Largest number of output files in the list of a journal. */
#define GLS_JOURNAL_MAX_FILES 64

/* Opens the journal at path, or creates it. identity: text that differs between runs with different streamlines; less
 * than 512 bytes. A journal of this identity is kept, with its results. origin: text about what computes the
 * streamlines, such as the device; a journal that is kept keeps its own. anew: overwrite any other file at path.
 * GLS_ERR_OUTPUT if the file cannot be opened, if another process has it open as its journal, if path is not a regular
 * file, or, without `anew`, if the file is no journal or has another identity. An empty file, or one with only a part
 * of a journal's head, is no error: a journal is begun in it. */
gls_status gls_journal_open(const char *path, const char *identity, const char *origin, bool anew, gls_journal **out);
/* The origin given by the run that created the journal. Owned by the journal. */
const char *gls_journal_origin(const gls_journal *journal);
/* Reads the next result that an earlier run wrote. *found is false behind the last undamaged one; the journal then
 * drops what follows, except a list of complete files, and gls_journal_append() may be called. */
gls_status gls_journal_read(gls_journal *journal, gls_batch_result *result, bool *found);
/* Whether the journal holds neither results nor a list of complete files: its file ends behind its head. */
bool gls_journal_is_empty(const gls_journal *journal);
/* Index of the seed with which the next result must begin: the end of the last result read or appended. 0: there is
 * none yet. */
uint64_t gls_journal_end(const gls_journal *journal);
/* Appends a result, whose `end` must be set. From then on the result survives the end of the process. It survives a
 * crash of the machine once the journal is synchronised; an append does this if the last synchronisation was two
 * seconds ago or more. */
gls_status gls_journal_append(gls_journal *journal, const gls_batch_result *result);
/* Writes a list of the n <= GLS_JOURNAL_MAX_FILES files of a complete run, just before they get their final names. An
 * older list, found by gls_journal_read(), is added behind them, as far as there is room. */
gls_status gls_journal_complete(gls_journal *journal, const gls_journal_file *files, size_t n);
/* Closes the journal and frees it. remove: also delete the file. Accepts NULL. */
void gls_journal_close(gls_journal *journal, bool remove);

/* Reads the list of complete files of the journal at path. Returns their number; 0 if there is no list or no
 * journal. */
size_t gls_journal_files(const char *path, gls_journal_file files[GLS_JOURNAL_MAX_FILES]);

/* --- Runs with a journal, or with a sink that needs less than all points. */

/* Additional parameters of a run of tracking, which the public interface does not have. */
typedef struct gls_track_extras {
    gls_journal *journal;        /* the run first delivers its results, then appends new ones; NULL: none */
    const gls_visited **visited; /* NULL: counts are not wanted; else *visited points to the device's counts of visited
                                  * voxels while the sink is called, or is NULL if there are none */
    /* The sink reads only first and last points, so streamlines may come with one or two points. With `visited` the
     * streamlines that are left to the host come with all points. Not with a journal. */
    bool ends_alone;
    /* For seeds that come in rounds: adds the next one to the seeds, once the sink has all streamlines of the last. It
     * may add an empty one, which ends the run. Called by the thread that calls the sink. Else NULL. */
    gls_status (*next_round)(void *user);
    void *round_user;
} gls_track_extras;

/* Like gls_tracker_run(), with the additional parameters in *extras. */
gls_status gls_tracker_run_journaled(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                                     const gls_track_extras *extras, gls_track_progress progress, void *progress_user,
                                     gls_track_result *result);

/* The value of batch_seeds for a run of n_seeds seeds on each device: params->batch_seeds if it is not 0; for a run of
 * few seeds, which has no batch of the default size, a smaller value that is enough, because drivers take longer to
 * make larger buffers (llvmpipe fills them with zeros); else 0, the default. */
uint64_t gls_tracker_short_batch(const gls_device_info *device, const gls_track_params *params,
                                 const gls_track_input *input, uint64_t n_seeds);

#endif
