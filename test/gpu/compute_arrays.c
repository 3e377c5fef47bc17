/* Typed arrays and unified buffers: every type there and back, what is refused, and when copies are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compute.h"

static gls_device *device;

static void devices(void **state)
{
    (void)state;
    size_t n = 0;
    gls_device_info *list = NULL;
    assert_true(gls_device_available());
    assert_ok(gls_device_count(GLS_GRAPHICS_AUTO, &n));
    size_t expected = 0;
    assert_ok(gls_device_list(GLS_GRAPHICS_AUTO, &list, &expected, NULL, NULL));
    assert_true(n > 0 && n == expected);
    free(list);
    assert_int_equal(gls_device_count(GLS_GRAPHICS_AUTO, NULL), GLS_ERR_ARGUMENT);
}

/* Values that every type can hold go to an array of each type, and come back as each type. */
static void all_types(void **state)
{
    (void)state;
    enum { N = 1003 };
    uint8_t bools[N];
    for (size_t i = 0; i < N; i++) bools[i] = i * 7 % 3 == 1;
    for (gls_type stored = GLS_TYPE_FLOAT16; stored <= GLS_TYPE_BOOL; stored++)
        for (gls_type host = GLS_TYPE_FLOAT16; host <= GLS_TYPE_BOOL; host++) {
            uint8_t in[8 * N], out[8 * N], back[N];
            gls_array *array = guarded(device, stored, N);
            assert_int_equal(gls_array_length(array), N);
            assert_int_equal(gls_array_type(array), stored);
            assert_int_equal(gls_buffer_size(gls_array_buffer(array)), 4 * (N + N_SENTINELS)); /* a multiple of 16 */
            assert_ok(gls_convert(N, bools, GLS_TYPE_BOOL, in, host));
            assert_ok(gls_array_write(array, 0, N, in, host));
            read_guarded(array, N, out, host);
            assert_memory_equal(in, out, N * gls_type_size(host));
            assert_ok(gls_array_read(array, 0, N, back, GLS_TYPE_BOOL));
            assert_memory_equal(back, bools, N);
            gls_array_destroy(array);
        }
}

/* The device really stores each type as the header describes. */
static void storage(void **state)
{
    (void)state;
    gls_array *a = NULL;
    double in[3] = {0.1, -7, 3e38};
    float f[3];
    assert_ok(gls_array_create(device, GLS_TYPE_FLOAT64, 3, "doubles", &a));
    assert_ok(gls_array_write(a, 0, 3, in, GLS_TYPE_FLOAT64));
    assert_ok(gls_buffer_read(gls_array_buffer(a), 0, sizeof f, f));
    assert_true(f[0] == 0.1f && f[1] == -7 && f[2] == 3e38f);
    double out[3];
    assert_ok(gls_array_read(a, 0, 3, out, GLS_TYPE_FLOAT64));
    assert_true(out[0] == (double)0.1f);
    gls_array_destroy(a);

    int64_t wide[2] = {-2147483648LL, 2147483647};
    int32_t i32[2];
    assert_ok(gls_array_create_zeroed(device, GLS_TYPE_INT64, 2, "integers", &a));
    assert_ok(gls_array_read(a, 0, 2, i32, GLS_TYPE_INT32));
    assert_true(i32[0] == 0 && i32[1] == 0);
    assert_ok(gls_array_write(a, 0, 2, wide, GLS_TYPE_INT64));
    assert_ok(gls_buffer_read(gls_array_buffer(a), 0, sizeof i32, i32));
    assert_true(i32[0] == INT32_MIN && i32[1] == INT32_MAX);
    wide[1]++;
    assert_refused(gls_array_write(a, 0, 2, wide, GLS_TYPE_INT64), "element 1 (counted from 0): 2147483648");
    assert_ok(gls_array_read(a, 1, 1, i32, GLS_TYPE_INT32));
    assert_int_equal(i32[0], INT32_MAX); /* as it was */
    gls_array_destroy(a);

    uint32_t u32[3] = {0, 5, 1};
    uint8_t bools[3];
    int16_t words[3] = {200, -1, 300};
    assert_ok(gls_array_create(device, GLS_TYPE_BOOL, 3, "truths", &a));
    assert_ok(gls_array_write(a, 0, 3, u32, GLS_TYPE_UINT32));
    assert_ok(gls_buffer_read(gls_array_buffer(a), 0, sizeof u32, u32));
    assert_true(u32[0] == 0 && u32[1] == 1 && u32[2] == 1);
    assert_ok(gls_buffer_write(gls_array_buffer(a), 0, 4, &(uint32_t){77})); /* as a kernel might */
    assert_ok(gls_array_read(a, 0, 3, bools, GLS_TYPE_BOOL));
    assert_true(bools[0] == 1 && bools[1] == 1 && bools[2] == 1);
    gls_array_destroy(a);

    assert_ok(gls_array_create(device, GLS_TYPE_UINT8, 3, "bytes", &a));
    assert_ok(gls_array_write(a, 0, 1, words, GLS_TYPE_INT16));
    assert_refused(gls_array_write(a, 1, 1, words + 1, GLS_TYPE_INT16),
                   "element 1 (counted from 0): -1 is out of the range of type uint8");
    assert_refused(gls_array_write(a, 2, 1, words + 2, GLS_TYPE_INT16),
                   "element 2 (counted from 0): 300 is out of the range of type uint8");
    gls_array_destroy(a);
}

