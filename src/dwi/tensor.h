/* Tensor fits of a whole series: the WLS fit of DIPY, and the fit of MRtrix3's dwi2tensor, also of single voxels; FA,
 * eigenvalues and maps of tensors. */
#ifndef GLS_DWI_TENSOR_H
#define GLS_DWI_TENSOR_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>

/* Eigenvalues of the symmetric matrix xx xy yy xz yz zz, largest first. */
void gls_tensor_eigenvalues(const double d[6], double evals[3]);
/* Fractional anisotropy, 0 .. 1; 0 if all eigenvalues are zero. */
double gls_tensor_fa(const double evals[3]);
/* Fits the logarithm of the signal of all volumes by weighted least squares: first with the signal as weight, then
 * twice with the prediction. fa[i], axis[i]: FA and principal eigenvector, a unit vector along the voxel axes, of
 * voxel[i]; 0 and the z axis where the fit fails. */
gls_status gls_tensor_axes(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                           float *fa, double (*axis)[3]);

#endif
