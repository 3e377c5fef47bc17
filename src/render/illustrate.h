/* Reports and pictures of runs of tracking. */
#ifndef GLS_RENDER_ILLUSTRATE_H
#define GLS_RENDER_ILLUSTRATE_H

#include <glslines/workflow.h>

#include "bids/dataset.h"

/* --- Report and picture of one run, and what else the program writes beside it. */

/* Names of the files beside a tractogram. */
typedef struct gls_illustrations {
    const char *report, *picture; /* file names; NULL: none; report "": beside the output */
    const char *trace, *json;     /* files that the caller writes; NULL: none; json "": printed */
} gls_illustrations;

/* Opens the job, and checks that the named files can be written. If the job is skipped because it was done before,
 * checks instead that report and picture are those of the earlier run. */
gls_status gls_illustrations_open(const gls_illustrations *illustrations, gls_job *job);
/* Makes report and picture, if requested. A failure is only a warning, because the tractogram exists. */
void gls_illustrations_make(const gls_illustrations *illustrations, gls_job *job);

/* --- Tracks the units of a data set, with reports and pictures, one after another or several at a time. */

/* A run over the units of a data set. */
typedef struct gls_dataset_task {
    /* the data set and its selection, borrowed */
    const gls_dataset_options *dataset;
    /* units of this run or shard, borrowed */
    const gls_dataset_choice *choice;
    const gls_monitor *monitor; /* reports progress when units run one after another */
    bool (*go_on)(void);        /* returns false to stop */
    int jobs;                   /* number of units at a time, >= 1; if larger than 1, each in a process of its own */
    void (*end)(void);          /* ends the process of a unit at once; needed if jobs > 1 */
    bool no_report;
} gls_dataset_task;

/* Tracks all chosen units. After a failure the other units go on, unless there is no device, the caller stops the run,
 * or the choice says so. *worst: status of the first failure, or of the failure that ended the run; GLS_OK: none. Adds
 * the outcomes to logs/units.tsv. */
gls_status gls_dataset_run(const gls_dataset_task *run, const gls_dataset *dataset, gls_status *worst);

#endif
