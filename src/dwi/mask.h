/* Finds the brain in a series (the mask of MRtrix3's dwi2mask legacy), and where to seed. */
#ifndef GLS_DWI_MASK_H
#define GLS_DWI_MASK_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Erodes the mask `erode` times; if that leaves fewer than 1000 voxels, once; if still fewer, not at all. *safe: a set,
 * from malloc. GLS_ERR_INPUT: the mask is empty. */
gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe);

#endif
