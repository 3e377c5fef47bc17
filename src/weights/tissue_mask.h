/* Turns an image of five tissues into the mask and scale of voxels in the model of streamline weights. */
#ifndef GLS_WEIGHTS_TISSUE_MASK_H
#define GLS_WEIGHTS_TISSUE_MASK_H

#include <glslines/image.h>

/* tissue: cortical and subcortical grey matter, white matter, CSF, pathology, in any grid; name: for messages.
 * *mask: for each voxel of `sh` the square of its white matter fraction, 0 where `sh` has no FOD. *scale (may be
 * NULL): factor of the density, 1 - cortical - subcortical / 2. The caller destroys both. GLS_ERR_INPUT if `tissue`
 * has not five volumes, or no white matter in any voxel with an FOD. By the rules of MRtrix3's resampling of 5TT
 * images for SIFT. */
gls_status gls_tissue_mask(const gls_image *tissue, const char *name, const gls_image *sh, gls_image **mask,
                           gls_image **scale);

#endif
