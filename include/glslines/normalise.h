/* Intensity normalisation of tissue images; a brain mask from a diffusion series alone; and regions for seeds. */
#ifndef GLSLINES_NORMALISE_H
#define GLSLINES_NORMALISE_H

#include <glslines/gradients.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_normalise_result {
    double balance[4];     /* factor of each tissue that makes the sum of all tissues most even; the images are not
                              multiplied by it. 1 for a tissue that was left out: its factor would not be positive */
    double scale;          /* geometric mean of the field over the voxels that were used */
    size_t n_voxels;       /* number of voxels of the mask with a signal */
    size_t n_outliers;     /* number of these voxels that were not used, because their sum of tissues stands out */
    float lowest, highest; /* range of the field over all n_voxels voxels */
} gls_normalise_result;

/* Divides tissue images (1 to 4 images of any number of volumes on one grid, the first volume of each being its
 * density) by a smooth field, the exponential of a polynomial of order 3 in space, such that the balanced sum of
 * densities is as near as possible to 1 / sqrt(4 pi) in the mask: multi-tissue log-domain normalisation (Raffelt et al.
 * 2017; Dhollander et al. 2021), MRtrix3's mtnormalise. In place; field may be NULL, else it gets the field on the
 * whole grid. GLS_ERR_INPUT if the mask holds fewer voxels with a signal than the polynomial has terms. */
GLS_API gls_status gls_normalise(gls_image *const *tissue, size_t n_tissues, const gls_image *mask, gls_image **field,
                                 gls_normalise_result *result);

/* Estimates a mask of the brain, one volume of 0 and 1, as dwi2mask legacy of MRtrix3: voxels in which the mean of a
 * shell lies above the optimal threshold of this mean, smoothed; of these the largest component, without holes and
 * without parts connected by a thin bridge. Warns if the mask is less than 2 % or more than 90 % of the grid. Where no
 * threshold divides the means, the mask is, with a warning, all voxels with a signal. GLS_ERR_INPUT if no voxel has a
 * signal. */
GLS_API gls_status gls_mask_estimate(const gls_image *dwi, const gls_gradients *gradients, gls_image **mask);

/* Region for seeds: voxels of the mask in which the first tissue, white matter, has more than half of the sum of the
 * first volumes. */
GLS_API gls_status gls_seed_region_of_tissues(const gls_image *const *tissue, size_t n_tissues, const gls_image *mask,
                                              gls_image **region);
/* Region for seeds: voxels of the mask with FA above the threshold (0 <= threshold < 1). The mask is eroded once,
 * unless the grid has at most two voxels along an axis. */
GLS_API gls_status gls_seed_region_of_fa(const gls_image *fa, double threshold, const gls_image *mask,
                                         gls_image **region);

#ifdef __cplusplus
}
#endif
#endif
