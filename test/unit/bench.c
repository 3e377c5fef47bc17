/* The benchmark's figures that need no device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/bench_stats.h"
#include "bench/bench.h"
#include "util/maths.h"

static void expect_spread(const double *value, int n, double median, double min, double max)
{
    bench_spread s = bench_spread_of(value, n);
    assert_true(s.median == median && s.min == min && s.max == max);
}

static void test_spread(void **state)
{
    (void)state;
    expect_spread((const double[]){3}, 1, 3, 3, 3);
    expect_spread((const double[]){5, 1}, 2, 3, 1, 5);
    expect_spread((const double[]){9, 1, 4}, 3, 4, 1, 9);
    expect_spread((const double[]){8, 1, 2, 100}, 4, 5, 1, 100);
    expect_spread((const double[]){2, 2, 2, 1, 2}, 5, 2, 1, 2);
    double values[] = {7, 3, 5, 1};
    assert_true(gls_median(values, 4) == 4);
    assert_true(values[0] == 1 && values[3] == 7);
}

static void test_commissural(void **state)
{
    /* from left to right, from right to left, within a side, from the plane itself, one point, across and back */
    static const float point[][3] = {{-1, 0, 0}, {0, 5, 0}, {1, 0, 0},  {2, 0, 0}, {-3, 0, 0}, {1, 0, 0}, {4, 0, 0},
                                     {0, 0, 0},  {2, 0, 0}, {-2, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {2, 0, 0}};
    static const uint64_t offset[] = {0, 3, 5, 7, 9, 10, 13};
    gls_streamlines s = {.n = 6, .offset = offset, .point = point};
    (void)state;
    assert_int_equal(bench_commissural(&s), 2);
    s.n = 1;
    assert_int_equal(bench_commissural(&s), 1);
    s.n = 0;
    assert_int_equal(bench_commissural(&s), 0);
}

static void expect_list(const char *list, int n, const int *expected)
{
    int place[4], length;
    const char *bad;
    assert_int_equal(bench_parse_list(list, "boot|prob|det|ptt", true, place, 4, &bad, &length), n);
    for (int i = 0; i < n; i++) assert_int_equal(place[i], expected[i]);
}

static void test_lists(void **state)
{
    int place[4], length;
    const char *bad;
    (void)state;
    expect_list("prob", 1, (const int[]){1});
    expect_list("ptt,boot", 2, (const int[]){3, 0});
    expect_list("det,det,det", 1, (const int[]){2});
    expect_list("all", 4, (const int[]){0, 1, 2, 3});
    expect_list("ptt,all", 4, (const int[]){3, 0, 1, 2});
    assert_int_equal(bench_parse_list("boot,pro", "boot|prob", true, place, 4, &bad, &length), -1);
    assert_int_equal(length, 3);
    assert_memory_equal(bad, "pro", 3);
    assert_int_equal(bench_parse_list("", "boot|prob", true, place, 4, &bad, &length), -1);
    assert_int_equal(bench_parse_list("boot,", "boot|prob", true, place, 4, &bad, &length), -1);
    assert_int_equal(bench_parse_list("all", "auto|single", false, place, 4, &bad, &length), -1);
}

static void test_shapes(void **state)
{
    static const char *const wrong[] = {"",         "81",        "81x106",    "81x106x",   "81x106x76x2",
                                        "15x40x40", "513x40x40", "40x40x-40", "40 x40x40", "40x40x40 ",
                                        "axbxc",    "40,40,40",  "0x40x40x40"};
    int shape[3];
    (void)state;
    assert_true(bench_parse_shape("81x106x76", shape));
    assert_int_equal(shape[0], 81);
    assert_int_equal(shape[1], 106);
    assert_int_equal(shape[2], 76);
    assert_true(bench_parse_shape("16x512x16", shape));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(bench_parse_shape(wrong[i], shape));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spread), cmocka_unit_test(test_commissural),
                                       cmocka_unit_test(test_lists), cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
