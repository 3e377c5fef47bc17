/* A response from voxels whose fibres point along known directions (Smith et al. 2017, amp2response of MRtrix3). */
#ifndef GLS_DWI_AMP2RESPONSE_H
#define GLS_DWI_AMP2RESPONSE_H

#include <glslines/msmt.h>

/* Voxels and what is known of them. */
typedef struct gls_fibres {
    const size_t *voxel;     /* n of the grid */
    const double (*axis)[3]; /* n unit vectors along the voxel axes; NULL for isotropic tissues */
    size_t n;
} gls_fibres;

/* Least-squares zonal coefficients of the signal of every shell, b0 to order 0 and the others to order, such that it is
 * nowhere negative and does not fall from the fibre to the equator. only: the shell (index) alone, as a response of one
 * shell, or GLS_NO_SHELL for all. */
gls_status gls_amp2response(const gls_image *dwi, const gls_gradients *gradients, const gls_fibres *fibres, int order,
                            size_t only, gls_tissue_response **response);

#endif
