/* Results that look wrong although nothing failed: warnings that name the option to turn. */
#ifndef GLS_WORKFLOW_ADVICE_H
#define GLS_WORKFLOW_ADVICE_H

#include "workflow/job_state.h"

/* Of masks, once they are read: one that leaves nothing out, a seed mask that seems to be something else, a stop map in
 * other units than those of FA. */
void gls_advise_of_masks(const gls_job *job);
/* Of the fit: a response that no single bundle has, and seeds where streamlines end at once. */
void gls_advise_of_fit(const gls_job *job);
/* Of the streamlines, once tracked: too many that are longer than a brain allows. */
void gls_advise_of_lengths(const gls_job *job);

#endif
