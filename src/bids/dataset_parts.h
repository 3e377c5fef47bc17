/* Inside of data sets: how a later run recognises a tracked series, locks, values with entities in braces, choice of
 * participants, and staging of files. */
#ifndef GLS_BIDS_DATASET_PARTS_H
#define GLS_BIDS_DATASET_PARTS_H

#include <cJSON.h>
#include <stdbool.h>

#include <glslines/common.h>

#include "bids/dataset.h"
#include "record/run_params.h"
#include "util/output_file.h"

/* --- Entities of BIDS that glslines knows. */

/* An entity KEY-VALUE of a name. */
typedef struct gls_bids_entity {
    const char *key, *name; /* name: its name in pybids */
    bool of_scan;           /* files with different values are of different scans */
    bool is_index;          /* its value is a number, whose leading zeros do not count */
    bool is_form;           /* series that differ by it alone are forms of one scan, of which one is tracked */
} gls_bids_entity;
/* All of them; the last has the key NULL. */
extern const gls_bids_entity gls_bids_entities[17];
/* The entity with this key or this name in pybids; NULL: none. */
const gls_bids_entity *gls_bids_entity_find(const char *name);
/* Whether values of this key are numbers. */
bool gls_bids_is_index(const char *key);

/* --- Inputs, options and outputs of a tracked series, by which later runs recognise what has been done. */

/* Fills in *identity: {"options", "inputs"}. "options": each option on which the result depends, with files as hashes
 * of their contents. "inputs": the files of the unit, and how seeds are taken from them. The caller frees it. */
gls_status gls_dataset_identity(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                const gls_job_options *job, cJSON **identity);

/* Adds a file of a folder to a list of outputs. shared: a sidecar of an image that other units also use; any file of
 * this name with the same members is accepted later. */
gls_status gls_dataset_note(cJSON *list, const char *folder, const char *name, bool shared);
/* Like gls_dataset_note() for an output that is complete but does not have its final name yet. */
gls_status gls_dataset_note_output(cJSON *list, const char *name, const gls_output *output);
/* Checks that the files of a list are unchanged in the folder. before: the list of the files that these files replace,
 * or NULL. *missing: set to true if the list is NULL or empty, or if a file does not exist or is still the old file in
 * `before`; else to false. GLS_ERR_OUTPUT: a file was replaced by another program or run, or is damaged. */
gls_status gls_dataset_noted(const cJSON *list, const cJSON *before, const char *folder, bool *missing);
/* Entry of a file in a list; NULL: none. */
const cJSON *gls_dataset_note_find(const cJSON *list, const char *name);

/* --- Locks between processes that write the same output. */

/* Makes the file at path and locks it. The lock ends with the process. *fd is -1 if another process holds the lock and
 * wait is false; with wait the call waits. On a file system without locks it warns and succeeds without a lock.
 * GLS_ERR_OUTPUT: the file cannot be opened or made. */
gls_status gls_dataset_lock(const char *path, bool wait, int *fd);
/* Releases the lock and removes the file if it is empty. Accepts fd = -1. */
void gls_dataset_unlock(const char *path, int fd);

/* --- Files of each unit among the options of track: values with entities of BIDS in braces. */

/* Whether values of this parameter may name files that are read. */
bool gls_dataset_names_files(const gls_param *param);
/* Pointer to the next value in `job` that may name a file and has braces; NULL: no more. *row: the parameter of this
 * value. Begin with *row = gls_params and *next = 0. */
const char **gls_dataset_next_braces(gls_job_options *job, const gls_param **row, int *next);
/* Sets the members `value` and `files` of a unit that has its name. A missing file becomes the unit's `problem`. */
gls_status gls_dataset_find_values(const gls_job_options *job, gls_dataset_unit *unit);
/* Replaces the values with braces in `job` by the values of the unit, which stay owned by the unit. */
void gls_dataset_take_values(const gls_dataset_unit *unit, gls_job_options *job);
/* Checks the options of track. GLS_ERR_ARGUMENT: --roi beside --seed-region; braces without an entity in them; or, if
 * `several` is true, a file without braces that all units would share although each brain has its own. */
gls_status gls_dataset_check_values(const gls_dataset_options *options, bool several);
/* Frees the texts of a list. */
void gls_dataset_texts_finish(gls_dataset_texts *list);

