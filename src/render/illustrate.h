/* Reports and pictures of runs of tracking. */
#ifndef GLS_RENDER_ILLUSTRATE_H
#define GLS_RENDER_ILLUSTRATE_H

#include <glslines/workflow.h>

#include "workflow/dataset.h"

/* --- The report and the picture that a run of tracking makes of its output. */

typedef struct gls_illustrations {
    const char *report, *picture; /* files; NULL: none; report "": beside the output */
} gls_illustrations;

/* Opens the job, once it is known that they can be written, or, where it was done before, that they are there. */
gls_status gls_illustrations_open(const gls_illustrations *illustrations, gls_job *job);
/* Makes those that were asked for. What fails is a warning: the run has its result. */
void gls_illustrations_make(const gls_illustrations *illustrations, gls_job *job);

/* --- Tracks the units of a data set, with reports and pictures: one after the other, or several at a time. */

typedef struct gls_dataset_task {
    const gls_dataset_options *dataset;
    const gls_dataset_choice *choice;
    const gls_job_options *job; /* options of track, without files */
    const gls_monitor *monitor; /* of units one after the other */
    bool (*go_on)(void);        /* false: end */
    int jobs;                   /* units at a time, >= 1, each in a process of its own where more than one */
    void (*end)(void);          /* ends the process of a unit at once; needed where jobs > 1 */
    bool no_report;
} gls_dataset_task;

/* What fails is logged and leaves the others to be tracked, unless there is no device or the caller asked to stop;
 * *worst gets its status. logs/units.tsv tells what became of each. */
gls_status gls_dataset_run(const gls_dataset_task *run, const gls_dataset *dataset, gls_status *worst);

#endif
