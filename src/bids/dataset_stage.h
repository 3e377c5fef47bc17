/* Staging: the files of a series are made in a hidden folder and get their final names together. */
#ifndef GLS_BIDS_DATASET_STAGE_H
#define GLS_BIDS_DATASET_STAGE_H

#include <glslines/common.h>

#include "bids/dataset_parts.h"

/* Makes the folder of staging, empty except for journals of --resume. If a killed run left complete and checked files
 * in it, first gives them their final names; if this fails, returns the error, or with --force removes the files. Set
 * the members of *stage and take the lock of the series before. */
gls_status gls_dataset_stage_open(const gls_dataset_stage *stage);
/* Checks whether the staged files may get their final names. An existing shared file, such as a mask, stays if it is
 * the same. GLS_ERR_OUTPUT names a file that is different and may not be replaced, or that is an input. */
gls_status gls_dataset_stage_check(const gls_dataset_stage *stage, gls_dataset_replace replace);
/* Checks the staged files, among which GLS_STAGE_READY must be, gives them their final names, and removes the folder
 * of staging; if the check fails, removes the folder with the files. If the process is killed while files get their
 * names, the next run finishes the rest. */
gls_status gls_dataset_stage_publish(const gls_dataset_stage *stage, gls_dataset_replace replace);
/* Removes the folder with its files. keep_journals: leaves the journals, and the folder if it has any. */
void gls_dataset_stage_remove(const gls_dataset_stage *stage, bool keep_journals);
/* Whether a staged file is a journal, which is not an output. */
bool gls_dataset_is_journal(const char *name);

#endif
