/* Parallel transport tractography: its tables, then its streamlines against an independent reference in double and
 * against what must hold for any of them. */
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

/* --- the reference's own parts, and the tables ---------------------------- */

/* Computes the derivatives d of position, T, N and B along the curve. */
static void derivative(const double s[12], double k1, double k2, double d[12])
{
    for (int a = 0; a < 3; a++) {
        d[a] = s[3 + a];
        d[3 + a] = k1 * s[6 + a] + k2 * s[9 + a];
        d[6 + a] = -k1 * s[3 + a];
        d[9 + a] = -k2 * s[3 + a];
    }
}

/* Integrates by the classical method of Runge and Kutta. */
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
    for (int a = 0; a < 3; a++)
        handed += f->b[a] * (f->t[(a + 1) % 3] * f->n[(a + 2) % 3] - f->t[(a + 2) % 3] * f->n[(a + 1) % 3]);
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
        double scale = scales[i % 7], k1 = scale * random_uniform(&state, -1, 1),
               k2 = scale * random_uniform(&state, -1, 1), t[3], s[12] = {0}, moved[3], back[3];
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
    print_message("propagator: %.1e off the integrated curve, frames %.1e off orthonormal, there and back %.1e\n",
                  worst, worst_frame, worst_back);
    assert_true(worst < 1e-9 && worst_frame < 1e-12 && worst_back < 1e-12);
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
        print_message(
            "%s sphere: the map's vertex is not the nearest for %.1f %% of directions, by %.2f degrees at most\n",
            names[s], 100.0 * (double)wrong / n, worst * 180 / acos(-1.0));
        /* twice the way from the middle of a cell to its farthest corner */
        assert_true((double)wrong / n < 0.15 && worst * 180 / acos(-1.0) < 3);
        free(map);
        gls_sphere_destroy(sphere);
    }
}

/* --- streamlines ---------------------------------------------------------- */

/* A bend and a second population that crosses it; the stop map falls to the sides. */
static int bend(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3], double weight[3],
                double *stop)
{
    (void)user;
    double x = (double)voxel[0] / grid->dim[0] - 0.5, y = (double)voxel[1] / grid->dim[1] - 0.5,
           z = (double)voxel[2] / grid->dim[2] - 0.5;
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
    ptt_ref ref;
    assert_true(ptt_ref_init(&ref, p, s->odf, s->source->sphere, s->stop));
    ref.as_tracker = true;
    uint32_t *map = table_nearest(s->source->sphere, &ref.nearest_size);
    ref.nearest = map;
    collection got, expected;
    gls_seeds *seeds = box_seeds(&s->stop->grid, n_seeds, 0, 5);
    uint64_t ends[GLS_END_COUNT];
    gls_track_result result = run_device(device, s, p, seeds, &got);
    run_reference(&ref, seeds, 0, ends, &expected);
    print_message("ends: stop map %d outside %d no direction %d length %d; expected %d %d %d %d\n", (int)result.ends[0],
                  (int)result.ends[1], (int)result.ends[2], (int)result.ends[3], (int)ends[0], (int)ends[1],
                  (int)ends[2], (int)ends[3]);
    assert_int_equal(result.truncated, 0);
    if (p->mapping == GLS_MAPPING_SUBGROUP)
        assert_int_equal(result.lanes, p->probe_quality == 1 ? 4 : gls_device_get_info(device)->subgroup_size);
    /* rounding takes or leaves a curve now and then that another leaves or takes; more so a fetch whose weights have 8
     * bits */
    assert_true(share_equal(&got, &expected, what) >= (gls_device_get_info(device)->software ? 0.9 : 0.75));
    check_steps(&got, &s->stop->grid, p);
    double tolerance = gls_device_get_info(device)->software ? 0.02 : 0.06;
    for (int e = 0; e < GLS_END_COUNT; e++)
        assert_true(fabs((double)result.ends[e] - (double)ends[e]) <= tolerance * 2 * (double)result.directions);
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
    p.precision = GLS_PRECISION_HALF;
    compare_same(&s, &p, 100, "half floats");
    if (has_subgroups(device)) {
        p = bend_params();
        p.mapping = GLS_MAPPING_SUBGROUP;
        compare_same(&s, &p, 100, "a subgroup each");
        /* four lanes have work */
        p.probe_quality = 1;
        compare_same(&s, &p, 100, "a part of a subgroup each");
    }
    /* as far as the default: the largest bend over a part of the probe */
    p = bend_params();
    p.min_radius_of_curvature = 0;
    p.max_angle = 30;
    p.pmf_threshold = 0.1;
    compare_same(&s, &p, 60, "curvature by angle");
    scene_destroy(&s);
}