static void ranges(void **state)
{
    (void)state;
    gls_array *a = NULL;
    float f[10] = {0}, keep = 4;
    assert_ok(gls_array_create_zeroed(device, GLS_TYPE_FLOAT32, 10, "ten", &a));
    static const size_t outside[][2] = {
        {0, 11}, {10, 1}, {11, 0}, {1, 10}, {SIZE_MAX, 1}, {1, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}, {5, SIZE_MAX / 4 + 2}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_refused(gls_array_write(a, outside[i][0], outside[i][1], f, GLS_TYPE_FLOAT32),
                       "not all within an array of 10");
        assert_refused(gls_array_read(a, outside[i][0], outside[i][1], &keep, GLS_TYPE_FLOAT64),
                       "not all within an array of 10");
    }
    assert_true(keep == 4);
    assert_ok(gls_array_write(a, 10, 0, NULL, GLS_TYPE_FLOAT32));
    assert_ok(gls_array_read(a, 10, 0, NULL, GLS_TYPE_INT8));
    assert_int_equal(gls_array_write(a, 0, 1, NULL, GLS_TYPE_FLOAT32), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_read(a, 0, 1, NULL, GLS_TYPE_FLOAT32), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_write(a, 0, 1, f, (gls_type)99), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_read(a, 0, 1, f, (gls_type)-1), GLS_ERR_ARGUMENT);
    f[0] = 9;
    assert_ok(gls_array_write(a, 4, 1, f, GLS_TYPE_FLOAT32));
    assert_ok(gls_array_read(a, 0, 10, f, GLS_TYPE_FLOAT32));
    for (int i = 0; i < 10; i++) assert_true(f[i] == (i == 4 ? 9 : 0));
    assert_ok(gls_array_clear(a));
    assert_ok(gls_array_read(a, 4, 1, f, GLS_TYPE_FLOAT32));
    assert_true(f[0] == 0);
    gls_array_destroy(a);
    gls_array_destroy(NULL);
    gls_unified_destroy(NULL);
}

