/* What a run takes of memory, and how it is kept within a limit. */
#ifndef GLS_WORKFLOW_MEMORY_H
#define GLS_WORKFLOW_MEMORY_H

#include "workflow/job_state.h"

/* Before images are read: whether their voxels alone are over the limit, by the headers of the files. */
gls_status gls_job_memory_check(const gls_study *study, uint64_t limit_mb);
/* Once they are read: tells what the run will take. With a limit batches are made smaller until it is kept, and the
 * devices refuse more; GLS_ERR_ARGUMENT with the figures where even the smallest batch is over it. */
gls_status gls_job_memory_plan(gls_job *job);
/* After the plan: what to request of a scheduler, MiB. */
uint64_t gls_job_memory_request(const gls_job *job);
/* After the fit: gives back what tracking does not read any more. */
void gls_job_memory_release(gls_job *job);

#endif
