/* FA and direction of the tensors of some voxels, fitted as MRtrix3's dwi2tensor does. */
#ifndef GLS_DWI_TENSOR_AXES_H
#define GLS_DWI_TENSOR_AXES_H

#include <glslines/gradients.h>

/* Weighted least squares of the logarithm with the signal as weight, then twice with the prediction as weight, over all
 * volumes. fa[i] and axis[i] (unit vector along the voxel axes) of voxel[i]. */
gls_status gls_tensor_axes(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                           float *fa, double (*axis)[3]);

#endif
