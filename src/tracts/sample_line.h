/* Fast linear interpolation of an image at the points of a streamline, for the common case of points well inside. */
#ifndef GLS_TRACTS_SAMPLE_LINE_H
#define GLS_TRACTS_SAMPLE_LINE_H

#include <glslines/image.h>

/* Values of an image of one volume at n points, world mm: trilinear; NaN if one of the eight voxels is outside or not
 * finite. Where this gives NaN, the caller samples the point again with slower code, which handles edges and values
 * that are not finite. */
void gls_sample_line(const gls_image *image, const double world_to_voxel[3][4], const float (*point)[3], size_t n,
                     double *value);
/* weight[i]: half of the sum of the lengths of the steps before and after point i, mm. Returns the length of all steps.
 * n >= 1. */
double gls_sample_steps(const float (*point)[3], size_t n, double *weight);

#endif
