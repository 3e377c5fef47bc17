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
/* Names the files that are made beside the outputs, in the order of gls_job_extra; NULL or "": none. Checks them like
 * outputs, with skip_existing only once it is known that nothing equal was done before. Call it before gls_job_open().
 */
gls_status gls_job_add_extras(gls_job *job, const char *const *path);

#endif