static void refused(void **state)
{
    (void)state;
    gls_array *a = (gls_array *)&state;
    gls_unified *u = (gls_unified *)&state;
    uint64_t limit = gls_device_get_info(device)->max_storage_bytes;
    assert_int_equal(gls_array_create(NULL, GLS_TYPE_FLOAT32, 1, "none", &a), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_create(device, GLS_TYPE_FLOAT32, 0, "none", &a), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_create(device, (gls_type)12, 1, "none", &a), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_create(device, GLS_TYPE_FLOAT32, 1, "none", NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_array_create(device, GLS_TYPE_UINT8, limit / 4 + 1, "too large", &a), GLS_ERR_UNSUPPORTED);
    assert_message("too large");
    assert_int_equal(gls_array_create(device, GLS_TYPE_UINT8, SIZE_MAX, "too large", &a), GLS_ERR_UNSUPPORTED);
    assert_int_equal(gls_array_create_zeroed(device, GLS_TYPE_UINT8, SIZE_MAX / 4 + 2, "too large", &a),
                     GLS_ERR_UNSUPPORTED);
    assert_int_equal(gls_unified_create(device, GLS_TYPE_FLOAT32, 0, "none", &u), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_create(NULL, GLS_TYPE_FLOAT32, 1, "none", &u), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_create(device, GLS_TYPE_FLOAT32, SIZE_MAX, "none", &u), GLS_ERR_UNSUPPORTED);
    assert_ptr_equal(a, &state);
    assert_ptr_equal(u, &state);
    assert_int_equal(gls_array_length(NULL), 0);
    assert_null(gls_array_buffer(NULL));
    assert_int_equal(gls_array_clear(NULL), GLS_ERR_ARGUMENT);
}

/* --- unified buffers ------------------------------------------------------ */

static void assert_copies(const gls_unified *u, uint64_t to_device, uint64_t to_host)
{
    gls_unified_state s = gls_unified_get_state(u);
    assert_int_equal(s.to_device, to_device);
    assert_int_equal(s.to_host, to_host);
}

static void unified_copies(void **state)
{
    (void)state;
    enum { N = 100 };
    gls_unified *u = NULL;
    gls_array *a = NULL;
    gls_elementwise *twice = NULL;
    double *d = NULL, *again = NULL;
    assert_ok(gls_elementwise_create(device, "twice", "inout float x[]", "x *= 2.0", &twice));
    assert_ok(gls_unified_create(device, GLS_TYPE_FLOAT64, N, "both", &u));
    /* zeros on both sides, without a copy */
    assert_ok(gls_unified_host(u, GLS_ACCESS_READ, (void **)&d));
    for (int i = 0; i < N; i++) assert_true(d[i] == 0);
    assert_ok(gls_unified_device(u, GLS_ACCESS_READ, &a));
    assert_copies(u, 0, 0);
    /* written here and used there twice: one copy */
    assert_ok(gls_unified_host(u, GLS_ACCESS_WRITE, (void **)&d));
    for (int i = 0; i < N; i++) d[i] = i;
    assert_true(gls_unified_get_state(u).host_dirty);
    for (int round = 0; round < 2; round++) {
        assert_ok(gls_unified_device(u, GLS_ACCESS_READ_WRITE, &a));
        assert_ok(gls_elementwise_run(twice, N, (gls_operand[]){gls_operand_array(a)}, 1, NULL));
    }
    assert_copies(u, 1, 0);
    assert_true(gls_unified_get_state(u).device_dirty && !gls_unified_get_state(u).host_dirty);
    /* read here twice: one copy back, to the same place */
    assert_ok(gls_unified_host(u, GLS_ACCESS_READ, (void **)&again));
    assert_ok(gls_unified_host(u, GLS_ACCESS_READ, (void **)&again));
    assert_ptr_equal(again, d);
    for (int i = 0; i < N; i++) assert_true(d[i] == 4 * i);
    assert_copies(u, 1, 1);
    /* reading on the device changes nothing */
    assert_ok(gls_unified_device(u, GLS_ACCESS_READ, &a));
    assert_ok(gls_unified_host(u, GLS_ACCESS_READ_WRITE, (void **)&d));
    assert_copies(u, 1, 1);
    d[3] = 7;
    /* everything is to be replaced: no copy there, none back */
    assert_ok(gls_unified_device(u, GLS_ACCESS_WRITE, &a));
    assert_ok(gls_array_clear(a));
    assert_copies(u, 1, 1);
    assert_ok(gls_unified_host(u, GLS_ACCESS_READ, (void **)&d));
    assert_true(d[3] == 0);
    assert_copies(u, 1, 2);
    assert_ok(gls_unified_device(u, GLS_ACCESS_READ_WRITE, &a));
    assert_ok(gls_unified_host(u, GLS_ACCESS_WRITE, (void **)&d));
    assert_copies(u, 1, 2);
    gls_elementwise_destroy(twice);
    gls_unified_destroy(u);
}

/* A value that does not fit leaves everything unchanged, and the next try may succeed. */
static void unified_refusal(void **state)
{
    (void)state;
    gls_unified *u = NULL;
    gls_array *a = (gls_array *)&state, *kept = a;
    int64_t *v = NULL;
    assert_ok(gls_unified_create(device, GLS_TYPE_INT64, 4, "wide", &u));
    assert_ok(gls_unified_host(u, GLS_ACCESS_WRITE, (void **)&v));
    v[2] = (int64_t)1 << 40;
    assert_refused(gls_unified_device(u, GLS_ACCESS_READ, &a), "element 2 (counted from 0): 1099511627776");
    assert_ptr_equal(a, kept);
    assert_true(gls_unified_get_state(u).host_dirty);
    assert_copies(u, 0, 0);
    v[2] = 12;
    assert_ok(gls_unified_device(u, GLS_ACCESS_READ, &a));
    assert_copies(u, 1, 0);
    assert_int_equal(gls_unified_host(u, (gls_access)9, (void **)&v), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_host(u, GLS_ACCESS_READ, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_device(u, (gls_access)-1, &a), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_device(u, GLS_ACCESS_READ, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_device(NULL, GLS_ACCESS_READ, &a), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_unified_host(NULL, GLS_ACCESS_READ, (void **)&v), GLS_ERR_ARGUMENT);
    gls_unified_destroy(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),         cmocka_unit_test(all_types), cmocka_unit_test(storage),
        cmocka_unit_test(ranges),          cmocka_unit_test(refused),   cmocka_unit_test(unified_copies),
        cmocka_unit_test(unified_refusal),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
