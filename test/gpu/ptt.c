/* Parallel transport tractography: its tables, then its streamlines against an independent reference in double and against what must hold for any of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"
#include "ref/ptt_scene.h"

#include <glslines/phantom.h>

static gls_device *device;

/* --- the reference's own parts, and the tables ----------------------------------------------------------------------------------------- */

/* Position, T, N, B and their derivatives along the curve. */
static void derivative(const double s[12], double k1, double k2, double d[12])
{
    for (int a = 0; a < 3; a++) {
        d[a] = s[3 + a];
        d[3 + a] = k1 * s[6 + a] + k2 * s[9 + a];
        d[6 + a] = -k1 * s[3 + a];
        d[9 + a] = -k2 * s[3 + a];
    }
}

/* Runge and Kutta's classical method. */
static void integrate(double s[12], double k1, double k2, double length, int steps)
{
    double h = length / steps, d[4][12], at[12];
    for (int i = 0; i < steps; i++) {
        derivative(s, k1, k2, d[0]);
        for (int r = 1; r < 4; r++) {
            for (int j = 0; j < 12; j++) at[j] = s[j] + (r == 3 ? h : h / 2) * d[r - 1][j];
            derivative(at, k1, k2, d[r]);
        }
        for (int j = 0; j < 12; j++) s[j] += h / 6 * (d[0][j] + 2 * d[1][j] + 2 * d[2][j] + d[3][j]);
    }
}

static double frame_error(const ptt_frame *f)
{
    const double *v[3] = {f->t, f->n, f->b};
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) worst = fmax(worst, fabs(dot3(v[i], v[j]) - (i == j)));
    double handed = 0; /* 1 if right-handed */
    for (int a = 0; a < 3; a++) handed += f->b[a] * (f->t[(a + 1) % 3] * f->n[(a + 2) % 3] - f->t[(a + 2) % 3] * f->n[(a + 1) % 3]);
    return fmax(worst, fabs(handed - 1));
}

static void random_direction(uint64_t *state, double d[3])
{
    for (int a = 0; a < 3; a++) d[a] = random_normal(state);
    unit3(d);
}

static void propagator(void **unused)
{
    (void)unused;
    static const double scales[] = {0, 1e-9, 1e-5, 1e-3, 0.05, 0.5, 4};
    uint64_t state = 3;
    double worst = 0, worst_frame = 0, worst_back = 0;
    for (int i = 0; i < 210; i++) {
        double scale = scales[i % 7], k1 = scale * random_uniform(&state, -1, 1), k2 = scale * random_uniform(&state, -1, 1), t[3], s[12] = {0}, moved[3], back[3];
        double length = random_uniform(&state, 0.001, 2);
        ptt_frame f, g;
        random_direction(&state, t);
        ptt_frame_make(t, random_uniform(&state, 0, 7), &f);
        worst_frame = fmax(worst_frame, frame_error(&f));
        memcpy(s + 3, f.t, sizeof f.t);
        memcpy(s + 6, f.n, sizeof f.n);
        memcpy(s + 9, f.b, sizeof f.b);
        integrate(s, k1, k2, length, 2000);
        ptt_propagate(&f, k1, k2, length, moved);
        for (int a = 0; a < 3; a++) {
            worst = fmax(worst, fmax(fabs(s[a] - moved[a]), fabs(s[3 + a] - f.t[a])));
            worst = fmax(worst, fmax(fabs(s[6 + a] - f.n[a]), fabs(s[9 + a] - f.b[a])));
        }
        worst_frame = fmax(worst_frame, frame_error(&f));
        /* turned about b, the arc leads back */
        for (int a = 0; a < 3; a++) g.t[a] = -f.t[a], g.n[a] = -f.n[a], g.b[a] = f.b[a];
        ptt_propagate(&g, -k1, k2, length, back);
        for (int a = 0; a < 3; a++) worst_back = fmax(worst_back, fabs(back[a] + moved[a]));
    }
    print_message("propagator: %.1e off the integrated curve, frames %.1e off orthonormal, there and back %.1e\n", worst, worst_frame, worst_back);
    assert_true(worst < 1e-9 && worst_frame < 1e-12 && worst_back < 1e-12);
}

