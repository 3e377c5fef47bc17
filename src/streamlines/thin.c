/* Chooses which points of a streamline stay when points are removed. */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "streamlines/thin.h"

/* Distance of two points, mm. */
static double distance(const float a[3], const float b[3])
{
    double square = 0;
    for (int r = 0; r < 3; r++) square += ((double)b[r] - a[r]) * ((double)b[r] - a[r]);
    return sqrt(square);
}

/* Distance of p from the line through a and b, or from a if a equals b. */
static double distance_to_line(const float *a, const float *b, const float *p)
{
    double d[3], v[3], cross = 0, length = 0;
    for (int r = 0; r < 3; r++) {
        d[r] = (double)b[r] - a[r];
        v[r] = (double)p[r] - a[r];
        length += d[r] * d[r];
    }
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        double x = d[s] * v[t] - d[t] * v[s];
        cross += x * x;
    }
    return length > 0 ? sqrt(cross / length) : distance(a, p);
}

/* Whether the points between a and b can be removed: they lie within `tolerance` of the line through a and b, and a and
 * b are at most max_segment apart, mm. */
static bool is_straight(const float (*point)[3], size_t a, size_t b, double tolerance, double max_segment)
{
    if (distance(point[a], point[b]) > max_segment) return false;
    for (size_t p = a + 1; p < b; p++)
        if (!(distance_to_line(point[a], point[b], point[p]) <= tolerance)) return false;
    return true;
}

size_t gls_points_compress(const float (*point)[3], size_t n, double tolerance, double max_segment, size_t *kept)
{
    size_t n_kept = 0;
    for (size_t p = 0; p < n; p++) {
        bool end = p == 0 || p + 1 == n;
        if (end || !is_straight(point, kept[n_kept - 1], p + 1, tolerance, max_segment)) kept[n_kept++] = p;
    }
    return n_kept;
}

size_t gls_points_downsample(size_t n, size_t factor, size_t fixed, size_t *kept)
{
    /* the first point between the ends whose distance from `fixed` is a multiple of factor */
    size_t n_kept = 0, first = factor > 0 && fixed > 0 ? (fixed - 1) % factor + 1 : factor;
    if (n > 0) kept[n_kept++] = 0;
    for (size_t p = first; p > 0 && p + 1 < n; p += factor) kept[n_kept++] = p;
    if (n > 1) kept[n_kept++] = n - 1;
    return n_kept;
}
