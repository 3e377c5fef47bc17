/* What getters along peaks track: peaks that files have, or those of ODFs. */
#ifndef GLS_WORKFLOW_STUDY_PEAKS_H
#define GLS_WORKFLOW_STUDY_PEAKS_H

#include "workflow/study_state.h"

/* Whether the direction getter follows peaks. */
bool gls_study_along_peaks(const gls_job_options *options);
/* The axes of a file of --peaks. */
gls_bvec_frame gls_peaks_frame(const gls_job_options *options, int i);

/* Puts the files of --peaks and --peaks-values to their places. */
void gls_study_peak_files(const gls_job_options *options, gls_input_file file[GLS_FILE_N_FILES]);
/* Reads and joins them to odf_image, on the grid of the series if there is one. */
gls_status gls_study_read_peaks(gls_study *study, const gls_job_options *options);

/* The peaks of ODFs, for a getter that follows them and has no files of them; others get none. frame: of the source's
 * coefficients. */
gls_status gls_find_peaks(const gls_job_options *options, const gls_odf_source *source, gls_bvec_frame frame,
                          gls_image **peaks);
/* The same for a study, once its ODFs are there; or an image without values in their place. */
gls_status gls_study_find_peaks(gls_study *study, const gls_job_options *options);
gls_status gls_study_plan_peaks(gls_study *study, const gls_job_options *options);

#endif
