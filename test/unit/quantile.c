/* Quantiles of sorted values, of histograms, and those that summaries and tables of lengths show: numpy's rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/summary.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/shape.h"
#include "util/maths.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* The numbers of numpy.quantile(value, [0, .02, .25, .5, .75, .98, 1]). */
static void test_values(void **state)
{
    static const double q[] = {0, 0.02, 0.25, 0.5, 0.75, 0.98, 1};
    static const struct {
        size_t n;
        double value[6], quantile[7];
    } cases[] = {{1, {7}, {7, 7, 7, 7, 7, 7, 7}},
                 {2, {20, 10}, {10, 10.2, 12.5, 15, 17.5, 19.8, 20}},
                 {3, {30, 10, 20}, {10, 10.4, 15, 20, 25, 29.6, 30}},
                 {4, {4, 1, 3, 2}, {1, 1.06, 1.75, 2.5, 3.25, 3.94, 4}},
                 {5, {5, 4, 3, 2, 1}, {1, 1.08, 2, 3, 4, 4.92, 5}},
                 {6, {0, 1, 1, 2, 8, 9}, {0, 0.1, 1, 1.5, 6.5, 8.9, 9}}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double value[6], out[7];
        float single[6];
        for (size_t i = 0; i < cases[c].n; i++) value[i] = cases[c].value[i];
        for (size_t i = 0; i < cases[c].n; i++) single[i] = (float)cases[c].value[i];
        gls_quantiles_of_floats(single, cases[c].n, q, 7, out);
        assert_true(near(gls_median(value, cases[c].n), cases[c].quantile[3]));
        for (int k = 0; k < 7; k++) {
            assert_true(near(out[k], cases[c].quantile[k]));
            assert_true(near(gls_quantile_of_sorted(value, cases[c].n, q[k]), cases[c].quantile[k]));
        }
    }
    assert_true(isnan(gls_median(NULL, 0)));
    double infinite[] = {-INFINITY, INFINITY, INFINITY, INFINITY};
    assert_true(gls_median(infinite, 4) == INFINITY);
}

/* Comparison for qsort(): floats in ascending order. */
static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Many floats, which are sorted by their bits: of both signs, zeros, infinite ones and the smallest. */
static void test_many(void **state)
{
    static const double q[] = {0, 0.37, 1};
    static float value[10000], sorted[10000];
    double out[3];
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const uint32_t mixed = i * 2654435761u;
        value[i] = ldexpf((float)(int32_t)mixed, (int)(mixed % 97) - 60);
    }
    value[5] = INFINITY;
    value[77] = -INFINITY;
    value[78] = 1e-45f;
    value[79] = -0.0f;
    value[80] = -1e-45f;
    memcpy(sorted, value, sizeof value);
    qsort(sorted, 10000, sizeof *sorted, compare);
    gls_quantiles_of_floats(value, 10000, q, 3, out);
    for (int i = 0; i < 10000; i++) assert_true(value[i] == sorted[i]);
    assert_true(out[0] == -INFINITY && out[2] == INFINITY);
    assert_true(near(out[1], (double)sorted[3699] + 0.63 * ((double)sorted[3700] - (double)sorted[3699])));
}

static void test_histogram(void **state)
{
    static const uint64_t bin[] = {0, 2, 0, 1, 1, 0};
    (void)state;
    assert_true(gls_histogram_bin(bin, 6, 0) == 1 && gls_histogram_bin(bin, 6, 2) == 3);
    assert_true(gls_histogram_median(bin, 6, 4) == 2);
}

/* Straight streamlines of these lengths, from the longest to the shortest. */
static void check_lengths(size_t n, size_t kept)
{
    gls_summary *summary;
    gls_bundle_stats *stats;
    bool again;
    const uint64_t offset[] = {0, 2};
    float point[2][3] = {{0}};
    double *length = malloc(n * sizeof *length);
    assert_non_null(length);
    assert_int_equal(gls_summary_create(NULL, &summary), GLS_OK);
    assert_int_equal(gls_bundle_stats_create(NULL, kept, &stats), GLS_OK);
    const gls_sink sink = gls_summary_sink(summary);
    for (size_t i = 0; i < n; i++) {
        point[1][0] = (float)(10 * (n - i));
        length[i] = (double)point[1][0];
        const gls_streamlines line = {.n = 1, .offset = offset, .point = (const float(*)[3])point};
        assert_int_equal(gls_sink_append(&sink, &line), GLS_OK);
        assert_int_equal(gls_bundle_stats_add(stats, (const float(*)[3])point, 2, 1), GLS_OK);
    }
    assert_int_equal(gls_bundle_stats_end_pass(stats, &again), GLS_OK);
    while (again) {
        for (size_t i = 0; i < n; i++) assert_int_equal(gls_bundle_stats_add_again(stats, length[i]), GLS_OK);
        assert_int_equal(gls_bundle_stats_end_pass(stats, &again), GLS_OK);
    }
    gls_sort(length, n);
    const double q25 = gls_quantile_of_sorted(length, n, 0.25), middle = gls_quantile_of_sorted(length, n, 0.5),
                 q75 = gls_quantile_of_sorted(length, n, 0.75);
    const gls_spread *s = &gls_summary_get(summary)->length;
    assert_true(s->quartile[0] == q25 && s->median == middle && s->quartile[1] == q75);
    const gls_lengths l = gls_bundle_stats_lengths(stats);
    assert_true(l.q25 == q25 && l.median == middle && l.q75 == q75);
    assert_true(fabs(l.step / middle - 1) < 1.0 / 2000);
    gls_bundle_stats_destroy(stats);
    gls_summary_destroy(summary);
    free(length);
}

static void test_lengths(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 9; n++)
        for (size_t kept = 1; kept <= 16; kept += 15) check_lengths(n, kept);
    check_lengths(1000, 100);
    /* without a streamline that is kept there are no ranks */
    gls_bundle_stats *stats;
    size_t n = 1;
    assert_int_equal(gls_bundle_stats_create(NULL, 0, &stats), GLS_OK);
    assert_null(gls_bundle_stats_sorted(stats, &n));
    assert_int_equal(n, 0);
    gls_bundle_stats_destroy(stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_histogram), cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
