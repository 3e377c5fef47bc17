/* Tables of a data set: the list of the units to track; group.tsv, a table of the tractograms and of the series that
 * lack one; and index.html, a page with a row for each of them. */
#ifndef GLS_BIDS_DATASET_GROUP_H
#define GLS_BIDS_DATASET_GROUP_H

#include <glslines/common.h>

#include "bids/dataset.h"

/* A table with a header and one line for each chosen unit, columns separated by tabs. From malloc; NULL: out of
 * memory. */
char *gls_dataset_list(const gls_dataset_options *options, const gls_dataset *dataset,
                       const gls_dataset_choice *choice);
/* Writes group.tsv, a table of the tractograms of the output, and index.html, a page of them; both or neither. *n:
 * number of tractograms of the participants, sessions and entities that the options ask for. Writes nothing if *n is 0.
 */
gls_status gls_dataset_group(const gls_dataset_options *options, size_t *n);

#endif
