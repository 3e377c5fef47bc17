/* Names and formats of what a job writes, and whether they can be written without harm to an input. */
#ifndef GLS_WORKFLOW_JOB_OUTPUTS_H
#define GLS_WORKFLOW_JOB_OUTPUTS_H

#include "workflow/job_state.h"

gls_status gls_job_choose_format(gls_job *job);
gls_status gls_job_name_outputs(gls_job *job);
/* Each place is free or may be overwritten, and is none of the inputs. */
gls_status gls_job_check_outputs(const gls_job *job);
/* The same for a file that is made from the output, beside all of them. */
gls_status gls_job_check_beside(const gls_job *job, const char *path);
/* Once the rules of --profile are read: none is a file that they name. */
gls_status gls_job_check_rules(const gls_job *job);
gls_status gls_job_create_writer(const gls_job *job, gls_tractogram_writer **writer);

#endif
