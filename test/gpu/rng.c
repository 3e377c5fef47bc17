/* The random numbers of the shaders: known answers of Random123 (kat_vectors), and the words of the C twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "util/maths.h"

#define N 20000

static gls_device *device;
static uint32_t request[N][6], answer[N][5], expected[N][4];

/* A kernel that takes six words and writes four words and a uniform number. */
static const char *const source = "layout(local_size_x = 64) in;\n"
                                  "layout(std430, binding = 0) readonly buffer In { uint request[]; };\n"
                                  "layout(std430, binding = 1) writeonly buffer Out { uint answer[]; };\n"
                                  "layout(location = 0) uniform uint n;\n"
                                  "#include \"base/philox.glsl\"\n"
                                  "void main()\n"
                                  "{\n"
                                  "    uint i = gl_GlobalInvocationID.x;\n"
                                  "    if (i >= n) return;\n"
                                  "    uvec4 words = philox(uvec4(request[6u * i], request[6u * i + 1u], request[6u * "
                                  "i + 2u], request[6u * i + 3u]),\n"
                                  "                         uvec2(request[6u * i + 4u], request[6u * i + 5u]));\n"
                                  "    for (uint k = 0u; k < 4u; k++) answer[5u * i + k] = words[k];\n"
                                  "    answer[5u * i + 4u] = floatBitsToUint(float(words.x >> 8) * exp2(-24.0));\n"
                                  "}\n";

static const struct {
    uint32_t request[6], words[4];
} known[] = {
    {{0, 0, 0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};
#define KNOWN (sizeof known / sizeof *known)

static void run(gls_device *d)
{
    gls_kernel *kernel = NULL;
    gls_buffer *in = NULL, *out = NULL;
    assert_ok(gls_kernel_create(d, "philox", source, NULL, 0, &kernel));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof request, "request", &in));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof answer, "answer", &out));
    assert_ok(gls_buffer_write(in, 0, sizeof request, request));
    gls_arg args[] = {gls_arg_buffer(0, in), gls_arg_buffer(1, out), gls_arg_uint(0, N)};
    assert_ok(gls_kernel_run(kernel, (uint32_t[3]){(N + 63) / 64, 1, 1}, args, 3, NULL));
    assert_ok(gls_buffer_read(out, 0, sizeof answer, answer));
    gls_buffer_destroy(in);
    gls_buffer_destroy(out);
    gls_kernel_destroy(kernel);
}

static void check(void)
{
    for (size_t i = 0; i < KNOWN; i++) assert_memory_equal(answer[i], known[i].words, 16);
    for (size_t i = 0; i < N; i++) {
        float uniform;
        memcpy(&uniform, &answer[i][4], sizeof uniform);
        assert_memory_equal(answer[i], expected[i], 16);
        assert_true(uniform >= 0 && uniform < 1 && uniform == gls_uniform(expected[i][0]));
    }
}

static void words(void **state)
{
    (void)state;
    uint64_t seed = 20;
    for (size_t i = 0; i < N; i++) {
        for (int k = 0; k < 6; k++) request[i][k] = i < KNOWN ? known[i].request[k] : (uint32_t)random_bits(&seed);
        gls_philox(request[i], request[i][4] | (uint64_t)request[i][5] << 32, expected[i]);
    }
    run(device);
    check();
    gls_device *es = NULL;
    int ignored;
    if (!gpu_open(GLS_GRAPHICS_GLES, &es, &ignored)) return;
    memset(answer, 0, sizeof answer);
    run(es);
    check();
    gls_device_close(es);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
