/* Ready-made kernels against double precision: bounds are stated with each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compute.h"

#define N 20011

static gls_device *device;

/* --- element-wise --------------------------------------------------------- */

/* A function, the inputs it is tested on, and how far it may be off: |error| <= ulps * 2^-24 |result| * 2 + absolute.
 */
typedef struct function {
    const char *name;
    int op;
    double low, high;
    double ulps, absolute;
    double software_ulps, software_absolute; /* the same for llvmpipe */
} function;

/* OpenGL promises little of these. Of hardware the bounds are those that Vulkan asks of the same units: division 2.5
 * units in the last place, exponential 3 + 2 |x|, logarithm 3 (near 1 2^-21), sine and cosine 2^-11 within [-pi, pi];
 * the square root is as exact as a division. Products and sums are rounded correctly.
 * */
static const function unary[] = {
    {"sqrt", GLS_SQRT, 0, 1e6, 4, 0, 1, 0},
    {"exp", GLS_EXP, -20, 20, 3 + 2 * 20, 0, 3 + 2 * 20, 0},
    {"log", GLS_LOG, 1e-6, 1e6, 4, 0x1p-21, 4, 0x1p-21},
    {"sin", GLS_SIN, -3.14159, 3.14159, 0, 0x1p-11, 0, 0x1p-22},
    {"cos", GLS_COS, -3.14159, 3.14159, 0, 0x1p-11, 0, 0x1p-22},
    {"abs", GLS_ABS, -100, 100, 0, 0, 0, 0},
    {"square", GLS_SQUARE, -100, 100, 0.5, 0, 0.5, 0},
    {"negative", GLS_NEGATIVE, -100, 100, 0, 0, 0, 0},
};
static const function binary[] = {
    {"add", GLS_ADD, -100, 100, 0.5, 0, 0.5, 0},
    {"sub", GLS_SUB, -100, 100, 0.5, 0, 0.5, 0},
    {"mul", GLS_MUL, -100, 100, 0.5, 0, 0.5, 0},
    {"div", GLS_DIV, -100, 100, 2.5, 0, 2.5, 0},
};

static double apply_unary(int op, double x)
{
    switch (op) {
    case GLS_SQRT: return sqrt(x);
    case GLS_EXP: return exp(x);
    case GLS_LOG: return log(x);
    case GLS_SIN: return sin(x);
    case GLS_COS: return cos(x);
    case GLS_ABS: return fabs(x);
    case GLS_SQUARE: return x * x;
    default: return -x;
    }
}

static double apply_binary(int op, double a, double b)
{
    switch (op) {
    case GLS_ADD: return a + b;
    case GLS_SUB: return a - b;
    case GLS_MUL: return a * b;
    default: return a / b;
    }
}

static void compare(gls_device *d, const function *f, const float *got, const double *expected, size_t n)
{
    bool software = gls_device_get_info(d)->software;
    double ulps = software ? f->software_ulps : f->ulps, absolute = software ? f->software_absolute : f->absolute,
           worst = 0, worst_relative = 0;
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs(got[i] - expected[i]);
        worst = fmax(worst, error);
        if (expected[i] != 0) worst_relative = fmax(worst_relative, error / fabs(expected[i]));
        bad += !(error <= ulps * 0x1p-23 * fabs(expected[i]) + absolute);
    }
    print_message("%-8s largest error %.2g, relative %.2g; allowed %.2g of the value + %.2g\n", f->name, worst,
                  worst_relative, ulps * 0x1p-23, absolute);
    assert_int_equal(bad, 0);
}

