/* Report and picture of a run of tracking, and what else the program writes beside it. */
#ifndef GLS_RENDER_ILLUSTRATE_H
#define GLS_RENDER_ILLUSTRATE_H

#include <glslines/workflow.h>

#include "record/run_params.h"

/* Names the picture, the report and the other files that the options ask for beside the outputs, and checks that they
 * can be written. Call it before gls_job_open(). */
gls_status gls_illustrations_name(gls_job *job, const gls_run_options *run);
/* Makes report and picture, if they were named. A failure is only a warning, because the tractogram exists. */
void gls_illustrations_make(gls_job *job);

#endif
