/* FACT and EuDX: streamlines against an independent reference in double, and the same bytes however the work is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "collect.h"
#include "ref/peak_lines.h"

#include <glslines/peaks.h>

static gls_device *device;

typedef struct scene {
    gls_image *peaks, *stop;
} scene;

static void put(scene *s, size_t i, size_t k, const double v[3], double length)
{
    size_t n = gls_grid_voxels(&s->stop->grid);
    double norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++) s->peaks->data[(3 * k + (size_t)a) * n + i] = (float)(v[a] / norm * length);
}

/* A bend, a fibre that crosses it, and a weak third peak, in changing order; holes, and values that are no numbers. */
static void scene_create(scene *s)
{
    gls_grid grid;
    uint64_t state = 3;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){17, 14, 11},
                            (const double[3][4]){{2, 0, 0, 0}, {0, 1.6, 0, 0}, {0, 0, 2.5, 0}}));
    assert_ok(gls_image_create(&grid, 9, &s->peaks));
    assert_ok(gls_image_create(&grid, 1, &s->stop));
    for (size_t i = 0; i < gls_grid_voxels(&grid); i++) {
        double x = (double)(i % 17) / 17 - 0.5, y = (double)(i / 17 % 14) / 14 - 0.5, z = (double)(i / 238) / 11 - 0.5;
        size_t first = i % 2;
        s->stop->data[i] = (float)(0.9 - 3 * (x * x * y * y + z * z) - 1.2 * y * y);
        if (x > 0.2 && y < -0.1) continue;
        put(s, i, first, (const double[3]){1, 1.2 * x, 0.3 * y}, 0.5 + x * y);
        if (fabs(x) < 0.3) put(s, i, 1 - first, (const double[3]){0.3 * z, -1, 0.5 * y}, 0.4 + 0.3 * z);
        put(s, i, 2, (const double[3]){random_uniform(&state, -1, 1), 0.4, 1}, random_uniform(&state, 0, 0.2));
        if (i % 7 == 0) s->peaks->data[2 * gls_grid_voxels(&grid) + i] = NAN;
    }
}

static void scene_destroy(scene *s)
{
    gls_image_destroy(s->peaks);
    gls_image_destroy(s->stop);
}

static gls_track_params params_of(gls_direction_getter dg, int directions)
{
    gls_track_params p = params_to_compare(dg);
    p.max_length = 60;
    p.step_size = dg == GLS_DG_FACT ? 0.2 : 0.5;
    p.stop_threshold = 0.3;
    p.max_directions_per_seed = directions;
    return p;
}

enum { N_SEEDS = 200 };

static gls_track_input input_of(const scene *s)
{
    return (gls_track_input){.peaks = s->peaks, .stop_map = s->stop};
}

static gls_track_result run_device(const scene *s, const gls_track_params *p, const gls_seeds *seeds, collection *c)
{
    const gls_track_input input = input_of(s);
    return track_once(device, p, &input, seeds, c);
}

static void expect(const scene *s, const gls_track_params *p, const gls_seeds *seeds, collection *lines,
                   uint64_t ends[GLS_END_COUNT])
{
    enum { MOST = 4096 };
    static double point[MOST][3];
    const peak_ref ref = {p, s->peaks, s->stop};
    *lines = (collection){.sound = true};
    for (uint32_t i = 0; i < N_SEEDS; i++) {
        float seed[1][3];
        double direction[16][3];
        gls_seeds_get(seeds, i, 1, seed);
        const double at[3] = {(double)seed[0][0], (double)seed[0][1], (double)seed[0][2]};
        size_t starts = peak_starts(&ref, at, i, direction);
        for (size_t k = 0; k < starts; k++) {
            gls_end both[2];
            size_t n = peak_track(&ref, at, direction[k], point, both);
            assert_true(n < MOST);
            collect_reference(lines, seeds, i, (const double(*)[3])point, n, both, ends);
        }
    }
}

