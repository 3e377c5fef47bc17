/* Whether a run was done before. */
#ifndef GLS_WORKFLOW_DONE_H
#define GLS_WORKFLOW_DONE_H

#include "workflow/job_state.h"

/* Sets other_inputs, once the study is read. */
gls_status gls_job_hash_others(gls_job *job);
/* Sets result.skipped where all outputs are there and are those of this run. Outputs of another run are an error, as
 * they are without skip_existing. The job is open. */
gls_status gls_job_find_done(gls_job *job);

#endif
