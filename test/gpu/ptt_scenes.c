/* Parallel transport tractography by its paper's rule: how much it turns, that nothing ends where the straight curve
 * has support, and crossings, rings, edges and grids against the reference. */
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

/* --- one draw ------------------------------------------------------------- */

static int uniform_field(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                         double *stop)
{
    (void)grid, (void)voxel, (void)weight;
    memcpy(direction[0], user, sizeof direction[0]);
    *stop = 1;
    return 1;
}

/* Returns the root mean square of the curvature at p along t, integrated over the disc. */
static double expected_turning(const ptt_ref *ref, const double p[3], const double t[3])
{
    enum { RINGS = 300, SECTORS = 64 };
    double sum = 0, square = 0, most = gls_track_max_curvature(ref->params),
           least = ref->params->probe_quality * ref->params->pmf_threshold;
    ptt_frame frame;
    ptt_frame_make(t, 0, &frame);
    for (int i = 0; i < RINGS * SECTORS; i++) {
        double k = most * sqrt((i / SECTORS + 0.5) / RINGS), angle = 2 * acos(-1.0) * (i % SECTORS) / SECTORS;
        double support = ptt_support(ref, p, &frame, k * cos(angle), k * sin(angle), 0);
        if (support < least) continue;
        sum += support;
        square += support * k * k;
    }
    return sqrt(square / sum);
}

/* Returns the root mean square of the curvature of the curves by which streamlines leave their seeds. A chord turns by
 * half the angle of its arc. */
static double measured_turning(const collection *c, const gls_track_params *p, const double t[3], size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t from = c->offset[i], upto = c->offset[i + 1], at = from;
        while (at < upto && memcmp(c->point[at], c->seed[i], sizeof *c->point) != 0) at++;
        assert_true(at < upto);
        for (int side = -1; side <= 1; side += 2) {
            if (side < 0 ? at == from : at + 1 == upto) continue;
            double chord[3], across = 0;
            for (int a = 0; a < 3; a++) chord[a] = (double)c->point[at + (uint64_t)side][a] - c->point[at][a];
            unit3(chord);
            double along = dot3(chord, t);
            for (int a = 0; a < 3; a++) across += pow(chord[a] - along * t[a], 2);
            double k = 2 * asin(fmin(1, sqrt(across))) / p->step_size;
            sum += k * k;
            ++*n;
        }
    }
    return sqrt(sum / (double)*n);
}

