/* A smooth field over an image: cosines of half waves of 60 mm and longer along each axis, fitted by weighted least
 * squares. The constant is left out. */
#ifndef GLS_ANAT_BIAS_H
#define GLS_ANAT_BIAS_H

#include <glslines/image.h>

/* The functions on one grid. All zero is empty. */
typedef struct gls_bias {
    int32_t dim[3];
    int n[3];         /* number of cosines along each axis */
    double *basis[3]; /* basis[a][i * n[a] + k]: cosine k at place i; owned */
} gls_bias;

gls_status gls_bias_init(gls_bias *bias, const gls_grid *grid);
/* Fits the field to values with these weights, and stores it at all voxels, also where the weight is 0. The result does
 * not depend on the number of threads. */
gls_status gls_bias_fit(const gls_bias *bias, const float *value, const float *weight, float *field);
void gls_bias_finish(gls_bias *bias);

#endif
