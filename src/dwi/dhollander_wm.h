/* Parts that the estimates of responses share. */
#ifndef GLS_DWI_DHOLLANDER_WM_H
#define GLS_DWI_DHOLLANDER_WM_H

#include <glslines/responses.h>

/* The mask, eroded; fewer times where too little is left. From malloc. */
gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe);

/* How much each of n voxels looks like one bundle of white matter: the largest amplitude of its ODF of an order, fitted
 * with a sharp response and CSF, of the sum of both tissues. */
gls_status gls_dhollander_score(const gls_image *dwi, const gls_gradients *gradients,
                                const gls_responses_options *options, const size_t *voxel, size_t n,
                                const gls_tissue_response *csf, int order, double *score);

#endif