/* Whether point d lies inside the circle through a face's corners. */
static bool in_circle(const ptt_disc *disc, size_t face, const double d[2])
{
    double m[3][3], turn;
    for (int i = 0; i < 3; i++) {
        const double *v = disc->vertex[disc->face[face][i]];
        m[i][0] = v[0] - d[0];
        m[i][1] = v[1] - d[1];
        m[i][2] = m[i][0] * m[i][0] + m[i][1] * m[i][1];
    }
    turn = (m[1][0] - m[0][0]) * (m[2][1] - m[0][1]) - (m[1][1] - m[0][1]) * (m[2][0] - m[0][0]);
    double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return determinant * (turn > 0 ? 1 : -1) > 1e-6;
}

static void disc_table(void **unused)
{
    (void)unused;
    ptt_disc disc;
    double given[PTT_DISC_MAX], total = 0, sum_given = 0, mean_square = 0;
    table_disc(&disc, given);
    size_t rim = 0;
    for (size_t v = 0; v < disc.n_vertices; v++) rim += fabs(hypot(disc.vertex[v][0], disc.vertex[v][1]) - 1) < 1e-6;
    assert_int_equal(disc.n_faces, 2 * disc.n_vertices - 2 - rim);
    for (size_t f = 0; f < disc.n_faces; f++) {
        const double *v[3];
        double area = ptt_disc_area(&disc, f), square = 0;
        for (int i = 0; i < 3; i++) v[i] = disc.vertex[disc.face[f][i]];
        /* the mean of r^2 over a triangle */
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) square += (v[i][0] * v[j][0] + v[i][1] * v[j][1]) / 6;
        total += area;
        sum_given += given[f];
        mean_square += area * square;
        for (size_t d = 0; d < disc.n_vertices; d++) assert_false(in_circle(&disc, f, disc.vertex[d]));
    }
    for (size_t f = 0; f < disc.n_faces; f++) assert_true(fabs(given[f] / sum_given - ptt_disc_area(&disc, f) / total) < 1e-6);
    mean_square /= total;
    /* a regular polygon of as many corners as the rim has: no gap and no overlap */
    double step = 2 * acos(-1.0) / (double)rim, polygon = (double)rim * sin(step) / 2;
    print_message("disc: %zu vertices, %zu faces, area %.4f of the circle's, mean r^2 %.4f\n", disc.n_vertices, disc.n_faces, total / acos(-1.0), mean_square);
    assert_true(fabs(total - polygon) < 1e-5 && fabs(mean_square - (2 + cos(step)) / 6) < 1e-5 && fabs(mean_square / 0.5 - 1) < 0.03);
}

static void nearest_table(void **unused)
{
    (void)unused;
    static const char *const names[] = {"small", "default"};
    for (int s = 0; s < 2; s++) {
        gls_sphere *sphere = NULL;
        assert_ok(gls_sphere_create(names[s], &sphere));
        size_t size, wrong = 0;
        uint32_t *map = table_nearest(sphere, &size);
        ptt_ref exact = {.sphere = sphere}, mapped = {.sphere = sphere, .nearest = map, .nearest_size = size};
        uint64_t state = 11;
        double worst = 0;
        const int n = 20000;
        for (int i = 0; i < n; i++) {
            double d[3], best = -1;
            size_t nearest = 0;
            random_direction(&state, d);
            for (size_t v = 0; v < sphere->n; v++) {
                if (fabs(dot3(sphere->vertex[v], d)) <= best) continue;
                best = fabs(dot3(sphere->vertex[v], d));
                nearest = v;
            }
            assert_int_equal(ptt_nearest(&exact, d), nearest);
            size_t given = ptt_nearest(&mapped, d);
            wrong += given != nearest;
            worst = fmax(worst, acos(fmin(1, fabs(dot3(sphere->vertex[given], d)))) - acos(fmin(1, best)));
        }
        print_message("%s sphere: the map's vertex is not the nearest for %.1f %% of directions, by %.2f degrees at most\n", names[s], 100.0 * (double)wrong / n,
                      worst * 180 / acos(-1.0));
        /* twice the way from the middle of a cell to its farthest corner */
        assert_true((double)wrong / n < 0.15 && worst * 180 / acos(-1.0) < 3);
        free(map);
        gls_sphere_destroy(sphere);
    }
}

/* --- streamlines ------------------------------------------------------------------------------------------------------------------------ */