/* Statistics that are compared if no two streamlines are the same. */
typedef struct statistics {
    size_t n;      /* number of streamlines that have more points than their seed */
    float *length; /* of those, in steps, ascending */
    double mean, median;
    double *density; /* streamlines through each voxel */
} statistics;

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median as if lengths were spread evenly over half a step on both sides: whole numbers of steps would make it
 * jump. */
static double smooth_median(const float *length, size_t n)
{
    float middle = length[n / 2];
    size_t below = 0, upto;
    while (length[below] < middle) below++;
    for (upto = below; upto < n && length[upto] == middle;) upto++;
    return middle - 0.5 + ((double)n / 2 - (double)below) / (double)(upto - below);
}

static statistics statistics_of(const collection *c, const gls_grid *grid)
{
    size_t voxels = gls_grid_voxels(grid);
    uint64_t *last = calloc(voxels, sizeof *last); /* 1 + the streamline that was counted last */
    statistics s = {.length = malloc((c->n + 1) * sizeof *s.length), .density = calloc(voxels, sizeof *s.density)};
    assert_true(last && s.length && s.density);
    for (size_t i = 0; i < c->n; i++) {
        uint64_t steps = c->offset[i + 1] - c->offset[i] - 1;
        if (steps == 0) continue;
        s.length[s.n++] = (float)steps;
        s.mean += (double)steps;
        for (uint64_t j = c->offset[i]; j < c->offset[i + 1]; j++) {
            size_t v = 0;
            for (int a = 3; a-- > 0;) v = v * (size_t)grid->dim[a] + (size_t)lrintf(c->point[j][a]);
            s.density[v] += last[v] != i + 1;
            last[v] = i + 1;
        }
    }
    free(last);
    assert_true(s.n > 0);
    s.mean /= (double)s.n;
    qsort(s.length, s.n, sizeof *s.length, compare_floats);
    s.median = smooth_median(s.length, s.n);
    return s;
}

static void statistics_finish(statistics *s)
{
    free(s->length);
    free(s->density);
}

/* Returns Pearson's correlation over the voxels of the mask. */
static double correlation(const double *a, const double *b, const gls_image *mask)
{
    double n = 0, sum[2] = {0}, product[3] = {0};
    for (size_t v = 0; v < gls_grid_voxels(&mask->grid); v++) {
        if (!(mask->data[v] > 0)) continue;
        n++;
        sum[0] += a[v], sum[1] += b[v];
        product[0] += a[v] * a[v], product[1] += b[v] * b[v], product[2] += a[v] * b[v];
    }
    return (product[2] - sum[0] * sum[1] / n) /
           sqrt((product[0] - sum[0] * sum[0] / n) * (product[1] - sum[1] * sum[1] / n));
}

/* Returns the largest distance of two distributions, as Kolmogorov and Smirnov define it. */
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

/* Returns the fibres of the built-in phantom, whose axes are those of the world. */
static int phantom_fibres(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3],
                          double weight[3], double *stop)
{
    const gls_phantom *phantom = user;
    size_t voxels = gls_grid_voxels(grid),
           i = ((size_t)voxel[2] * (size_t)grid->dim[1] + (size_t)voxel[1]) * (size_t)grid->dim[0] + (size_t)voxel[0];
    int n = 0;
    *stop = phantom->tissue->data[i];
    for (size_t f = 0; f < 3; f++) {
        for (size_t a = 0; a < 3; a++) direction[n][a] = phantom->peaks->data[(4 * f + a) * voxels + i];
        weight[n] = phantom->peaks->data[(4 * f + 3) * voxels + i];
        n += weight[n] > 0;
    }
    return n;
}

/* Differences of two sets of streamlines. */
typedef struct difference {
    double count, mean, median; /* relative */
    double ks, correlation;
} difference;

static difference compare(const statistics *a, const statistics *b, const gls_image *mask, const char *what)
{
    difference d = {.count = (double)a->n / (double)b->n - 1,
                    .mean = a->mean / b->mean - 1,
                    .median = a->median / b->median - 1,
                    .ks = ks_distance(a->length, a->n, b->length, b->n),
                    .correlation = correlation(a->density, b->density, mask)};
    print_message("%s: %zu and %zu streamlines (%+.2f %%), mean length %.3f and %.3f steps (%+.2f %%), median %.3f and "
                  "%.3f (%+.2f %%), KS %.4f, density correlation %.4f\n",
                  what, a->n, b->n, 100 * d.count, a->mean, b->mean, 100 * d.mean, a->median, b->median, 100 * d.median,
                  d.ks, d.correlation);
    return d;
}