static void functions_of(gls_device *d)
{
    static float a[N], b[N], got[N];
    static double expected[N];
    gls_array *x = guarded(d, GLS_TYPE_FLOAT32, N), *z = guarded(d, GLS_TYPE_FLOAT32, N),
              *y = guarded(d, GLS_TYPE_FLOAT32, N);
    uint64_t seed = 3;
    gls_run_result result;
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        const function *f = &unary[k];
        for (size_t i = 0; i < N; i++) {
            a[i] = f->op == GLS_LOG ? (float)exp(random_uniform(&seed, log(f->low), log(f->high)))
                                    : (float)random_uniform(&seed, f->low, f->high);
            expected[i] = apply_unary(f->op, a[i]);
        }
        assert_ok(gls_array_write(x, 0, N, a, GLS_TYPE_FLOAT32));
        assert_ok(gls_unary((gls_unary_op)f->op, x, y, &result));
        assert_true(result.status == GLS_OK && result.gpu_seconds > 0 && result.wall_seconds > 0);
        read_guarded(y, N, got, GLS_TYPE_FLOAT32);
        compare(d, f, got, expected, N);
        /* in place */
        assert_ok(gls_unary((gls_unary_op)f->op, x, x, NULL));
        read_guarded(x, N, b, GLS_TYPE_FLOAT32);
        assert_memory_equal(b, got, sizeof got);
    }
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
        const function *f = &binary[k];
        for (size_t i = 0; i < N; i++) {
            a[i] = (float)random_uniform(&seed, f->low, f->high);
            do b[i] = (float)random_uniform(&seed, f->low, f->high);
            while (fabsf(b[i]) < 1e-3f);
            expected[i] = apply_binary(f->op, a[i], b[i]);
        }
        assert_ok(gls_array_write(x, 0, N, a, GLS_TYPE_FLOAT32));
        assert_ok(gls_array_write(z, 0, N, b, GLS_TYPE_FLOAT32));
        assert_ok(f->op == GLS_ADD ? gls_vector_add(x, z, y, NULL) : gls_binary((gls_binary_op)f->op, x, z, y, NULL));
        read_guarded(y, N, got, GLS_TYPE_FLOAT32);
        compare(d, f, got, expected, N);
    }
    gls_array_destroy(x);
    gls_array_destroy(y);
    gls_array_destroy(z);
}

static void functions(void **state)
{
    (void)state;
    functions_of(device);
}

/* Integers, exact and wrapping around. */
static void integer_functions(void **state)
{
    (void)state;
    enum { M = 1000 };
    static const int32_t edges[] = {0, 1, -1, INT32_MAX, INT32_MIN + 1, 65536, -65537, 46341};
    for (int is_signed = 0; is_signed <= 1; is_signed++) {
        gls_type type = is_signed ? GLS_TYPE_INT32 : GLS_TYPE_UINT32;
        uint32_t a[M], b[M], got[M];
        gls_array *x = guarded(device, type, M), *z = guarded(device, type, M), *y = guarded(device, type, M);
        uint64_t seed = 8;
        for (int i = 0; i < M; i++) {
            a[i] = i < 64 ? (uint32_t)edges[i / 8] : (uint32_t)random_bits(&seed);
            b[i] = i < 64 ? (uint32_t)edges[i % 8] : (uint32_t)random_bits(&seed);
        }
        assert_ok(gls_array_write(x, 0, M, a, type));
        assert_ok(gls_array_write(z, 0, M, b, type));
        for (gls_binary_op op = GLS_ADD; op <= GLS_MUL; op++) {
            assert_ok(gls_binary(op, x, z, y, NULL));
            read_guarded(y, M, got, type);
            for (int i = 0; i < M; i++)
                assert_int_equal(got[i], op == GLS_ADD ? a[i] + b[i] : op == GLS_SUB ? a[i] - b[i] : a[i] * b[i]);
        }
        assert_ok(gls_unary(GLS_SQUARE, x, y, NULL));
        read_guarded(y, M, got, type);
        for (int i = 0; i < M; i++) assert_int_equal(got[i], a[i] * a[i]);
        if (is_signed) {
            assert_ok(gls_unary(GLS_ABS, x, y, NULL));
            read_guarded(y, M, got, type);
            for (int i = 0; i < M; i++) assert_int_equal(got[i], (int32_t)a[i] < 0 ? 0 - a[i] : a[i]);
            assert_ok(gls_unary(GLS_NEGATIVE, x, y, NULL));
            read_guarded(y, M, got, type);
            for (int i = 0; i < M; i++) assert_int_equal(got[i], 0 - a[i]);
        }
        static const gls_unary_op never[] = {GLS_SQRT, GLS_EXP, GLS_LOG, GLS_SIN, GLS_COS};
        for (int k = 0; k < 5; k++) assert_refused(gls_unary(never[k], x, y, NULL), "does not work on");
        assert_refused(gls_binary(GLS_DIV, x, z, y, NULL), "div does not work on");
        if (!is_signed) assert_refused(gls_unary(GLS_ABS, x, y, NULL), "abs does not work on uint32");
        if (!is_signed) assert_refused(gls_unary(GLS_NEGATIVE, x, y, NULL), "negative does not work on uint32");
        gls_array_destroy(x);
        gls_array_destroy(y);
        gls_array_destroy(z);
    }
}

