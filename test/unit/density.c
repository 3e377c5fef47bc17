/* Track density: which voxels streamlines visit, and sums that do not depend on threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/density.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10 };

static gls_grid make_grid(void)
{
    static const double affine[3][4] = {{-2, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){N, N, N}, affine), GLS_OK);
    return grid;
}

static double *map(gls_density_options o, const gls_streamlines *s, gls_density_counts *counts)
{
    gls_grid grid = make_grid();
    gls_density *density;
    double *out = malloc(N * N * N * sizeof *out);
    assert_int_equal(gls_density_create(&grid, &o, &density), GLS_OK);
    gls_sink sink = gls_density_sink(density);
    assert_int_equal(gls_sink_append(&sink, s), GLS_OK);
    gls_density_get(density, out);
    if (counts) *counts = gls_density_get_counts(density);
    gls_density_destroy(density);
    return out;
}

static double at(const double *map, int x, int y, int z)
{
    return map[(z * N + y) * N + x];
}

static double sum(const double *map)
{
    double total = 0;
    for (int v = 0; v < N * N * N; v++) total += map[v];
    return total;
}

/* Makes streamlines along x through four voxels and back, of one point, far outside, and without points. */
static const float points[][3] = {{0, 0, 0}, {-6, 0, 0}, {0, 0, 0}, {-2, 3, 3}, {1e6f, 5, 5}, {-4, 5, 5}};
static const uint64_t offsets[] = {0, 3, 4, 6, 6};
static const gls_streamlines lines = {.n = 4, .offset = offsets, .point = points};

static void test_mappings(void **state)
{
    gls_density_counts counts;
    gls_density_options o = gls_density_options_default();
    (void)state;
    double *m = map(o, &lines, &counts);
    assert_true(at(m, 0, 0, 0) == 1 && at(m, 1, 0, 0) == 1 && at(m, 2, 0, 0) == 1 && at(m, 3, 0, 0) == 1);
    assert_true(at(m, 1, 3, 3) == 1 && at(m, 0, 5, 5) == 1 && at(m, 1, 5, 5) == 1 && at(m, 2, 5, 5) == 1);
    assert_true(sum(m) == 8);
    assert_true(counts.streamlines == 4 && counts.used == 3 && counts.empty == 1 && counts.partial == 1);
    assert_true(counts.places == 6 && counts.places_outside == 1);
    free(m);
    o.mapping = GLS_DENSITY_LENGTH;
    m = map(o, &(gls_streamlines){.n = 2, .offset = offsets, .point = points}, NULL);
    assert_true(at(m, 0, 0, 0) == 2 && at(m, 1, 0, 0) == 4 && at(m, 3, 0, 0) == 2 && sum(m) == 12);
    free(m);
    o.mapping = GLS_DENSITY_VERTEX;
    m = map(o, &lines, NULL);
    assert_true(at(m, 0, 0, 0) == 1 && at(m, 1, 0, 0) == 0 && at(m, 3, 0, 0) == 1 && sum(m) == 4);
    free(m);
    o.mapping = GLS_DENSITY_MRTRIX;
    o.upsample = 10;
    m = map(o, &lines, &counts);
    assert_true(counts.places == 21 + 1 + 11 && counts.places_outside == 10);
    assert_true(at(m, 1, 0, 0) == 1 && at(m, 2, 0, 0) == 1 && at(m, 1, 3, 3) == 1);
    free(m);
    o.mapping = GLS_DENSITY_ENDS;
    m = map(o, &lines, &counts);
    assert_true(counts.places == 5 && counts.places_outside == 1);
    assert_true(at(m, 0, 0, 0) == 2 && at(m, 1, 3, 3) == 1 && at(m, 2, 5, 5) == 1 && sum(m) == 4);
    free(m);
}

