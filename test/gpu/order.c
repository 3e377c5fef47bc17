/* Commands in their order: what the host writes behind a kernel that is still at work never reaches that kernel, not in
 * a buffer that it only reads, either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "gpu/fetch.h"
#include "gpu/staging.h"
#include "gpu/objects.h"
#include "gpu/internal.h"
#include "util/clock.h"

#define GROUP 64
#define LATER 0x80000000u

static gls_device *device;

/* A kernel that reads its words late: first it computes a chain of multiplications of the given length. */
static const char *const text = "layout(local_size_x = 64) in;\n"
                                "#ifdef IS_UNIFORM\n"
                                "layout(std140, binding = 0) uniform In { uvec4 value[16]; };\n"
                                "#define VALUE(i) value[((i) % 64u) / 4u][(i) % 4u]\n"
                                "#else\n"
                                "layout(std430, binding = 0) readonly buffer In { uint value[]; };\n"
                                "#define VALUE(i) value[i]\n"
                                "#endif\n"
                                "layout(std430, binding = 1) writeonly buffer Out { uint copy[]; };\n"
                                "layout(location = 0) uniform uint rounds;\n"
                                "layout(location = 1) uniform uint n;\n"
                                "void main()\n"
                                "{\n"
                                "    uint x = gl_LocalInvocationID.x;\n"
                                "    for (uint i = 0u; i < rounds; i++) x = x * 1664525u + 1013904223u;\n"
                                "    uint none = x == 7u ? 1u : 0u;\n"
                                "    uint step = gl_NumWorkGroups.x * 64u;\n"
                                "    for (uint i = gl_GlobalInvocationID.x; i < n; i += step)\n"
                                "        copy[i] = VALUE(i + none - none * (x & 1u));\n"
                                "}\n";

typedef struct case_of_order {
    gls_buffer *in, *out, *spare;
    gls_kernel *kernel;
    uint32_t n;
    bool uniform;
} case_of_order;

static void run(const case_of_order *c, gls_buffer *out, uint32_t rounds)
{
    const gls_arg args[] = {c->uniform ? gls_arg_uniforms(0, c->in) : gls_arg_buffer(0, c->in), gls_arg_buffer(1, out),
                            gls_arg_uint(0, rounds), gls_arg_uint(1, c->n)};
    const uint32_t groups[3] = {c->n > 64 * GROUP ? 64 : (c->n + GROUP - 1) / GROUP, 1, 1};
    assert_ok(gls_kernel_run(c->kernel, groups, args, sizeof args / sizeof *args, NULL));
}

/* A slow kernel, one behind it that reads, and then a write: how many words were those of the write. */
static uint32_t overtaken(const case_of_order *c, uint32_t rounds, bool behind, bool clears, uint32_t *words)
{
    const size_t bytes = 4 * (c->uniform ? 64 : (size_t)c->n);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < bytes / 4; i++) words[i] = i + 1;
    assert_ok(gls_buffer_write(c->in, 0, bytes, words));
    assert_ok(gls_device_synchronize(device));
    if (behind) run(c, c->spare, rounds);
    run(c, c->out, behind ? 0 : rounds);
    for (uint32_t i = 0; i < bytes / 4; i++) words[i] = LATER | i;
    assert_ok(clears ? gls_buffer_clear(c->in) : gls_buffer_write(c->in, 0, bytes, words));
    assert_ok(gls_buffer_read(c->out, 0, 4 * (size_t)c->n, words));
    for (uint32_t i = 0; i < c->n; i++) wrong += words[i] != (c->uniform ? i % 64 : i) + 1;
    return wrong;
}

/* Rounds that take this device some milliseconds, so that a write that does not wait comes too early. */
static uint32_t slow_rounds(const case_of_order *c)
{
    uint32_t rounds = 1000;
    for (double seconds = 0; seconds < 0.003 && rounds < 300000; rounds *= 2) {
        const double start = gls_clock_seconds();
        run(c, c->spare, rounds);
        assert_ok(gls_device_synchronize(device));
        seconds = gls_clock_seconds() - start;
    }
    return rounds;
}

