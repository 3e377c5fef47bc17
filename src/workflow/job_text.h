/* What there is to tell of a run. */
#ifndef GLS_WORKFLOW_JOB_TEXT_H
#define GLS_WORKFLOW_JOB_TEXT_H

#include "workflow/job_state.h"

/* What is known before tracking, of a job that is open; from malloc, NULL: out of memory. */
char *gls_job_plan_text(const gls_job *job, const gls_track_memory *memory);
/* Logs what came out. */
void gls_job_tell(const gls_job *job);

/* The name of a mapping, for auto of what that takes on this device; *lanes gets the invocations per streamline. */
const char *gls_device_mapping(const gls_device_info *device, gls_mapping asked, uint32_t *lanes);

#endif
