/* Bundles of a data set: those of an atlas in each tractogram, and the table of all of them. */
#ifndef GLS_BIDS_DATASET_BUNDLES_H
#define GLS_BIDS_DATASET_BUNDLES_H

#include <glslines/common.h>

#include "bids/dataset.h"

/* Recognises the bundles of the atlas of the options in a tractogram of a unit: STEM_desc-bundles_tractogram.trx, whose
 * groups they are, with its sidecar, and STEM_desc-bundles_tracts.tsv. Leaves files from the same inputs as they are.
 * Without an atlas does nothing. */
gls_status gls_dataset_recognize(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                 const char *tractogram, const char *stem);
/* Writes bundles.tsv in the output: the rows of all tables of bundles. *n: number of tables. GLS_ERR_INPUT: a file that
 * is no such table. */
gls_status gls_dataset_bundles(const gls_dataset_options *options, size_t *n);

#endif
