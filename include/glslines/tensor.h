/* Diffusion tensor by least squares of the logarithm of the signal (Basser et al. 1994), and maps of it: fractional
 * anisotropy, diffusivities, directions. */
#ifndef GLSLINES_TENSOR_H
#define GLSLINES_TENSOR_H

#include <glslines/gradients.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_tensor_method {
    GLS_TENSOR_DIPY,   /* weights from an unweighted fit (Chung et al. 2006), as the method WLS of DIPY */
    GLS_TENSOR_MRTRIX, /* weights from the signal, then twice from the fit before (Veraart et al. 2013), as dwi2tensor
                        */
    GLS_TENSOR_OLS     /* no weights, as dwi2tensor -ols -iter 0 */
} gls_tensor_method;

typedef struct gls_tensor_options {
    size_t size;       /* size of this struct, set by the default function */
    double min_signal; /* GLS_TENSOR_DIPY: smaller values, and values that are not a number, are set to this before the
                          logarithm; > 0, default 1e-4. The other methods raise values to 1e-6 of the voxel's largest */
    gls_tensor_method method; /* default GLS_TENSOR_DIPY */
} gls_tensor_options;
GLS_API gls_tensor_options gls_tensor_options_default(void); /* NULL options mean these */

/* Fits every voxel where mask (NULL: all) is > 0, on all cores. The outputs fa, tensor and evals, each of which may be
 * NULL, are new images on the series' grid: fa (1 volume, 0..1, 0 outside the mask); tensor (6 volumes Dxx Dxy Dyy Dxz
 * Dyz Dzz as fitted, mm2/s, voxel axes); evals (3 volumes, descending, mm2/s; GLS_TENSOR_DIPY clips them from below at
 * 1e-6 divided by the magnitude of the most negative entry of the design matrix, the other methods leave negative
 * eigenvalues). GLS_ERR_INPUT if the table cannot determine a tensor (rank below 7). Processors differ by rounding
 * only: the instruction set is chosen at run time. */
GLS_API gls_status gls_tensor_fit(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                  const gls_tensor_options *options, gls_image **fa, gls_image **tensor,
                                  gls_image **evals);

/* Maps of a tensor. AD: the largest eigenvalue; MD: the mean of the three eigenvalues; RD: the mean of the two smaller
 * ones. */
typedef enum gls_tensor_map {
    GLS_TENSOR_MD,  /* 1 volume, mm2/s */
    GLS_TENSOR_AD,  /* 1 volume, mm2/s */
    GLS_TENSOR_RD,  /* 1 volume, mm2/s */
    GLS_TENSOR_RGB, /* 3 volumes, 0 .. 1: |x|, |y|, |z| of V1 times FA */
    GLS_TENSOR_V1,  /* 3 volumes: eigenvector of the largest eigenvalue, length 1, voxel axes; its sign means nothing */
    GLS_TENSOR_V2,
    GLS_TENSOR_V3,
    GLS_TENSOR_N_MAPS
} gls_tensor_map;

/* Makes all maps of what gls_tensor_fit() returned, 0 outside the mask (NULL: all voxels) and where all eigenvalues are
 * 0. maps: GLS_TENSOR_N_MAPS new images, which the caller owns; NULL after a failure. Since 0.2.0. */
GLS_API gls_status gls_tensor_maps(const gls_image *tensor, const gls_image *evals, const gls_image *mask,
                                   gls_image *maps[GLS_TENSOR_N_MAPS]);

#ifdef __cplusplus
}
#endif
#endif
