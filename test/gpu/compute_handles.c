/* Handles: freed twice, used after they were freed, of another kind or another device, left behind; caches of programs
 * and buffers; threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "compute.h"

static gls_device *device;

static const char *const filler = "layout(std430, binding = 0) buffer Data { uint data[]; };\n"
                                  "layout(location = 0) uniform uint value;\n"
                                  "void main() { data[gl_GlobalInvocationID.x] = value; }\n";

/* Makes one object of each kind. */
typedef struct objects {
    gls_buffer *buffer;
    gls_texture *texture;
    gls_kernel *kernel;
    gls_program *program;
    gls_array *array;
    gls_elementwise *elementwise;
    gls_unified *unified;
} objects;

static objects make_all(gls_device *d)
{
    objects o;
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 64, "some buffer", &o.buffer));
    assert_ok(gls_texture_create(d, GLS_TEXTURE_R32F, (uint32_t[3]){2, 2, 2}, "some texture", &o.texture));
    assert_ok(
        gls_kernel_create(d, "some kernel", "layout(local_size_x = 1) in;\nvoid main() {}\n", NULL, 0, &o.kernel));
    assert_ok(gls_program_create(d, "some program", filler, NULL, 0, &o.program));
    assert_ok(gls_array_create(d, GLS_TYPE_FLOAT32, 5, "some array", &o.array));
    assert_ok(gls_elementwise_create(d, "some elements", "out float y[]", "y = 1.0", &o.elementwise));
    assert_ok(gls_unified_create(d, GLS_TYPE_FLOAT32, 5, "some unified", &o.unified));
    return o;
}

static void destroy_all(objects o)
{
    gls_buffer_destroy(o.buffer);
    gls_texture_destroy(o.texture);
    gls_kernel_destroy(o.kernel);
    gls_program_destroy(o.program);
    gls_array_destroy(o.array);
    gls_elementwise_destroy(o.elementwise);
    gls_unified_destroy(o.unified);
}

/* Makes every call with objects that do not exist any more. */
static void use_all(objects o)
{
    static const uint32_t one[3] = {1, 1, 1};
    float f[8] = {0};
    gls_array *a;
    void *data;
    gls_arg arg = gls_arg_buffer(0, o.buffer);
    gls_operand operand = gls_operand_array(o.array);
    assert_int_equal(gls_buffer_size(o.buffer), 0);
    assert_refused(gls_buffer_clear(o.buffer), "buffer");
    assert_refused(gls_buffer_write(o.buffer, 0, 4, f), "buffer");
    assert_refused(gls_buffer_read(o.buffer, 0, 4, f), "buffer");
    assert_refused(gls_texture_write(o.texture, (uint32_t[3]){0, 0, 0}, one, f), "texture");
    assert_refused(gls_kernel_run(o.kernel, one, NULL, 0, NULL), "kernel");
    assert_refused(gls_program_run(o.program, one, one, &arg, 1, NULL), "program");
    assert_int_equal(gls_array_length(o.array), 0);
    assert_null(gls_array_buffer(o.array));
    assert_refused(gls_array_clear(o.array), "array");
    assert_refused(gls_array_write(o.array, 0, 1, f, GLS_TYPE_FLOAT32), "array");
    assert_refused(gls_array_read(o.array, 0, 1, f, GLS_TYPE_FLOAT32), "array");
    assert_refused(gls_elementwise_run(o.elementwise, 1, &operand, 1, NULL), "element-wise");
    assert_refused(gls_unified_host(o.unified, GLS_ACCESS_READ, &data), "unified");
    assert_refused(gls_unified_device(o.unified, GLS_ACCESS_READ, &a), "unified");
    assert_refused(gls_vector_add(o.array, o.array, o.array, NULL), "array");
    assert_refused(gls_unary(GLS_SQRT, o.array, o.array, NULL), "array");
    assert_refused(gls_matmul(1, 1, 1, o.array, o.array, o.array, NULL), "array");
}