static void refused_functions(void **state)
{
    (void)state;
    gls_array *f = guarded(device, GLS_TYPE_FLOAT32, 10), *longer = guarded(device, GLS_TYPE_FLOAT64, 11),
              *k = guarded(device, GLS_TYPE_INT8, 10), *t = guarded(device, GLS_TYPE_BOOL, 10);
    gls_run_result result;
    assert_refused(gls_binary(GLS_ADD, f, f, longer, &result), "array y has 11 elements, but array a has 10");
    assert_true(result.status == GLS_ERR_ARGUMENT && strstr(result.message, "11 elements"));
    assert_refused(gls_binary(GLS_ADD, longer, f, longer, NULL), "array b has 10");
    assert_refused(gls_binary(GLS_ADD, f, k, f, NULL),
                   "array b of int8 is stored as int32, but must be stored as float32");
    assert_refused(gls_unary(GLS_SQUARE, t, t, NULL), "of bool");
    assert_refused(gls_binary((gls_binary_op)4, f, f, f, NULL), "no operation has number 4");
    assert_refused(gls_unary((gls_unary_op)8, f, f, NULL), "no operation has number 8");
    assert_refused(gls_unary(GLS_SQRT, NULL, f, NULL), "requires x");
    assert_refused(gls_unary(GLS_SQRT, f, NULL, NULL), "requires y");
    assert_refused(gls_vector_add(f, NULL, f, NULL), "requires b");
    gls_array_destroy(f);
    gls_array_destroy(longer);
    gls_array_destroy(k);
    gls_array_destroy(t);
}

/* --- matrices ------------------------------------------------------------- */

static const char *const ways[] = {"auto", "tiles", "registers", "host"};

/* One product against double precision, all of it. The bound is that of the header: k 2^-23 of the sum of absolute
 * values. */
static void product(gls_device *d, gls_matmul_way way, uint32_t m, uint32_t n, uint32_t k)
{
    size_t na = (size_t)m * k, nb = (size_t)k * n, nc = (size_t)m * n;
    float *a = malloc(4 * na), *b = malloc(4 * nb), *c = malloc(4 * nc);
    double *row = malloc(8 * n), *size = malloc(8 * n), worst = 0;
    gls_array *da = guarded(d, GLS_TYPE_FLOAT32, na), *db = guarded(d, GLS_TYPE_FLOAT32, nb),
              *dc = guarded(d, GLS_TYPE_FLOAT32, nc);
    uint64_t seed = m * 1000003u + n * 1009u + k;
    for (size_t i = 0; i < na; i++) a[i] = (float)random_uniform(&seed, -1, 1);
    for (size_t i = 0; i < nb; i++) b[i] = (float)random_uniform(&seed, -1, 1);
    for (size_t i = 0; i < nc; i++) c[i] = NAN; /* no part of the earlier contents may remain */
    assert_ok(gls_array_write(da, 0, na, a, GLS_TYPE_FLOAT32));
    assert_ok(gls_array_write(db, 0, nb, b, GLS_TYPE_FLOAT32));
    assert_ok(gls_array_write(dc, 0, nc, c, GLS_TYPE_FLOAT32));
    gls_run_result result;
    assert_ok(gls_matmul_by(way, m, n, k, da, db, dc, &result));
    assert_true(result.status == GLS_OK && result.gpu_seconds > 0 && result.wall_seconds >= result.gpu_seconds * 0.5);
    read_guarded(dc, nc, c, GLS_TYPE_FLOAT32);
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++) row[j] = size[j] = 0;
        for (uint32_t q = 0; q < k; q++)
            for (uint32_t j = 0; j < n; j++) {
                double p = (double)a[(size_t)i * k + q] * b[(size_t)q * n + j];
                row[j] += p;
                size[j] += fabs(p);
            }
        for (uint32_t j = 0; j < n; j++) {
            float got = c[(size_t)i * n + j];
            worst = fmax(worst, isnan(got) ? INFINITY : fabs(got - row[j]) / (k * 0x1p-23 * size[j] + 1e-40));
        }
    }
    if (!(worst <= 1)) print_error("%s: %u x %u times %u x %u: %g of what is allowed\n", ways[way], m, k, k, n, worst);
    assert_true(worst <= 1);
    read_guarded(da, na, a, GLS_TYPE_FLOAT32);
    read_guarded(db, nb, b, GLS_TYPE_FLOAT32);
    gls_array_destroy(da);
    gls_array_destroy(db);
    gls_array_destroy(dc);
    free(a), free(b), free(c), free(row), free(size);
}

