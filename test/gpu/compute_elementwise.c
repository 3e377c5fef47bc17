/* Element-wise kernels: parameters and expressions of all kinds, any number of elements, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compute.h"

static gls_device *device;

static gls_elementwise *make(gls_device *d, const char *parameters, const char *expression)
{
    gls_elementwise *e = NULL;
    assert_ok(gls_elementwise_create(d, "test", parameters, expression, &e));
    return e;
}

static void axpy_of(gls_device *d)
{
    static const size_t counts[] = {1,   2,   3,    4,    5,    6,    7,    63,   64,   65,   255,
                                    256, 257, 1000, 1021, 1022, 1023, 1024, 1025, 1026, 70001};
    gls_elementwise *e = make(d, "float a, in float x[], inout float y[]", "y = a * x + y");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t n = counts[c];
        double *x = malloc(8 * n), *y = malloc(8 * n), *got = malloc(8 * n);
        gls_array *dx = guarded(d, GLS_TYPE_FLOAT32, n), *dy = guarded(d, GLS_TYPE_FLOAT64, n);
        uint64_t seed = n;
        for (size_t i = 0; i < n; i++)
            x[i] = (float)random_uniform(&seed, -5, 5), y[i] = (float)random_uniform(&seed, -5, 5);
        assert_ok(gls_array_write(dx, 0, n, x, GLS_TYPE_FLOAT64));
        assert_ok(gls_array_write(dy, 0, n, y, GLS_TYPE_FLOAT64));
        gls_run_result result;
        assert_ok(gls_elementwise_run(
            e, n, (gls_operand[]){gls_operand_float(-1.75f), gls_operand_array(dx), gls_operand_array(dy)}, 3,
            &result));
        assert_true(result.status == GLS_OK && result.wall_seconds > 0);
        read_guarded(dy, n, got, GLS_TYPE_FLOAT64);
        for (size_t i = 0; i < n; i++) {
            /* two roundings, of the product and of the sum */
            double expected = -1.75 * x[i] + y[i], bound = 0x1p-24 * (fabs(1.75 * x[i]) + fabs(expected)) * 1.01;
            assert_true(fabs(got[i] - expected) <= bound);
        }
        read_guarded(dx, n, got, GLS_TYPE_FLOAT64);
        assert_memory_equal(got, x, 8 * n);
        gls_array_destroy(dx);
        gls_array_destroy(dy);
        free(x), free(y), free(got);
    }
    gls_elementwise_destroy(e);
}

static void axpy(void **state)
{
    (void)state;
    axpy_of(device);
}

static void gles(void **state)
{
    (void)state;
    gls_device *d = NULL;
    int ignored;
    if (!gpu_open(GLS_GRAPHICS_GLES, &d, &ignored)) {
        leave_out("GLES", "OpenGL ES");
    }
    axpy_of(d);
    assert_int_equal(finish_device(d, 0), 0);
}

/* If the count is less than the size of the arrays, the rest stays unchanged. */
static void part(void **state)
{
    (void)state;
    gls_elementwise *e = make(device, "out uint y[]", "y = i + 1u;");
    gls_array *y = guarded(device, GLS_TYPE_UINT32, 1000);
    uint32_t got[1000];
    assert_ok(gls_array_write(y, 0, 1000, memset(got, 0, sizeof got), GLS_TYPE_UINT32));
    assert_ok(gls_elementwise_run(e, 0, (gls_operand[]){gls_operand_array(y)}, 1, NULL));
    assert_ok(gls_elementwise_run(e, 333, (gls_operand[]){gls_operand_array(y)}, 1, NULL));
    read_guarded(y, 1000, got, GLS_TYPE_UINT32);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(got[i], i < 333 ? i + 1 : 0);
    assert_refused(gls_elementwise_run(e, 1001, (gls_operand[]){gls_operand_array(y)}, 1, NULL),
                   "array y has 1000 elements, but the kernel runs over 1001");
    assert_int_equal(gls_elementwise_run(e, (size_t)1 << 32, (gls_operand[]){gls_operand_array(y)}, 1, NULL),
                     GLS_ERR_UNSUPPORTED);
    gls_array_destroy(y);
    gls_elementwise_destroy(e);
}

/* More work groups than one axis holds: with the limit lowered to 3, and 65536 groups and a bit, which are small ones
 * where blocks of 256 are too large. */
static void many_groups(void **state)
{
    (void)state;
    static const char *const limits[] = {"work_groups=3", "work_group_size=128"};
    static const size_t counts[] = {4 * 256 * 3 * 7 + 5, 4 * 64 * 65536 + 777};
    for (int round = 0; round < 2; round++) {
        gls_device *d = open_limited(limits[round]);
        size_t n = counts[round], bad = 0;
        gls_elementwise *e = make(d, "uint a, inout uint y[]", "y += i * a");
        gls_array *y = guarded(d, GLS_TYPE_UINT32, n);
        uint32_t *got = malloc(4 * n);
        for (size_t i = 0; i < n; i++) got[i] = 11;
        assert_ok(gls_array_write(y, 0, n, got, GLS_TYPE_UINT32));
        assert_ok(
            gls_elementwise_run(e, n, (gls_operand[]){gls_operand_uint(2654435761u), gls_operand_array(y)}, 2, NULL));
        read_guarded(y, n, got, GLS_TYPE_UINT32);
        for (size_t i = 0; i < n; i++) bad += got[i] != 11 + (uint32_t)i * 2654435761u;
        assert_int_equal(bad, 0);
        free(got);
        gls_array_destroy(y);
        gls_elementwise_destroy(e);
        assert_int_equal(finish_device(d, 0), 0);
    }
}