static void freed_twice(void **state)
{
    (void)state;
    static log_lines lines;
    objects o = make_all(device);
    gls_device_memory before = gls_device_get_memory(device);
    destroy_all(o);
    gls_device_memory after = gls_device_get_memory(device);
    lines = (log_lines){0};
    gls_log_set(collect_line, &lines, GLS_LOG_WARNING);
    destroy_all(o);
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
    assert_int_equal(lines.n, 7);
    assert_int_equal(lines.worst, GLS_LOG_ERROR);
    assert_non_null(strstr(lines.text, "unified buffer was destroyed before"));
    assert_message("destroyed before");
    gls_device_memory again = gls_device_get_memory(device);
    assert_memory_equal(&after, &again, sizeof after);
    assert_true(before.n_buffers == after.n_buffers + 3 && before.n_textures == after.n_textures + 1 &&
                before.n_kernels == after.n_kernels + 3);
    use_all(o);
    assert_ok(gls_device_synchronize(device));
}

/* A pointer to another type of object is refused, too. */
static void wrong_kind(void **state)
{
    (void)state;
    objects o = make_all(device);
    objects wrong = {(gls_buffer *)o.kernel, (gls_texture *)o.buffer, (gls_kernel *)o.texture,
                     (gls_program *)o.array, (gls_array *)o.unified,  (gls_elementwise *)o.program,
                     (gls_unified *)&o};
    use_all(wrong);
    destroy_all(wrong); /* nothing happens */
    float f = 3;
    assert_ok(gls_array_write(o.array, 0, 1, &f, GLS_TYPE_FLOAT32));
    destroy_all(o);
    gls_array *a = NULL;
    gls_unified *u = NULL;
    gls_elementwise *e = NULL;
    gls_device *none = (gls_device *)&o;
    assert_null(gls_device_get_info(none));
    assert_int_equal(gls_device_get_memory(none).allocated_bytes, 0);
    assert_refused(gls_device_synchronize(none), "device");
    assert_refused(gls_device_clear_cache(none), "device");
    assert_refused(gls_array_create(none, GLS_TYPE_FLOAT32, 1, "x", &a), "device");
    assert_refused(gls_unified_create(none, GLS_TYPE_FLOAT32, 1, "x", &u), "device");
    assert_refused(gls_elementwise_create(none, "x", "out float y[]", "y = 1.0", &e), "device");
    gls_device_close(none);
    assert_message("destroyed before");
}

static void other_device(void **state)
{
    (void)state;
    gls_device *other = open_limited(NULL);
    objects mine = make_all(device), theirs = make_all(other);
    static const uint32_t one[3] = {1, 1, 1};
    gls_arg args[] = {gls_arg_buffer(0, theirs.buffer), gls_arg_uint(0, 1)};
    assert_refused(gls_program_run(mine.program, one, one, args, 2, NULL), "not a buffer of the kernel's device");
    assert_refused(gls_elementwise_run(mine.elementwise, 1, (gls_operand[]){gls_operand_array(theirs.array)}, 1, NULL),
                   "of another device");
    assert_refused(gls_vector_add(mine.array, theirs.array, mine.array, NULL), "of another device");
    assert_refused(gls_matmul(1, 1, 1, mine.array, mine.array, theirs.array, NULL), "of another device");
    /* the same source is another program on another device */
    args[0] = gls_arg_buffer(0, mine.buffer);
    assert_ok(gls_program_run(mine.program, one, one, args, 2, NULL));
    destroy_all(mine);
    destroy_all(theirs);
    assert_int_equal(finish_device(other, 0), 0);
}

/* Objects that are left are freed with the device, with a warning, and refused afterwards. */
static void left_behind(void **state)
{
    (void)state;
    static log_lines lines;
    gls_device *d = open_limited(NULL);
    objects o = make_all(d);
    lines = (log_lines){0};
    gls_log_set(collect_line, &lines, GLS_LOG_DEBUG);
    gls_device_close(d);
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
    static const char *const expected[] = {"buffer 'some buffer'",         "texture 'some texture'",
                                           "kernel 'some kernel'",         "program 'some program'",
                                           "array 'some array'",           "element-wise kernel 'some elements'",
                                           "unified buffer 'some unified'"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[100];
        snprintf(text, sizeof text, "closed before its %s was destroyed", expected[i]);
        if (!strstr(lines.text, text)) print_error("'%s' is not in:\n%s", text, lines.text);
        assert_non_null(strstr(lines.text, text));
    }
#ifdef NDEBUG
    assert_int_equal(lines.worst, GLS_LOG_DEBUG);
#else
    assert_int_equal(lines.worst, GLS_LOG_WARNING);
#endif
    use_all(o);
    destroy_all(o);
    gls_device_close(d);
    assert_message("this device was destroyed before");
}