/* Tiles are 16, 64 or 128 wide and strips 8 deep: sizes on both sides of these, of every remainder by 4. */
static const uint32_t shapes[][3] = {
    {1, 1, 1},      {1, 1, 100},    {1, 77, 1},     {77, 1, 1},     {2, 3, 4},     {4, 4, 4},
    {16, 16, 16},   {17, 15, 33},   {64, 64, 64},   {65, 63, 66},   {63, 68, 72},  {128, 4, 8},
    {5, 256, 7},    {33, 260, 9},   {100, 36, 52},  {129, 127, 5},  {96, 300, 20}, {31, 1025, 3},
    {130, 132, 12}, {70, 61, 1003}, {48, 512, 100}, {256, 192, 64},
};

static void products(gls_device *d)
{
    bool software = gls_device_get_info(d)->software;
    for (gls_matmul_way way = GLS_MATMUL_AUTO; way <= GLS_MATMUL_HOST; way++) {
        if (way == GLS_MATMUL_HOST && !software) continue;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            product(d, way, shapes[s][0], shapes[s][1], shapes[s][2]);
    }
}

static void matrices(void **state)
{
    (void)state;
    products(device);
}

/* More than one run of a kernel: sums longer than one run makes, in both ways of loading, and a grid that is wider than
 * the device's. */
static void in_parts(void **state)
{
    (void)state;
    for (gls_matmul_way way = GLS_MATMUL_TILES; way <= GLS_MATMUL_REGISTERS; way++) {
        product(device, way, 3, 4, 16384 + 16);
        product(device, way, 2, 5, 2 * 16384 + 7);
        gls_device *narrow = open_limited("work_groups=2");
        product(narrow, way, 20, 700, 12);
        product(narrow, way, 20, 1301, 5);
        assert_int_equal(finish_device(narrow, 0), 0);
    }
}

/* The tiles of 64 and 128, which take a matrix of at least 128 such tiles, with each way to share the depth. */
static void large_tiles(void **state)
{
    (void)state;
    product(device, GLS_MATMUL_TILES, 768, 1024, 100);
    product(device, GLS_MATMUL_TILES, 769, 1025, 41);
    product(device, GLS_MATMUL_TILES, 2048, 1024, 4);
    product(device, GLS_MATMUL_TILES, 2049, 1029, 3);
    gls_device *small = open_limited("work_group_size=128");
    product(small, GLS_MATMUL_TILES, 769, 1025, 41);
    product(small, GLS_MATMUL_TILES, 20, 36, 41);
    assert_int_equal(finish_device(small, 0), 0);
}