static void test_values(void **state)
{
    static const double values[] = {2, -1, 0, 5}, weights[] = {1, 3, 1, 1};
    static const uint8_t one[] = {1, 0, 0, 0}, both[] = {1, 1, 0, 0};
    static const char *const names[] = {"one", "both"};
    static const uint64_t offset[] = {0, 2, 4, 5, 5};
    static const float point[][3] = {{0, 0, 0}, {-6, 0, 0}, {-2, 0, 0}, {-2, 3, 0}, {-2, 0, 0}};
    const gls_column dps[] = {{"v", GLS_TYPE_FLOAT64, 1, values}, {"w", GLS_TYPE_FLOAT64, 1, weights}};
    const gls_column group[] = {{"one", GLS_TYPE_BOOL, 1, one}, {"both", GLS_TYPE_BOOL, 1, both}};
    const gls_streamlines s = {
        .n = 4, .offset = offset, .point = point, .n_dps = 2, .dps = dps, .n_groups = 2, .group = group};
    gls_density_counts counts;
    gls_density_options o = gls_density_options_default();
    (void)state;
    o.value = GLS_DENSITY_COLUMN;
    o.column = "v";
    double *m = map(o, &s, &counts);
    assert_true(at(m, 1, 0, 0) == 1 && at(m, 0, 0, 0) == 2 && at(m, 1, 3, 0) == -1);
    assert_true(counts.used == 2 && counts.zero == 1 && counts.empty == 1);
    free(m);
    o.stat = GLS_DENSITY_MEAN;
    o.weights = "w";
    m = map(o, &s, NULL);
    assert_true(at(m, 1, 0, 0) == -0.25);
    free(m);
    o.map_zero = true;
    m = map(o, &s, NULL);
    assert_true(fabs(at(m, 1, 0, 0) + 0.2) < 1e-15);
    free(m);
    o.stat = GLS_DENSITY_MIN;
    m = map(o, &s, NULL);
    assert_true(at(m, 1, 0, 0) == -1 && at(m, 2, 0, 0) == 2 && at(m, 5, 5, 5) == 0);
    free(m);
    o = gls_density_options_default();
    o.value = GLS_DENSITY_INVERSE;
    o.stat = GLS_DENSITY_MAX;
    m = map(o, &s, NULL);
    assert_true(at(m, 1, 0, 0) == 1.0 / 3 && at(m, 0, 0, 0) == 1.0 / 6);
    free(m);
    gls_grid grid = make_grid();
    gls_density *density;
    double *volumes = malloc((size_t)3 * N * N * N * sizeof *volumes);
    o = gls_density_options_default();
    o.directions = true;
    assert_int_equal(gls_density_create(&grid, &o, &density), GLS_OK);
    gls_sink sink = gls_density_sink(density);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    assert_int_equal(gls_density_volumes(density), 3);
    gls_density_get(density, volumes);
    double length = 0;
    for (int k = 0; k < 3; k++) length += pow(at(volumes + k * N * N * N, 1, 0, 0), 2);
    assert_true(fabs(length - 4) < 1e-12 && fabs(at(volumes, 1, 0, 0) - at(volumes + N * N * N, 1, 0, 0)) < 1e-12);
    assert_true(at(volumes, 3, 0, 0) == 1);
    gls_density_destroy(density);
    o = gls_density_options_default();
    o.group = names;
    o.n_groups = 2;
    assert_int_equal(gls_density_create(&grid, &o, &density), GLS_OK);
    sink = gls_density_sink(density);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    gls_density_set_scale(density, 0.5);
    gls_density_get(density, volumes);
    assert_true(gls_density_volumes(density) == 2 && at(volumes, 1, 0, 0) == 0.5);
    assert_true(at(volumes + N * N * N, 1, 0, 0) == 1);
    gls_density_destroy(density);
    free(volumes);
}

/* A thousand random streamlines, some of many voxels, whose weights have all digits. */
static void test_threads(void **state)
{
    enum { LINES = 1000, POINTS = 40 };
    static float point[LINES * POINTS][3];
    static uint64_t offset[LINES + 1];
    static double weight[LINES];
    const gls_column column = {"w", GLS_TYPE_FLOAT64, 1, weight};
    double total = 0;
    (void)state;
    srand(3);
    for (size_t i = 0; i < LINES * POINTS * 3; i++)
        point[i / 3][i % 3] = (i % 3 ? 12.0f : -24.0f) * (float)rand() / (float)RAND_MAX;
    for (size_t i = 0; i < LINES; i++) {
        offset[i + 1] = offset[i] + POINTS;
        weight[i] = (double)rand() / RAND_MAX;
        total += weight[i];
    }
    const gls_streamlines s = {
        .n = LINES, .offset = offset, .point = (const float(*)[3])point, .n_dps = 1, .dps = &column};
    gls_density_options o = {
        .size = sizeof o, .mapping = GLS_DENSITY_LENGTH, .upsample = 1, .weights = "w", .sum_weights = total};
    omp_set_num_threads(1);
    double *one = map(o, &s, NULL);
    omp_set_num_threads(5);
    double *five = map(o, &s, NULL);
    assert_memory_equal(one, five, N * N * N * sizeof *one);
    assert_true(sum(one) > 0);
    free(one);
    free(five);
}

static void test_errors(void **state)
{
    static const double bad[4] = {1, NAN, 1, 1}, huge[4] = {1e300, 1, 1, 1};
    gls_column column = {"w", GLS_TYPE_FLOAT64, 1, bad};
    gls_streamlines s = lines;
    gls_grid grid = make_grid();
    gls_density *density;
    gls_density_options o = {.size = sizeof o, .upsample = 1, .weights = "w", .sum_weights = 4};
    (void)state;
    assert_int_equal(gls_density_create(&grid, &o, &density), GLS_OK);
    gls_sink sink = gls_density_sink(density);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_INPUT);
    s.n_dps = 1;
    s.dps = &column;
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_INPUT);
    column.data = huge;
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_UNSUPPORTED);
    gls_density_destroy(density);
    o.upsample = 0;
    assert_int_equal(gls_density_create(&grid, &o, &density), GLS_ERR_ARGUMENT);
    gls_density_destroy(NULL);
    assert_int_equal(gls_density_upsampling(1, &grid), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mappings), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_values), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