/* Every type as scalar and as array, in, out and inout; several statements, and one that returns. */
static void types(void **state)
{
    (void)state;
    enum { N = 500 };
    if (gls_device_get_info(device)->max_storage_bindings < 5) skip(); /* OpenGL ES 3.1 guarantees only 4 */
    gls_elementwise *e = make(
        device,
        " float f ,int  k,uint u,bool flag,in int x [ ],in bool keep[],out bool big[],inout float y[],out int unset[]",
        "int sum = x + k;\n"
        "if (!keep) return;\n"
        "y = flag ? y * f : -y;\n"
        "big = uint(sum) > u;\n"
        "x = 12345; // of no effect\n");
    gls_array *x = guarded(device, GLS_TYPE_INT16, N), *keep = guarded(device, GLS_TYPE_BOOL, N),
              *big = guarded(device, GLS_TYPE_BOOL, N), *y = guarded(device, GLS_TYPE_FLOAT16, N),
              *unset = guarded(device, GLS_TYPE_INT32, N);
    int16_t hx[N], gx[N];
    uint8_t hkeep[N], gbig[N];
    float hy[N], gy[N];
    int32_t gunset[N];
    for (int i = 0; i < N; i++) hx[i] = (int16_t)(i * 3), hkeep[i] = i % 5 != 0, hy[i] = (float)i / 4;
    assert_ok(gls_array_write(x, 0, N, hx, GLS_TYPE_INT16));
    assert_ok(gls_array_write(keep, 0, N, hkeep, GLS_TYPE_BOOL));
    for (uint32_t flag = 0; flag < 6; flag += 5) {
        assert_ok(gls_array_write(y, 0, N, hy, GLS_TYPE_FLOAT32));
        gls_operand operands[] = {gls_operand_float(0.5f), gls_operand_int(-7),  gls_operand_uint(600),
                                  gls_operand_uint(flag),  gls_operand_array(x), gls_operand_array(keep),
                                  gls_operand_array(big),  gls_operand_array(y), gls_operand_array(unset)};
        assert_ok(gls_elementwise_run(e, N, operands, 9, NULL));
        read_guarded(x, N, gx, GLS_TYPE_INT16);
        read_guarded(big, N, gbig, GLS_TYPE_BOOL);
        read_guarded(y, N, gy, GLS_TYPE_FLOAT32);
        read_guarded(unset, N, gunset, GLS_TYPE_INT32);
        assert_memory_equal(gx, hx, sizeof hx);
        for (int i = 0; i < N; i++) {
            assert_int_equal(gbig[i], hkeep[i] && (uint32_t)(hx[i] - 7) > 600);
            assert_true(gy[i] == (hkeep[i] ? flag ? hy[i] * 0.5f : -hy[i] : hy[i]));
            assert_int_equal(gunset[i], 0);
        }
    }
    /* operands of the wrong kind, type or length */
    gls_operand good[] = {gls_operand_float(1),   gls_operand_int(1),   gls_operand_uint(1),
                          gls_operand_uint(1),    gls_operand_array(x), gls_operand_array(keep),
                          gls_operand_array(big), gls_operand_array(y), gls_operand_array(unset)};
    static const char *const names[] = {"f", "k", "u", "flag", "x", "keep", "big", "y", "unset"};
    for (int wrong = 0; wrong < 9; wrong++) {
        gls_operand operands[9];
        char quoted[12];
        memcpy(operands, good, sizeof good);
        snprintf(quoted, sizeof quoted, wrong < 4 ? "'%s'" : " %s ", names[wrong]);
        operands[wrong] = wrong < 4 ? gls_operand_array(x)
                                    : gls_operand_array(wrong == 4 || wrong == 8 ? y
                                                        : wrong == 7             ? x
                                                                                 : unset);
        assert_refused(gls_elementwise_run(e, N, operands, 9, NULL), quoted);
        operands[wrong] = wrong == 0 ? gls_operand_int(1) : gls_operand_float(1);
        assert_refused(gls_elementwise_run(e, N, operands, 9, NULL), names[wrong]);
        operands[wrong] = gls_operand_array(NULL);
        assert_refused(gls_elementwise_run(e, N, operands, 9, NULL), wrong < 4 ? names[wrong] : "requires");
    }
    gls_run_result result;
    assert_refused(gls_elementwise_run(e, N, good, 8, &result), "takes a list of 9 operands; the list has 8");
    assert_true(result.status == GLS_ERR_ARGUMENT && strstr(result.message, "takes a list of 9 operands") &&
                result.gpu_seconds == 0);
    assert_refused(gls_elementwise_run(e, N, NULL, 9, NULL), "operands");
    gls_array *all[] = {x, keep, big, y, unset};
    for (int i = 0; i < 5; i++) gls_array_destroy(all[i]);
    gls_elementwise_destroy(e);
}

