/* What a voxel counts in the model, from an image of five tissues. */
#ifndef GLS_WEIGHTS_TISSUE_H
#define GLS_WEIGHTS_TISSUE_H

#include <glslines/image.h>

/* tissue: cortical and subcortical grey matter, white matter, CSF, pathology, of any grid; name stands for it in
 * messages. *mask: the square of the fraction of white matter in each voxel of the SH image. *scale (may be NULL): what
 * grey matter leaves of a density, 1 - cortical - subcortical / 2. GLS_ERR_INPUT: not five volumes, no white matter. */
gls_status gls_tissue_mask(const gls_image *tissue, const char *name, const gls_image *sh, gls_image **mask,
                           gls_image **scale);

#endif
