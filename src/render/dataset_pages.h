/* The files beside the tractogram of a unit of a data set. */
#ifndef GLS_RENDER_DATASET_PAGES_H
#define GLS_RENDER_DATASET_PAGES_H

#include "bids/dataset_run.h"

/* The function `document` of a gls_dataset_task: writes what to cite if the unit was tracked just now (anew), and makes
 * report and picture, unless the run makes no reports. */
void gls_dataset_document(const gls_dataset_task *run, const gls_dataset_unit *unit, const gls_job_options *job,
                          bool anew);

#endif
