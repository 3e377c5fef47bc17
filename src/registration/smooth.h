/* Filters along one axis of an image: Gaussians, and sums over windows. */
#ifndef GLS_REGISTRATION_SMOOTH_H
#define GLS_REGISTRATION_SMOOTH_H

#include <stdbool.h>
#include <stdint.h>

/* Largest number of taps on one side, that of a standard deviation of 16 voxels. */
#define GLS_SMOOTH_MOST 48

/* Weights of a filter: weight[radius + k] is that of the neighbour k steps away. */
typedef struct gls_smooth_taps {
    int radius;
    float weight[2 * GLS_SMOOTH_MOST + 1];
} gls_smooth_taps;

/* Returns the taps of a Gaussian, out to three standard deviations. sd: standard deviation in voxels, at most 16; 0:
 * the only tap is 1. */
gls_smooth_taps gls_smooth_gauss(double sd);
/* Returns 2 * radius + 1 taps of 1. */
gls_smooth_taps gls_smooth_window(int radius);
/* Filters a volume along an axis. Neighbours outside of the image are left out; normalised: the sum is divided by the
 * weights that are left. out must not be in. */
void gls_smooth_axis(const float *in, const int32_t dim[3], int axis, const gls_smooth_taps *taps, bool normalised,
                     float *out);

#endif
