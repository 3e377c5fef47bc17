/* Tracks a series of a data set into a data set of derivatives, with masks, fits and connectomes: names the files,
 * writes the sidecars, and finds out what an earlier run has done already. */
#ifndef GLS_BIDS_DATASET_TRACK_H
#define GLS_BIDS_DATASET_TRACK_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "bids/dataset.h"

/* Completes the options of a unit, which are those of gls_dataset_options.job: takes its files and values, and chooses
 * the method by its series and the defaults by the method. GLS_ERR_ARGUMENT: an option cannot be used with this series.
 */
gls_status gls_dataset_job(const gls_dataset_options *options, const gls_dataset_unit *unit, gls_job_options *job);
/* Tracks a unit with options of gls_dataset_job() and the files that the data set holds for it. If it was tracked
 * before with the same options and from files of the same contents, makes only what is missing, such as fits and
 * connectomes. Succeeds with GLS_UNIT_BUSY if another process tracks the unit. On failure *state is GLS_UNIT_FAILED; a
 * failure before the new files get their final names leaves earlier files unchanged. */
gls_status gls_dataset_track(const gls_dataset_options *options, const gls_dataset_unit *unit,
                             const gls_job_options *job, const gls_monitor *monitor, gls_dataset_state *state);
/* Makes the paths of the files of a unit. */
void gls_dataset_name(const gls_dataset_options *options, const gls_dataset_unit *unit, const gls_job_options *job,
                      gls_dataset_files *files);

#endif
