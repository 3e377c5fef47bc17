/* Arithmetic on the points of streamlines, compiled for several instruction sets. Points are arrays of coordinates: x
 * of all points, then y, then z, each padded with zeros to a multiple of GLS_POINT_LANES. */
#ifndef GLS_GEOMETRY_KERNELS_H
#define GLS_GEOMETRY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Coordinates of one axis are padded to a multiple of this number. */
#define GLS_POINT_LANES 8
/* Largest number of points to which streamlines are resampled for a distance. */
#define GLS_MAX_POINTS 256

/* Elements of one axis for this number of points. */
static inline size_t gls_point_pad(size_t points)
{
    return (points + GLS_POINT_LANES - 1) / GLS_POINT_LANES * GLS_POINT_LANES;
}

/* How far a distance in float32 may lie from that in double, mm, where no coordinate exceeds `extent`. */
static inline float gls_distance_slack(float extent)
{
    return 1e-3f + 1e-5f * extent;
}

/* Functions for one instruction set. The results of mean() and exact() do not depend on it. */
typedef struct gls_geometry_kernel {
    /* square[i]: square of the distance of position i from q. */
    void (*gaps)(const float *x, const float *y, const float *z, size_t n, const float q[3], float *square);
    /* Mean distances of the points of `a` from those of b and of c, in float32, within gls_distance_slack(). */
    void (*both)(const float *a, const float *b, const float *c, size_t points, size_t pad, float *ab, float *ac);
    /* Mean distance of the points of a from those of b, as QuickBundles computes it: differences in float32, all else
     * in double, points added in order. */
    double (*exact)(const float *a, const float *b, size_t points, size_t pad);
    /* c = (c * n + x) / (n + 1), each step rounded to float32; `count` elements. */
    void (*grow)(float *c, const float *x, float n, size_t count);
    /* hit[i]: whether the box of middle mid[k][i] and half sides half[k][i] along axis k overlaps a box that is widened
     * by `wide` on each side, with the roundings of QuickBundlesX. */
    void (*boxes)(const float *const mid[3], const float *const half[3], size_t n, const float own_mid[3],
                  const float own_half[3], float wide, uint8_t *hit);
} gls_geometry_kernel;

/* The functions for this processor. */
const gls_geometry_kernel *gls_geometry_kernels(void);

/* Mean of the points. */
void gls_points_mean(const float *a, size_t points, size_t pad, float mean[3]);

#endif
