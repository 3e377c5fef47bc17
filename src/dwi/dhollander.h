/* Responses of white matter, grey matter and CSF from all shells: the steps of dwi2response dhollander of MRtrix3
 * (Dhollander et al. 2016, 2019). */
#ifndef GLS_DWI_DHOLLANDER_H
#define GLS_DWI_DHOLLANDER_H

#include <glslines/msmt.h>

/* Warns of responses of white matter, grey matter and CSF that come from fewer voxels. remedy: what to do. */
void gls_responses_doubt(const gls_tissue_response *const response[3], const char *remedy);

#endif
