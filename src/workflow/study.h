/* What a run of tracking works on: read from files or made as the built-in phantom, checked, and fitted. */
#ifndef GLS_WORKFLOW_STUDY_H
#define GLS_WORKFLOW_STUDY_H

#include "workflow/study_state.h"

/* The files that the options name. */
void gls_study_files(const gls_job_options *options, gls_input_file file[GLS_FILE_N_FILES]);
/* Checks that the named files can be read, before anything slow is done. */
gls_status gls_study_init(gls_study *input, const gls_job_options *options);
/* Reads the images and the table, or makes the phantom; compares grids; makes seeds and the sphere; chooses and logs
 * the shells. */
gls_status gls_study_read(gls_study *input, const gls_job_options *options);
/* In place of the fit: whether the ODF files or the table can be used, and empty images where the fit's
 * would be. */
gls_status gls_study_plan(gls_study *input, const gls_job_options *options);
/* The stop map, the model's matrices or ODFs, and seeds where they are not there yet. */
gls_status gls_study_fit(gls_study *input, const gls_job_options *options, const gls_monitor *monitor);
/* What a tracker takes; once fitted or planned. */
gls_track_input gls_study_tracker_input(const gls_study *input, const gls_job_options *options);
/* FA of a study that was fitted, or the image of --fa in its place; NULL: none. Never a map that was made up. */
const gls_image *gls_study_scalar(const gls_study *study);
void gls_study_finish(gls_study *input);

/* --- getters along peaks: of files, or of ODFs ---------------------------------- */

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
