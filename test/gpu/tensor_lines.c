/* Tensors: streamlines against an independent reference in double, scenes that are known, and the same bytes however
 * the work is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "collect.h"
#include "ref/tensor_lines.h"

static gls_device *device;

enum { N_B0 = 3, N_VOLUMES = 135, N_SEEDS = 120 }; /* more than 128: a second block of signs */

typedef struct scene {
    gls_image *dwi, *stop;
    gls_gradients *gradients;
} scene;

static const int32_t shape[3] = {17, 14, 11};

/* Computes signals of prolate tensors along axis(x, y, z), or isotropic ones if it is 0. Noise is relative. */
typedef void (*axis_of)(const double x[3], double axis[3]);

static void put_voxel(scene *s, size_t i, const double axis[3], double noise, uint64_t *state)
{
    const size_t n = gls_grid_voxels(&s->dwi->grid);
    const double norm = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (size_t t = 0; t < N_VOLUMES; t++) {
        const double *g = s->gradients->bvec[t];
        const double c = norm > 0 ? (g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2]) / norm : 0;
        const double d = norm > 0 ? 0.0003 + 0.0014 * c * c : 0.0007;
        s->dwi->data[t * n + i] =
            (float)(900 * exp(-s->gradients->bval[t] * d) * (1 + random_uniform(state, -noise, noise)));
    }
}

static void scene_create(scene *s, axis_of axis, double noise)
{
    gls_grid grid;
    uint64_t state = 3;
    double bval[N_VOLUMES], bvec[N_VOLUMES][3];
    for (size_t t = 0; t < N_VOLUMES; t++) {
        const double k = (double)t - N_B0, z = (k + 0.5) / (N_VOLUMES - N_B0), turn = 2.399963 * k;
        bval[t] = t < N_B0 ? 0 : 1000;
        for (int a = 0; a < 3; a++)
            bvec[t][a] = t < N_B0 ? 0 : (double[3]){sqrt(1 - z * z) * cos(turn), sqrt(1 - z * z) * sin(turn), z}[a];
    }
    gls_gradients_options options = gls_gradients_options_default();
    options.frame = GLS_BVEC_IMAGE;
    assert_ok(gls_grid_init(&grid, shape, (const double[3][4]){{2, 0, 0, 0}, {0, 1.6, 0, 0}, {0, 0, 2.5, 0}}));
    assert_ok(gls_gradients_create(bval, (const double(*)[3])bvec, N_VOLUMES, &options, &grid, &s->gradients));
    assert_ok(gls_image_create(&grid, N_VOLUMES, &s->dwi));
    assert_ok(gls_image_create(&grid, 1, &s->stop));
    for (size_t i = 0; i < gls_grid_voxels(&grid); i++) {
        const double x[3] = {(double)(i % 17), (double)(i / 17 % 14), (double)(i / 238)};
        double along[3] = {0, 0, 0};
        axis(x, along);
        s->stop->data[i] = 1;
        if (x[1] < 13) put_voxel(s, i, along, noise, &state); /* else the voxel has no signal at all */
    }
}

static void scene_destroy(scene *s)
{
    gls_image_destroy(s->dwi);
    gls_image_destroy(s->stop);
    gls_gradients_destroy(s->gradients);
}

static gls_track_params params_of(gls_direction_getter dg)
{
    gls_track_params p = params_to_compare(dg);
    p.max_length = 40;
    p.step_size = 0.4;
    return p;
}

static gls_track_input input_of(const scene *s)
{
    return (gls_track_input){.dwi = s->dwi, .gradients = s->gradients, .stop_map = s->stop};
}

static gls_track_result run_device(const scene *s, const gls_track_params *p, const gls_seeds *seeds, collection *c)
{
    const gls_track_input input = input_of(s);
    return track_once(device, p, &input, seeds, c);
}

/* --- the reference ------------------------------------------------------------------ */

static void bending(const double x[3], double axis[3])
{
    if (x[0] > 12) return;
    axis[0] = 1;
    axis[1] = 0.12 * (x[0] - 4);
    axis[2] = 0.05 * (x[1] - 6);
}

static void expect(const scene *s, const gls_track_params *p, const gls_seeds *seeds, collection *lines,
                   uint64_t ends[GLS_END_COUNT])
{
    enum { MOST = 1024 };
    static double point[MOST][3];
    static tensor_ref ref;
    ref.params = p;
    ref.dwi = s->dwi;
    ref.gradients = s->gradients;
    ref.stop = s->stop;
    tensor_ref_prepare(&ref);
    *lines = (collection){.sound = true};
    for (uint32_t i = 0; i < N_SEEDS; i++) {
        float seed[1][3];
        double direction[3];
        gls_end both[2];
        gls_seeds_get(seeds, i, 1, seed);
        const double at[3] = {(double)seed[0][0], (double)seed[0][1], (double)seed[0][2]};
        if (!tensor_start(&ref, at, i, direction)) continue;
        const size_t n = tensor_track(&ref, at, i, direction, point, both);
        assert_true(n < MOST);
        collect_reference(lines, seeds, i, (const double(*)[3])point, n, both, ends);
    }
}