/* --- caches --------------------------------------------------------------- */

static void program_cache(void **state)
{
    (void)state;
    gls_device *d = open_limited(NULL);
    gls_kernel *k[3] = {NULL, NULL, NULL};
    gls_define one = {"VALUE", "1u", false, NULL}, two = {"VALUE", "2u", false, NULL};
    static const char *const source =
        "layout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer Data { uint data[]; };\n"
        "layout(location = 0) uniform uint add;\nvoid main() { data[gl_WorkGroupID.x] = VALUE + add; }\n";
    assert_ok(gls_kernel_create(d, "first", source, &one, 1, &k[0]));
    assert_ok(gls_kernel_create(d, "second", source, &one, 1, &k[1]));
    assert_ok(gls_kernel_create(d, "third", source, &two, 1, &k[2]));
    assert_true(gls_device_get_memory(d).n_kernels == 3 && gls_device_get_memory(d).n_cached_programs == 0);
    gls_kernel_destroy(k[0]);
    assert_int_equal(gls_device_get_memory(d).n_cached_programs, 0); /* the second handle still has it */
    gls_array *a = guarded(d, GLS_TYPE_UINT32, 2);
    uint32_t got[2];
    for (uint32_t add = 5; add < 7; add++) {
        gls_arg args[] = {gls_arg_array(0, a), gls_arg_uint(0, add)};
        assert_ok(gls_kernel_run(k[1], (uint32_t[3]){2, 1, 1}, args, 2, NULL));
        read_guarded(a, 2, got, GLS_TYPE_UINT32);
        assert_true(got[0] == 1 + add && got[1] == 1 + add);
        assert_ok(gls_kernel_run(k[2], (uint32_t[3]){1, 1, 1}, args, 2, NULL));
        read_guarded(a, 2, got, GLS_TYPE_UINT32);
        assert_true(got[0] == 2 + add && got[1] == 1 + add);
    }
    gls_kernel_destroy(k[1]);
    gls_kernel_destroy(k[2]);
    assert_true(gls_device_get_memory(d).n_kernels == 0 && gls_device_get_memory(d).n_cached_programs == 2);
    assert_ok(gls_kernel_create(d, "again", source, &two, 1, &k[0]));
    assert_int_equal(gls_device_get_memory(d).n_cached_programs, 1);
    assert_ok(gls_device_clear_cache(d));
    assert_int_equal(gls_device_get_memory(d).n_cached_programs, 0);
    gls_arg args[] = {gls_arg_array(0, a), gls_arg_uint(0, 40)};
    assert_ok(gls_kernel_run(k[0], (uint32_t[3]){1, 1, 1}, args, 2, NULL));
    read_guarded(a, 2, got, GLS_TYPE_UINT32);
    assert_int_equal(got[0], 42);
    gls_kernel_destroy(k[0]);
    gls_array_destroy(a);
    /* no more than 64 are kept */
    for (int i = 0; i < 70; i++) {
        char value[16];
        snprintf(value, sizeof value, "%du", 100 + i);
        assert_ok(gls_kernel_create(d, "one of many", source, &(gls_define){"VALUE", value, false, NULL}, 1, &k[0]));
        gls_kernel_destroy(k[0]);
    }
    assert_int_equal(gls_device_get_memory(d).n_cached_programs, 64);
    gls_device_close(d);
}

