/* Joins the bundle profiles of all participants in one table, as pyAFQ's GroupAFQ.combine_profiles() makes it and
 * AFQ-Browser reads it: the rows of all tables, with the columns subjectID and sessionID at the end. */
#ifndef GLS_BIDS_DATASET_PROFILES_H
#define GLS_BIDS_DATASET_PROFILES_H

#include <glslines/common.h>

#include "bids/dataset.h"

/* Writes tract_profiles.csv in the output: the rows of all *_desc-profiles_tractography.csv by `glslines profile` or
 * pyAFQ, with the columns subjectID and sessionID. *n: number of tables; 0: nothing is written. pyAFQ writes a file of
 * the same name; a file without the tract_profiles.json of glslines is not replaced. GLS_ERR_INPUT: two tables of one
 * session, or a file that is not such a table. */
gls_status gls_dataset_profiles(const gls_dataset_options *options, size_t *n);

#endif
