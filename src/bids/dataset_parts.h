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

/* --- Which participants, sessions and series the options ask for. */

/* Visits a folder. subject, session: labels without "sub-" and "ses-"; session "": the participant's own folder. */
typedef gls_status (*gls_dataset_visit)(void *user, const char *subject, const char *session, const char *folder);

/* Whether a file is wanted, by its name. */
typedef bool (*gls_dataset_want)(void *user, const char *name);
/* Takes a file. names: all files of its folder, with NULL at the end. */
typedef gls_status (*gls_dataset_take)(void *user, const char *path, char *const *names);

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

#endif
