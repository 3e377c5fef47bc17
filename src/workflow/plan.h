/* What a run would do, for a program that asks before. */
#ifndef GLS_WORKFLOW_PLAN_H
#define GLS_WORKFLOW_PLAN_H

#include "workflow/job_state.h"

/* What would be done, as JSON, after gls_job_plan(). From malloc; NULL: out of memory. */
char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory);

#endif
