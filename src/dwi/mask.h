/* Finds the brain in a series (the mask of MRtrix3's dwi2mask legacy), and where to seed; erodes, dilates and cleans
 * sets of voxels. */
#ifndef GLS_DWI_MASK_H
#define GLS_DWI_MASK_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Dilates a set, `times` >= 0 times: adds the 6 neighbours of each of its voxels. GLS_ERR_MEMORY: out of memory. */
gls_status gls_morphology_dilate(const int32_t dim[3], uint8_t *set, int times);
/* Number of voxels in the set. */
size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set);
/* Erodes the mask `erode` times; if that leaves fewer than 1000 voxels, once; if still fewer, not at all. *safe: a set,
 * from malloc. GLS_ERR_INPUT: the mask is empty. */
gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe);

#endif
