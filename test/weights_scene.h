/* A small scene for weights: two bundles that cross, as FODs and as streamlines, one with three times the streamlines
 * of the other. Include after cmocka.h. */
#ifndef GLS_TEST_WEIGHTS_SCENE_H
#define GLS_TEST_WEIGHTS_SCENE_H

#include <glslines/sh.h>
#include <glslines/weights.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"

enum { SCENE_SIDE = 12, SCENE_ORDER = 8, SCENE_COEFFICIENTS = 45, SCENE_LINES = 400, SCENE_POINTS = 24 };

/* Sets the coefficients of a lobe along d with this integral: cos^8, fitted on many directions. */
static inline void scene_lobe(const double d[3], double integral, double *sh)
{
    enum { SAMPLES = 2000 };
    static double basis[SAMPLES][SCENE_COEFFICIENTS];
    static double direction[SAMPLES][3];
    static bool made;
    for (int i = 0; i < SAMPLES && !made; i++) {
        double z = 1 - (2 * i + 1.0) / SAMPLES, r = sqrt(1 - z * z), phi = i * M_PI * (3 - sqrt(5));
        direction[i][0] = r * cos(phi);
        direction[i][1] = r * sin(phi);
        direction[i][2] = z;
    }
    if (!made)
        assert_ok(gls_sh_matrix(GLS_SH_TOURNIER07, SCENE_ORDER, (const double(*)[3])direction, SAMPLES, basis[0]));
    made = true;
    for (int i = 0; i < SAMPLES; i++) {
        double dot = direction[i][0] * d[0] + direction[i][1] * d[1] + direction[i][2] * d[2];
        double f = pow(dot, 8) * integral * 9 / (4 * M_PI);
        for (int j = 0; j < SCENE_COEFFICIENTS; j++) sh[j] += f * basis[i][j] * 4 * M_PI / SAMPLES;
    }
}

static inline gls_image *scene_fods(void)
{
    static const double affine[3][4] = {{-2, 0, 0, 22}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    const int32_t dim[3] = {SCENE_SIDE, SCENE_SIDE, SCENE_SIDE};
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    gls_grid grid;
    gls_image *image;
    assert_ok(gls_grid_init(&grid, dim, affine));
    assert_ok(gls_image_create(&grid, SCENE_COEFFICIENTS, &image));
    size_t n = gls_grid_voxels(&grid);
    for (size_t v = 0; v < n; v++) {
        int at[3] = {(int)(v % SCENE_SIDE), (int)(v / SCENE_SIDE % SCENE_SIDE), (int)(v / SCENE_SIDE / SCENE_SIDE)};
        double sh[SCENE_COEFFICIENTS] = {0};
        bool along_x = abs(at[1] - 6) < 3 && abs(at[2] - 6) < 3, along_y = abs(at[0] - 6) < 3 && abs(at[2] - 6) < 3;
        if (along_x) scene_lobe(x, 0.8, sh);
        if (along_y) scene_lobe(y, 0.6, sh);
        for (size_t j = 0; j < SCENE_COEFFICIENTS; j++) image->data[j * n + v] = (float)sh[j];
    }
    return image;
}

/* Makes curves along the two bundles, three along x for one along y. */
typedef struct scene_lines {
    uint64_t offset[SCENE_LINES + 1];
    float point[SCENE_LINES * SCENE_POINTS][3];
    gls_streamlines lines;
} scene_lines;

static inline scene_lines *scene_streamlines(void)
{
    scene_lines *s = calloc(1, sizeof *s);
    uint64_t random = 7;
    for (size_t i = 0; i < SCENE_LINES; i++) {
        double a = random_uniform(&random, 8, 16), b = random_uniform(&random, 8, 16),
               bend = random_uniform(&random, -2, 2);
        int axis = i % 4 == 3;
        for (size_t k = 0; k < SCENE_POINTS; k++) {
            float *p = s->point[i * SCENE_POINTS + k];
            double t = (double)k / (SCENE_POINTS - 1);
            p[axis] = (float)(24 * t - 0.7);
            p[1 - axis] = (float)(a + bend * t * (1 - t));
            p[2] = (float)b;
        }
        s->offset[i + 1] = (i + 1) * SCENE_POINTS;
    }
    s->lines = (gls_streamlines){.n = SCENE_LINES, .offset = s->offset, .point = (const float(*)[3])s->point};
    return s;
}

/* Computes the weights of the scene on n devices, or on the CPU. */
static inline gls_weights *scene_solve(const gls_fixels *fixels, const gls_weights_options *options,
                                       const gls_streamlines *lines, gls_device *const *devices, size_t n)
{
    gls_weights *w;
    assert_ok(gls_weights_create(fixels, options, &w));
    assert_ok(gls_weights_set_walk(w, 5, GLS_WALK_CURVE));
    gls_sink sink = gls_weights_sink(w);
    assert_ok(gls_sink_append(&sink, lines));
    assert_ok(gls_weights_solve(w, devices, n, NULL, NULL));
    return w;
}

#endif
