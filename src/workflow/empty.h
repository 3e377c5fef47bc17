/* Why a run gave no streamline. */
#ifndef GLS_WORKFLOW_EMPTY_H
#define GLS_WORKFLOW_EMPTY_H

#include "workflow/job_state.h"

/* Warns, once tracked, where there is no streamline: how many seeds and streamlines each stage lost, and what to try.
 */
void gls_job_explain_empty(const gls_job *job);

#endif
