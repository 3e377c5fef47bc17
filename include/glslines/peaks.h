/* Local maxima of a function sampled on a sphere, and images of peaks. */
#ifndef GLSLINES_PEAKS_H
#define GLSLINES_PEAKS_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/sh.h>
#include <glslines/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_peak_options {
    size_t size;                 /* size of this struct, set by the default function */
    double relative_threshold;   /* threshold as a share of the range above the (non-negative) minimum, 0 .. 1; default
                                    0.25 */
    double min_separation_angle; /* degrees, 0 .. 90; default 45 */
} gls_peak_options;
GLS_API gls_peak_options gls_peak_options_default(void);

/* Finds the peaks of an ODF by the rule of DIPY's peak_directions. A vertex is a local maximum if no neighbour is
 * larger and at least one is smaller. A single local maximum is a peak. Of several local maxima, a maximum is a peak if
 * it reaches min' + relative_threshold (max - min'), where min' = max(0, minimum over all vertices), and is at least
 * the separation angle away from all stronger peaks (by |cos| on antipodal spheres). There is no peak if the largest
 * value is negative. Stores at most capacity vertex indices, strongest first, ties by index; returns how many peaks
 * there are. Values must be finite. Uses 32 KiB of stack and no heap. */
GLS_API size_t gls_peaks_find(const gls_sphere *sphere, const double *value, const gls_peak_options *options,
                              uint32_t *peak, size_t capacity);

/* An image of peaks has three volumes for each peak of a voxel: a vector along the voxel axes (not scaled by the sizes
 * of voxels), whose length is the amplitude; 0 0 0 where there is none.
 *
 * gls_peaks_append() appends the volumes of an image of peaks, whose vectors lie along the axes of `frame`, to *peaks
 * (NULL at first). A vector that is not finite, or has length 0, is not a peak. An image with four volumes for each
 * peak, a unit vector and its amplitude, as gls_phantom has it, is recognised. GLS_ERR_INPUT names the image: its
 * number of volumes is not a multiple of 3, or its grid differs from the grid of *peaks. Since 0.2.0. */
GLS_API gls_status gls_peaks_append(gls_image **peaks, const gls_image *file, const char *name, gls_bvec_frame frame);
/* Sets the amplitudes of peaks from number `first` on, one volume for each peak; where the value is not above 0 there
 * is not a peak. GLS_ERR_INPUT: another grid, or more volumes than peaks. Since 0.2.0. */
GLS_API gls_status gls_peaks_set_values(gls_image *peaks, size_t first, const gls_image *values, const char *name);
/* Finds the n largest maxima of spherical harmonics of even order in each voxel, strongest first. The maxima are above
 * 0, reach the threshold, and are at least 8 degrees apart. A voxel with a coefficient that is not finite has none.
 * GLS_ERR_INPUT: the number of volumes fits no order. Since 0.2.0. */
GLS_API gls_status gls_peaks_of_sh(const gls_image *sh, const char *name, gls_sh_basis basis, gls_bvec_frame frame,
                                   size_t n, double threshold, gls_image **peaks);
/* Fits a tensor in each voxel of the mask (NULL: all), with the default options of gls_tensor_fit(). The peak of the
 * voxel is the main axis of the tensor, as long as FA. *fa: FA, 0 outside the mask. Since 0.2.0. */
GLS_API gls_status gls_peaks_of_tensors(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                        gls_image **fa, gls_image **peaks);
/* Reads the samples of bedpostX in a folder, as peaks: for each sample its fibres, three volumes each. The mask is the
 * image at mask_path; NULL: the mask beside the samples. grid: grid on which mask and samples must lie; NULL: any.
 * grid_name: for messages. *n_samples: number of samples. GLS_ERR_INPUT names a file that is missing or has another
 * number of samples, another grid, a sample inside the mask that is not finite, or a fraction outside 0 to 1.
 * GLS_ERR_UNSUPPORTED: too many fibres. After any failure *mask and *peaks are NULL. Since 0.2.0. */
GLS_API gls_status gls_bedpostx_read(const char *folder, const char *mask_path, const gls_grid *grid,
                                     const char *grid_name, gls_image **mask, gls_image **peaks, uint32_t *n_samples);
/* Rotates an image of peaks to scanner axes, as sh2peaks of MRtrix3 writes them: NaN where there is no peak.
 * Since 0.2.0. */
GLS_API gls_status gls_peaks_to_world(gls_image *peaks);

#ifdef __cplusplus
}
#endif
#endif
