/* Bundles of a data set: those of an atlas in each tractogram, profiles along them, and the tables of all of them. */
#ifndef GLS_BIDS_DATASET_BUNDLES_H
#define GLS_BIDS_DATASET_BUNDLES_H

#include <glslines/common.h>

#include "bids/dataset.h"

/* Recognises the bundles of the atlas of the options in a tractogram of a unit: STEM_desc-bundles_tractogram.trx, whose
 * groups they are, with its sidecar, and STEM_desc-bundles_tracts.tsv. Leaves files from the same inputs as they are.
 * Writes profiles along them by the nodes of the atlas, STEM_desc-profiles_tracts.tsv with its sidecar, of the images
 * of the unit and of `fa` (NULL: none), if there is any. Removes
 * profiles along other bundles. Without an atlas does nothing. */
gls_status gls_dataset_recognize(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                 const char *tractogram, const char *fa, const char *stem);
/* Writes into the output the rows of all tables of bundles, bundles.tsv, and of all profiles along them,
 * bundle_profiles.tsv; with `wide` also bundle_profiles_wide.tsv, a line for each tractogram and a column for each
 * bundle, node and image. Without a table of a kind, removes what earlier runs joined. *bundles, *profiles: numbers of
 * tables. GLS_ERR_INPUT: a file that is no such table. */
gls_status gls_dataset_bundles(const gls_dataset_options *options, size_t *bundles, size_t *profiles);

#endif
