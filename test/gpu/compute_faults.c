/* Faults of the driver below arrays, programs, kernels and unified buffers: each call of each kind fails in turn. What
 * comes back is an error in one line or the right result, nothing is left behind, and unless the device was lost the
 * same work succeeds on it afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compute.h"
#include "inject.h"

enum { N = 300 };

static const char *const square = "layout(std430, binding = 0) buffer Data { float x[]; };\n"
                                  "void main() { x[gl_GlobalInvocationID.x] *= x[gl_GlobalInvocationID.x]; }\n";

/* Uses everything once. Returns GLS_OK and sets *right if the results are right. */
static gls_status work(gls_device *d, gls_matmul_way way, bool *right)
{
    double in[N], out[N], *host = NULL;
    gls_array *x = NULL, *y = NULL, *z = NULL, *inside;
    gls_unified *u = NULL;
    gls_elementwise *e = NULL;
    gls_program *p = NULL;
    gls_run_result result;
    for (int i = 0; i < N; i++) in[i] = i % 10;
    gls_status status = gls_array_create(d, GLS_TYPE_FLOAT64, N, "x", &x);
    if (!status) status = gls_array_create_zeroed(d, GLS_TYPE_FLOAT64, N, "y", &y);
    if (!status) status = gls_array_create_zeroed(d, GLS_TYPE_FLOAT64, 9, "z", &z);
    if (!status) status = gls_unified_create(d, GLS_TYPE_FLOAT64, N, "u", &u);
    if (!status) status = gls_elementwise_create(d, "faults", "in float x[], inout float y[]", "y = 2.0 * x + y", &e);
    if (!status) status = gls_program_create(d, "square", square, NULL, 0, &p);
    if (!status) status = gls_array_write(x, 0, N, in, GLS_TYPE_FLOAT64);
    if (!status)
        status = gls_elementwise_run(e, N, (gls_operand[]){gls_operand_array(x), gls_operand_array(y)}, 2, &result);
    if (!status)
        status = gls_program_run(p, (uint32_t[3]){N / 100, 1, 1}, (uint32_t[3]){100, 1, 1},
                                 (gls_arg[]){gls_arg_array(0, y)}, 1, &result);
    if (!status) status = gls_binary(GLS_SUB, y, x, y, NULL);
    if (!status) status = gls_unified_host(u, GLS_ACCESS_WRITE, (void **)&host);
    for (int i = 0; i < N && !status; i++) host[i] = 1;
    if (!status) status = gls_unified_device(u, GLS_ACCESS_READ_WRITE, &inside);
    if (!status) status = gls_vector_add(inside, y, inside, NULL);
    if (!status) status = gls_unified_host(u, GLS_ACCESS_READ, (void **)&host);
    if (!status) status = gls_matmul_by(way, 3, 3, 100, x, x, z, &result);
    if (!status) status = gls_array_read(z, 0, 9, out, GLS_TYPE_FLOAT64);
    *right = true;
    for (int i = 0; i < N && !status; i++) *right = *right && host[i] == 4 * in[i] * in[i] - in[i] + 1;
    for (int i = 0; i < 9 && !status; i++) {
        double sum = 0;
        for (int q = 0; q < 100; q++) sum += in[i / 3 * 100 + q] * in[q * 3 + i % 3];
        *right = *right && out[i] == sum;
    }
    gls_program_destroy(p);
    gls_elementwise_destroy(e);
    gls_unified_destroy(u);
    gls_array_destroy(x);
    gls_array_destroy(y);
    gls_array_destroy(z);
    return status;
}

static void each_in_turn(void **state)
{
    (void)state;
    static const char *const kinds[] = {"alloc", "upload", "compile", "dispatch", "readback", "reset"};
    static const gls_fault faults[] = {GLS_FAULT_ALLOC,    GLS_FAULT_UPLOAD,   GLS_FAULT_COMPILE,
                                       GLS_FAULT_DISPATCH, GLS_FAULT_READBACK, GLS_FAULT_RESET};
    static const gls_status expected[] = {GLS_ERR_DEVICE_MEMORY, GLS_ERR_DEVICE_MEMORY, GLS_ERR_DEVICE,
                                          GLS_ERR_DEVICE,        GLS_ERR_DEVICE_MEMORY, GLS_ERR_LOST};
    for (gls_matmul_way way = GLS_MATMUL_AUTO; way <= GLS_MATMUL_REGISTERS; way++)
        for (int kind = 0; kind < 6; kind++) {
            bool right = false, lost = kind == 5;
            uint64_t calls = 1000;
            int failed = 0, tried_again = 0;
            gls_device *d = open_limited(NULL);
            for (uint64_t n = 1; n <= calls; n++) {
                char rule[40];
                snprintf(rule, sizeof rule, "%s:%d", kinds[kind], (int)n);
                assert_int_equal(gls_inject_set(rule), GLS_OK);
                gls_status status = work(d, way, &right);
                calls = gls_inject_count(faults[kind]);
                assert_int_equal(gls_inject_set(NULL), GLS_OK);
                if (calls < n) break; /* there were fewer calls */
                if (kind == 2 && status == GLS_OK) {
                    assert_true(right); /* a program tries blocks of other shapes */
                    tried_again++;
                } else {
                    if (status == GLS_OK) print_error("%s went unnoticed\n", rule);
                    assert_int_equal(status, expected[kind]);
                    assert_message("");
                    failed++;
                }
                gls_device_memory m = gls_device_get_memory(d);
                assert_true(m.allocated_bytes == 0 && m.n_buffers == 0 && m.n_kernels == 0);
                calls = 1000;
                if (!lost) assert_ok(work(d, way, &right));
                assert_true(right || lost);
                if (lost || n % 3 == 0) {
                    gls_device_close(d);
                    d = open_limited(NULL);
                }
            }
            print_message("way %d, %s: %d calls failed in turn\n", (int)way, kinds[kind], failed);
            assert_true(failed >= 2 && tried_again == (kind == 2 ? 1 : 0));
            assert_ok(work(d, way, &right));
            assert_true(right);
            assert_int_equal(finish_device(d, 0), 0);
        }
}

/* Memory that ends. */
static void memory_ends(void **state)
{
    (void)state;
    gls_device *d = open_limited(NULL);
    gls_array *a = NULL, *b = NULL;
    assert_ok(gls_array_create(d, GLS_TYPE_FLOAT32, 1000, "a", &a));
    assert_int_equal(gls_inject_set("memory:6000"), GLS_OK);
    assert_int_equal(gls_array_create(d, GLS_TYPE_FLOAT32, 1000, "b", &b), GLS_ERR_DEVICE_MEMORY);
    assert_message("b");
    assert_null(b);
    assert_ok(gls_array_create(d, GLS_TYPE_FLOAT32, 500, "b", &b));
    assert_int_equal(gls_inject_set(NULL), GLS_OK);
    gls_array_destroy(a);
    gls_array_destroy(b);
    assert_int_equal(finish_device(d, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_in_turn), cmocka_unit_test(memory_ends)};
    gls_device *device = NULL;
    int status;
    if (!gpu_open(GLS_GRAPHICS_AUTO, &device, &status)) return status;
    gls_device_close(device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
