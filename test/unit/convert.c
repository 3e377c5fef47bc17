/* Conversion between types: every pair of types at the edges of both, what is refused, and rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/compute.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_TYPES 12

/* A value that the test converts to every type: exact as a double or as an integer. */
typedef struct exact {
    double d;
    bool is_integer, negative;
    uint64_t size; /* absolute value of an integer */
} exact;

static exact integer(bool negative, uint64_t size)
{
    return (exact){negative ? -(double)size : (double)size, true, negative, size};
}

static const int value_bits[N_TYPES] = {11, 24, 53, 7, 15, 31, 63, 8, 16, 32, 64, 1};

static bool is_float(gls_type t)
{
    return t <= GLS_TYPE_FLOAT64;
}

static bool is_signed(gls_type t)
{
    return t >= GLS_TYPE_INT8 && t <= GLS_TYPE_INT64;
}

/* Whether an integer is a value of an integer type. */
static bool holds(gls_type t, exact v)
{
    uint64_t most = value_bits[t] == 64 ? UINT64_MAX : ((uint64_t)1 << value_bits[t]) - 1;
    if (v.negative && v.size > 0) return is_signed(t) && v.size <= most + 1;
    return v.size <= most;
}

/* Writes an integer as a value of a type that holds it. */
static void store(gls_type t, exact v, void *out)
{
    uint64_t bits = v.negative ? 0 - v.size : v.size;
    double d = v.d;
    float f = (float)d;
    if (t == GLS_TYPE_FLOAT64)
        memcpy(out, &d, 8);
    else if (t == GLS_TYPE_FLOAT32)
        memcpy(out, &f, 4);
    else
        memcpy(out, &bits, gls_type_size(t)); /* little end first */
}

/* Every integer near a power of two, from every type that holds it to every type: kept, rounded as C does, or refused.
 */
static void integers(void **state)
{
    (void)state;
    size_t kept = 0, refused = 0;
    for (int bits = 0; bits <= 64; bits++)
        for (int step = -1; step <= 1; step++)
            for (int negative = 0; negative <= 1; negative++) {
                uint64_t size = bits < 64 ? (uint64_t)1 << bits : 0;
                if ((bits == 64 && step >= 0) || (bits == 0 && step < 0)) continue;
                exact v = integer(negative, size + (uint64_t)step);
                for (gls_type from = GLS_TYPE_FLOAT32; from < N_TYPES; from++) {
                    bool exact_float = is_float(from) && (uint64_t)v.size < (uint64_t)1 << value_bits[from];
                    if (!exact_float && (is_float(from) || !holds(from, v))) continue;
                    for (gls_type to = GLS_TYPE_FLOAT32; to < N_TYPES; to++) {
                        uint8_t in[8], out[24], expected[8] = {0};
                        memset(out, 0xa5, sizeof out);
                        store(from, v, in);
                        gls_status status = gls_convert(1, in, from, out + 8, to);
                        bool fits = is_float(to) || to == GLS_TYPE_BOOL || holds(to, v);
                        if (status != (fits ? GLS_OK : GLS_ERR_ARGUMENT))
                            print_error("%g from %s to %s: %s\n", v.d, gls_type_name(from), gls_type_name(to),
                                        gls_status_name(status));
                        assert_int_equal(status, fits ? GLS_OK : GLS_ERR_ARGUMENT);
                        if (to == GLS_TYPE_FLOAT32) {
                            /* one rounding, without a double in between */
                            float f = v.negative ? -(float)v.size : (float)v.size;
                            memcpy(expected, &f, 4);
                        } else {
                            store(to, to == GLS_TYPE_BOOL ? integer(false, v.size != 0) : v, expected);
                        }
                        size_t width = gls_type_size(to);
                        if (fits && !(v.size == 0 && is_float(to)))
                            assert_memory_equal(out + 8, expected, width); /* -0 is 0 */
                        for (size_t i = 0; i < 8; i++) assert_int_equal(out[i], 0xa5);
                        for (size_t i = 8 + (fits ? width : 0); i < 24; i++) assert_int_equal(out[i], 0xa5);
                        kept += fits, refused += !fits;
                    }
                }
            }
    print_message("%zu conversions kept the value, %zu were refused\n", kept, refused);
    assert_true(kept > 3000 && refused > 1000);
}

