/* logs/units.tsv: what became of each series when it was last seen to. */
#ifndef GLS_WORKFLOW_DATASET_LOG_H
#define GLS_WORKFLOW_DATASET_LOG_H

#include "workflow/dataset.h"

#define GLS_DATASET_LOG_HEADER "unit\tstate\treason"

/* Adds these lines, each NAME, tab and the rest, and keeps those of other series that earlier or other runs wrote. */
gls_status gls_dataset_log_add(const gls_dataset_options *options, const char *lines);

#endif