static void order_of(bool uniform, uint32_t n)
{
    const gls_define define = {"IS_UNIFORM", "", false, "the words are uniforms"};
    const size_t bytes = 4 * (size_t)n;
    case_of_order c = {.n = n, .uniform = uniform};
    uint32_t *words = malloc(bytes + 256);
    assert_ok(gls_kernel_create(device, "order", text, &define, uniform, &c.kernel));
    assert_ok(gls_buffer_create(device, uniform ? GLS_BUFFER_UNIFORM : GLS_BUFFER_STORAGE, uniform ? 256 : bytes, "in",
                                &c.in));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, "out", &c.out));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, "spare", &c.spare));
    const uint32_t rounds = slow_rounds(&c);
    for (int way = 0; way < 4; way++)
        for (int turn = 0; turn < 5; turn++) {
            uint32_t wrong = overtaken(&c, rounds, way & 1, way & 2, words);
            if (wrong == 0) continue;
            print_error("%s of %u words, %s: %u words of a %s that came behind the kernel\n",
                        uniform ? "uniforms" : "buffer", n, way & 1 ? "read by a kernel behind another" : "read late",
                        wrong, way & 2 ? "clearing" : "write");
            fail();
        }
    gls_buffer_destroy(c.in);
    gls_buffer_destroy(c.out);
    gls_buffer_destroy(c.spare);
    gls_kernel_destroy(c.kernel);
    free(words);
}

static void order(void **state)
{
    (void)state;
    for (uint32_t n = 64; n <= 1u << 20; n *= 8) order_of(false, n);
}

static void order_of_uniforms(void **state)
{
    (void)state;
    order_of(true, 64);
}

/* What is written behind a clearing is not cleared, and what is read there is; in buffers that are new to the driver.
 */
static void order_of_clearing(void **state)
{
    (void)state;
    static uint32_t words[40000];
    case_of_order c = {.n = 0};
    assert_ok(gls_kernel_create(device, "order", text, NULL, 0, &c.kernel));
    for (int turn = 0; turn < 24; turn++) {
        c.n = 64u << turn % 10;
        c.n += (uint32_t)turn; /* a buffer of a size that no buffer had before */
        const size_t bytes = 4 * (size_t)c.n;
        for (uint32_t i = 0; i < c.n; i++) words[i] = i + 1;
        assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, "in", &c.in));
        assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, "out", &c.out));
        assert_ok(gls_buffer_clear(c.in));
        assert_ok(gls_buffer_write(c.in, 0, bytes, words));
        run(&c, c.out, 0);
        memset(words, 0, bytes);
        assert_ok(gls_buffer_read(c.out, 0, bytes, words));
        for (uint32_t i = 0; i < c.n; i++)
            if (words[i] != i + 1) fail_msg("word %u of %u is %u", i, c.n, words[i]);
        assert_ok(gls_buffer_clear(c.out));
        assert_ok(gls_buffer_read(c.out, 0, bytes, words));
        for (uint32_t i = 0; i < c.n; i++) assert_int_equal(words[i], 0);
        gls_buffer_destroy(c.in);
        gls_buffer_destroy(c.out);
    }
    gls_kernel_destroy(c.kernel);
}

/* The same checks for textures, which are cleared when they are made. */
static void order_of_texels(void **state)
{
    (void)state;
    static const char *const reading = "layout(local_size_x = 64) in;\n"
                                       "layout(binding = 0) uniform sampler3D texels;\n"
                                       "layout(std430, binding = 0) writeonly buffer Out { float copy[]; };\n"
                                       "void main()\n"
                                       "{\n"
                                       "    int i = int(gl_GlobalInvocationID.x), n = textureSize(texels, 0).x;\n"
                                       "    copy[i] = texelFetch(texels, ivec3(i % n, i / n % n, i / n / n), 0).x;\n"
                                       "}\n";
    gls_kernel *kernel;
    gls_buffer *out;
    float values[4096], copies[4096];
    assert_ok(gls_kernel_create(device, "texels", reading, NULL, 0, &kernel));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, sizeof copies, "out", &out));
    for (int i = 0; i < 4096; i++) values[i] = (float)(i % 2000 + 1);
    for (int turn = 0; turn < 20; turn++) {
        const uint32_t side = turn % 2 ? 16 : 4, n = side * side * side;
        gls_texture *texture;
        assert_ok(gls_texture_create(device, GLS_TEXTURE_R32F, (const uint32_t[3]){side, side, side}, "t", &texture));
        assert_ok(gls_texture_write(texture, (const uint32_t[3]){0}, (const uint32_t[3]){side, side, side}, values));
        const gls_arg args[] = {gls_arg_texture(0, texture), gls_arg_buffer(0, out)};
        assert_ok(gls_kernel_run(kernel, (const uint32_t[3]){n / 64, 1, 1}, args, 2, NULL));
        assert_ok(gls_buffer_read(out, 0, n * sizeof *copies, copies));
        for (uint32_t i = 0; i < n; i++) assert_true(copies[i] == values[i]);
        gls_texture_destroy(texture);
    }
    gls_buffer_destroy(out);
    gls_kernel_destroy(kernel);
}

