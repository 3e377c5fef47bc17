/* Arithmetic on the points of streamlines, compiled for several instruction sets. Points are arrays of coordinates: x
 * of all points, then y, then z, each padded with zeros to a multiple of GLS_POINT_LANES. */
#ifndef GLS_GEOMETRY_KERNELS_H
#define GLS_GEOMETRY_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Coordinates of one axis are padded to a multiple of this number. */
#define GLS_POINT_LANES 8
/* Coordinates, mm, at which no point lies. */
#define GLS_POINT_FAR 1e15f
/* Elements that gls_points_parts() writes. */
enum { GLS_PARTS = 3 * GLS_POINT_LANES };
/* Largest number of points to which streamlines are resampled for a distance. */
#define GLS_MAX_POINTS 256

/* Elements of one axis for this number of points. */
static inline size_t gls_point_pad(size_t points)
{
    return (points + GLS_POINT_LANES - 1) / GLS_POINT_LANES * GLS_POINT_LANES;
}

/* Returns by how many mm a distance in float32 may differ from that in double. No coordinate exceeds `extent`. */
static inline float gls_distance_slack(float extent)
{
    return 1e-3f + 1e-5f * extent;
}

/* Functions for one instruction set. Only the results of both() depend on it. */
typedef struct gls_geometry_kernel {
    /* square[i]: square of the distance of position i from q. */
    void (*gaps)(const float *x, const float *y, const float *z, size_t n, const float q[3], float *square);
    /* Lists the positions within a distance of q, by its square, ascending. hit, square: n elements, get the numbers
     * and squared distances of those listed. Returns their number. */
    size_t (*near)(const float *x, const float *y, const float *z, size_t n, const float q[3], float limit,
                   uint32_t *hit, float *square);
    /* Mean distances of the points of `a` from those of b and of c, in float32, within gls_distance_slack(). */
    void (*both)(const float *a, const float *b, const float *c, size_t points, size_t pad, float *ab, float *ac);
    /* A lower bound of the lesser of these two distances, from gls_points_parts() of a, twice, and of b and c. */
    float (*parts)(const float *a, const float *b);
    /* Distances of the points of a from the nearest points of b: their mean there[0] and the largest there[1]; back:
     * the same of the points of b from those of a. The padding of b lies at GLS_POINT_FAR. */
    void (*nearest)(const float *a, const float *b, size_t points, size_t pad, float there[2], float back[2]);
    /* Mean or, with `largest`, largest distance of the points of a from the nearest points of b, in double. */
    double (*from_nearest)(const float *a, const float *b, size_t points, size_t pad, bool largest);
    /* Mean and largest distance of the points of a from a box. */
    void (*outside)(const float *a, const float low[3], const float high[3], size_t points, size_t pad, float gap[2]);
    /* Mean distance of the points of a from those of b, as QuickBundles computes it: differences in float32, all else
     * in double, points added in order. */
    double (*exact)(const float *a, const float *b, size_t points, size_t pad);
    /* Sums of the distances of the points of a from those of b and of c, added in order. */
    void (*senses)(const double *a, const double *b, const double *c, size_t points, size_t pad, double sum[2]);
    /* Applies a matrix and then a shift to points; float32 copies besides. Returns the sum of the distances of the
     * points from what `to` held before. */
    double (*move)(const double *from, const double m[3][3], const double shift[3], size_t points, size_t pad,
                   double *to, float *copy);
    /* Adds weight times the derivative of the mean distance of moved points from fixed ones: sum[0] by a shift, sum[1 +
     * j][i] by element i, j of a matrix that moves the points `from`. The last element of each row is not used. */
    void (*pull)(const double *fixed, const double *moved, const double *from, size_t points, size_t pad, double weight,
                 double sum[4][4]);
    /* Lists the k for which bound[k] is at most far + total[k] or reach[k], ascending. hit: n + 1 elements. Returns
     * their number. */
    size_t (*within)(const float *bound, const float *total, const float *reach, size_t n, float far, uint32_t *hit);
    /* c = (c * n + x) / (n + 1), each step rounded to float32; `count` elements. */
    void (*grow)(float *c, const float *x, float n, size_t count);
    /* hit[i]: whether the box of middle mid[k][i] and half sides half[k][i] along axis k overlaps a box that is widened
     * by `wide` on each side, with the roundings of QuickBundlesX. */
    void (*boxes)(const float *const mid[3], const float *const half[3], size_t n, const float own_mid[3],
                  const float own_half[3], float wide, uint8_t *hit);
} gls_geometry_kernel;

/* The functions for this processor. */
const gls_geometry_kernel *gls_geometry_kernels(void);

/* Sums of the coordinates of each quarter of the points, divided by the number of all points: four of x, then the four
 * of the other array, and so on for y and z. The mean distance of two point sets is at least the sum of the distances
 * of such quarters. x: one point set, y: another one of as many points, such as its reverse. */
void gls_points_parts(const float *x, const float *y, size_t points, size_t pad, float part[GLS_PARTS]);

/* Mean of the points. */
void gls_points_mean(const float *a, size_t points, size_t pad, float mean[3]);

/* Largest of n coordinates in size; not finite where one of them is not. */
float gls_points_extent(const float *at, size_t n);

#endif
