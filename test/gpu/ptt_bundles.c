/* Parallel transport tractography on bundles of known shape: what must hold for any of its streamlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"
#include "ref/ptt_scene.h"

static gls_device *device;

static int straight(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                    double *stop)
{
    (void)user, (void)weight;
    double r = hypot(voxel[1] - (grid->dim[1] - 1) / 2.0, voxel[2] - (grid->dim[2] - 1) / 2.0);
    direction[0][0] = 1, direction[0][1] = 0, direction[0][2] = 0;
    *stop = 1 - r / 8;
    return r < 4.5;
}

static void straight_bundle(void **unused)
{
    (void)unused;
    scene s;
    gls_grid grid = scene_grid(36, 13, 13, 1, 1, 1);
    scene_create(&s, &grid, straight, NULL, 30);
    gls_track_params p = ptt_params();
    p.ptt_substep = 0.1;
    p.min_radius_of_curvature = 3;
    p.stop_threshold = 0.4; /* 4.8 voxels from the axis of the bundle */
    p.max_length = 100;
    double seed[30][3];
    uint64_t state = 2;
    for (int i = 0; i < 30; i++)
        for (int a = 0; a < 3; a++) seed[i][a] = a == 0 ? random_uniform(&state, 5, 30) : random_uniform(&state, 5, 7);
    gls_seeds *seeds = NULL;
    assert_ok(gls_seeds_create_list((const double(*)[3])seed, 30, GLS_SEEDS_VOXEL, &grid, &seeds));
    collection c;
    run_device(device, &s, &p, seeds, &c);
    check_steps(&c, &grid, &p);
    size_t through = 0;
    double widest = 0;
    for (size_t i = 0; i < c.n; i++) {
        const float *a = c.point[c.offset[i]], *b = c.point[c.offset[i + 1] - 1];
        through += fmin(a[0], b[0]) < 0.2 && fmax(a[0], b[0]) > grid.dim[0] - 1.2;
        for (uint64_t j = c.offset[i]; j < c.offset[i + 1]; j++)
            widest = fmax(widest, hypot(c.point[j][1] - 6.0, c.point[j][2] - 6.0));
    }
    print_message("straight bundle: %zu of %zu go through, %.2f voxels off the axis at most, mean of %.1f points\n",
                  through, c.n, widest, (double)c.n_points / (double)c.n);
    assert_true(c.n == 30 && through >= 28 && widest < 4.8);
    collection_finish(&c);
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

#define RING_RADIUS 12.0
#define RING_WIDTH 2.0 /* to each side */

static int ring(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                double *stop)
{
    (void)user, (void)weight;
    double x = voxel[0] - (grid->dim[0] - 1) / 2.0, y = voxel[1] - (grid->dim[1] - 1) / 2.0, r = hypot(x, y);
    direction[0][0] = -y / r, direction[0][1] = x / r, direction[0][2] = 0;
    *stop = 1 - fmax(fabs(r - RING_RADIUS), fabs(voxel[2] - (grid->dim[2] - 1) / 2.0)) / (2 * RING_WIDTH);
    return *stop > 0;
}

/* Measures the degrees that each streamline goes round the axis of the ring: the share above `least`, and the largest.
 */
static double swept(const collection *c, double centre, double least, double *most)
{
    size_t over = 0;
    *most = 0;
    for (size_t i = 0; i < c->n; i++) {
        double sum = 0;
        for (uint64_t j = c->offset[i] + 1; j < c->offset[i + 1]; j++) {
            double ax = c->point[j - 1][0] - centre, ay = c->point[j - 1][1] - centre, bx = c->point[j][0] - centre,
                   by = c->point[j][1] - centre;
            sum += atan2(ax * by - ay * bx, ax * bx + ay * by);
        }
        over += fabs(sum) * 180 / acos(-1.0) >= least;
        *most = fmax(*most, fabs(sum) * 180 / acos(-1.0));
    }
    return (double)over / (double)c->n;
}

/* The largest angle at which a curve of radius r and no sharper may stay between the ring's sides: it touches the inner
 * one and leaves through the outer one. */
static double geometric_limit(double r)
{
    double inner = RING_RADIUS - RING_WIDTH, outer = RING_RADIUS + RING_WIDTH, off = r - inner;
    return 2 * acos(fmin(1, (outer * outer + off * off - r * r) / -(2 * outer * off))) * 180 / acos(-1.0);
}

static void circular_bundle(void **unused)
{
    (void)unused;
    static const double radii[] = {RING_RADIUS / 4, RING_RADIUS * 1.6};
    scene s;
    gls_grid grid = scene_grid(32, 32, 7, 1, 1, 1);
    scene_create(&s, &grid, ring, NULL, 30);
    double seed[24][3];
    uint64_t state = 4;
    for (int i = 0; i < 24; i++) {
        double angle = random_uniform(&state, 0, 7), r = RING_RADIUS + random_uniform(&state, -0.5, 0.5);
        seed[i][0] = 15.5 + r * cos(angle);
        seed[i][1] = 15.5 + r * sin(angle);
        seed[i][2] = 3 + random_uniform(&state, -0.5, 0.5);
    }
    gls_seeds *seeds = NULL;
    assert_ok(gls_seeds_create_list((const double(*)[3])seed, 24, GLS_SEEDS_VOXEL, &grid, &seeds));
    for (int i = 0; i < 2; i++) {
        gls_track_params p = ptt_params();
        p.ptt_substep = 0.1;
        p.min_radius_of_curvature = radii[i];
        p.stop_threshold = 0.5;
        p.max_length = 60;
        p.max_directions_per_seed = 1;
        collection c;
        run_device(device, &s, &p, seeds, &c);
        check_steps(&c, &grid, &p);
        double most, share = swept(&c, 15.5, 90, &most), limit = geometric_limit(radii[i]);
        print_message("ring of radius %.0f, curves of %.1f at least: %.0f %% go round 90 degrees, %.0f at most\n",
                      RING_RADIUS, radii[i], 100 * share, most);
        if (radii[i] < RING_RADIUS)
            assert_true(c.n == 24 && share >= 0.9);
        else
            assert_true(c.n == 24 && most < limit + 5 && share < 0.5);
        collection_finish(&c);
    }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

static int uniform_field(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                         double *stop)
{
    (void)user, (void)grid, (void)voxel, (void)weight;
    direction[0][0] = 0.6, direction[0][1] = 0.48, direction[0][2] = 0.64;
    *stop = 1;
    return 1;
}

static void threads_on_uniform_field(void **unused)
{
    (void)unused;
    scene s;
    gls_grid grid = scene_grid(24, 24, 16, 1, 1, 1.5);
    scene_create(&s, &grid, uniform_field, NULL, 20);
    gls_track_params p = ptt_params();
    p.ptt_substep = 0.1;
    p.min_radius_of_curvature = 3;
    p.max_length = 5; /* far from the edges, which the ring of threads feels first */
    gls_seeds *seeds = box_seeds(&grid, 30, 8, 9);
    collection one, four;
    gls_track_result a = run_device(device, &s, &p, seeds, &one);
    p.probe_count = 4;
    p.probe_radius = 0.7;
    gls_track_result b = run_device(device, &s, &p, seeds, &four);
    assert_true(a.truncated == a.streamlines && b.truncated == b.streamlines);
    assert_true(share_equal(&four, &one, "four threads as one") >= 0.97);
    check_steps(&four, &grid, &p);
    collection_finish(&one);
    collection_finish(&four);
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(straight_bundle), cmocka_unit_test(circular_bundle),
                                       cmocka_unit_test(threads_on_uniform_field)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
