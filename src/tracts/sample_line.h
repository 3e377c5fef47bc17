/* The values of an image at the points of a streamline, quickly where nothing is out of the way. */
#ifndef GLS_TRACTS_SAMPLE_LINE_H
#define GLS_TRACTS_SAMPLE_LINE_H

#include <glslines/image.h>

/* Trilinear values of an image of one volume at n points: NaN where not all eight voxels are inside, or one of them
 * holds no number. */
void gls_sample_line(const gls_image *image, const double world_to_voxel[3][4], const float (*point)[3], size_t n,
                     double *value);
/* weight[i]: half of the steps at point i, mm; returns the sum of the steps. */
double gls_sample_steps(const float (*point)[3], size_t n, double *weight);

#endif
