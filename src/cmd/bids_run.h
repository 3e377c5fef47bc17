/* Tracks the units of a data set: one after the other, or several at a time. */
#ifndef GLS_CMD_BIDS_RUN_H
#define GLS_CMD_BIDS_RUN_H

#include "workflow/dataset.h"

typedef struct bids_run {
    const gls_dataset_options *dataset;
    const gls_job_options *job; /* options of track, without files */
    const char *unit;           /* the only one; NULL: all of the part */
    gls_shard shard;            /* of the units; count 0: all */
    int jobs;                   /* units at a time, >= 1, each in a process of its own where more than one */
    bool stop_on_error, no_report;
} bids_run;

/* Whether the unit at this place is one of the run's. */
bool bids_run_takes(const bids_run *run, const gls_dataset_unit *unit, size_t place);
/* Tracks them, and writes logs/units.tsv where they are all. Returns an exit code. */
int bids_run_units(const bids_run *run, const gls_dataset *dataset);

#endif