/* A bend and a second population that crosses it; the stop map falls to the sides. */
static int bend(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3], double *stop)
{
    (void)user;
    double x = (double)voxel[0] / grid->dim[0] - 0.5, y = (double)voxel[1] / grid->dim[1] - 0.5, z = (double)voxel[2] / grid->dim[2] - 0.5;
    direction[0][0] = 1, direction[0][1] = 1.2 * x, direction[0][2] = 0.3 * y;
    direction[1][0] = 0.3 * z, direction[1][1] = 1, direction[1][2] = 0.5 * y;
    unit3(direction[0]);
    unit3(direction[1]);
    weight[1] = 0.8;
    *stop = 0.9 - 3 * (x * x * y * y + z * z) - 1.2 * y * y;
    return fabs(x) < 0.25 ? 2 : 1;
}

static gls_track_params bend_params(void)
{
    gls_track_params p = ptt_params();
    p.step_size = 0.8;
    p.ptt_substep = 0.1;
    p.probe_length = 3;
    p.probe_quality = 6;
    p.min_radius_of_curvature = 2.5;
    p.stop_threshold = 0.3;
    p.max_length = 120;
    p.max_directions_per_seed = 3;
    return p;
}

static void compare_same(const scene *s, const gls_track_params *p, size_t n_seeds, const char *what)
{
    ptt_disc disc;
    ptt_ref ref;
    double area[PTT_DISC_MAX];
    table_disc(&disc, area);
    assert_true(ptt_ref_init(&ref, p, s->odf, s->source->sphere, s->stop, &disc));
    uint32_t *map = table_nearest(s->source->sphere, &ref.nearest_size);
    ref.nearest = map;
    collection got, expected;
    gls_seeds *seeds = box_seeds(&s->stop->grid, n_seeds, 0, 5);
    uint64_t ends[GLS_END_COUNT];
    gls_track_result result = run_device(device, s, p, seeds, &got);
    run_reference(&ref, seeds, true, ends, &expected);
    print_message("ends: stop map %d outside %d no direction %d length %d; expected %d %d %d %d\n", (int)result.ends[0], (int)result.ends[1], (int)result.ends[2],
                  (int)result.ends[3], (int)ends[0], (int)ends[1], (int)ends[2], (int)ends[3]);
    assert_int_equal(result.truncated, 0);
    /* a fetch whose weights have 8 bits tips a draw now and then from one face of the disc to the next; 85 % is what such weights in the reference leave in the worst case */
    assert_true(share_equal(&got, &expected, what) >= (gls_device_get_info(device)->software ? 0.9 : 0.75));
    check_steps(&got, &s->stop->grid, p);
    for (int e = 0; e < GLS_END_COUNT; e++) assert_true(fabs((double)result.ends[e] - (double)ends[e]) <= 0.02 * 2 * (double)result.directions);
    collection_finish(&got);
    collection_finish(&expected);
    gls_seeds_destroy(seeds);
    free(map);
    ptt_ref_finish(&ref);
}

static void same_numbers_same_streamlines(void **unused)
{
    (void)unused;
    scene s;
    gls_grid grid = scene_grid(16, 14, 10, 2, 1.6, 2.5);
    scene_create(&s, &grid, bend, NULL, 12);
    gls_track_params p = bend_params();
    compare_same(&s, &p, 250, "one thread");
    p.probe_count = 3;
    p.probe_radius = 1;
    compare_same(&s, &p, 20, "three threads");
    p = bend_params();
    p.float_textures = false;
    compare_same(&s, &p, 100, "half floats");
    if (gls_device_get_info(device)->subgroup_size > 0) {
        p = bend_params();
        p.mapping = GLS_MAPPING_SUBGROUP;
        compare_same(&s, &p, 100, "a subgroup each");
    }
    /* as far as the default: the largest bend over a part of the probe */
    p = bend_params();
    p.min_radius_of_curvature = 0;
    p.max_angle = 30;
    p.pmf_threshold = 0.1;
    compare_same(&s, &p, 60, "curvature by angle");
    scene_destroy(&s);
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Ascending lengths in steps of the streamlines longer than their seed; *n their number. */
static float *sorted_lengths(const collection *c, size_t *n, double *mean)
{
    float *length = malloc((c->n + 1) * sizeof *length);
    *n = 0;
    *mean = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t steps = c->offset[i + 1] - c->offset[i] - 1;
        if (steps == 0) continue;
        length[(*n)++] = (float)steps;
        *mean += (double)steps;
    }
    *mean /= (double)*n;
    qsort(length, *n, sizeof *length, compare_floats);
    return length;
}

