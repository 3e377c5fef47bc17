/* The run of a job's tracker: progress, times, and failures of the sink. */
#ifndef GLS_WORKFLOW_JOB_RUN_H
#define GLS_WORKFLOW_JOB_RUN_H

#include "workflow/job.h"

/* Tracks all seeds to a sink, which is only appended to. */
gls_status gls_job_run(gls_job *job, gls_tracker *tracker, const gls_sink *sink);

#endif
