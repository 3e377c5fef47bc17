/* The parts of a study that say where streamlines start and what they may do: tissue, seeds and regions. */
#ifndef GLS_WORKFLOW_ANATOMY_H
#define GLS_WORKFLOW_ANATOMY_H

#include "workflow/study_state.h"

/* What can be told from the options alone. */
gls_status gls_anatomy_check(const gls_job_options *options);
/* Each once the grid, mask and seed mask are known, in this order. */
gls_status gls_study_read_tissue(gls_study *input, const gls_job_options *options);
gls_status gls_study_make_seeds(gls_study *input, const gls_job_options *options);
gls_status gls_study_read_regions(gls_study *input, const gls_job_options *options);
/* Whether a seed's voxel may lie in a tracking mask, where there are both. */
gls_status gls_study_check_tracking_mask(const gls_study *input);
/* Whether the options say where seeds lie without a seed mask. */
bool gls_seeds_need_no_region(const gls_job_options *options);

#endif