/* Kolmogorov and Smirnov's largest distance of two distributions. */
static double ks_distance(const float *a, size_t n, const float *b, size_t m)
{
    double worst = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        float x = fminf(a[i], b[j]);
        while (i < n && a[i] <= x) i++;
        while (j < m && b[j] <= x) j++;
        worst = fmax(worst, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return worst;
}

/* The built-in phantom's fibres; its axes lie along the world's. */
static int phantom_fibres(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3], double *stop)
{
    const gls_phantom *phantom = user;
    size_t voxels = gls_grid_voxels(grid), i = ((size_t)voxel[2] * (size_t)grid->dim[1] + (size_t)voxel[1]) * (size_t)grid->dim[0] + (size_t)voxel[0];
    int n = 0;
    *stop = phantom->tissue->data[i];
    for (size_t f = 0; f < 3; f++) {
        for (size_t a = 0; a < 3; a++) direction[n][a] = phantom->peaks->data[(4 * f + a) * voxels + i];
        weight[n] = phantom->peaks->data[(4 * f + 3) * voxels + i];
        n += weight[n] > 0;
    }
    return n;
}

static void other_numbers_same_statistics(void **unused)
{
    (void)unused;
    gls_phantom_params make = gls_phantom_params_default();
    for (int a = 0; a < 3; a++) make.voxel_size[a] = 4, make.shape[a] /= 2;
    memcpy(make.orientation, "RAS", 4);
    gls_phantom *phantom = NULL;
    assert_ok(gls_phantom_create(&make, &phantom));
    scene s;
    scene_create(&s, &phantom->dwi->grid, phantom_fibres, phantom, 15);
    gls_track_params p = ptt_params();
    gls_track_params_scale(&p, 4);
    p.ptt_substep = 1;
    p.min_radius_of_curvature = 4;
    p.stop_threshold = 0.4;
    p.max_length = 400;
    gls_seeds *seeds = NULL;
    assert_ok(gls_seeds_create_random(phantom->roi, NULL, 1500, 4, &seeds));
    ptt_disc disc;
    ptt_ref ref;
    double area[PTT_DISC_MAX], mean[2];
    size_t n[2];
    table_disc(&disc, area);
    assert_true(ptt_ref_init(&ref, &p, s.odf, s.source->sphere, s.stop, &disc)); /* and the exact nearest vertex */
    collection c[2];
    uint64_t ends[GLS_END_COUNT];
    gls_track_result result = run_device(device, &s, &p, seeds, &c[0]);
    run_reference(&ref, seeds, false, ends, &c[1]);
    assert_int_equal(result.truncated, 0);
    float *length[2];
    for (int i = 0; i < 2; i++) length[i] = sorted_lengths(&c[i], &n[i], &mean[i]);
    double median[2] = {length[0][n[0] / 2], length[1][n[1] / 2]}, ks = ks_distance(length[0], n[0], length[1], n[1]);
    print_message("phantom: %zu and %zu streamlines, mean length %.2f and %.2f mm, median %.1f and %.1f, KS %.4f\n", n[0], n[1], mean[0] * p.step_size, mean[1] * p.step_size,
                  median[0] * p.step_size, median[1] * p.step_size, ks);
    assert_true(n[0] > 1500 && fabs((double)n[0] / (double)n[1] - 1) < 0.02 && fabs(mean[0] / mean[1] - 1) < 0.03 && ks < 0.04);
    assert_true(fabs(median[0] / median[1] - 1) < 0.03 || fabs(median[0] - median[1]) <= 1);
    for (int i = 0; i < 2; i++) {
        free(length[i]);
        collection_finish(&c[i]);
    }
    gls_seeds_destroy(seeds);
    ptt_ref_finish(&ref);
    scene_destroy(&s);
    gls_phantom_destroy(phantom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(propagator),
        cmocka_unit_test(disc_table),
        cmocka_unit_test(nearest_table),
        cmocka_unit_test(same_numbers_same_streamlines),
        cmocka_unit_test(other_numbers_same_statistics),
    };
    int status;
    if (!gpu_open(NULL, &device, &status)) return status;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    if (status == 0 && gls_device_get_memory(device).allocated_bytes > 0) status = 1;
    gls_device_close(device);
    return status;
}
