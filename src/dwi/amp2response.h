/* Estimates a response from voxels with known fibre directions (Smith et al. 2017, amp2response of MRtrix3). */
#ifndef GLS_DWI_AMP2RESPONSE_H
#define GLS_DWI_AMP2RESPONSE_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/msmt.h>

/* Voxels and their fibre directions. */
typedef struct gls_fibres {
    const size_t *voxel;     /* n indices of voxels in the grid */
    const double (*axis)[3]; /* n unit vectors along the voxel axes; NULL for isotropic tissues */
    size_t n;
} gls_fibres;

/* Computes zonal coefficients of the signal of every shell. b0, and with order 0 every shell, gets one coefficient,
 * from the mean signal. The other shells get the coefficients up to `order`, by least squares under the conditions that
 * the signal is nowhere negative and never decreases from the fibre to the equator. only: index of a shell, for a
 * response of this shell alone; GLS_NO_SHELL: all shells. */
gls_status gls_amp2response(const gls_image *dwi, const gls_gradients *gradients, const gls_fibres *fibres, int order,
                            size_t only, gls_tissue_response **response);

#endif
