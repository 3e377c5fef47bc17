/* A small scene for weights by the signal: a series, peaks and streamlines, all by formulas. Include after cmocka.h. */
#ifndef GLS_TEST_SIGNAL_SCENE_H
#define GLS_TEST_SIGNAL_SCENE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "weights/signal_fit.h"

enum { SIDE = 6, VOXELS = SIDE * SIDE * SIDE, VOLUMES = 14, LINES = 12, POINTS = 20 };

/* A series of voxels of 2 mm, its table, a peak in each voxel, and streamlines, all by formulas. */
typedef struct scene {
    gls_image *dwi, *peaks;
    gls_gradients *table;
    float point[LINES * POINTS][3];
    uint64_t offset[LINES + 1];
    gls_streamlines lines;
} scene;

static inline void make_lines(scene *s)
{
    for (int i = 0; i < LINES; i++)
        for (int k = 0; k < POINTS; k++) {
            const double u = k / 19.0;
            const double p[3] = {-5 + 10 * u + 0.3 * sin(i + 3 * u), 3 * sin(0.7 * i) + u * cos(1.3 * i) * 2,
                                 3 * cos(1.1 * i) + u * sin(2.1 * i) * 2};
            static const int order[3][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}};
            for (int a = 0; a < 3; a++) s->point[i * POINTS + k][a] = (float)p[order[i % 3][a]];
        }
    for (int i = 0; i <= LINES; i++) s->offset[i] = (uint64_t)(i * POINTS);
    s->lines = (gls_streamlines){.n = LINES, .offset = s->offset, .point = (const float(*)[3])s->point};
}

static inline void make_scene(scene *s)
{
    static const double affine[3][4] = {{2, 0, 0, -5}, {0, 2, 0, -5}, {0, 0, 2, -5}};
    gls_grid grid;
    double bval[VOLUMES], bvec[VOLUMES][3];
    assert_ok(gls_grid_init(&grid, (const int32_t[]){SIDE, SIDE, SIDE}, affine));
    for (int t = 0; t < VOLUMES; t++) {
        bval[t] = t < 2 ? 0 : t < 8 ? 1000 : 2500;
        const double g[3] = {sin(1 + t * 1.7), cos(t * 0.9), sin(t * 2.3 + 0.4)};
        const double norm = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int a = 0; a < 3; a++) bvec[t][a] = t < 2 ? 0 : g[a] / norm;
    }
    gls_gradients_options o = gls_gradients_options_default();
    o.frame = GLS_BVEC_IMAGE;
    assert_ok(gls_gradients_create(bval, (const double(*)[3])bvec, VOLUMES, &o, &grid, &s->table));
    assert_ok(gls_image_create(&grid, VOLUMES, &s->dwi));
    assert_ok(gls_image_create(&grid, 3, &s->peaks));
    for (int t = 0; t < VOLUMES; t++)
        for (int q = 0; q < VOXELS; q++)
            s->dwi->data[t * VOXELS + q] =
                (float)(1000 * exp(-bval[t] * (0.4e-3 + 1e-3 * (0.5 + 0.5 * sin(0.37 * q + 1.9 * t)))));
    for (int q = 0; q < VOXELS; q++) {
        s->peaks->data[q] = (float)sin(q * 0.5);
        s->peaks->data[VOXELS + q] = (float)cos(q * 0.8);
        s->peaks->data[2 * VOXELS + q] = 0.3f;
    }
    make_lines(s);
}

static inline void free_scene(scene *s)
{
    gls_image_destroy(s->dwi);
    gls_image_destroy(s->peaks);
    gls_gradients_destroy(s->table);
}

static inline gls_signal_options tight(void)
{
    gls_signal_options o = gls_signal_options_default();
    o.solver.tol_fun = 1e-4;
    o.solver.tol_x = 1e-9;
    o.solver.max_iters = 300;
    return o;
}

/* Appends the streamlines of the scene, `block` at a time, and solves on n devices, or on the CPU if n is 0. */
static inline gls_status fit_on(scene *s, const gls_signal_options *o, const uint64_t *group, size_t block,
                                gls_device *const *devices, size_t n_devices, gls_signal *signal)
{
    const gls_signal_source source = {.name = "scene", .table = s->table, .peaks = s->peaks, .peaks_ratio = 0.1};
    gls_status status = gls_signal_begin(signal, o, &source, s->dwi, NULL);
    const gls_sink sink = gls_signal_sink(signal);
    for (size_t i = 0; i < LINES && !status; i += block) {
        uint64_t offset[LINES + 1];
        const size_t n = LINES - i < block ? LINES - i : block;
        for (size_t k = 0; k <= n; k++) offset[k] = s->offset[i + k] - s->offset[i];
        const gls_streamlines part = {.n = n, .offset = offset, .point = s->lines.point + s->offset[i]};
        status = gls_sink_append(&sink, &part);
    }
    if (!status && group) status = gls_signal_set_groups(signal, group, LINES);
    return status ? status : gls_signal_end(signal, devices, n_devices);
}

static inline gls_status fit(scene *s, const gls_signal_options *o, const uint64_t *group, size_t block,
                             gls_signal *signal)
{
    return fit_on(s, o, group, block, NULL, 0, signal);
}

#endif
