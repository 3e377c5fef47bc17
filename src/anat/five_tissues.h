/* Five tissue types, as MRtrix3's 5TT images have them, from fractions of three classes and labels. */
#ifndef GLS_ANAT_FIVE_TISSUES_H
#define GLS_ANAT_FIVE_TISSUES_H

#include <glslines/image.h>

/* Makes five volumes in the order of GLS_TISSUE_CGM and so on. fractions: a volume for each class of
 * anat/tissue_classes.h, 0 outside the mask. deep, stem, lesion: share of each voxel that deep grey matter, brain stem
 * and lesion take; NULL: none. In the brain stem grey counts as white matter; a lesion is the fifth type. */
gls_status gls_five_tissues_make(const gls_image *fractions, const uint8_t *mask, const gls_image *deep,
                                 const gls_image *stem, const gls_image *lesion, gls_image **made);

#endif
