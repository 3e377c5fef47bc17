/* The identity of a tracked series, which is its options and hashes of its inputs, and the list of its outputs. */
#ifndef GLS_BIDS_DATASET_IDENTITY_H
#define GLS_BIDS_DATASET_IDENTITY_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "bids/dataset.h"
#include "util/output_file.h"

/* Fills in *identity: {"options", "inputs"}. "options": each option on which the result depends, with files as hashes
 * of their contents. "inputs": the files of the unit, and how seeds are taken from them. The caller frees it. */
gls_status gls_dataset_identity(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                const gls_job_options *job, cJSON **identity);
/* Adds a file of a folder to a list of outputs. shared: a sidecar of an image that other units also use; any file of
 * this name with the same members is accepted later. */
gls_status gls_dataset_note(cJSON *list, const char *folder, const char *name, bool shared);
/* Like gls_dataset_note() for an output that is complete but does not have its final name yet. */
gls_status gls_dataset_note_output(cJSON *list, const char *name, const gls_output *output);
/* Checks that the files of a list are unchanged in the folder. before: the list of the files that these files replace,
 * or NULL. *missing: set to true if the list is NULL or empty, or if a file does not exist or is still the old file in
 * `before`; else to false. GLS_ERR_OUTPUT: a file was replaced by another program or run, or is damaged. */
gls_status gls_dataset_noted(const cJSON *list, const cJSON *before, const char *folder, bool *missing);
/* Entry of a file in a list; NULL: none. */
const cJSON *gls_dataset_note_find(const cJSON *list, const char *name);

#endif
