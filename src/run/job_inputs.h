/* The inputs of a run of tracking: files are read, or the built-in phantom is made; all is checked and fitted. */
#ifndef GLS_RUN_JOB_INPUTS_H
#define GLS_RUN_JOB_INPUTS_H

#include "record/method.h"
#include "run/job_inputs_parts.h"
#include "run/series_run.h"

/* Fills file[] with roles, names and hints from the options. */
void gls_job_inputs_files(const gls_job_options *options, gls_input_file file[GLS_FILE_N_FILES]);
/* Names the input files, and checks that they can be read. Call it before any slow work. */
gls_status gls_job_inputs_init(gls_job_inputs *input, gls_method method, const gls_job_options *options);
/* Whether the run computes anything from the values of a series. If not, only its header and its table are read. Call
 * it when all outputs are known. */
bool gls_job_inputs_need_series(const gls_job_inputs *input, const gls_job_options *options);
/* Reads images, gradient table, tissue and regions, or makes the phantom in place of a series. Checks that all grids
 * agree, logs the shells, chooses the model, makes the sphere, and makes the seeds unless they depend on the fit.
 * Hashes the files. */
gls_status gls_job_inputs_read(gls_job_inputs *input, const gls_job_options *options);
/* Takes the place of gls_job_inputs_fit() when only a plan is wanted: checks the ODF files or the gradient table, and
 * makes empty images instead of fitted ones. */
gls_status gls_job_inputs_plan(gls_job_inputs *input, const gls_job_options *options);
/* Makes the stop map, fits the model, and makes the seeds if they depend on the fit. */
gls_status gls_job_inputs_fit(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor);
/* Input of a tracker, which borrows the inputs. Call it after the fit or the plan. */
gls_track_input gls_job_inputs_tracker_input(const gls_job_inputs *input);
/* FA that was fitted, or the image of --fa. NULL: neither. Never a stop map that is 1 everywhere. */
const gls_image *gls_job_inputs_scalar(const gls_job_inputs *inputs);
/* Frees everything. Call it also after a failure of any stage. */
void gls_job_inputs_finish(gls_job_inputs *input);

#endif