static void turning(void **unused)
{
    (void)unused;
    static const double bends[] = {0.4, 4.0 / 3, 4, 8}; /* largest curvature times the probe's length */
    double direction[3] = {0.6, 0.48, 0.64};
    scene s;
    gls_grid grid = scene_grid(16, 16, 16, 1, 1, 1);
    scene_create(&s, &grid, uniform_field, direction, 20);
    gls_seeds *seeds = box_seeds(&grid, 20000, 5, 3);
    for (size_t i = 0; i < sizeof bends / sizeof *bends; i++) {
        gls_track_params p = ptt_params();
        p.probe_length = 2;
        p.probe_quality = 8;
        p.min_radius_of_curvature = p.probe_length / bends[i];
        p.step_size = p.ptt_substep = 0.3 * p.min_radius_of_curvature;
        p.max_length = 2 * p.step_size;
        p.max_directions_per_seed = 1;
        ptt_ref ref;
        assert_true(ptt_ref_init(&ref, &p, s.odf, s.source->sphere, s.stop));
        uint32_t *map = table_nearest(s.source->sphere, &ref.nearest_size), vertex;
        ref.nearest = map;
        const double middle[3] = {7.5, 7.5, 7.5};
        assert_int_equal(ptt_initial(&ref, middle, &vertex, 1), 1);
        const double *t = s.source->sphere->vertex[vertex];
        collection c;
        run_device(device, &s, &p, seeds, &c);
        size_t n;
        double expected = expected_turning(&ref, middle, t), got = measured_turning(&c, &p, t, &n);
        print_message("bend of %.2f along the probe: curvature %.4f /mm in %zu draws, by the paper %.4f (%+.2f %%)\n",
                      bends[i], got, n, expected, 100 * (got / expected - 1));
        assert_true(n > 19000 && fabs(got / expected - 1) < 0.01);
        collection_finish(&c);
        free(map);
        ptt_ref_finish(&ref);
    }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

/* --- straight bundles ------------------------------------------------------ */

/* Whether p is so near the side of the grid that a probe can leave it. */
static bool at_side(const gls_grid *grid, const float p[3], double reach)
{
    for (int a = 0; a < 3; a++)
        if (p[a] < reach - 0.5 || p[a] > grid->dim[a] - 0.5 - reach) return true;
    return false;
}

/* A field without an end: streamlines may end where their probes leave the grid, and nowhere else. */
static void straight_at_any_threshold(void **unused)
{
    (void)unused;
    static const double thresholds[] = {0.1, 0.3, 0.5, 0.9}, radii[] = {0.72, 0.25};
    double direction[3] = {0, 0, 1};
    scene s;
    gls_grid grid = scene_grid(15, 15, 26, 1, 1, 1);
    scene_create(&s, &grid, uniform_field, direction, 20);
    gls_seeds *seeds = box_seeds(&grid, 16, 6, 8);
    bool bad = false;
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds * 2; i++) {
        gls_track_params p = ptt_params();
        p.probe_length = 2;
        p.probe_quality = 8;
        p.min_radius_of_curvature = radii[i % 2];
        p.pmf_threshold = thresholds[i / 2];
        p.max_length = 5000;
        p.max_directions_per_seed = 1;
        collection c;
        gls_track_result result = run_device(device, &s, &p, seeds, &c);
        size_t died = 0;
        for (size_t j = 0; j < c.n; j++)
            for (int end = 0; end < 2; end++) {
                uint64_t at = end ? c.offset[j + 1] - 1 : c.offset[j];
                died += !at_side(&grid, c.point[at], p.probe_length + p.step_size);
            }
        print_message("threshold %.2f, radius of %.2f mm at least: %zu of %zu ends inside, mean length %.1f mm\n",
                      p.pmf_threshold, p.min_radius_of_curvature, died, 2 * c.n, result.mean_length);
        bad = bad || c.n != 16 || died > 0;
        collection_finish(&c);
    }
    assert_false(bad);
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

/* --- against the reference ------------------------------------------------- */

/* Means over streamlines, and the squares of their standard errors. */
enum { LENGTH, BEND, REACH, N_MEANS };
static const char *const mean_names[N_MEANS] = {"length", "bend per step", "distance of the ends"};

typedef struct means {
    double mean[N_MEANS], error[N_MEANS];
} means;

static void step_between(const collection *c, const gls_grid *grid, uint64_t a, uint64_t b, double d[3])
{
    for (int x = 0; x < 3; x++) d[x] = ((double)c->point[b][x] - c->point[a][x]) * grid->voxel_size[x];
}

static means means_of(const collection *c, const gls_grid *grid)
{
    means m = {{0}, {0}};
    for (size_t i = 0; i < c->n; i++) {
        uint64_t from = c->offset[i], upto = c->offset[i + 1];
        double value[N_MEANS] = {0}, before[3] = {0}, step[3];
        for (uint64_t j = from + 1; j < upto; j++) {
            step_between(c, grid, j - 1, j, step);
            value[LENGTH] += sqrt(dot3(step, step));
            unit3(step);
            if (j > from + 1) value[BEND] += acos(fmin(1, dot3(before, step))) / (double)(upto - from);
            memcpy(before, step, sizeof step);
        }
        step_between(c, grid, from, upto - 1, step);
        value[REACH] = sqrt(dot3(step, step));
        for (int k = 0; k < N_MEANS; k++) m.mean[k] += value[k], m.error[k] += value[k] * value[k];
    }
    for (int k = 0; k < N_MEANS; k++) {
        double n = (double)c->n;
        m.mean[k] /= n;
        m.error[k] = (m.error[k] / n - m.mean[k] * m.mean[k]) / n;
    }
    return m;
}

/* Compares the tracker, the reference, and the reference with other random numbers: no two may differ more than chance
 * explains. */
static void compare(const scene *s, const gls_track_params *p, const gls_seeds *seeds, const char *what)
{
    ptt_ref ref;
    collection c;
    uint64_t ends[GLS_END_COUNT];
    means m[3];
    const gls_grid *grid = &s->stop->grid;
    run_device(device, s, p, seeds, &c);
    check_steps(&c, grid, p);
    m[0] = means_of(&c, grid);
    collection_finish(&c);
    assert_true(ptt_ref_init(&ref, p, s->odf, s->source->sphere, s->stop));
    uint32_t *map = table_nearest(s->source->sphere, &ref.nearest_size);
    ref.nearest = map;
    for (int i = 1; i < 3; i++) {
        run_reference(&ref, seeds, (uint64_t)i, ends, &c);
        m[i] = means_of(&c, grid);
        collection_finish(&c);
    }
    free(map);
    ptt_ref_finish(&ref);
    for (int k = 0; k < N_MEANS; k++) {
        double apart = (m[0].mean[k] - m[1].mean[k]) / sqrt(m[0].error[k] + m[1].error[k]),
               chance = (m[2].mean[k] - m[1].mean[k]) / sqrt(m[2].error[k] + m[1].error[k]);
        print_message("%s, %s: %.4f, reference %.4f and %.4f: %+.1f and %+.1f standard errors apart\n", what,
                      mean_names[k], m[0].mean[k], m[1].mean[k], m[2].mean[k], apart, chance);
        assert_true(fabs(apart) < 4 && fabs(chance) < 4);
    }
}

static gls_track_params scene_params(double radius, double threshold)
{
    gls_track_params p = ptt_params();
    p.ptt_substep = 0.1;
    p.probe_length = 2;
    p.probe_quality = 6;
    p.min_radius_of_curvature = radius;
    p.pmf_threshold = threshold;
    p.stop_threshold = 0.4;
    p.max_length = 200;
    p.max_directions_per_seed = 1;
    return p;
}

/* Returns where a voxel lies from the middle of the grid, mm along the voxel axes. */
static void from_middle(const gls_grid *grid, const int voxel[3], double d[3])
{
    for (int a = 0; a < 3; a++) d[a] = (voxel[a] - (grid->dim[a] - 1) / 2.0) * grid->voxel_size[a];
}

#define HALF_WIDTH 4.0

/* One bundle along the first axis, and another at an angle to it. */
static int crossing(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                    double *stop)
{
    double angle = *(const double *)user * acos(-1.0) / 180, d[3];
    (void)weight;
    from_middle(grid, voxel, d);
    int n = 0;
    for (int f = 0; f < 2; f++) {
        double c = f ? cos(angle) : 1, e = f ? sin(angle) : 0;
        if (hypot(c * d[1] - e * d[0], d[2]) > HALF_WIDTH) continue;
        direction[n][0] = c, direction[n][1] = e, direction[n][2] = 0;
        n++;
    }
    *stop = n > 0;
    return n;
}

static void crossings(void **unused)
{
    (void)unused;
    static const struct {
        double angle, voxel[3];
        bool oblique;
        const char *name;
    } crossed[] = {{90, {1, 1, 1}, false, "90 degrees"},
                   {40, {1, 1, 1}, false, "40 degrees"},
                   {40, {1, 1.6, 2.5}, false, "40 degrees, voxels of 1 x 1.6 x 2.5 mm"},
                   {40, {1, 1.6, 2.5}, true, "the same on an oblique grid"}};
    for (size_t i = 0; i < sizeof crossed / sizeof *crossed; i++) {
        const double *v = crossed[i].voxel, c = cos(0.4), e = sin(0.4);
        scene s;
        gls_grid grid;
        const double straight[3][4] = {{v[0], 0, 0, 0}, {0, v[1], 0, 0}, {0, 0, v[2], 0}},
                     turned[3][4] = {{c * v[0], -e * v[1], 0, 7}, {e * v[0], c * v[1], 0, -3}, {0, 0, v[2], 11}};
        assert_ok(gls_grid_init(&grid, (const int32_t[3]){36, (int32_t)(30 / v[1]), (int32_t)(13 / v[2])},
                                crossed[i].oblique ? turned : straight));
        double angle = crossed[i].angle;
        scene_create(&s, &grid, crossing, &angle, 30);
        gls_track_params p = scene_params(2, 0.1);
        gls_seeds *seeds = NULL;
        double(*seed)[3] = malloc(500 * sizeof *seed);
        uint64_t state = 6;
        for (int j = 0; j < 500; j++)
            for (int a = 0; a < 3; a++)
                seed[j][a] = a == 0 ? random_uniform(&state, 2, 6)
                                    : (grid.dim[a] - 1) / 2.0 + random_uniform(&state, -1, 1) / v[a];
        assert_ok(gls_seeds_create_list((const double(*)[3])seed, 500, GLS_SEEDS_VOXEL, &grid, &seeds));
        compare(&s, &p, seeds, crossed[i].name);
        gls_seeds_destroy(seeds);
        free(seed);
        scene_destroy(&s);
    }
}

#define RING_RADIUS 12.0

static int ring(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                double *stop)
{
    (void)user, (void)weight;
    double d[3];
    from_middle(grid, voxel, d);
    double r = hypot(d[0], d[1]);
    direction[0][0] = -d[1] / r, direction[0][1] = d[0] / r, direction[0][2] = 0;
    *stop = 1 - fmax(fabs(r - RING_RADIUS), fabs(d[2])) / 5;
    if (d[0] < 0 && fabs(d[1]) < 1) *stop = 0; /* nothing goes round twice */
    return *stop > 0;
}

static void rings(void **unused)
{
    (void)unused;
    static const double radii[] = {3, 9, 16};
    scene s;
    gls_grid grid = scene_grid(34, 34, 9, 1, 1, 1);
    scene_create(&s, &grid, ring, NULL, 30);
    double seed[400][3];
    uint64_t state = 4;
    for (int i = 0; i < 400; i++) {
        double angle = random_uniform(&state, -2.5, 2.5), r = RING_RADIUS + random_uniform(&state, -0.5, 0.5);
        seed[i][0] = 16.5 + r * cos(angle);
        seed[i][1] = 16.5 + r * sin(angle);
        seed[i][2] = 4 + random_uniform(&state, -0.5, 0.5);
    }
    gls_seeds *seeds = NULL;
    assert_ok(gls_seeds_create_list((const double(*)[3])seed, 400, GLS_SEEDS_VOXEL, &grid, &seeds));
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++) {
        char name[64];
        gls_track_params p = scene_params(radii[i], 0.3);
        snprintf(name, sizeof name, "ring of 12 mm, radius of %g mm at least", radii[i]);
        compare(&s, &p, seeds, name);
    }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

/* Fibres only on one side of a plane; nothing else ends streamlines. */
static int edge(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                double *stop)
{
    (void)user, (void)weight;
    double d[3];
    from_middle(grid, voxel, d);
    direction[0][0] = 1, direction[0][1] = 0.1, direction[0][2] = 0;
    unit3(direction[0]);
    *stop = 1;
    return d[1] < 0;
}

static void edges(void **unused)
{
    (void)unused;
    static const double thresholds[] = {0.1, 0.4};
    scene s;
    gls_grid grid = scene_grid(40, 16, 16, 1, 1, 1);
    scene_create(&s, &grid, edge, NULL, 20);
    double seed[400][3];
    uint64_t state = 5;
    for (int i = 0; i < 400; i++)
        for (int a = 0; a < 3; a++)
            seed[i][a] = a == 0   ? random_uniform(&state, 8, 30)
                         : a == 1 ? random_uniform(&state, 5, 7.5)
                                  : random_uniform(&state, 6, 9);
    gls_seeds *seeds = NULL;
    assert_ok(gls_seeds_create_list((const double(*)[3])seed, 400, GLS_SEEDS_VOXEL, &grid, &seeds));
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        gls_track_params p = scene_params(1.5, thresholds[i]);
        snprintf(name, sizeof name, "edge of a bundle, threshold %g", thresholds[i]);
        compare(&s, &p, seeds, name);
    }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turning), cmocka_unit_test(straight_at_any_threshold),
                                       cmocka_unit_test(crossings), cmocka_unit_test(rings), cmocka_unit_test(edges)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
