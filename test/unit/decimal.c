/* Decimals of doubles against the C library's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/numbers.h"
#include "util/maths.h"

/* Returns the fewest digits, 15 to 17, that read back as the same number; NULL if the text has an exponent. */
static const char *print_slowly(double v, char text[64])
{
    for (int n = 15; n <= 17; n++) {
        snprintf(text, 64, "%.*g", n, v);
        if (strtod(text, NULL) == v) break;
    }
    return strchr(text, 'e') ? NULL : text;
}

static void check(double v)
{
    char fast[GLS_DECIMAL_BYTES], slow[64], whole[64];
    const size_t length = gls_decimal_print(v, fast);
    const char *wanted = v == 0 ? "0" : print_slowly(v, slow);
    if (length > 0) {
        if (!wanted || strcmp(fast, wanted) != 0) fail_msg("%a: %s, not %s", v, fast, wanted ? wanted : "none");
        assert_int_equal(strlen(fast), length);
    } else if (wanted && fabs(v) >= 1e-4 && fabs(v) < 1e6) {
        fail_msg("%a: nothing, not %s", v, wanted);
    }
    assert_true(strtod(gls_format_double(v, whole, sizeof whole), NULL) == v);
}

/* With 10 digits, as a multiple of a power of two, too, where digits often end halfway. */
static void check_rounded(double v)
{
    char fast[GLS_DECIMAL_BYTES], slow[64];
    for (int n = 10; n > 0; n -= 9, v = ldexp(rint(ldexp(v, 9)), -9)) {
        const size_t length = gls_decimal_round(v, n, fast);
        snprintf(slow, sizeof slow, "%.*g", n, v);
        if (length > 0) {
            if (strcmp(fast, slow) != 0) fail_msg("%a: %s, not %s", v, fast, slow);
            assert_int_equal(strlen(fast), length);
        } else if (n == 10 && fabs(v) >= 1e-4 && fabs(v) < 999999) {
            fail_msg("%a: nothing, not %s", v, slow);
        }
    }
}

static double random_double(uint32_t i)
{
    const uint32_t counter[4] = {i, 0, 0, 0};
    uint32_t out[4];
    gls_philox(counter, 1, out);
    const double share = ((double)out[0] + (double)out[1] * 0x1p-32) * 0x1p-32,
                 size = pow(10, 20 * (out[2] * 0x1p-32) - 5);
    switch (out[3] % 5) {
    case 0: return size * share;
    case 1: return -size * share;
    case 2: return (double)(float)(size * share);
    case 3: return rint(1000 * size * share) / 1000;
    default: return ldexp(1, (int)(out[0] % 60) - 14) * (1 + ((int)(out[1] % 5) - 2) * 0x1p-52);
    }
}

static void test_against_printf(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200000; i++) check(random_double(i));
    for (uint32_t i = 0; i < 200000; i++) check_rounded(random_double(i));
    for (uint32_t i = 0; i < 20000; i++) check_rounded((double)i / 4096 + 1e5 * (double)(i % 7));
}

static void test_edges(void **state)
{
    static const double edges[] = {0,
                                   1,
                                   -1,
                                   0.1,
                                   0.3,
                                   1e-4,
                                   0.00099999999999999994,
                                   1e5,
                                   1e6,
                                   123456,
                                   1234567,
                                   1e13,
                                   1e14,
                                   99999999999999.98,
                                   9.5,
                                   99.5,
                                   0.5,
                                   2.5e-4,
                                   1.0 / 3,
                                   2.0 / 3,
                                   123456789012345.6,
                                   1e22,
                                   1e300,
                                   5e-324,
                                   1e-5,
                                   1e-4 / 3,
                                   0x1p-13,
                                   9007199254740993.0,
                                   4.35,
                                   1e15,
                                   4503599627370496.5};
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        for (int k = -3; k <= 3; k++) {
            double v = edges[i];
            for (int s = 0; s < abs(k); s++) v = nextafter(v, k < 0 ? -INFINITY : INFINITY);
            check(v);
            check(-v);
            check_rounded(v);
            check_rounded(-v);
        }
    }
    assert_int_equal(gls_decimal_print(NAN, text), 0);
    assert_int_equal(gls_decimal_print(INFINITY, text), 0);
    assert_string_equal(gls_format_double(1e6, text, sizeof text), "1e+06");
    assert_string_equal(gls_format_double(1234567, text, sizeof text), "1234567");
    assert_string_equal(gls_format_double(100000, text, sizeof text), "100000");
    assert_string_equal(gls_format_double(-0.001, text, sizeof text), "-0.001");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_printf), cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
