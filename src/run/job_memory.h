/* Memory of a run: estimates it before tracking, and makes batches smaller to stay within a limit. */
#ifndef GLS_RUN_JOB_MEMORY_H
#define GLS_RUN_JOB_MEMORY_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "run/job_inputs_parts.h"

/* Checks the headers of series, ODFs and the first file of peaks, as far as they are NIfTI: GLS_ERR_ARGUMENT if their
 * voxels alone exceed the limit (0: none). Call this before images are read. */
gls_status gls_job_memory_check(const gls_job_inputs *inputs, const gls_job_options *options);
/* Computes and logs how much memory the run needs. Call this after images are read. With a limit, makes batches smaller
 * until they fit and lets devices refuse to allocate more. GLS_ERR_ARGUMENT: even the smallest batch does not fit; the
 * message says how much memory is needed. */
gls_status gls_job_memory_plan(gls_job *job);
/* Memory of a device that the mapper of --seed-dynamic may take; 0: all. */
uint64_t gls_job_seeds_device_bytes(const gls_job *job);
/* Frees the values of the series, unless tracking reads them. Call this after the fit. */
void gls_job_memory_release(gls_job *job);

#endif
