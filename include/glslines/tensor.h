/* Diffusion tensor by weighted least squares (Basser et al. 1994; weights as in Chung et al. 2006), and fractional
 * anisotropy. */
#ifndef GLSLINES_TENSOR_H
#define GLSLINES_TENSOR_H

#include <glslines/gradients.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_tensor_options {
    size_t size;       /* size of this struct, set by the default function */
    double min_signal; /* > 0; smaller values, and values that are not a number, are set to it before the logarithm;
                          default 1e-4 */
} gls_tensor_options;
GLS_API gls_tensor_options gls_tensor_options_default(void); /* also what NULL options mean */

/* Fits every voxel where mask (NULL: all) is > 0, on all cores. Outputs, each may be NULL, are new images on the
 * series' grid: fa (1 volume, 0..1, 0 outside the mask); tensor (6 volumes Dxx Dxy Dyy Dxz Dyz Dzz as fitted, mm2/s,
 * voxel axes); evals (3 volumes, descending, mm2/s, clipped from below at 1e-6 / max of the design matrix).
 * GLS_ERR_INPUT if the table cannot determine a tensor (rank below 7). Processors differ by rounding only: the
 * instruction set is chosen at run time. */
GLS_API gls_status gls_tensor_fit(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                  const gls_tensor_options *options, gls_image **fa, gls_image **tensor,
                                  gls_image **evals);

#ifdef __cplusplus
}
#endif
#endif
