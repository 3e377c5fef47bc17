/* The bootstrap's kernels at single points: SH coefficients of samples and fits, and the initial directions from them,
 * against double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "ref_boot.h"
#include "track/engine/batch_parts.h"
#include "track/engine/batch_state.h"
#include "track/engine/pace.h"
#include "track/engine/passes.h"
#include "track/tracker.h"

#define N_SEEDS 1500
#define MAX_PEAKS 10

static gls_device *device;
static series phantom;
static gls_sphere *large, *small;
static gls_seeds *seeds;

/* Two fibres that turn from place to place, the second only in a part. */
static int turning_fibres(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    (void)grid;
    double a = 0.35 * p[0] + 0.2 * p[2], b = 0.3 * p[1] - 0.25 * p[0];
    direction[0][0] = cos(a) * cos(b), direction[0][1] = sin(a) * cos(b), direction[0][2] = sin(b);
    direction[1][0] = -sin(a), direction[1][1] = cos(a), direction[1][2] = 0.3 * sin(p[0] + p[1]);
    unit3(direction[1]);
    *stop = 0.5;
    return p[2] > 5 ? 0 : p[0] + p[1] > 6 ? 2 : 1;
}

static int set_up(void **state)
{
    (void)state;
    static const int dim[3] = {9, 8, 7};
    static const double affine[3][4] = {{-2, 0, 0, 8}, {0, 2, 0, -7}, {0, 0, 2, -6}};
    static double points[N_SEEDS][3];
    uint64_t seed = 31;
    series_create(&phantom, dim, affine, turning_fibres, 2000, 25, NULL, 4);
    large = phantom.sphere;
    assert_ok(gls_sphere_create("small", &small));
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++)
            points[i][a] = i < 20 ? (a == i % 3 ? (i & 1 ? -0.5 : dim[a] - 0.5001) : i % dim[a])
                                  : random_uniform(&seed, -0.5, dim[a] - 0.501);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    phantom.sphere = large;
    series_destroy(&phantom);
    gls_sphere_destroy(small);
    gls_seeds_destroy(seeds);
    return 0;
}

/* --- pass 1 alone --------------------------------------------------------- */

typedef struct initial {
    uint32_t direction[N_SEEDS][MAX_PEAKS + 1];
    float coefficient[N_SEEDS][64];
} initial;

/* Runs pass 1 on all seeds as one batch, and reads the coefficients that the first stage hands to the second. */
static void run_initial(gls_engine *t, initial *out)
{
    gls_batch c = {.engine = t, .seeds = seeds};
    size_t k = t->plan.coefficients;
    assert_true(t->plan.split && t->plan.batch_seeds >= N_SEEDS && k <= 64);
    assert_ok(gls_batch_make_arrays(&c));
    float *rows = malloc(4 * k * N_SEEDS);
    gls_seeds_get(seeds, 0, N_SEEDS, c.seed);
    /* the coefficients must fit into one piece, because those of a second piece would overwrite the first */
    const gls_pace_rules usual = gls_pace_rule;
    gls_pace_rule.first = gls_pace_rule.least = N_SEEDS;
    gls_seed_batch seed_batch = {.n = N_SEEDS, .seed = c.seed, .direction = c.direction};
    assert_ok(gls_pass_initial_begin(&c, &seed_batch, 0));
    assert_ok(gls_pass_initial_end(&c, &seed_batch));
    gls_pace_rule = usual;
    memcpy(out->direction, c.direction, sizeof out->direction);
    uint64_t start = (4ull * t->plan.host_arrays * N_SEEDS + 15) / 16 * 16;
    assert_ok(gls_buffer_read(t->buffer[GLS_TRACK_WORK], start, 4 * k * N_SEEDS, rows));
    for (size_t i = 0; i < N_SEEDS; i++)
        for (size_t j = 0; j < k; j++) out->coefficient[i][j] = rows[i * k + j];
    free(rows);
    gls_batch_free_arrays(&c);
}