static void buffer_cache(void **state)
{
    (void)state;
    gls_device *d = open_limited(NULL);
    gls_buffer *b = NULL;
    uint32_t words[4] = {1, 2, 3, 4};
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 4096, "first", &b));
    gls_buffer_destroy(b);
    gls_device_memory m = gls_device_get_memory(d);
    assert_true(m.allocated_bytes == 0 && m.n_buffers == 0 && m.cached_bytes == 4096 && m.n_cached_buffers == 1 &&
                m.peak_bytes == 4096);
    assert_ok(gls_buffer_create(d, GLS_BUFFER_UNIFORM, 4096, "of another kind", &b));
    assert_int_equal(gls_device_get_memory(d).n_cached_buffers, 1);
    gls_buffer_destroy(b);
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 4092, "of another size", &b));
    assert_int_equal(gls_device_get_memory(d).n_cached_buffers, 2);
    gls_buffer_destroy(b);
    assert_int_equal(gls_device_get_memory(d).n_cached_buffers, 3);
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 4096, "the first again", &b));
    m = gls_device_get_memory(d);
    assert_true(m.n_cached_buffers == 2 && m.cached_bytes == 4096 + 4092 && m.allocated_bytes == 4096 &&
                m.peak_bytes == 4096);
    assert_ok(gls_buffer_write(b, 4080, sizeof words, words));
    assert_ok(gls_buffer_read(b, 4080, sizeof words, words));
    assert_int_equal(words[3], 4);
    assert_ok(gls_device_clear_cache(d));
    m = gls_device_get_memory(d);
    assert_true(m.n_cached_buffers == 0 && m.cached_bytes == 0 && m.n_buffers == 1);
    gls_buffer_destroy(b);
    /* 64 buffers and 64 MiB at most, none above 16 MiB */
    gls_buffer *many[70];
    for (int i = 0; i < 70; i++)
        assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 128 + 4 * (size_t)i, "many", &many[i]));
    for (int i = 0; i < 70; i++) gls_buffer_destroy(many[i]);
    assert_int_equal(gls_device_get_memory(d).n_cached_buffers, 64);
    for (int i = 0; i < 6; i++)
        assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, ((size_t)16 << 20) - 4 * (size_t)i, "large", &many[i]));
    for (int i = 0; i < 6; i++) gls_buffer_destroy(many[i]);
    m = gls_device_get_memory(d);
    assert_true(m.cached_bytes <= (uint64_t)64 << 20 && m.cached_bytes > (uint64_t)60 << 20);
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, ((size_t)16 << 20) + 4, "larger", &b));
    gls_buffer_destroy(b);
    assert_int_equal(gls_device_get_memory(d).cached_bytes, m.cached_bytes);
    gls_device_close(d);
}

/* --- threads -------------------------------------------------------------- */

typedef struct worker {
    int number, failures;
} worker;

/* Makes, uses and destroys objects of its own on the common device. */
static void *work(void *user)
{
    worker *w = user;
    for (int round = 0; round < 40; round++) {
        enum { N = 300 };
        double x[N], y[N];
        gls_array *a = NULL, *b = NULL;
        gls_elementwise *e = NULL;
        bool good = gls_array_create(device, GLS_TYPE_FLOAT64, N, "a", &a) == GLS_OK &&
                    gls_array_create(device, GLS_TYPE_FLOAT64, N, "b", &b) == GLS_OK &&
                    gls_elementwise_create(device, "threads", "int k, in float a[], out float b[]",
                                           "b = a * float(k) + float(i)", &e) == GLS_OK;
        for (int i = 0; i < N; i++) x[i] = i % 17;
        gls_operand operands[] = {gls_operand_int(w->number), gls_operand_array(a), gls_operand_array(b)};
        good = good && gls_array_write(a, 0, N, x, GLS_TYPE_FLOAT64) == GLS_OK &&
               gls_elementwise_run(e, N, operands, 3, NULL) == GLS_OK &&
               gls_array_read(b, 0, N, y, GLS_TYPE_FLOAT64) == GLS_OK;
        for (int i = 0; i < N && good; i++) good = y[i] == x[i] * w->number + i;
        w->failures += !good;
        gls_array_destroy(a);
        gls_array_destroy(b);
        gls_elementwise_destroy(e);
    }
    return NULL;
}

static void *destroy_elsewhere(void *user)
{
    destroy_all(*(objects *)user);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t thread[3];
    worker w[3] = {{3, 0}, {5, 0}, {7, 0}};
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    assert_true(w[0].failures == 0 && w[1].failures == 0 && w[2].failures == 0);
    /* An object is made on one thread and destroyed on another; the first thread's next use of it is refused. */
    objects o = make_all(device);
    assert_int_equal(pthread_create(&thread[0], NULL, destroy_elsewhere, &o), 0);
    pthread_join(thread[0], NULL);
    use_all(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_twice), cmocka_unit_test(wrong_kind),    cmocka_unit_test(other_device),
        cmocka_unit_test(left_behind), cmocka_unit_test(program_cache), cmocka_unit_test(buffer_cache),
        cmocka_unit_test(threads),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
