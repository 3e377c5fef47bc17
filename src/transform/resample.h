/* Images of the moving space on a grid of the fixed space. */
#ifndef GLS_TRANSFORM_RESAMPLE_H
#define GLS_TRANSFORM_RESAMPLE_H

#include "transform/transform.h"

typedef enum gls_resampling { GLS_RESAMPLE_NEAREST, GLS_RESAMPLE_LINEAR, GLS_RESAMPLE_LABEL } gls_resampling;

/* Whether all values are whole numbers from 0 on, at most 4096 different ones, and the largest is above 1: labels. */
bool gls_image_has_labels(const gls_image *image);
/* Makes an image on `grid` with the values of `moving` at the places to which the transform maps the centres of voxels.
 * GLS_RESAMPLE_LINEAR: trilinear. GLS_RESAMPLE_LABEL: the label with the largest share of the eight voxels around, of
 * equal shares the lowest. Where the voxels of `grid` are more than 1.5 times as long, both take the mean, or the
 * votes, of n points along each axis. fill: value outside the moving image and the fields. *n_outside: number of such
 * voxels. */
gls_status gls_image_resample(const gls_image *moving, const gls_transform *transform, const gls_grid *grid,
                              gls_resampling how, float fill, gls_image **made, uint64_t *n_outside);

#endif
