/* Completion counts: a kernel that the driver silently leaves out costs the device, however its results are read; an
 * error that the driver reports only fails the call; and a driver that cannot count is used without counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/compute.h>

#include "gpu.h"
#include "inject.h"
#include "gpu/fetch.h"
#include "gpu/objects.h"
#include "gpu/internal.h"

#define N 1000

static const char *const text = "layout(local_size_x = 64) in;\n"
                                "layout(std430, binding = 0) buffer Words { uint word[]; };\n"
                                "layout(location = 0) uniform uint n;\n"
                                "void main()\n"
                                "{\n"
                                "    if (gl_GlobalInvocationID.x >= n) return;\n"
                                "    word[gl_GlobalInvocationID.x] += 1u;\n"
                                "}\n";

typedef struct counting {
    gls_device *device;
    gls_kernel *kernel;
    gls_buffer *words;
    gls_fetch *fetch; /* NULL: read without one */
    uint32_t seen[N];
} counting;

/* On a device that keeps its memory where the host reads it, or is taken for one that does not. */
static void begin(counting *c, bool far, bool fetches)
{
    *c = (counting){.device = open_limited(far ? "software=0" : NULL)};
    if (!c->device->counts_groups) {
        gls_device_close(c->device);
        skip();
    }
    assert_ok(gls_kernel_create(c->device, "counting", text, NULL, 0, &c->kernel));
    assert_ok(gls_buffer_create(c->device, GLS_BUFFER_STORAGE, sizeof c->seen, "words", &c->words));
    if (fetches) assert_ok(gls_fetch_create(c->device, sizeof c->seen, &c->fetch));
    assert_ok(gls_buffer_clear(c->words));
}

static void end(counting *c)
{
    gls_fetch_destroy(c->fetch);
    gls_buffer_destroy(c->words);
    gls_kernel_destroy(c->kernel);
    gls_device_close(c->device);
    assert_ok(gls_inject_set(NULL));
}

static gls_status count(counting *c)
{
    const gls_arg args[] = {gls_arg_buffer(0, c->words), gls_arg_uint(0, N)};
    return gls_kernel_run(c->kernel, (const uint32_t[3]){(N + 63) / 64, 1, 1}, args, 2, NULL);
}

static gls_status look(counting *c)
{
    if (!c->fetch) return gls_buffer_read(c->words, 0, sizeof c->seen, c->seen);
    gls_status status = gls_fetch_begin(c->fetch, c->words, 0, sizeof c->seen);
    return status == GLS_OK ? gls_fetch_end(c->fetch, c->seen) : status;
}

static void is_each(const counting *c, uint32_t value)
{
    for (int i = 0; i < N; i++) assert_int_equal(c->seen[i], value);
}

static void left_out(bool far, bool fetches)
{
    counting c;
    begin(&c, far, fetches);
    assert_ok(gls_inject_set("skip:4"));
    for (uint32_t i = 1; i <= 3; i++) {
        assert_ok(count(&c));
        assert_ok(look(&c));
        is_each(&c, i);
    }
    assert_ok(count(&c));
    assert_int_equal(look(&c), GLS_ERR_LOST);
    assert_message("ended a kernel");
    assert_int_equal(count(&c), GLS_ERR_LOST);
    end(&c);
}

static void kernels_left_out(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) left_out(way & 1, way & 2);
}

/* Kernels that ran behind one that did not run do not count for it. */
static void among_others(void **state)
{
    (void)state;
    counting c;
    begin(&c, true, true);
    assert_ok(gls_inject_set("skip:2"));
    for (int i = 0; i < 5; i++) assert_ok(count(&c));
    assert_int_equal(look(&c), GLS_ERR_LOST);
    end(&c);
}

static void told(void **state)
{
    (void)state;
    counting c;
    begin(&c, false, false);
    assert_ok(gls_inject_set("dispatch:2"));
    assert_ok(count(&c));
    assert_int_equal(count(&c), GLS_ERR_DEVICE);
    assert_ok(count(&c));
    assert_ok(look(&c));
    is_each(&c, 2);
    end(&c);
}

/* An error that the driver reports does not explain a kernel that it left out before. */
static void told_and_left_out(void **state)
{
    (void)state;
    counting c;
    begin(&c, false, false);
    assert_ok(gls_inject_set("skip:1,dispatch:2"));
    assert_ok(count(&c));
    assert_int_equal(count(&c), GLS_ERR_DEVICE);
    assert_int_equal(look(&c), GLS_ERR_LOST);
    end(&c);
}

/* A kernel runs twice, as after a reset that another program caused. */
static void run_twice(void **state)
{
    (void)state;
    counting c;
    begin(&c, false, false);
    assert_ok(count(&c));
    c.device->n_groups -= 1;
    assert_int_equal(look(&c), GLS_ERR_LOST);
    end(&c);
}

/* The host's own matrix product reads what kernels wrote. */
static void host_product(void **state)
{
    (void)state;
    gls_device *d = open_limited(NULL);
    gls_array *a = NULL, *b = NULL, *product = NULL;
    static float ones[64];
    if (!gls_device_get_info(d)->software || !d->counts_groups) {
        gls_device_close(d);
        skip();
    }
    assert_ok(gls_array_create(d, GLS_TYPE_FLOAT32, 64, "a", &a));
    assert_ok(gls_array_create(d, GLS_TYPE_FLOAT32, 64, "b", &b));
    assert_ok(gls_array_create_zeroed(d, GLS_TYPE_FLOAT32, 64, "product", &product));
    for (int i = 0; i < 64; i++) ones[i] = 1;
    assert_ok(gls_array_write(a, 0, 64, ones, GLS_TYPE_FLOAT32));
    assert_ok(gls_inject_set("skip:1"));
    assert_ok(gls_vector_add(a, a, b, NULL));
    assert_int_equal(gls_matmul_by(GLS_MATMUL_HOST, 8, 8, 8, a, b, product, NULL), GLS_ERR_LOST);
    gls_array_destroy(a);
    gls_array_destroy(b);
    gls_array_destroy(product);
    gls_device_close(d);
    assert_ok(gls_inject_set(NULL));
}

/* Counts go to another counter than the one that is read. */
static void not_counted(void **state)
{
    (void)state;
    for (int far = 0; far < 2; far++) {
        counting c;
        GLuint other;
        begin(&c, far, far);
        gls_device_hold(c.device);
        glGenBuffers(1, &other);
        glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, other);
        glBufferData(GL_ATOMIC_COUNTER_BUFFER, 4, NULL, GL_DYNAMIC_COPY);
        gls_device_release(c.device);
        for (uint32_t i = 1; i <= 3; i++) {
            assert_ok(count(&c));
            assert_ok(look(&c));
            is_each(&c, i);
            assert_false(c.device->counts_groups);
        }
        gls_device_hold(c.device);
        glDeleteBuffers(1, &other);
        gls_device_release(c.device);
        end(&c);
    }
}

int main(void)
{
    gls_device *device;
    int status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_left_out),  cmocka_unit_test(among_others), cmocka_unit_test(told),
        cmocka_unit_test(told_and_left_out), cmocka_unit_test(run_twice),    cmocka_unit_test(host_product),
        cmocka_unit_test(not_counted)};
    if (!gpu_open(GLS_GRAPHICS_AUTO, &device, &status)) return status;
    return finish_device(device, cmocka_run_group_tests(tests, NULL, NULL));
}