/* Tracks streamlines in one sense, in which x does not fall. */
static void turn_lines(collection *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t first = c->offset[i], n = c->offset[i + 1] - first;
        float(*point)[3] = &c->point[first];
        if (n < 2 || point[n - 1][0] >= point[0][0]) continue;
        for (uint64_t j = 0; j < n / 2; j++)
            for (int a = 0; a < 3; a++) {
                const float swapped = point[j][a];
                point[j][a] = point[n - 1 - j][a];
                point[n - 1 - j][a] = swapped;
            }
    }
}

static void compare(gls_direction_getter dg, double noise, gls_mapping mapping, bool rk4)
{
    scene s;
    scene_create(&s, bending, noise);
    gls_track_params p = params_of(dg);
    p.mapping = mapping;
    p.rk4 = rk4;
    gls_seeds *seeds = seeds_on(&s.stop->grid, N_SEEDS);
    collection got, expected;
    uint64_t ends[GLS_END_COUNT] = {0};
    gls_track_result result = run_device(&s, &p, seeds, &got);
    expect(&s, &p, seeds, &expected, ends);
    turn_lines(&got);
    turn_lines(&expected);
    const size_t same = same_lines(&got, &expected);
    print_message("%s: %zu of %zu streamlines the same, of %zu; %zu and %zu points\n",
                  dg == GLS_DG_TENSORDET ? "tensordet" : "tensorprob", same, got.n, expected.n, got.n_points,
                  expected.n_points);
    assert_int_equal(got.n, expected.n);
    assert_true((double)same >= 0.97 * (double)expected.n && got.n > N_SEEDS / 2);
    assert_true(result.ends[GLS_END_NO_DIRECTION] > 0 && result.ends[GLS_END_OUTSIDE] > 0);
    collection_finish(&got);
    collection_finish(&expected);
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

static void det(void **state)
{
    (void)state;
    compare(GLS_DG_TENSORDET, 0.03, GLS_MAPPING_AUTO, false);
    compare(GLS_DG_TENSORDET, 0.03, GLS_MAPPING_GROUP, false);
}

static void prob(void **state)
{
    (void)state;
    compare(GLS_DG_TENSORPROB, 0.1, GLS_MAPPING_AUTO, false);
    compare(GLS_DG_TENSORPROB, 0.1, GLS_MAPPING_GROUP, false);
}

static void runge_kutta(void **state)
{
    (void)state;
    compare(GLS_DG_TENSORDET, 0.03, GLS_MAPPING_AUTO, true);
    compare(GLS_DG_TENSORPROB, 0.1, GLS_MAPPING_AUTO, true);
}

/* --- scenes that are known ------------------------------------------------------------ */

static void straight(const double x[3], double axis[3])
{
    (void)x;
    axis[0] = 3;
    axis[1] = 0.4;
    axis[2] = -0.2;
}

/* Tensors that are isotropic from x = 10 on. */
static void ending(const double x[3], double axis[3])
{
    axis[0] = x[0] < 10;
}

/* Tensors that turn by a right angle from x = 8 on. */
static void turning(const double x[3], double axis[3])
{
    axis[x[0] < 8 ? 0 : 2] = 1;
}

static gls_seeds *one_seed(const scene *s)
{
    gls_seeds *seeds = NULL;
    const double at[1][3] = {{4, 5, 5}};
    assert_ok(gls_seeds_create_list(at, 1, GLS_SEEDS_VOXEL, &s->stop->grid, &seeds));
    return seeds;
}

static collection from_one(axis_of axis, gls_direction_getter dg, double cutoff, double angle, double sense)
{
    scene s;
    collection c;
    scene_create(&s, axis, 0);
    gls_track_params p = params_of(dg);
    p.fod_cutoff = cutoff;
    p.max_angle = angle;
    p.seed_direction[0] = sense;
    p.seed_unidirectional = sense != 0;
    gls_seeds *seeds = one_seed(&s);
    run_device(&s, &p, seeds, &c);
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
    return c;
}

/* Returns the distance from the first point to the last, mm; points are in voxels. */
static void extent(const collection *c, double d[3])
{
    assert_int_equal(c->n, 1);
    for (int a = 0; a < 3; a++)
        d[a] = (double)(c->point[c->n_points - 1][a] - c->point[0][a]) * (double[3]){2, 1.6, 2.5}[a];
}

/* Returns how far the farther end lies along x, mm. */
static double reach(const collection *c)
{
    assert_int_equal(c->n, 1);
    return 2 * fmax((double)c->point[0][0], (double)c->point[c->n_points - 1][0]);
}

static void lines(void **state)
{
    (void)state;
    /* without noise the bootstrap has no residuals to flip */
    static const gls_direction_getter getters[] = {GLS_DG_TENSORDET, GLS_DG_TENSORPROB};
    for (size_t g = 0; g < 2; g++) {
        collection c = from_one(straight, getters[g], 0.1, 60, 0);
        double d[3];
        extent(&c, d);
        assert_true(fabs(d[0]) > 30 && fabs(d[1] / d[0] - 0.4 / 3) < 1e-4 && fabs(d[2] / d[0] + 0.2 / 3) < 1e-4);
        collection_finish(&c);
        /* the FA between the last voxel of fibre, at 18 mm, and the first without falls to 0: sooner with a high cutoff
         */
        c = from_one(ending, getters[g], 0.1, 60, 0);
        const double low = reach(&c);
        collection_finish(&c);
        c = from_one(ending, getters[g], 0.6, 60, 0);
        const double high = reach(&c);
        collection_finish(&c);
        assert_true(low > 18.5 && low < 20 && high > 17.5 && high < low - 0.3);
        c = from_one(ending, getters[g], 0.9, 60, 0);
        assert_int_equal(c.n, 0);
        collection_finish(&c);
        /* at half way the axis jumps by 90 degrees */
        c = from_one(turning, getters[g], 0.01, 60, 0);
        assert_true(reach(&c) > 14.5 && reach(&c) < 15.5);
        collection_finish(&c);
    }
}

static void towards(void **state)
{
    (void)state;
    for (int sense = -1; sense <= 1; sense += 2) {
        collection c = from_one(straight, GLS_DG_TENSORDET, 0.1, 60, sense);
        double d[3];
        extent(&c, d);
        assert_true(d[0] * sense > 5);
        collection_finish(&c);
        c = from_one(turning, GLS_DG_TENSORPROB, 0.1, 60, sense);
        assert_int_equal(c.n, 1);
        collection_finish(&c);
    }
}

static void same_bytes(void **state)
{
    (void)state;
    static const gls_direction_getter getters[] = {GLS_DG_TENSORDET, GLS_DG_TENSORPROB};
    static const char *const limits[] = {"storage_bytes=30000", "work_groups=3", "texture_3d=128"};
    scene s;
    scene_create(&s, bending, 0.1);
    gls_seeds *seeds = seeds_on(&s.stop->grid, 40);
    for (size_t g = 0; g < sizeof getters / sizeof *getters; g++) {
        collection expected, c;
        gls_track_params p = params_of(getters[g]);
        const gls_track_input input = input_of(&s);
        p.precision = GLS_PRECISION_HALF;
        assert_same_anyhow(device, p, &input, seeds, 17, limits, &expected);
        p.rng_seed = 78;
        run_device(&s, &p, seeds, &c);
        assert_true((same_lines(&c, &expected) == expected.n) == (getters[g] == GLS_DG_TENSORDET));
        collection_finish(&c);
        collection_finish(&expected);
    }
    gls_seeds_destroy(seeds);
    scene_destroy(&s);
}

static void bad_input(void **state)
{
    (void)state;
    scene s;
    scene_create(&s, straight, 0);
    gls_tracker *tracker = NULL;
    gls_track_params p = params_of(GLS_DG_TENSORDET);
    gls_track_input input = {.stop_map = s.stop, .dwi = s.dwi};
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_ARGUMENT);
    input.gradients = s.gradients;
    input.dwi = s.stop;
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_ARGUMENT);
    input.dwi = s.dwi;
    memset(s.dwi->data, 0, N_VOLUMES * gls_grid_voxels(&s.stop->grid) * sizeof *s.dwi->data);
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_INPUT);
    for (size_t t = N_B0; t < N_VOLUMES; t++)
        memcpy(s.gradients->bvec[t], s.gradients->bvec[N_B0], sizeof *s.gradients->bvec);
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_INPUT);
    p.dg = GLS_DG_TENSORPROB;
    p.backtrack = true;
    assert_int_equal(gls_tracker_create(device, &p, &input, &tracker), GLS_ERR_UNSUPPORTED);
    scene_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(det),         cmocka_unit_test(prob),       cmocka_unit_test(lines),
        cmocka_unit_test(towards),     cmocka_unit_test(same_bytes), cmocka_unit_test(bad_input),
        cmocka_unit_test(runge_kutta),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
