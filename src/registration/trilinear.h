/* Values between voxels: the eight voxels around a point and their shares, in single precision. */
#ifndef GLS_REGISTRATION_TRILINEAR_H
#define GLS_REGISTRATION_TRILINEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lower voxel of eight, the steps to the upper ones, and the shares of the latter. */
typedef struct gls_corners {
    size_t voxel, step[3];
    float share[3];
} gls_corners;

/* Finds the corners around a point in voxel coordinates; beyond the outermost centres those of the nearest point. */
static inline gls_corners gls_corners_at(const int32_t dim[3], const float p[3])
{
    gls_corners c;
    size_t stride = 1;
    c.voxel = 0;
    for (int a = 0; a < 3; a++) {
        const float top = (float)(dim[a] - 1), in = p[a] > 0 ? (p[a] < top ? p[a] : top) : 0;
        int low = (int)in;
        if (low > dim[a] - 2) low = dim[a] > 1 ? dim[a] - 2 : 0;
        c.share[a] = in - (float)low;
        c.voxel += (size_t)low * stride;
        c.step[a] = dim[a] > 1 ? stride : 0;
        stride *= (size_t)dim[a];
    }
    return c;
}

static inline float gls_corners_value(const gls_corners *c, const float *data)
{
    const float *d = data + c->voxel;
    const size_t x = c->step[0], y = c->step[1], z = c->step[2];
    const float fx = c->share[0], fy = c->share[1], fz = c->share[2];
    const float low = (d[0] + fx * (d[x] - d[0])) * (1 - fy) + (d[y] + fx * (d[x + y] - d[y])) * fy,
                high = (d[z] + fx * (d[x + z] - d[z])) * (1 - fy) + (d[y + z] + fx * (d[x + y + z] - d[y + z])) * fy;
    return low + fz * (high - low);
}

/* Whether a point is at most half a voxel beyond the outermost centres. */
static inline bool gls_corners_inside(const int32_t dim[3], const float p[3])
{
    bool inside = true;
    for (int a = 0; a < 3; a++) inside &= p[a] >= -0.5f && p[a] <= (float)dim[a] - 0.5f;
    return inside;
}

#endif
