/* Text about a run: what is known before tracking, as text and as JSON, and the result. */
#ifndef GLS_RUN_JOB_TEXT_H
#define GLS_RUN_JOB_TEXT_H

#include <glslines/track.h>
#include <glslines/workflow.h>

/* Returns what is known before tracking, as text. memory: result of gls_job_plan(). From malloc; NULL: no memory. */
char *gls_job_plan_text(const gls_job *job, const gls_track_memory *memory);
/* Logs the result. */
void gls_job_log_result(const gls_job *job);
/* Returns the plan of the run as JSON. memory: result of gls_job_plan(). From malloc; NULL: out of memory. */
char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory);

#endif
