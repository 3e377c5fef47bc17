/* Values between voxels by cubic B-splines, which pass through the values of the voxels. */
#ifndef GLS_TRANSFORM_SPLINE_H
#define GLS_TRANSFORM_SPLINE_H

#include <glslines/image.h>

/* The 64 voxels around a place, 4 along each axis: how far they lie from the first voxel of a volume, and their
 * weights.
 */
typedef struct gls_spline_place {
    size_t offset[3][4];
    double weight[3][4];
} gls_spline_place;

/* Makes an image of the coefficients of the splines, in the scale that gls_spline_value() takes, volume by volume;
 * beyond its border an image goes on as its mirror image. All values have to be finite. */
gls_status gls_spline_coefficients(const gls_image *image, gls_image **coefficients);
/* Finds the voxels around a place in voxel coordinates, each from 0 to dim - 1. */
void gls_spline_place_init(const int32_t dim[3], const double at[3], gls_spline_place *place);
/* Value at a place, at least the smallest and at most the largest of the 64 values around. volume: values;
 * coefficients: those of this volume. */
double gls_spline_value(const gls_spline_place *place, const float *volume, const float *coefficients);

#endif
