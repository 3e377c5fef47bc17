/* A folder in which the files of a series are made, out of sight, and from which they get their names together. */
#ifndef GLS_WORKFLOW_DATASET_STAGE_H
#define GLS_WORKFLOW_DATASET_STAGE_H

#include "workflow/dataset.h"

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
