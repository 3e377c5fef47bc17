/* Inside of data sets: identity, fits, locks, choice, and files that appear together. */
#ifndef GLS_WORKFLOW_DATASET_PARTS_H
#define GLS_WORKFLOW_DATASET_PARTS_H

#include <cJSON.h>
#include <stdbool.h>

#include <glslines/common.h>

#include "util/output_file.h"
#include "workflow/dataset.h"

/* --- What a series was tracked from and with, and which files came of it: how a run knows what is done. */

/* {"options", "inputs"}: each option that the result depends on, as it was given, files by a hash of what is in them;
 * and the files of the unit, and how seeds are taken from them. */
gls_status gls_dataset_identity(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                const gls_job_options *job, cJSON **identity);
/* GLS_ERR_OUTPUT names the first difference between what is wanted and what made the tractogram. */
gls_status gls_dataset_compare(const cJSON *wanted, const cJSON *found, const char *tractogram);

/* Adds a file of a folder to a list of outputs. shared: a sidecar of an image that others share, which may be theirs:
 * any of that name will do that has the same members. */
gls_status gls_dataset_note(cJSON *list, const char *folder, const char *name, bool shared);
/* The same of one that is complete and has not got its name yet. */
gls_status gls_dataset_note_output(cJSON *list, const char *name, const gls_output *output);
/* Whether the files of a list are in a folder as they were noted. before: those in whose places they come, or NULL.
 * *missing: some are not there, or still those of before, or there is no list. GLS_ERR_OUTPUT: one is another file now,
 * or damaged. */
gls_status gls_dataset_noted(const cJSON *list, const cJSON *before, const char *folder, bool *missing);
/* The entry of a name in a list, or NULL. */
const cJSON *gls_dataset_note_find(const cJSON *list, const char *name);
/* Whether two files hold the same; false also where one cannot be read. */
bool gls_dataset_same_bytes(const char *a, const char *b);

/* --- Fits as files of a data set: bids --fit-outputs. */

/* Adds Sources and SpatialReference to a sidecar. */
typedef struct gls_dataset_sources {
    void (*add)(const struct gls_dataset_sources *sources, cJSON *root);
    const gls_dataset_options *options;
    const gls_dataset_unit *unit;
} gls_dataset_sources;

/* Writes STEM_model-tensor_param-fa_dwimap and STEM_model-MODEL_param-sh_dwimap (of several tissues param-wm, gm and
 * csf), each an image and a sidecar; what is there is replaced. */
gls_status gls_dataset_fit(const gls_dataset_unit *unit, const gls_model_options *model, const char *mask,
                           const char *stem, const gls_dataset_sources *sources, const gls_monitor *monitor);

/* --- Locks between processes that work on one output. */

/* Takes the lock that the file at path is, which is made; it ends with its process, however that ends. *fd is -1 where
 * another process holds it, unless wait, which waits for its end. On a file system without locks a warning says so, and
 * nothing is locked. GLS_ERR_OUTPUT: no such file can be made. */
gls_status gls_dataset_lock(const char *path, bool wait, int *fd);
/* Accepts a descriptor of -1. */
void gls_dataset_unlock(const char *path, int fd);

/* --- Which participants, sessions and series are asked for. */

/* Whether a folder has the name of a participant or session, PREFIX-LABEL, that is asked for. */
bool gls_dataset_takes_participant(const gls_dataset_options *options, const char *folder);
bool gls_dataset_takes_session(const gls_dataset_options *options, const char *folder);
/* The label of a folder PREFIX-LABEL that would be asked for, were it one of BIDS; NULL: it is one, or is not asked
 * for.
 */
const char *gls_dataset_bad_participant(const gls_dataset_options *options, const char *folder);
const char *gls_dataset_bad_session(const gls_dataset_options *options, const char *folder);
/* Whether files without a session are asked for. */
bool gls_dataset_takes_no_session(const gls_dataset_options *options);
/* Whether a name has the entities of all filters but those of except (NULL: none). Numbers of runs are compared as
 * numbers. */
bool gls_dataset_passes(const gls_dataset_options *options, const char *name, const char *except);
/* Whether a file lies where its name says: in the folder of this participant and session ("": none). */
bool gls_dataset_belongs(const char *name, const char *subject, const char *session);
/* Each participant that is asked for is among these names of folders, and each session is one of any. */
gls_status gls_dataset_check_labels(const gls_dataset_options *options, char *const *names);

/* --- A folder in which the files of a series are made, out of sight, and from which they get their names together. */

/* Name of the sidecar in a stage that is complete and not yet checked. */
#define GLS_STAGE_READY "ready.json"

/* Which files that exist may be replaced, where they are others. */
typedef enum gls_dataset_replace {
    GLS_REPLACE_NONE,
    GLS_REPLACE_OWN, /* those of this tractogram alone */
    GLS_REPLACE_ALL
} gls_dataset_replace;

typedef struct gls_dataset_stage {
    const gls_dataset_options *options;
    const gls_dataset_unit *unit;
    const gls_job_options *job;        /* as they were given: their files are inputs, too */
    char folder[GLS_DATASET_MAX_PATH]; /* where the files go */
    char path[GLS_DATASET_MAX_PATH];   /* where they are made, a folder in it */
    char sidecar[512];                 /* name of the file that is written last, and gets its name last */
    char own[512];                     /* with this begin names of files of this tractogram alone */
    char lock[GLS_DATASET_MAX_PATH];   /* held while files get their names */
} gls_dataset_stage;

/* Makes the folder of the stage, empty but for journals of --resume, which go with the stage that is published. What a
 * run that was killed had complete and checked there gets its names first; where that fails, it is an error, or removed
 * with --force. The texts of the stage are set; this process has the series to itself. */
gls_status gls_dataset_stage_open(const gls_dataset_stage *stage);
/* Whether the files that are there by now may get their names. An existing file that others share, such as a mask, is
 * left where it is the same. GLS_ERR_OUTPUT names one that is another, and may not be replaced, or is an input. */
gls_status gls_dataset_stage_check(const gls_dataset_stage *stage, gls_dataset_replace replace);
/* Checks, gives the files their names, and removes the folder. GLS_STAGE_READY is among them. What fails in the check
 * leaves nothing in the stage; a process that is killed while files get their names leaves the rest to the next. */
gls_status gls_dataset_stage_publish(const gls_dataset_stage *stage, gls_dataset_replace replace);
/* Removes it with all that is there, but for journals where they are kept. */
void gls_dataset_stage_remove(const gls_dataset_stage *stage, bool keep_journals);
/* Whether a file of the stage is a journal: no output. */
bool gls_dataset_is_journal(const char *name);

#endif
