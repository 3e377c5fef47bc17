/* A head made of formulas for tests of registration: an ellipsoid with layers, ventricles that differ in size, and
 * faint waves inside, in two contrasts; and smooth maps of its points. */
#ifndef GLS_TEST_HEAD_SCENE_H
#define GLS_TEST_HEAD_SCENE_H

#include <math.h>
#include <stdlib.h>

#include <glslines/image.h>

/* Returns the value at a point, mm. other: a second contrast, whose values are no linear function of those of the
 * first. */
static inline double head_value(const double p[3], bool other)
{
    const double q[3] = {p[0] / 66, p[1] / 84, p[2] / 62}, r = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    const double u[3] = {q[0] / fmax(r, 1e-6), q[1] / fmax(r, 1e-6), q[2] / fmax(r, 1e-6)};
    const double ripple = sin(7 * u[0] + 1) * sin(6 * u[1]) * sin(8 * u[2] + 2);
    const double left[3] = {(p[0] + 20) / 9, p[1] / 30, (p[2] - 8) / 10},
                 right[3] = {(p[0] - 18) / 11, (p[1] - 10) / 24, (p[2] - 4) / 12};
    const double waves = sin(p[0] / 3.1 + p[1] / 7) + sin(p[1] / 3.3 - p[2] / 6) + sin(p[2] / 2.9 + p[0] / 8);
    if (r > 1.1) return 0;
    if (r > 1 + 0.05 * ripple) return other ? 250 : 40;
    const bool inside = left[0] * left[0] + left[1] * left[1] + left[2] * left[2] < 1 ||
                        right[0] * right[0] + right[1] * right[1] + right[2] * right[2] < 1;
    const double tissue = inside ? 40 : r > 0.86 + 0.08 * ripple ? 100 : 150;
    return (other ? (tissue < 50 ? 250 : tissue < 120 ? 110 : 80) : tissue) + 5 * waves;
}

/* Returns where a smooth field moves a point of the fixed image: up to about `mm`. */
static inline void head_bend(const double p[3], double mm, double to[3])
{
    for (int r = 0; r < 3; r++) to[r] = p[r] + mm * sin(p[(r + 1) % 3] / 17 + r) * cos(p[(r + 2) % 3] / 23);
}

/* Makes an image of the head on a grid of n voxels of `mm` along each axis. map: takes its points to the head, fixed to
 * moving; bend: mm by which a field moves them before. */
static inline gls_image *head_image(const int32_t dim[3], double mm, const double map[3][4], double bend, bool other)
{
    gls_grid grid;
    gls_image *image = NULL;
    const double affine[3][4] = {
        {mm, 0, 0, -mm * (dim[0] - 1) / 2}, {0, mm, 0, -mm * (dim[1] - 1) / 2}, {0, 0, mm, -mm * (dim[2] - 1) / 2}};
    if (gls_grid_init(&grid, dim, affine) || gls_image_create(&grid, 1, &image)) abort();
    size_t v = 0;
    for (int z = 0; z < dim[2]; z++)
        for (int y = 0; y < dim[1]; y++)
            for (int x = 0; x < dim[0]; x++, v++) {
                double sum = 0;
                for (int k = 0; k < 8; k++) { /* the mean of eight points of the voxel */
                    double p[3] = {affine[0][3] + mm * (x + (k & 1 ? 0.25 : -0.25)),
                                   affine[1][3] + mm * (y + (k & 2 ? 0.25 : -0.25)),
                                   affine[2][3] + mm * (z + (k & 4 ? 0.25 : -0.25))},
                           q[3], m[3];
                    head_bend(p, bend, q);
                    for (int r = 0; r < 3; r++)
                        m[r] = map[r][0] * q[0] + map[r][1] * q[1] + map[r][2] * q[2] + map[r][3];
                    sum += head_value(m, other);
                }
                image->data[v] = (float)(sum / 8);
            }
    return image;
}

#endif
