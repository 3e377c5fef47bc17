/* Responses of white matter, grey matter and CSF from all shells: the steps of dwi2response dhollander of MRtrix3
 * (Dhollander et al. 2016, 2019). */
#ifndef GLS_DWI_DHOLLANDER_H
#define GLS_DWI_DHOLLANDER_H

#include <glslines/msmt.h>
#include <glslines/responses.h>

/* Returns GLS_ERR_ARGUMENT unless the options come from the default function and each member has a value that it can
 * have, whatever the algorithm uses. NULL options pass. */
gls_status gls_responses_check(const gls_responses_options *options);

/* Warns of responses of white matter, grey matter and CSF that come from fewer voxels. remedy: what to do. */
void gls_responses_doubt(const gls_tissue_response *const response[3], const char *remedy);

#endif
