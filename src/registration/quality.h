/* The result of a registration: fields in mm, and measures of how good they are. */
#ifndef GLS_REGISTRATION_QUALITY_H
#define GLS_REGISTRATION_QUALITY_H

#include "registration/velocity.h"

typedef struct gls_field_quality {
    double displacement[3]; /* median, 99th percentile and largest, mm */
    double jacobian[5];     /* smallest, 1st, 50th and 99th percentile, largest */
    double log_sd;          /* standard deviation of the logarithm of the Jacobian */
    uint64_t folded;        /* voxels whose Jacobian is not above 0 */
    double inverse[3];      /* error of the inverse at voxels that count, mm: median, 99th percentile, largest */
} gls_field_quality;

/* Makes images of displacements in RAS mm, there and back, on the grid of the velocity. */
gls_status gls_velocity_fields(const gls_velocity *velocity, gls_image **forward, gls_image **back);
/* Computes the determinants of the map x -> x + displacement at all voxels, from central differences, one-sided at the
 * border. */
gls_status gls_field_jacobian(const gls_image *field, gls_image **jacobian);
/* Measures fields at the voxels that are 1 in `mask`, which is on their grid. */
gls_status gls_field_measure(const gls_image *forward, const gls_image *back, const gls_image *jacobian,
                             const uint8_t *mask, gls_field_quality *quality);

#endif
