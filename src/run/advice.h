/* Warnings of inputs and results that look wrong although nothing failed, and of results without a streamline. */
#ifndef GLS_RUN_ADVICE_H
#define GLS_RUN_ADVICE_H

#include <glslines/workflow.h>

/* If the run gave no streamline: warns at which stage how many seeds and streamlines were lost, and what to try. */
void gls_job_explain_empty(const gls_job *job);
/* Warns of a mask that leaves out nothing, of a seed mask that looks like another kind of image, and of a stop map in
 * other units than FA or without numbers in many voxels. Call this after the masks are read. */
void gls_advise_of_masks(const gls_job *job);
/* Warns of a response too round for a single bundle, of FODs in other units, of long steps, and of seeds where
 * streamlines end at once. Call this after the fit. */
void gls_advise_of_fit(const gls_job *job);
/* Warns if too many streamlines were cut at the maximum length, or are longer than a brain allows. Call this after
 * tracking. */
void gls_advise_of_lengths(const gls_job *job);

#endif