/* A device that is no software renderer, or is taken for none: a write waits for the kernels that have its buffer, and
 * for no others. */
static void waits(void **state)
{
    (void)state;
    gls_device *before = device, *other = open_limited("software=0");
    case_of_order c = {.n = 64};
    uint32_t words[64] = {0};
    gls_buffer *free_one = NULL;
    gls_texture *texture = NULL;
    gls_fetch *fetch = NULL;
    device = other;
    assert_ok(gls_kernel_create(other, "order", text, NULL, 0, &c.kernel));
    assert_ok(gls_buffer_create(other, GLS_BUFFER_STORAGE, sizeof words, "in", &c.in));
    assert_ok(gls_buffer_create(other, GLS_BUFFER_STORAGE, sizeof words, "out", &c.out));
    assert_ok(gls_buffer_create(other, GLS_BUFFER_STORAGE, sizeof words, "spare", &c.spare));
    assert_ok(gls_buffer_create(other, GLS_BUFFER_STORAGE, sizeof words, "free", &free_one));
    assert_ok(gls_buffer_write(c.in, 0, sizeof words, words));
    for (int turn = 0; turn < 2; turn++) {
        run(&c, c.out, 10);
        assert_ok(gls_buffer_write(free_one, 0, sizeof words, words));
        assert_true(other->n_ended < other->n_runs);
        const uint64_t ran = other->n_runs;
        assert_ok(turn ? gls_buffer_clear(c.in) : gls_buffer_write(c.in, 0, sizeof words, words));
        assert_true(other->n_ended == ran);
        if (!turn || other->info.gles) continue;
        /* the device clears, and the host waits for it, be it to write or to read */
        assert_true(other->n_runs == ran + 1);
        assert_ok(gls_buffer_write(c.in, 0, sizeof words, words));
        assert_true(other->n_ended == other->n_runs);
        assert_ok(gls_buffer_clear(c.in));
        assert_ok(gls_buffer_read(c.in, 0, sizeof words, words));
        assert_true(other->n_ended == ran + 2);
    }
    run(&c, c.out, 10);
    assert_ok(gls_device_synchronize(other));
    assert_true(other->n_ended == other->n_runs);
    /* a write to a texture waits, too, even if the kernel does not use the texture */
    const uint32_t origin[3] = {0}, size[3] = {1, 1, 1};
    const float texel = 1;
    assert_ok(gls_texture_create(other, GLS_TEXTURE_R32F, size, "texture", &texture));
    const gls_arg args[] = {gls_arg_buffer(0, c.in), gls_arg_buffer(1, c.out), gls_arg_uint(1, c.n),
                            gls_arg_texture(0, texture)};
    assert_ok(gls_kernel_run(c.kernel, (const uint32_t[3]){1, 1, 1}, args, sizeof args / sizeof *args, NULL));
    assert_true(other->n_ended < other->n_runs);
    assert_ok(gls_texture_write(texture, origin, size, &texel));
    assert_true(other->n_ended == other->n_runs);
    /* copies that follow a kernel are not waited for, because its mark lies before them */
    assert_ok(gls_fetch_create(other, sizeof words, &fetch));
    run(&c, c.out, 10);
    assert_ok(gls_fetch_begin(fetch, c.out, 0, sizeof words));
    const uint64_t marked = other->n_runs;
    run(&c, c.spare, 10);
    if (gls_staging_offered(other)) {
        assert_true(other->n_marked == marked && other->mark);
        assert_ok(gls_buffer_write(free_one, 0, sizeof words, words));
        assert_ok(gls_buffer_write(c.out, 0, sizeof words, words));
        assert_true(other->n_ended == marked && !other->mark);
        /* a mark that failed is no reason to give up for good */
        other->n_marked = other->n_runs;
        assert_ok(gls_buffer_write(c.spare, 0, sizeof words, words));
        assert_true(other->n_ended == other->n_runs);
    }
    assert_ok(gls_fetch_end(fetch, words));
    gls_fetch_destroy(fetch);
    gls_texture_destroy(texture);
    gls_buffer_destroy(c.spare);
    gls_buffer_destroy(c.in);
    gls_buffer_destroy(c.out);
    gls_buffer_destroy(free_one);
    gls_kernel_destroy(c.kernel);
    gls_device_close(other);
    device = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(order_of_uniforms),
                                       cmocka_unit_test(order_of_clearing), cmocka_unit_test(order_of_texels),
                                       cmocka_unit_test(waits)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
