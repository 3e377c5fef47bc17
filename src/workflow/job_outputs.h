/* Names and formats of what a job writes, and whether they can be written without harm to an input. */
#ifndef GLS_WORKFLOW_JOB_OUTPUTS_H
#define GLS_WORKFLOW_JOB_OUTPUTS_H

#include "workflow/job_state.h"

gls_status gls_job_choose_format(gls_job *job);
/* The files that the options name, but for those that sinks read. */
gls_status gls_job_options_inputs(const gls_job_options *options, gls_inputs *inputs);
/* All of them, once sinks have taken the options. */
gls_status gls_job_name_inputs(gls_job *job);
/* Names the tractogram; without one its name stays NULL. */
gls_status gls_job_name_tractogram(gls_job *job);
/* Names all other files that the job writes. */
gls_status gls_job_name_outputs(gls_job *job);
/* The files that the job writes, but for its sidecar; returns how many. */
#define GLS_JOB_FILES (2 + GLS_MAX_SINKS)
typedef struct gls_job_file {
    const char *role; /* the option that asks for it */
    const char *path;
} gls_job_file;
size_t gls_job_files(const gls_job *job, gls_job_file file[GLS_JOB_FILES]);
/* Each place is free or may be overwritten, and is none of the inputs. */
gls_status gls_job_check_outputs(gls_job *job);
/* The same for a file that is made from the output, beside all of them. */
gls_status gls_job_check_beside(const gls_job *job, const char *path);
gls_status gls_job_create_writer(const gls_job *job, gls_tractogram_writer **writer);

#endif
