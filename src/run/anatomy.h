/* Peaks, tissue, seeds and regions of a run: what streamlines follow, where they start, and what they may enter. */
#ifndef GLS_RUN_ANATOMY_H
#define GLS_RUN_ANATOMY_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/odf.h>
#include <glslines/workflow.h>

#include "run/job_inputs_parts.h"

/* Axes of the vectors in file i of --peaks. */
gls_bvec_frame gls_peaks_frame(const gls_job_options *options, int i);
/* Reads the files of --peaks and joins them in odf_image, on the grid of the series if there is one. */
gls_status gls_job_inputs_read_peaks(gls_job_inputs *inputs, const gls_job_options *options);
/* Finds the peaks of ODFs for a getter that follows peaks, if no file gives peaks; otherwise leaves *peaks unchanged.
 * frame: axes of the coefficients of source. */
gls_status gls_find_peaks(const gls_job_options *options, const gls_method *method, const gls_odf_source *source,
                          gls_bvec_frame frame, gls_image **peaks);
/* Makes inputs->peaks for a plan, an image without values, if the run itself would find peaks; else does nothing. */
gls_status gls_job_inputs_plan_peaks(gls_job_inputs *inputs);
/* Whether the tissue of --t1 has still to be made. */
static inline bool gls_awaits_anatomy(const gls_job_options *options)
{
    return options->t1 && !options->act;
}
/* Call the next three functions after grid and mask are known, the one for tissue first. If the fit makes the seed
 * mask, gls_job_inputs_fit() calls the one for seeds. */
/* Reads the tissue image or the maps that the options name into input->tissue. Grey and white matter in all voxels
 * stands in for tissue that has still to be made. */
gls_status gls_job_inputs_read_tissue(gls_job_inputs *input, const gls_job_options *options);
/* Makes the seeds from the seed mask, a file or another source that the options name. Makes none on an interface of
 * tissue that has still to be made. */
gls_status gls_job_inputs_make_seeds(gls_job_inputs *input, const gls_job_options *options);
/* Reads the regions that the options name. */
gls_status gls_job_inputs_read_regions(gls_job_inputs *input, const gls_job_options *options);
/* Returns GLS_ERR_INPUT if none of the first million seeds lies in the tracking mask. Succeeds without seeds or without
 * a tracking mask. Reading the regions calls it; call it again if the seeds are made later. */
gls_status gls_job_inputs_check_tracking_mask(const gls_job_inputs *input);
/* Whether the options name an image that lies in the space of the anatomy, which --transform brings. */
bool gls_reads_anatomy(const gls_job_options *options);
/* Where the options place seeds, in words. NULL: in a seed mask. */
const char *gls_seeds_place(const gls_job_options *options);

#endif