/* --- Which participants, sessions and series the options ask for. */

/* Whether a folder sub-LABEL or ses-LABEL is one that the options ask for by these labels. prefix: "sub-" or "ses-". */
bool gls_dataset_takes(const gls_strings *labels, const char *prefix, const char *folder);
/* The label of a folder sub-LABEL or ses-LABEL if the options ask for it and it is invalid in BIDS; else NULL. */
const char *gls_dataset_bad_label(const gls_strings *labels, const char *prefix, const char *folder);
/* Whether a file by its name belongs to this participant and session and has the entities of all filters except filters
 * of desc. Warns of invalid names, and of files of other participants and sessions. */
bool gls_dataset_takes_file(const gls_dataset_options *options, const char *folder, const char *name,
                            const char *subject, const char *session);
/* Whether a name has the entities of all filters except those of the key `except` (or NULL). run-1 equals run-01. */
bool gls_dataset_passes(const gls_dataset_options *options, const char *name, const char *except);
/* Visits a folder. subject, session: labels without "sub-" and "ses-"; session "": the participant's own folder. */
typedef gls_status (*gls_dataset_visit)(void *user, const char *subject, const char *session, const char *folder);
/* Visits, in the output folder, the folder of each participant that the options ask for, then the folders of its
 * sessions that they ask for. Ends with the first failure. */
gls_status gls_dataset_walk(const gls_dataset_options *options, gls_dataset_visit visit, void *user);
/* Whether a file's name agrees with the folder of this participant and session ("": none). */
bool gls_dataset_belongs(const char *name, const char *subject, const char *session);
/* GLS_ERR_INPUT unless each participant asked for has a folder in names[], and each session asked for lies in one. */
gls_status gls_dataset_check_labels(const gls_dataset_options *options, char *const *names);

/* --- Staging: the files of a series are made in a hidden folder and get their final names together. */

/* Name of the sidecar in a folder of staging whose files are complete but not yet checked. */
#define GLS_STAGE_READY "ready.json"

/* Which existing files may be replaced by files of other contents. */
typedef enum gls_dataset_replace {
    GLS_REPLACE_NONE,
    GLS_REPLACE_OWN, /* files that belong to this tractogram only */
    GLS_REPLACE_ALL
} gls_dataset_replace;

/* The files of one tracked series on their way to their final names. */
typedef struct gls_dataset_stage {
    /* options of the run over the data set */
    const gls_dataset_options *options;
    /* the series that is tracked */
    const gls_dataset_unit *unit;
    const gls_job_options *job;        /* options as given; the files that they name are inputs */
    char folder[GLS_DATASET_MAX_PATH]; /* final folder of the files */
    char path[GLS_DATASET_MAX_PATH];   /* folder of staging, below that folder */
    char sidecar[512];                 /* file that is written last and gets its final name last */
    char own[512];                     /* prefix of names of files that belong to this tractogram only */
    char lock[GLS_DATASET_MAX_PATH];   /* lock file that is locked while files get their final names */
} gls_dataset_stage;

/* Makes the folder of staging, empty except for journals of --resume. If a killed run left complete and checked files
 * in it, first gives them their final names; if this fails, returns the error, or with --force removes the files. Set
 * the members of *stage and take the lock of the series before. */
gls_status gls_dataset_stage_open(const gls_dataset_stage *stage);
/* Checks whether the staged files may get their final names. An existing shared file, such as a mask, stays if it is
 * the same. GLS_ERR_OUTPUT names a file that is different and may not be replaced, or that is an input. */
gls_status gls_dataset_stage_check(const gls_dataset_stage *stage, gls_dataset_replace replace);
/* Checks the staged files, among which GLS_STAGE_READY must be, gives them their final names, and removes the folder
 * of staging; if the check fails, removes the folder with the files. If the process is killed while files get their
 * names, the next run finishes the rest. */
gls_status gls_dataset_stage_publish(const gls_dataset_stage *stage, gls_dataset_replace replace);
/* Removes the folder with its files. keep_journals: leaves the journals, and the folder if it has any. */
void gls_dataset_stage_remove(const gls_dataset_stage *stage, bool keep_journals);
/* Whether a staged file is a journal, which is not an output. */
bool gls_dataset_is_journal(const char *name);

#endif