static void fractions(void **state)
{
    (void)state;
    static const double bad[] = {0.5, -0.5, 1e-300, 2147483646.5, NAN, INFINITY, -INFINITY, 1e300, -1e300, 0x1p64};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (gls_type to = GLS_TYPE_INT8; to <= GLS_TYPE_UINT64; to++) {
            double in[3] = {1, 2, bad[i]};
            uint64_t out[3] = {7, 7, 7};
            assert_int_equal(gls_convert(3, in, GLS_TYPE_FLOAT64, out, to), GLS_ERR_ARGUMENT);
            assert_non_null(strstr(gls_last_error(), "element 2"));
            assert_non_null(strstr(gls_last_error(), gls_type_name(to)));
            assert_true(out[0] == 7 && out[1] == 7 && out[2] == 7); /* nothing was written */
        }
    double in[] = {0, -0.0, 0.5, NAN, INFINITY, -1};
    uint8_t out[6];
    assert_int_equal(gls_convert(6, in, GLS_TYPE_FLOAT64, out, GLS_TYPE_BOOL), GLS_OK);
    assert_memory_equal(out, ((uint8_t[]){0, 0, 1, 1, 1, 1}), 6);
    float wide[2];
    uint8_t bools[] = {0, 200};
    assert_int_equal(gls_convert(2, bools, GLS_TYPE_BOOL, wide, GLS_TYPE_FLOAT32), GLS_OK);
    assert_true(wide[0] == 0 && wide[1] == 1);
}

static void single_precision(void **state)
{
    (void)state;
    const double most = 0x1.fffffep127, half_more = 0x1.ffffffp127;
    double good[] = {
        most, nextafter(half_more, 0), -most, INFINITY, -INFINITY, NAN, 0x1p-149, 0x1p-150, 0x1.8p-149, 0.1, -0.0};
    float out[11];
    assert_int_equal(gls_convert(11, good, GLS_TYPE_FLOAT64, out, GLS_TYPE_FLOAT32), GLS_OK);
    assert_true(out[0] == (float)most && out[1] == (float)most && out[2] == -(float)most && isinf(out[3]) &&
                isinf(out[4]) && isnan(out[5]));
    assert_true(out[6] == 0x1p-149f && out[7] == 0 && out[8] == 0x1p-148f && out[9] == 0.1f && out[10] == 0 &&
                signbit(out[10]));
    double bad[] = {half_more, -half_more, 1e39, 1e308};
    for (int i = 0; i < 4; i++)
        assert_int_equal(gls_convert(1, &bad[i], GLS_TYPE_FLOAT64, out, GLS_TYPE_FLOAT32), GLS_ERR_ARGUMENT);
}

/* Returns the binary16 value that a double becomes, by comparison with all of them. */
static double nearest_half(double value, const double *halves)
{
    size_t best = 0;
    for (size_t h = 1; h < 0x7c00; h++) {
        double d = fabs(halves[h] - value), e = fabs(halves[best] - value);
        if (d < e || (d == e && h % 2 == 0)) best = h;
    }
    return halves[best];
}

