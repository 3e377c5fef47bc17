/* A data set of phantoms. */
#ifndef GLS_WORKFLOW_DATASET_PHANTOM_H
#define GLS_WORKFLOW_DATASET_PHANTOM_H

#include <glslines/phantom.h>

/* Writes DIR/sub-LABEL[/ses-SESSION]/dwi and DIR/sub-LABEL/anat for each label of "LABEL[/SESSION],...": series, tables
 * (FSL's and MRtrix's), brain mask, white matter, sidecars; and the description of the data set. The k-th subject has
 * the seed of params plus k. *n: how many there are. GLS_ERR_ARGUMENT: a label that is none; GLS_ERR_OUTPUT: a file
 * exists, unless overwrite. */
gls_status gls_dataset_phantom(const gls_phantom_params *params, const char *directory, const char *labels,
                               bool overwrite, size_t *n);

#endif
