/* The units of a data set, tracked one after another or several at a time. */
#ifndef GLS_BIDS_DATASET_RUN_H
#define GLS_BIDS_DATASET_RUN_H

#include "bids/dataset.h"

typedef struct gls_dataset_task gls_dataset_task;
/* A run over the units of a data set. */
struct gls_dataset_task {
    /* the data set and its selection, borrowed */
    const gls_dataset_options *dataset;
    /* units of this run or shard, borrowed */
    const gls_dataset_choice *choice;
    const gls_monitor *monitor; /* reports progress when units run one after another */
    bool (*go_on)(void);        /* returns false to stop */
    int jobs;                   /* number of units at a time, >= 1; if larger than 1, each in a process of its own */
    void (*end)(void);          /* ends the process of a unit at once; needed if jobs > 1 */
    /* writes what lies beside the tractogram of a unit; anew: it was tracked just now. NULL: nothing does. Failures are
     * warnings */
    void (*document)(const gls_dataset_task *run, const gls_dataset_unit *unit, const gls_job_options *job, bool anew);
    bool no_report; /* for document(): write no report and no picture */
};

/* Tracks all chosen units. After a failure the other units go on, unless there is no device, the caller stops the run,
 * or the choice says so. *worst: status of the first failure, or of the failure that ended the run; GLS_OK: none. Adds
 * the outcomes to logs/units.tsv. */
gls_status gls_dataset_run(const gls_dataset_task *run, const gls_dataset *dataset, gls_status *worst);

#endif