/* Infinities and NaN beside the matrices must not affect them. */
static void neighbours(void **state)
{
    (void)state;
    enum { M = 5, NN = 6, K = 7 };
    for (gls_matmul_way way = GLS_MATMUL_AUTO; way <= GLS_MATMUL_REGISTERS; way++) {
        float a[200], b[200], c[200];
        gls_array *da = guarded(device, GLS_TYPE_FLOAT32, 200), *db = guarded(device, GLS_TYPE_FLOAT32, 200),
                  *dc = guarded(device, GLS_TYPE_FLOAT32, 200);
        for (int i = 0; i < 200; i++) a[i] = i < M * K ? 1 : INFINITY, b[i] = i < K * NN ? 2 : NAN, c[i] = -1;
        assert_ok(gls_array_write(da, 0, 200, a, GLS_TYPE_FLOAT32));
        assert_ok(gls_array_write(db, 0, 200, b, GLS_TYPE_FLOAT32));
        assert_ok(gls_array_write(dc, 0, 200, c, GLS_TYPE_FLOAT32));
        assert_ok(gls_matmul_by(way, M, NN, K, da, db, dc, NULL));
        read_guarded(dc, 200, c, GLS_TYPE_FLOAT32);
        for (int i = 0; i < 200; i++) assert_true(c[i] == (i < M * NN ? 14 : -1));
        /* a factor with itself */
        assert_ok(gls_matmul_by(way, 5, 5, 5, da, da, dc, NULL));
        read_guarded(dc, 200, c, GLS_TYPE_FLOAT32);
        for (int i = 0; i < 25; i++) assert_true(c[i] == 5);
        gls_array_destroy(da);
        gls_array_destroy(db);
        gls_array_destroy(dc);
    }
}

static void refused_products(void **state)
{
    (void)state;
    gls_array *a = guarded(device, GLS_TYPE_FLOAT32, 24), *c = guarded(device, GLS_TYPE_FLOAT32, 24),
              *k = guarded(device, GLS_TYPE_INT32, 24);
    gls_run_result result;
    assert_refused(gls_matmul(5, 5, 5, a, a, c, &result), "a of 5 x 5 does not fit into its array of 24 elements");
    assert_true(result.status == GLS_ERR_ARGUMENT && strstr(result.message, "5 x 5"));
    assert_refused(gls_matmul(2, 13, 2, a, a, c, NULL), "b of 2 x 13");
    assert_refused(gls_matmul(5, 5, 2, a, a, c, NULL), "c of 5 x 5");
    assert_refused(gls_matmul(UINT32_MAX, UINT32_MAX, UINT32_MAX, a, a, c, NULL), "does not fit");
    assert_refused(gls_matmul(0, 2, 2, a, a, c, NULL), "empty");
    assert_refused(gls_matmul(2, 0, 2, a, a, c, NULL), "empty");
    assert_refused(gls_matmul(2, 2, 0, a, a, c, NULL), "empty");
    assert_refused(gls_matmul(2, 2, 2, a, c, c, NULL), "array c is also a or b");
    assert_refused(gls_matmul(2, 2, 2, c, a, c, NULL), "array c is also a or b");
    assert_refused(gls_matmul(2, 2, 2, a, k, c, NULL), "b of int32");
    assert_refused(gls_matmul(2, 2, 2, a, a, k, NULL), "c of int32");
    assert_refused(gls_matmul(2, 2, 2, NULL, a, c, NULL), "requires a");
    assert_refused(gls_matmul(2, 2, 2, a, NULL, c, NULL), "requires b");
    assert_refused(gls_matmul(2, 2, 2, a, a, NULL, NULL), "requires c");
    assert_refused(gls_matmul_by((gls_matmul_way)4, 2, 2, 2, a, a, c, NULL), "way 4 is unknown");
    if (!gls_device_get_info(device)->software)
        assert_int_equal(gls_matmul_by(GLS_MATMUL_HOST, 2, 2, 2, a, a, c, NULL), GLS_ERR_UNSUPPORTED);
    gls_array_destroy(a);
    gls_array_destroy(c);
    gls_array_destroy(k);
}

static void gles(void **state)
{
    (void)state;
    gls_device *d = NULL;
    int ignored;
    if (!gpu_open(GLS_GRAPHICS_GLES, &d, &ignored)) {
        leave_out("GLES", "OpenGL ES");
    }
    functions_of(d);
    products(d);
    assert_int_equal(finish_device(d, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),  cmocka_unit_test(integer_functions), cmocka_unit_test(refused_functions),
        cmocka_unit_test(matrices),   cmocka_unit_test(in_parts),          cmocka_unit_test(large_tiles),
        cmocka_unit_test(neighbours), cmocka_unit_test(refused_products),  cmocka_unit_test(gles),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
