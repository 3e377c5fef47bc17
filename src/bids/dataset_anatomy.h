/* The anatomy of a unit: tissue and labels that are made of a T1 image of the participant, in the space of the series.
 */
#ifndef GLS_BIDS_DATASET_ANATOMY_H
#define GLS_BIDS_DATASET_ANATOMY_H

#include <glslines/common.h>

#include "anat/anat_files.h"
#include "bids/dataset.h"

/* The files of an anatomy. All zero is empty. */
typedef struct gls_dataset_anatomy {
    gls_anat_names names;
    char *table; /* names of the labels, as the user gave them; NULL: none */
} gls_dataset_anatomy;

/* Finds the T1 image of a unit. A missing one, or several among which nothing decides, become the unit's problem. */
gls_status gls_dataset_anatomy_find(const gls_dataset_options *options, gls_dataset_unit *unit);
/* Makes the anatomy of a unit that has a T1 image, beside its tractogram, unless an earlier run made it from the same
 * files. job: options of track, of which device and atlas count. Call gls_dataset_anatomy_finish() also after a
 * failure. */
gls_status gls_dataset_anatomy_make(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                    const gls_job_options *job, const gls_monitor *monitor,
                                    gls_dataset_anatomy *anatomy);
/* Warns if there were warnings when the anatomy was made. */
void gls_dataset_anatomy_warn(const gls_dataset_anatomy *anatomy);
void gls_dataset_anatomy_finish(gls_dataset_anatomy *anatomy);

#endif
