/* What a series was tracked from and with, and which files came of it: how a run knows what is done. */
#ifndef GLS_WORKFLOW_DATASET_DONE_H
#define GLS_WORKFLOW_DATASET_DONE_H

#include <cJSON.h>

#include "util/output_file.h"
#include "workflow/dataset.h"

/* {"options", "inputs"}: each option that the result depends on, as it was given, files by a hash of what is in them;
 * and the files of the unit, and how seeds are taken from them. */
gls_status gls_dataset_identity(const gls_dataset_options *options, const gls_dataset_unit *unit,
                                const gls_job_options *job, cJSON **identity);
/* GLS_ERR_OUTPUT names the first difference between what is wanted and what made the tractogram. */
gls_status gls_dataset_compare(const cJSON *wanted, const cJSON *found, const char *tractogram);

/* Adds a file of a folder to a list of outputs. shared: a sidecar of an image that others share, which may be theirs:
 * any of that name will do that has the same members. */
gls_status gls_dataset_note(cJSON *list, const char *folder, const char *name, bool shared);
/* The same of one that is complete and has not got its name yet. */
gls_status gls_dataset_note_output(cJSON *list, const char *name, const gls_output *output);
/* Whether the files of a list are in a folder as they were noted. before: those in whose places they come, or NULL.
 * *missing: some are not there, or still those of before, or there is no list. GLS_ERR_OUTPUT: one is another file now,
 * or damaged. */
gls_status gls_dataset_noted(const cJSON *list, const cJSON *before, const char *folder, bool *missing);
/* The entry of a name in a list, or NULL. */
const cJSON *gls_dataset_note_find(const cJSON *list, const char *name);
/* Whether two files hold the same; false also where one cannot be read. */
bool gls_dataset_same_bytes(const char *a, const char *b);

#endif