/* One array may be given under two names. */
static void aliases(void **state)
{
    (void)state;
    enum { N = 700 };
    float h[N], got[N];
    gls_elementwise *e = make(device, "in float x[], out float y[]", "y = 3.0 * x");
    gls_array *a = guarded(device, GLS_TYPE_FLOAT32, N);
    for (int i = 0; i < N; i++) h[i] = (float)i;
    assert_ok(gls_array_write(a, 0, N, h, GLS_TYPE_FLOAT32));
    assert_ok(gls_elementwise_run(e, N, (gls_operand[]){gls_operand_array(a), gls_operand_array(a)}, 2, NULL));
    read_guarded(a, N, got, GLS_TYPE_FLOAT32);
    for (int i = 0; i < N; i++) assert_true(got[i] == 3 * h[i]);
    gls_array_destroy(a);
    gls_elementwise_destroy(e);
}

static void refused_parameters(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "parameter 1"},
        {"float a", "there is no array"},
        {"float a, flaot b", "parameter 2, ' flaot b': expected float, int, uint or bool"},
        {"double x[]", "expected float"},
        {"float x[]", "an array is in, out or inout"},
        {"out float x", "only arrays can be written"},
        {"inout float x", "only arrays can be written"},
        {"in float x[], out float x[]", "twice"},
        {"in float x[],", "parameter 2"},
        {"in float x[] out float y[]", "comma"},
        {"in float x[", "comma"},
        {"in float x[3]", "comma"},
        {"in float 3x[]", "name"},
        {"in float", "name"},
        {"in float gl_x[]", "reserved"},
        {"in float gls_x[]", "reserved"},
        {"in float a__b[]", "reserved"},
        {"out uint i[]", "reserved"},
        {"out uint a_name_that_is_longer_than_what_fits[]", "too long"},
        {"in float a[], in float b[], in float c[], in float d[], in float e[], in float f[], in float g[], in float "
         "h[], out float k[]",
         "more arrays"},
        {"out float y[]; } void main() { } //", "comma"},
    };
    gls_elementwise *e = (gls_elementwise *)&state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        assert_refused(gls_elementwise_create(device, "test", cases[c][0], "int unused = 0", &e), cases[c][1]);
    char many[400] = "out float y[]";
    for (int i = 0; i < 32; i++) snprintf(many + strlen(many), sizeof many - strlen(many), ", int s%d", i);
    assert_refused(gls_elementwise_create(device, "test", many, "y = 0.0", &e), "too many parameters");
    assert_int_equal(gls_elementwise_create(device, NULL, "out float y[]", "y = 0.0", &e), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_elementwise_create(device, "test", NULL, "y = 0.0", &e), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_elementwise_create(device, "test", "out float y[]", NULL, &e), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_elementwise_create(device, "test", "out float y[]", "y = 0.0", NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_elementwise_create(NULL, "test", "out float y[]", "y = 0.0", &e), GLS_ERR_ARGUMENT);
    assert_ptr_equal(e, &state);
    gls_elementwise_destroy(NULL);
}

/* The driver's message, and in it the line of the expression. */
static void refused_expressions(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"y = ", "2"},
        {"y = x", "1"},
        {"y = 1.0;\nz = 2.0;", "2"},
        {"y = 1.0;\n\n\ny = vec3(0.0)", "4"},
        {"}", "3"},
        {"y = 1.0 +* 2.0", "1"},
        {"#include \"nowhere.glsl\"\n", "nowhere.glsl"},
    };
    gls_elementwise *e = (gls_elementwise *)&state;
    gls_device_memory before = gls_device_get_memory(device);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gls_status status = gls_elementwise_create(device, "test", "out float y[]", cases[c][0], &e);
        assert_int_equal(status, c == 6 ? GLS_ERR_INPUT : GLS_ERR_DEVICE);
        char line[16];
        /* Mesa writes 0:LINE(COLUMN); NVIDIA 0(LINE), which may be that of the semicolon behind it */
        const bool mesa = strstr(gls_last_error(), ": 0:") != NULL;
        snprintf(line, sizeof line, "0:%s(", cases[c][1]);
        assert_message(c == 6 ? cases[c][1] : mesa ? line : ": 0(");
        if (c < 6 && !mesa) {
            const int wanted = atoi(cases[c][1]), found = atoi(strstr(gls_last_error(), ": 0(") + 4);
            assert_true(found == wanted || found == wanted + 1);
        }
        assert_ptr_equal(e, &state);
    }
    gls_device_memory after = gls_device_get_memory(device);
    assert_memory_equal(&before, &after, sizeof before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axpy),
        cmocka_unit_test(gles),
        cmocka_unit_test(part),
        cmocka_unit_test(many_groups),
        cmocka_unit_test(types),
        cmocka_unit_test(aliases),
        cmocka_unit_test(refused_parameters),
        cmocka_unit_test(refused_expressions),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