/* Within the bounds, and no farther apart than chance explains: a distance of lengths that one pair of samples in a
 * thousand exceeds, and half more uncorrelated density than two runs of the reference have. */
static bool alike(const difference *d, size_t n, const difference *chance)
{
    return fabs(d->count) < 0.02 && fabs(d->mean) < 0.03 && fabs(d->median) < 0.03 &&
           d->ks < fmin(0.04, 1.95 * sqrt(2.0 / (double)n)) && d->correlation > 0.98 &&
           1 - d->correlation < 1.5 * (1 - chance->correlation);
}

typedef struct phantom_scene {
    gls_phantom *phantom;
    scene s;
    gls_track_params params;
    gls_seeds *seeds;
} phantom_scene;

/* The phantom in voxels of 4 mm, with steps and radius that keep its streamlines within reach of a CPU. */
static void phantom_scene_create(phantom_scene *p, size_t n_seeds)
{
    gls_phantom_params make = gls_phantom_params_default();
    for (int a = 0; a < 3; a++) make.voxel_size[a] = 4, make.shape[a] /= 2;
    memcpy(make.orientation, "RAS", 4);
    assert_ok(gls_phantom_create(&make, &p->phantom));
    scene_create(&p->s, &p->phantom->dwi->grid, phantom_fibres, p->phantom, 15);
    p->params = ptt_params();
    gls_track_params_scale(&p->params, 4);
    p->params.ptt_substep = 1;
    p->params.min_radius_of_curvature = 4;
    p->params.stop_threshold = 0.4;
    p->params.max_length = 400;
    assert_ok(gls_seeds_create_random(p->phantom->roi, NULL, n_seeds, 4, &p->seeds));
}

static void phantom_scene_destroy(phantom_scene *p)
{
    gls_seeds_destroy(p->seeds);
    scene_destroy(&p->s);
    gls_phantom_destroy(p->phantom);
}

/* Tracks with the reference, with random numbers that nothing else uses, and the exact nearest vertex. */
static statistics reference_statistics(const phantom_scene *p, const gls_track_params *params, const gls_seeds *seeds,
                                       uint64_t state)
{
    ptt_ref ref;
    collection c;
    uint64_t ends[GLS_END_COUNT];
    assert_true(ptt_ref_init(&ref, params, p->s.odf, p->s.source->sphere, p->s.stop));
    run_reference(&ref, seeds, state, ends, &c);
    ptt_ref_finish(&ref);
    statistics s = statistics_of(&c, &p->s.stop->grid);
    collection_finish(&c);
    return s;
}

/* Compares with the reference. The bounds are judged by the differences between two runs of the reference, and by those
 * that another length of the probe makes. */
static void other_numbers_same_statistics(void **unused)
{
    (void)unused;
    phantom_scene p;
    phantom_scene_create(&p, 10000);
    collection c;
    gls_track_result result = run_device(device, &p.s, &p.params, p.seeds, &c);
    assert_int_equal(result.truncated, 0);
    statistics got = statistics_of(&c, &p.s.stop->grid);
    gls_track_params longer = p.params;
    longer.probe_length *= 2;
    gls_seeds *few; /* enough to tell what is so different */
    assert_ok(gls_seeds_create_random(p.phantom->roi, NULL, 2500, 4, &few));
    statistics expected = reference_statistics(&p, &p.params, p.seeds, 1),
               again = reference_statistics(&p, &p.params, p.seeds, 2),
               other = reference_statistics(&p, &longer, few, 3);
    gls_seeds_destroy(few);
    const gls_image *mask = p.phantom->mask;
    difference d = compare(&got, &expected, mask, "tracker and reference"),
               chance = compare(&again, &expected, mask, "reference with other numbers");
    difference changed = compare(&other, &expected, mask, "reference with a probe twice as long");
    assert_true(got.n > 10000 && alike(&d, got.n, &chance));
    assert_true(alike(&chance, again.n, &chance) && !alike(&changed, other.n, &chance));
    statistics_finish(&got);
    statistics_finish(&expected);
    statistics_finish(&again);
    statistics_finish(&other);
    collection_finish(&c);
    phantom_scene_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(propagator),
        cmocka_unit_test(nearest_table),
        cmocka_unit_test(same_numbers_same_streamlines),
        cmocka_unit_test(other_numbers_same_statistics),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