static void half_precision(void **state)
{
    (void)state;
    static uint16_t bits[0x10000], back[0x10000];
    static double halves[0x10000];
    for (size_t i = 0; i < 0x10000; i++) bits[i] = (uint16_t)i;
    assert_int_equal(gls_convert(0x10000, bits, GLS_TYPE_FLOAT16, halves, GLS_TYPE_FLOAT64), GLS_OK);
    assert_true(halves[0x3c00] == 1 && halves[1] == 0x1p-24 && halves[0x7bff] == 65504 && isinf(halves[0x7c00]) &&
                isnan(halves[0x7c01]));
    assert_true(halves[0xc000] == -2);
    for (size_t i = 1; i < 0x7c00; i++) assert_true(halves[i] > halves[i - 1] && halves[i + 0x8000] == -halves[i]);
    assert_int_equal(gls_convert(0x10000, halves, GLS_TYPE_FLOAT64, back, GLS_TYPE_FLOAT16), GLS_OK);
    for (size_t i = 0; i < 0x10000; i++)
        assert_true(back[i] == bits[i] || (isnan(halves[i]) && (back[i] & 0x7fff) > 0x7c00));
    /* halfway points, and a little beside them */
    for (size_t i = 0; i < 0x7bff; i += 37) {
        double middle = 0.5 * (halves[i] + halves[i + 1]),
               values[3] = {nextafter(middle, 0), middle, nextafter(middle, 1e9)}, got[3];
        uint16_t h[3];
        assert_int_equal(gls_convert(3, values, GLS_TYPE_FLOAT64, h, GLS_TYPE_FLOAT16), GLS_OK);
        assert_int_equal(gls_convert(3, h, GLS_TYPE_FLOAT16, got, GLS_TYPE_FLOAT64), GLS_OK);
        for (int k = 0; k < 3; k++) assert_true(got[k] == nearest_half(values[k], halves));
    }
    float large[] = {65519.996f, 65520, -65520, 1e30f};
    uint16_t out[4];
    assert_int_equal(gls_convert(1, large, GLS_TYPE_FLOAT32, out, GLS_TYPE_FLOAT16), GLS_OK);
    assert_int_equal(out[0], 0x7bff);
    for (int i = 1; i < 4; i++)
        assert_int_equal(gls_convert(1, large + i, GLS_TYPE_FLOAT32, out, GLS_TYPE_FLOAT16), GLS_ERR_ARGUMENT);
}

/* More than one block, whatever the size of a block is, with the bad value late. */
static void many(void **state)
{
    (void)state;
    enum { N = 5000 };
    static int64_t in[N];
    static int32_t out[N];
    for (int i = 0; i < N; i++) in[i] = 1000003LL * i - 2000000000;
    assert_int_equal(gls_convert(2100, in, GLS_TYPE_INT64, out, GLS_TYPE_INT32), GLS_OK);
    for (int i = 0; i < 2100; i++) assert_int_equal(out[i], in[i]);
    memset(out, 0, sizeof out);
    assert_int_equal(gls_convert(N, in, GLS_TYPE_INT64, out, GLS_TYPE_INT32), GLS_ERR_ARGUMENT);
    int first = 0;
    while (in[first] <= INT32_MAX) first++;
    char text[60];
    snprintf(text, sizeof text, "element %d (counted from 0): %lld", first, (long long)in[first]);
    assert_non_null(strstr(gls_last_error(), text));
    for (int i = 0; i < N; i++) assert_int_equal(out[i], 0);
}

static void arguments(void **state)
{
    (void)state;
    float f = 1;
    assert_int_equal(gls_convert(1, NULL, GLS_TYPE_FLOAT32, &f, GLS_TYPE_FLOAT32), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_convert(1, &f, GLS_TYPE_FLOAT32, NULL, GLS_TYPE_FLOAT32), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_convert(1, &f, (gls_type)12, &f, GLS_TYPE_FLOAT32), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_convert(1, &f, GLS_TYPE_FLOAT32, &f, (gls_type)-1), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_convert(0, NULL, GLS_TYPE_FLOAT32, NULL, GLS_TYPE_INT8), GLS_OK);
    assert_int_equal(gls_type_size((gls_type)12), 0);
    assert_string_equal(gls_type_name((gls_type)-3), "unknown type");
    static const size_t sizes[N_TYPES] = {2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
    for (gls_type t = 0; t < N_TYPES; t++) {
        assert_int_equal(gls_type_size(t), sizes[t]);
        assert_int_equal(gls_type_stored(t), is_float(t)    ? GLS_TYPE_FLOAT32
                                             : is_signed(t) ? GLS_TYPE_INT32
                                                            : GLS_TYPE_UINT32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),       cmocka_unit_test(fractions), cmocka_unit_test(single_precision),
        cmocka_unit_test(half_precision), cmocka_unit_test(many),      cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
