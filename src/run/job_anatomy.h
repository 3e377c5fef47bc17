/* The anatomy of --t1 and --atlas, which a run makes or takes from the cache. */
#ifndef GLS_RUN_JOB_ANATOMY_H
#define GLS_RUN_JOB_ANATOMY_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "record/inputs.h"

/* Adds the files of --t1 and --atlas to the inputs. */
gls_status gls_job_anatomy_inputs(const gls_job_options *options, gls_inputs *inputs);
/* Names the files of the anatomy: the labels in place of the word atlas in --connectome; and if they are kept, the
 * tissue in place of --act. */
gls_status gls_job_anatomy_find(gls_job *job);
/* Makes an anatomy that is not kept. gls_awaits_anatomy() is false then. */
gls_status gls_job_anatomy_make(gls_job *job);

#endif
