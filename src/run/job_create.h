/* Makes a run of tracking: checks its options, and names its inputs and outputs. */
#ifndef GLS_RUN_JOB_CREATE_H
#define GLS_RUN_JOB_CREATE_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "record/inputs.h"

/* Adds the input files that the options name, except files that sinks read. */
gls_status gls_job_options_inputs(const gls_job_options *options, gls_inputs *inputs);
/* Checks that each output can be written and is not an input, and adds it to the outputs of the run. */
gls_status gls_job_check_outputs(gls_job *job);
/* Checks that a further file of the run, such as a picture of the outputs, can be written and is neither an input nor
 * an output. */
gls_status gls_job_check_beside(const gls_job *job, const char *path);

#endif
