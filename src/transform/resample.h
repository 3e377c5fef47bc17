/* Images of the moving space on a grid of the fixed space. */
#ifndef GLS_TRANSFORM_RESAMPLE_H
#define GLS_TRANSFORM_RESAMPLE_H

#include "transform/transform.h"

typedef enum gls_resampling {
    GLS_RESAMPLE_NEAREST,
    GLS_RESAMPLE_LINEAR,
    GLS_RESAMPLE_CUBIC,
    GLS_RESAMPLE_LABEL
} gls_resampling;

/* Whether the image holds labels: all values are whole numbers from 0 to GLS_LABEL_MAX, the largest is above 1, and
 * those up to 2^24 have at most 4096 different values. */
bool gls_image_has_labels(const gls_image *image);
/* Makes an image on `grid` with the values of `moving` at the places to which the transform maps the centres of voxels.
 * GLS_RESAMPLE_LINEAR: trilinear. GLS_RESAMPLE_CUBIC: by splines (transform/spline.h); all values of `moving` have to
 * be finite. GLS_RESAMPLE_LABEL: the label with the largest share of the eight voxels around, of equal shares the
 * lowest. Where the voxels of `grid` are more than 1.5 times as long, these take the mean, or the votes, of n points
 * along each axis. fill: value outside the moving image and the fields. *n_outside: number of such voxels. */
gls_status gls_image_resample(const gls_image *moving, const gls_transform *transform, const gls_grid *grid,
                              gls_resampling how, float fill, gls_image **made, uint64_t *n_outside);

/* Turns vectors along the world axes, such as peaks, which gls_image_resample() has brought to a grid: x, y and z of
 * each are three volumes. A direction of the moving image becomes that of the fixed image, by the inverse of the
 * derivative of the transform, and keeps its length. Vectors where the derivative is not known become NaN. */
void gls_image_turn_vectors(gls_image *image, const gls_transform *transform);

#endif
