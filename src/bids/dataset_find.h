/* Finds the series of a BIDS data set with their gradient tables, masks, seed regions, images of tissue and labels of
 * atlases. */
#ifndef GLS_BIDS_DATASET_FIND_H
#define GLS_BIDS_DATASET_FIND_H

#include <glslines/common.h>

#include "bids/dataset.h"

/* Finds the labels of white matter in the table *dseg.tsv (columns index, and name or abbreviation) that BIDS
 * inheritance gives to `image`, which lies in `folder` below root. labels->n is 0 without a table. */
gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels);
/* Finds the units, sorted by name. Free with gls_dataset_finish(). GLS_ERR_INPUT: the input is no folder, has nothing
 * to track, lacks a participant or session that is asked for, or is not preprocessed. */
gls_status gls_dataset_open(const gls_dataset_options *options, gls_dataset *dataset);
/* Frees the units. After a failure of gls_dataset_open() there is nothing to free. */
void gls_dataset_finish(gls_dataset *dataset);
/* Path of the labels of an atlas for a unit: seg-ATLAS, else atlas-ATLAS, else desc-ATLAS, suffix dseg, each in the
 * data set or else in the derivatives. NULL: none. *root: the data set that has it. */
char *gls_dataset_find_atlas(const gls_dataset_options *options, const gls_dataset_unit *unit, const char *atlas,
                             const char **root);
/* Path of the table with the names of the labels of an image, beside it or in a folder above. root: the data set that
 * has the image. NULL: none. */
char *gls_dataset_find_names(const char *labels, const char *root);

#endif