typedef struct comparison {
    double worst;       /* largest error of a coefficient, as a part of the largest coefficient */
    size_t differences; /* seeds whose directions differ */
    size_t n_peaks;
} comparison;

static comparison compare(const ref_boot *r, const initial *got, bool measured)
{
    comparison c = {0};
    for (uint32_t i = 0; i < N_SEEDS; i++) {
        float at[1][3];
        double expected[64], largest = 0;
        uint32_t peak[MAX_PEAKS];
        gls_seeds_get(seeds, i, 1, at);
        const double p[3] = {at[0][0], at[0][1], at[0][2]};
        ref_coefficients(r, p, (ref_draw){0, 0, i, 0x80000000u}, measured, expected);
        for (size_t j = 0; j < r->qball->k; j++) largest = fmax(largest, fabs(expected[j]));
        for (size_t j = 0; j < r->qball->k; j++)
            c.worst = fmax(c.worst, fabs(got->coefficient[i][j] - expected[j]) / largest);
        uint32_t n = ref_peaks(r, expected, peak, (uint32_t)r->params->max_directions_per_seed);
        c.n_peaks += n;
        c.differences += n != got->direction[i][0] || memcmp(peak, got->direction[i] + 1, n * sizeof *peak) != 0;
    }
    return c;
}

/* Float textures. A value of the volume is off by the fetch's bound, and the fit multiplies that by 30 at most: OPDT's
 * by l (l + 1) up to 72 at degrees that hold little, CSA's by 1 / (E ln E) where E stays off 0 and 1. A direction
 * differs where two values of an ODF are closer than that: hardly ever. */
static void check_model(gls_qball_model model, int order)
{
    static initial got;
    gls_qball *qball = series_qball(&phantom, model, order);
    phantom.sphere = order == 4 ? large : small;
    gls_track_params params = gls_track_params_default();
    params.step_size = 1;
    params.batch_seeds = N_SEEDS;
    params.max_directions_per_seed = MAX_PEAKS;
    params.mapping = GLS_MAPPING_SINGLE;
    params.precision = GLS_PRECISION_FLOAT;
    params.boot_start = GLS_BOOT_START_FIT;
    params.rng_seed = 0x123456789abcdefu + (uint64_t)order;
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *tracker = NULL;
    assert_ok(gls_tracker_create(device, &params, &input, &tracker));
    gls_engine *t = tracker->engine[0];
    ref_boot r;
    ref_init(&r, &phantom, qball, &params);
    double fetch = fetch_tolerance(device, t->model.field.plan.textures.size), bound = 30 * fetch;
    for (int measured = 1; measured >= 0; measured--) {
        gls_kernel *first = t->kernels.first_sample;
        if (!measured) t->kernels.first_sample = NULL; /* then pass 1 draws a sample, as with GLS_BOOT_START_SAMPLE */
        run_initial(t, &got);
        t->kernels.first_sample = first;
        comparison c = compare(&r, &got, measured);
        print_message("%s order %d, %s: coefficients %.2g (allowed %.2g), directions of %zu of %d seeds differ, %.2f a "
                      "seed; compiled in %.1f s\n",
                      model == GLS_QBALL_OPDT ? "OPDT" : "CSA", order, measured ? "fit" : "sample", c.worst, bound,
                      c.differences, N_SEEDS, (double)c.n_peaks / N_SEEDS, t->seconds_compile);
        assert_true(c.worst <= bound);
        assert_true(c.n_peaks > N_SEEDS);
        assert_true(c.differences * 1000 <= N_SEEDS || !gls_device_get_info(device)->software);
    }
    free(r.odf_matrix);
    gls_tracker_destroy(tracker);
    gls_qball_destroy(qball);
}

static void opdt(void **state)
{
    (void)state;
    for (int order = 4; order <= 8; order += 4) check_model(GLS_QBALL_OPDT, order);
}

static void csa(void **state)
{
    (void)state;
    for (int order = 4; order <= 6; order += 2) check_model(GLS_QBALL_CSA, order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opdt), cmocka_unit_test(csa)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
