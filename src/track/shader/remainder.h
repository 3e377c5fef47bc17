/* Remainders of positions, what a position has beyond its float, in units: ten bits with sign for each axis. C twin of
 * glsl/base/remainder.glsl. */
#ifndef GLS_TRACK_SHADER_REMAINDER_H
#define GLS_TRACK_SHADER_REMAINDER_H

#include <math.h>
#include <stdint.h>

#include <glslines/image.h>

/* The unit, in voxels: of the distance between two neighbouring floats at the far end of the grid the 512th part. */
static inline float gls_remainder_unit(const gls_grid *grid)
{
    int most = 1, exponent;
    for (int a = 0; a < 3; a++) most = grid->dim[a] > most ? (int)grid->dim[a] : most;
    frexp(most, &exponent);
    return ldexpf(1, exponent - 24 - 9);
}

/* The remainder along an axis that a word holds. */
static inline float gls_remainder_unpack(uint32_t word, int axis, float unit)
{
    const int n = (int)(word >> (10 * axis) & 1023);
    return unit * (float)(n > 511 ? n - 1024 : n);
}

/* Adds a step to a position whose remainder is *remainder. per_unit: 1 / unit, exact for a power of two. */
static inline void gls_remainder_step(float *position, float *remainder, float step, float unit, float per_unit)
{
    const float whole = 12582912; /* beside 3 x 2^22 a float has no fraction: the sum rounds halves to even */
    const float move = step + *remainder, sum = *position + move, rest = move - (sum - *position);
    *remainder = unit * ((rest * per_unit + whole) - whole);
    *position = sum;
}

#endif
