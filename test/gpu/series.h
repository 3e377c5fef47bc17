/* Small diffusion series made by hand: fibres and stop map are functions of the place. Include after gpu.h. */
#ifndef GLS_TEST_SERIES_H
#define GLS_TEST_SERIES_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/qball.h>
#include <glslines/seeds.h>
#include <glslines/sphere.h>
#include <glslines/track.h>

#include "gpu.h"

#define SERIES_B0 3
#define SERIES_DIRECTIONS 64
#define SERIES_VOLUMES (SERIES_B0 + SERIES_DIRECTIONS)

/* Unit directions (along the voxel axes) of the fibres at voxel coordinates p, at most two; returns how many. *stop
 * gets the stop map's value. */
typedef int (*fibre_field)(const gls_grid *grid, const double p[3], double direction[2][3], double *stop);

typedef struct series {
    gls_image *dwi, *stop;
    gls_gradients *gradients;
    gls_sphere *sphere;
} series;

static inline double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void unit3(double v[3])
{
    double s = 1 / sqrt(dot3(v, v));
    for (int a = 0; a < 3; a++) v[a] *= s;
}

/* A fibre that waves along x in all of the volume, crossed by an upright one in a middle part; the stop map falls to
 * the sides. */
static inline int waves(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    double y = (p[1] / grid->dim[1] - 0.5) * 2;
    direction[0][0] = 1, direction[0][1] = 0.8 * cos(0.5 * p[0]), direction[0][2] = 0.3 * y;
    direction[1][0] = 0.1, direction[1][1] = 0.2 * y, direction[1][2] = 1;
    unit3(direction[0]);
    unit3(direction[1]);
    *stop = 0.9 - 0.4 * y * y;
    return p[0] > 4 && p[0] < 9 ? 2 : 1;
}

/* Returns spiral points on the half sphere. */
static inline gls_gradients *series_gradients(double bvalue)
{
    double bval[SERIES_VOLUMES] = {0}, bvec[SERIES_VOLUMES][3] = {{0}};
    for (int i = 0; i < SERIES_DIRECTIONS; i++) {
        double z = 1 - (i + 0.5) / SERIES_DIRECTIONS, r = sqrt(1 - z * z), *v = bvec[SERIES_B0 + i];
        v[0] = r * cos(i * 2.39996322972865332);
        v[1] = r * sin(i * 2.39996322972865332);
        v[2] = z;
        bval[SERIES_B0 + i] = bvalue;
    }
    gls_gradients_options options = gls_gradients_options_default();
    options.frame = GLS_BVEC_IMAGE;
    gls_gradients *gradients = NULL;
    assert_ok(gls_gradients_create(bval, (const double(*)[3])bvec, SERIES_VOLUMES, &options, NULL, &gradients));
    return gradients;
}

/* Returns the signal of sticks with a little radial diffusion, and a third of free water. */
static inline double series_signal(const double g[3], double b, const double (*direction)[3], int n, double s0)
{
    double signal = 0;
    for (int f = 0; f < n; f++) {
        double c = dot3(g, direction[f]);
        signal += exp(-b * (0.0003 + 0.0014 * c * c)) / n;
    }
    return s0 * (n > 0 ? 0.75 * signal + 0.25 * exp(-b * 0.001) : exp(-b * 0.0008));
}

/* Makes the series. snr: of the b0 signal, 0: no noise. Directions of the default sphere if sphere is NULL. */
static inline void series_create(series *s, const int dim[3], const double affine[3][4], fibre_field field, double b,
                                 double snr, const char *sphere, uint64_t seed)
{
    gls_grid grid;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){dim[0], dim[1], dim[2]}, affine));
    assert_ok(gls_image_create(&grid, SERIES_VOLUMES, &s->dwi));
    assert_ok(gls_image_create(&grid, 1, &s->stop));
    assert_ok(gls_sphere_create(sphere ? sphere : "default", &s->sphere));
    s->gradients = series_gradients(b);
    size_t voxels = gls_grid_voxels(&grid), v = 0;
    for (int z = 0; z < dim[2]; z++)
        for (int y = 0; y < dim[1]; y++)
            for (int x = 0; x < dim[0]; x++, v++) {
                double direction[2][3], stop = 0, s0 = 800 + 300 * sin(0.7 * x + 0.4 * y) * cos(0.5 * z);
                int n = field(&grid, (const double[3]){x, y, z}, direction, &stop);
                s->stop->data[v] = (float)stop;
                for (size_t t = 0; t < SERIES_VOLUMES; t++) {
                    double signal = series_signal(s->gradients->bvec[t], s->gradients->bval[t],
                                                  (const double(*)[3])direction, n, s0);
                    if (snr > 0)
                        signal = hypot(signal + 1000 / snr * random_normal(&seed), 1000 / snr * random_normal(&seed));
                    s->dwi->data[t * voxels + v] = (float)signal;
                }
            }
}

static inline void series_destroy(series *s)
{
    gls_image_destroy(s->dwi);
    gls_image_destroy(s->stop);
    gls_gradients_destroy(s->gradients);
    gls_sphere_destroy(s->sphere);
    *s = (series){0};
}

static inline gls_qball *series_qball(const series *s, gls_qball_model model, int order)
{
    gls_qball_options options = gls_qball_options_default();
    options.model = model;
    options.sh_order = order;
    gls_qball *qball = NULL;
    assert_ok(gls_qball_create(s->gradients, &options, GLS_SHELLS_ANY, &qball));
    return qball;
}

static inline gls_track_input series_input(const series *s, const gls_qball *qball)
{
    return (gls_track_input){
        .dwi = s->dwi, .gradients = s->gradients, .qball = qball, .stop_map = s->stop, .sphere = s->sphere};
}

/* Returns an affine with these voxel sizes, turned about two axes and off the origin. */
static inline void oblique_affine(const double size[3], double affine[3][4])
{
    double a = 0.4, b = -0.25;
    const double r[3][3] = {
        {cos(a), -sin(a) * cos(b), sin(a) * sin(b)}, {sin(a), cos(a) * cos(b), -cos(a) * sin(b)}, {0, sin(b), cos(b)}};
    const double origin[3] = {-31, 17, 5};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) affine[i][k] = r[i][k] * size[k];
        affine[i][3] = origin[i];
    }
}

#endif