static void compare(gls_direction_getter dg, int directions, gls_mapping mapping)
{
    scene s;
    scene_create(&s);
    gls_track_params p = params_of(dg, directions);
    p.mapping = mapping;
    gls_seeds *seeds = seeds_on(&s.stop->grid, N_SEEDS);
    collection got, expected;
    uint64_t ends[GLS_END_COUNT] = {0};
    gls_track_result result = run_device(&s, &p, seeds, &got);
    expect(&s, &p, seeds, &expected, ends);
    size_t same = same_lines(&got, &expected);
    print_message("%s, %d: %zu of %zu streamlines the same, of %zu; %zu and %zu points\n",
                  dg == GLS_DG_FACT ? "fact" : "eudx", directions, same, got.n, expected.n, got.n_points,
                  expected.n_points);
    assert_int_equal(got.n, expected.n);
    /* rounding puts a point into another voxel now and then */
    assert_true((double)same >= 0.97 * (double)expected.n && got.n > N_SEEDS / 4);
    for (int e = 0; e < GLS_END_COUNT && same == got.n; e++) assert_int_equal(result.ends[e], ends[e]);
    assert_true(result.ends[GLS_END_NO_DIRECTION] > 0 && result.ends[GLS_END_STOP_MAP] > 0);
    collection_finish(&got);
    collection_finish(&expected);
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

static void fact(void **state)
{
    (void)state;
    compare(GLS_DG_FACT, 1, GLS_MAPPING_AUTO);
    compare(GLS_DG_FACT, 3, GLS_MAPPING_AUTO);
}

static void eudx(void **state)
{
    (void)state;
    compare(GLS_DG_EUDX, 5, GLS_MAPPING_AUTO);
    compare(GLS_DG_EUDX, 1, GLS_MAPPING_AUTO);
}

static void groups(void **state)
{
    (void)state;
    compare(GLS_DG_FACT, 1, GLS_MAPPING_GROUP);
    compare(GLS_DG_EUDX, 5, GLS_MAPPING_GROUP);
}

/* A given direction replaces the random one, and all peaks of a seed. */
static void towards(void **state)
{
    (void)state;
    static const gls_direction_getter getters[] = {GLS_DG_FACT, GLS_DG_EUDX};
    scene s;
    scene_create(&s);
    gls_seeds *seeds = NULL;
    const double at[1][3] = {{8, 7, 5}};
    assert_ok(gls_seeds_create_list(at, 1, GLS_SEEDS_VOXEL, &s.stop->grid, &seeds));
    for (size_t g = 0; g < 2; g++)
        for (int sense = -1; sense <= 1; sense += 2) {
            collection c;
            gls_track_params p = params_of(getters[g], 5);
            p.seed_direction[1] = sense;
            p.seed_unidirectional = true;
            run_device(&s, &p, seeds, &c);
            assert_int_equal(c.n, 1);
            double moved = (double)(c.point[c.n_points - 1][1] - c.point[0][1]);
            assert_true(c.n_points > 4 && moved * sense > 0.5);
            collection_finish(&c);
            p.seed_direction[1] = 0;
            p.seed_direction[2] = sense;
            p.max_angle = 20;
            run_device(&s, &p, seeds, &c);
            assert_true(c.n_points <= 1 || getters[g] == GLS_DG_EUDX);
            collection_finish(&c);
        }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

/* Streamlines start along the peak that is nearest to the given direction, not along the direction. */
static void along_the_peak(void **state)
{
    (void)state;
    static const gls_direction_getter getters[] = {GLS_DG_FACT, GLS_DG_EUDX};
    scene s;
    scene_create(&s);
    gls_seeds *seeds = NULL;
    const double at[1][3] = {{5.4, 7.3, 5.4}};
    const size_t n = gls_grid_voxels(&s.stop->grid), voxel = 5 + 17 * (7 + 14 * 5);
    assert_ok(gls_seeds_create_list(at, 1, GLS_SEEDS_VOXEL, &s.stop->grid, &seeds));
    for (size_t g = 0; g < 2; g++) {
        collection c, far;
        gls_track_params p = params_of(getters[g], 5);
        p.seed_unidirectional = true;
        for (size_t a = 0; a < 3; a++) p.seed_direction[a] = (double)s.peaks->data[(3 * (voxel % 2) + a) * n + voxel];
        run_device(&s, &p, seeds, &c);
        p.seed_direction[2] += 0.6 * fabs(p.seed_direction[0]);
        run_device(&s, &p, seeds, &far);
        assert_true(c.n == 1 && c.n_points > 4);
        assert_int_equal(same_lines(&c, &far), 1);
        collection_finish(&c);
        collection_finish(&far);
    }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

static void same_bytes(void **state)
{
    (void)state;
    static const gls_direction_getter getters[] = {GLS_DG_FACT, GLS_DG_EUDX};
    static const char *const limits[] = {"storage_bytes=30000", "work_groups=3", "texture_3d=32"};
    for (size_t g = 0; g < sizeof getters / sizeof *getters; g++) {
        scene s;
        collection expected;
        gls_track_params p = params_of(getters[g], 3);
        scene_create(&s);
        gls_seeds *seeds = seeds_on(&s.stop->grid, N_SEEDS);
        const gls_track_input input = input_of(&s);
        assert_same_anyhow(device, p, &input, seeds, 49, limits, &expected);
        collection_finish(&expected);
        gls_seeds_destroy(seeds);
        scene_destroy(&s);
    }
}

static void bad_input(void **state)
{
    (void)state;
    scene s;
    scene_create(&s);
    gls_tracker *tracker = NULL;
    gls_track_params p = params_of(GLS_DG_FACT, 1);
    gls_track_input input = {.stop_map = s.stop};
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_ARGUMENT);
    input.peaks = s.stop;
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_ARGUMENT);
    input.peaks = s.peaks;
    memset(s.peaks->data, 0, 9 * gls_grid_voxels(&s.stop->grid) * sizeof *s.peaks->data);
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_INPUT);
    assert_message("no peak");
    p.backtrack = true;
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_ARGUMENT);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fact),      cmocka_unit_test(eudx),           cmocka_unit_test(groups),
        cmocka_unit_test(towards),   cmocka_unit_test(along_the_peak), cmocka_unit_test(same_bytes),
        cmocka_unit_test(bad_input),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
