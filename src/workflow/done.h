/* Whether a run was done before, and what a run notes of its outputs so that a later one sees this. */
#ifndef GLS_WORKFLOW_DONE_H
#define GLS_WORKFLOW_DONE_H

#include "workflow/job_state.h"

/* Sets other_inputs, once the study is read. */
gls_status gls_job_hash_others(gls_job *job);
/* Sets result.skipped where all outputs are there and are those of this run. Outputs of another run are an error, as
 * they are without skip_existing. The job is open. */
gls_status gls_job_find_done(gls_job *job);
/* Notes the outputs, complete in the group, for the sidecar. */
gls_status gls_job_note_outputs(gls_job *job, const gls_output_group *group);
/* The same of a file that was made from them and has its name, such as a picture; the sidecar is written anew. */
gls_status gls_job_note_made(gls_job *job, const char *role, const char *path);

#endif
