/* Values of ranks without keeping the numbers, against sorting them. */
#include <glslines/common.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tracts/ranks.h"
#include "util/maths.h"

enum { MOST = 60000 };

static double value[MOST], sorted[MOST];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_all(gls_ranks *ranks, size_t n, size_t shift)
{
    for (size_t i = 0; i < n; i++) assert_int_equal(gls_ranks_add(ranks, value[(i + shift) % n]), GLS_OK);
}

/* Finds the values. Returns the number of passes. */
static int check(size_t n, size_t limit)
{
    const uint64_t rank[] = {0, n / 4, n / 2, n - 1};
    gls_ranks *ranks;
    int passes = 0;
    for (size_t i = 0; i < n; i++) sorted[i] = value[i];
    qsort(sorted, n, sizeof *sorted, by_value);
    assert_int_equal(gls_ranks_create(limit, &ranks), GLS_OK);
    for (bool again = true; again; passes++) {
        add_all(ranks, n, (size_t)passes * 17);
        assert_int_equal(gls_ranks_end_pass(ranks, rank, 4, &again), GLS_OK);
        assert_true(passes < 5);
    }
    for (size_t k = 0; k < 4; k++) assert_true(gls_ranks_get(ranks, k) == sorted[rank[k]]);
    gls_ranks_destroy(ranks);
    return passes;
}

static void draw(size_t n, double low, double high, double grain)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t counter[4] = {i, 0, 0, 0};
        uint32_t out[4];
        gls_philox(counter, 7, out);
        value[i] = low * pow(high / low, gls_uniform(out[0]));
        if (grain > 0) value[i] = grain * round(value[i] / grain);
    }
}

static void test_lengths(void **state)
{
    (void)state;
    draw(MOST, 1, 300, 0);
    assert_int_equal(check(MOST, MOST), 1);
    assert_int_equal(check(MOST, MOST - 1), 2);
    assert_int_equal(check(MOST, 1000), 2);
    check(MOST, 1);
    assert_int_equal(check(1, 1), 1);
    check(2, 1);
}

/* Values far outside the ranges of the first pass, on their edges, and many that are equal. */
static void test_odd_numbers(void **state)
{
    (void)state;
    draw(MOST, 1e-9, 1e9, 0);
    check(MOST, 100);
    draw(MOST, 1e-300, 1e300, 0);
    check(MOST, 100);
    draw(MOST, 1, 300, 1);
    check(MOST, 100);
    for (size_t i = 0; i < MOST; i++) value[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x1p-16 : 0x1p16;
    check(MOST, 10);
    for (size_t i = 0; i < MOST; i++) value[i] = 42.5;
    check(MOST, 10);
    for (size_t i = 0; i < MOST; i++) value[i] = i % 2 ? nextafter(42.5, 43) : 42.5;
    check(MOST, 10);
}

static void test_other_numbers(void **state)
{
    const uint64_t rank[] = {5000};
    gls_ranks *ranks;
    bool again;
    (void)state;
    draw(MOST, 1, 300, 0);
    assert_int_equal(gls_ranks_create(10, &ranks), GLS_OK);
    add_all(ranks, MOST, 0);
    assert_int_equal(gls_ranks_end_pass(ranks, rank, 1, &again), GLS_OK);
    assert_true(again);
    for (size_t i = 0; i < MOST; i++) assert_int_equal(gls_ranks_add(ranks, 1000), GLS_OK);
    assert_int_equal(gls_ranks_end_pass(ranks, rank, 1, &again), GLS_ERR_INPUT);
    gls_ranks_destroy(ranks);
    assert_int_equal(gls_ranks_create(10, &ranks), GLS_OK);
    add_all(ranks, MOST, 0);
    assert_int_equal(gls_ranks_end_pass(ranks, rank, 1, &again), GLS_OK);
    add_all(ranks, MOST - 1, 0);
    assert_int_equal(gls_ranks_end_pass(ranks, rank, 1, &again), GLS_ERR_INPUT);
    gls_ranks_destroy(ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_odd_numbers),
                                       cmocka_unit_test(test_other_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
