/* Nonlinear registration by one stationary velocity field. */
#ifndef GLS_REGISTRATION_VELOCITY_H
#define GLS_REGISTRATION_VELOCITY_H

#include <glslines/device.h>

#include "registration/velocity_parts.h"
#include "util/status.h"

/* Images that are compared. */
typedef struct gls_velocity_channel {
    const gls_level *fixed, *moving;
    double weight; /* weights of all channels add up to 1 */
} gls_velocity_channel;

typedef struct gls_velocity_level {
    double voxel; /* mm */
    int iterations;
    double first, last; /* cost: mean squared correlation, or mean squared difference */
} gls_velocity_level;

/* A field on a grid of the fixed image. */
typedef struct gls_velocity {
    gls_grid grid;
    float *v; /* three planes: velocity in voxels along x, y and z */
    size_t n_levels;
    gls_velocity_level level[GLS_VELOCITY_LEVELS];
} gls_velocity;

/* Aligns the moving to the fixed image, on a device, or if it is NULL on the CPU. map: takes points of the fixed to the
 * moving image, world mm, after the field. */
gls_status gls_velocity_register(const gls_velocity_channel *channel, size_t n_channels, const double map[3][4],
                                 const gls_velocity_options *options, gls_device *device, const gls_go_on *go_on,
                                 gls_velocity *result);
void gls_velocity_finish(gls_velocity *velocity);

#endif
