/* Getters that look at no data: the distribution of the angles between steps, places of arcs, seeds alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "collect.h"

static gls_device *device;

enum { N_SEEDS = 256 };

static gls_image *open_map(void)
{
    gls_image *stop = NULL;
    gls_grid grid;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){20, 24, 18},
                            (const double[3][4]){{2, 0, 0, 0}, {0, 1.6, 0, 0}, {0, 0, 2.5, 0}}));
    assert_ok(gls_image_create(&grid, 1, &stop));
    for (size_t i = 0; i < gls_grid_voxels(&grid); i++) stop->data[i] = 1;
    return stop;
}

static gls_track_params params_of(gls_direction_getter dg)
{
    gls_track_params p = gls_track_params_default_for(dg);
    gls_track_params_scale(&p, 2);
    p.keep_single_points = true;
    p.min_length = 0;
    p.step_size = 0.5;
    p.max_length = 60;
    p.rng_seed = 5;
    return p;
}

/* Checks that all seeds start except those outside of the grid. */
static void run_device(gls_device *d, const gls_track_params *p, collection *c)
{
    gls_image *stop = open_map();
    gls_seeds *seeds = seeds_on(&stop->grid, N_SEEDS);
    const gls_track_result result = track_once(d, p, &(gls_track_input){.stop_map = stop}, seeds, c);
    size_t inside = 0;
    for (uint32_t i = 0; i < N_SEEDS; i++) {
        float at[1][3];
        bool in = true;
        gls_seeds_get(seeds, i, 1, at);
        for (int a = 0; a < 3; a++) in = in && at[0][a] >= -0.5f && at[0][a] < (float)stop->grid.dim[a] - 0.5f;
        inside += in;
    }
    assert_true(inside > N_SEEDS / 2);
    assert_int_equal(result.directions, inside);
    assert_int_equal(c->n, inside);
    gls_seeds_destroy(seeds);
    gls_image_destroy(stop);
}

/* Returns the length in mm; points are in voxels. */
static void difference(const float a[3], const float b[3], double d[3])
{
    for (int i = 0; i < 3; i++) d[i] = ((double)b[i] - (double)a[i]) * (double[3]){2, 1.6, 2.5}[i];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Cosines between steps, which for straight steps are uniform from that of the largest angle to 1. Returns how many
 * lie below each tenth of that range; *n: how many there are. At the seed, where both halves begin in cones round the
 * same line, the angle may be twice as large. */
static void tenths(const collection *c, double least, double share[10], size_t *n)
{
    size_t joints = 0;
    *n = 0;
    for (int i = 0; i < 10; i++) share[i] = 0;
    for (size_t l = 0; l < c->n; l++)
        for (uint64_t i = c->offset[l] + 1; i + 1 < c->offset[l + 1]; i++) {
            double a[3], b[3];
            difference(c->point[i - 1], c->point[i], a);
            difference(c->point[i], c->point[i + 1], b);
            const double cosine = dot(a, b) / sqrt(dot(a, a) * dot(b, b));
            assert_true(fabs(sqrt(dot(b, b)) - 0.5) < 1e-4);
            joints += cosine < least - 1e-3;
            if (cosine < least - 1e-3) continue;
            (*n)++;
            for (int k = 0; k < 10; k++) share[k] += cosine < least + (1 - least) * (k + 1) / 10;
        }
    assert_true(joints <= c->n);
    for (int k = 0; k < 10; k++) share[k] /= (double)*n;
}

static void steps(void **state)
{
    (void)state;
    static const double angles[] = {15, 40};
    for (size_t i = 0; i < 2; i++) {
        collection c;
        double share[10];
        size_t n;
        gls_track_params p = params_of(GLS_DG_NULLDIST1);
        p.max_angle = angles[i];
        run_device(device, &p, &c);
        tenths(&c, cos(angles[i] * acos(-1.0) / 180), share, &n);
        print_message("nulldist1, %g degrees: %zu angles; below the middle %.4f\n", angles[i], n, share[4]);
        assert_true(n > 4000);
        /* 4 standard deviations, and what the angles at seeds weigh */
        for (int k = 0; k < 10; k++)
            assert_true(fabs(share[k] - (k + 1) / 10.0) < 4 * sqrt((k + 1) * (9.0 - k) / 100 / (double)n) + 0.01);
        collection_finish(&c);
    }
}

/* An arc that turns by t has the chord step sin(t / 2) / (t / 2). */
static void arcs(void **state)
{
    (void)state;
    collection c;
    gls_track_params p = params_of(GLS_DG_NULLDIST2);
    p.step_size = 1;
    p.max_angle = 45;
    run_device(device, &p, &c);
    const double half = 22.5 * acos(-1.0) / 180;
    double shortest = 2, longest = 0;
    for (size_t l = 0; l < c.n; l++)
        for (uint64_t i = c.offset[l]; i + 2 < c.offset[l + 1]; i++) {
            double d[3];
            if (i == c.offset[l]) continue; /* the first and the last step may end on the way */
            difference(c.point[i], c.point[i + 1], d);
            shortest = fmin(shortest, sqrt(dot(d, d)));
            longest = fmax(longest, sqrt(dot(d, d)));
        }
    print_message("nulldist2: chords of %.4f to %.4f mm\n", shortest, longest);
    assert_true(longest < 1 + 1e-4 && longest > 0.999);
    assert_true(shortest > sin(half) / half - 1e-4 && shortest < sin(half) / half + 0.004);
    collection_finish(&c);
}

static void seeds_alone(void **state)
{
    (void)state;
    collection c;
    gls_track_params p = params_of(GLS_DG_SEEDTEST);
    run_device(device, &p, &c);
    assert_int_equal(c.n_points, c.n);
    collection_finish(&c);
}

static void towards(void **state)
{
    (void)state;
    for (int sense = -1; sense <= 1; sense += 2) {
        collection c;
        gls_track_params p = params_of(GLS_DG_NULLDIST1);
        p.max_angle = 1;
        p.seed_direction[2] = sense;
        p.seed_unidirectional = true;
        run_device(device, &p, &c);
        size_t right = 0;
        for (size_t l = 0; l < c.n; l++) {
            const double moved = (double)(c.point[c.offset[l + 1] - 1][2] - c.point[c.offset[l]][2]);
            right += moved * sense >= 0;
        }
        assert_int_equal(right, c.n);
        collection_finish(&c);
    }
}

static void same_bytes(void **state)
{
    (void)state;
    static const gls_direction_getter getters[] = {GLS_DG_NULLDIST1, GLS_DG_NULLDIST2};
    for (size_t g = 0; g < 2; g++) {
        collection expected, c;
        gls_track_params p = params_of(getters[g]);
        run_device(device, &p, &expected);
        p.batch_seeds = 17;
        run_device(device, &p, &c);
        assert_same_collection(&c, &expected, "batches");
        collection_finish(&c);
        p.mapping = GLS_MAPPING_GROUP;
        run_device(device, &p, &c);
        assert_same_collection(&c, &expected, "one work group for each");
        collection_finish(&c);
        collection_finish(&expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),   cmocka_unit_test(arcs),       cmocka_unit_test(seeds_alone),
        cmocka_unit_test(towards), cmocka_unit_test(same_bytes),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
