/* Buffers and textures: data come back unchanged, wrong calls are refused, and the counts of memory are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"

static gls_device *device;

static void destroy_null(void **state)
{
    (void)state;
    gls_device_close(NULL);
    gls_buffer_destroy(NULL);
    gls_texture_destroy(NULL);
    gls_kernel_destroy(NULL);
}

/* --- buffers -------------------------------------------------------------- */

static void check_bytes(gls_buffer *buffer, const uint8_t *expected, size_t n)
{
    uint8_t *got = malloc(n + 2);
    memset(got, 0x5a, n + 2);
    assert_ok(gls_buffer_read(buffer, 0, n, got + 1));
    assert_memory_equal(got + 1, expected, n);
    assert_true(got[0] == 0x5a && got[n + 1] == 0x5a);
    free(got);
}

static void buffers_of(gls_device *d)
{
    static const gls_buffer_kind kinds[] = {GLS_BUFFER_STORAGE, GLS_BUFFER_UNIFORM};
    enum { N = 5003 }; /* a size that is no multiple of anything */
    uint8_t expected[N], part[100];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        gls_buffer *b = NULL;
        assert_ok(gls_buffer_create(d, kinds[k], N, "bytes", &b));
        assert_int_equal(gls_buffer_size(b), N);
        for (size_t i = 0; i < N; i++) expected[i] = (uint8_t)(i * 7 + k);
        assert_ok(gls_buffer_write(b, 0, N, expected));
        check_bytes(b, expected, N);
        memset(part, 0xee, sizeof part);
        assert_ok(gls_buffer_write(b, 1001, 99, part));
        memset(expected + 1001, 0xee, 99);
        check_bytes(b, expected, N);
        assert_ok(gls_buffer_read(b, 4990, 13, part));
        assert_memory_equal(part, expected + 4990, 13);
        assert_true(part[13] == 0xee);
        /* an empty range at the very end is a range, too */
        assert_ok(gls_buffer_write(b, N, 0, part));
        assert_ok(gls_buffer_read(b, N, 0, part));
        static const size_t outside[][2] = {
            {0, N + 1},    {N, 1},        {N + 1, 0},           {1, N},
            {SIZE_MAX, 1}, {1, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}, {N - 1, SIZE_MAX - N + 2}};
        for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
            memset(part, 0xcc, sizeof part);
            assert_int_equal(gls_buffer_write(b, outside[i][0], outside[i][1], part), GLS_ERR_ARGUMENT);
            assert_int_equal(gls_buffer_read(b, outside[i][0], outside[i][1], part), GLS_ERR_ARGUMENT);
            assert_true(part[0] == 0xcc);
        }
        assert_int_equal(gls_buffer_write(b, 0, 4, NULL), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_buffer_read(b, 0, 4, NULL), GLS_ERR_ARGUMENT);
        check_bytes(b, expected, N);
        assert_ok(gls_buffer_clear(b));
        memset(expected, 0, N);
        check_bytes(b, expected, N);
        gls_buffer_destroy(b);
    }
}

static void buffers(void **state)
{
    (void)state;
    buffers_of(device);
}

/* A size of several pieces, whatever number of bytes the clearing writes at a time. */
static void clear_large(gls_device *d)
{
    size_t n = 300001;
    uint8_t *bytes = malloc(n);
    gls_buffer *b = NULL;
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, n, NULL, &b));
    memset(bytes, 0xff, n);
    assert_ok(gls_buffer_write(b, 0, n, bytes));
    assert_ok(gls_buffer_clear(b));
    assert_ok(gls_buffer_read(b, 0, n, bytes));
    for (size_t i = 0; i < n; i++) assert_true(bytes[i] == 0);
    free(bytes);
    gls_buffer_destroy(b);
}

static void refused_sizes(void **state)
{
    (void)state;
    const gls_device_info *info = gls_device_get_info(device);
    gls_device_memory before = gls_device_get_memory(device);
    gls_buffer *b = (gls_buffer *)&info;
    gls_texture *t = (gls_texture *)&info;
    assert_int_equal(gls_buffer_create(device, GLS_BUFFER_STORAGE, 0, "none", &b), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_buffer_create(device, GLS_BUFFER_STORAGE, info->max_storage_bytes + 1, "too large", &b),
                     GLS_ERR_UNSUPPORTED);
    assert_message("too large");
    assert_int_equal(gls_buffer_create(device, GLS_BUFFER_STORAGE, SIZE_MAX, "too large", &b), GLS_ERR_UNSUPPORTED);
    assert_int_equal(gls_buffer_create(device, GLS_BUFFER_UNIFORM, (size_t)info->max_uniform_bytes + 1, "block", &b),
                     GLS_ERR_UNSUPPORTED);
    assert_message("block");
    assert_int_equal(gls_buffer_create(NULL, GLS_BUFFER_STORAGE, 4, "none", &b), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_buffer_create(device, GLS_BUFFER_STORAGE, 4, "none", NULL), GLS_ERR_ARGUMENT);
    for (int a = 0; a < 3; a++) {
        uint32_t size[3] = {4, 4, 4};
        size[a] = info->max_texture_3d + 1;
        assert_int_equal(gls_texture_create(device, GLS_TEXTURE_R32F, size, "too long", &t), GLS_ERR_UNSUPPORTED);
        assert_message("too long");
        size[a] = 0;
        assert_int_equal(gls_texture_create(device, GLS_TEXTURE_R32F, size, "flat", &t), GLS_ERR_ARGUMENT);
        size[a] = UINT32_MAX;
        assert_int_equal(gls_texture_create(device, GLS_TEXTURE_R32F, size, "endless", &t), GLS_ERR_UNSUPPORTED);
    }
    assert_int_equal(gls_texture_create(device, (gls_texture_format)17, (uint32_t[3]){4, 4, 4}, "format", &t),
                     GLS_ERR_ARGUMENT);
    assert_ptr_equal(b, &info);
    assert_ptr_equal(t, &info);
    gls_device_memory after = gls_device_get_memory(device);
    assert_memory_equal(&before, &after, sizeof before);
}

/* A texture larger than any memory, within the limits of each axis. */
static void refused_memory(void **state)
{
    (void)state;
    uint32_t n = gls_device_get_info(device)->max_texture_3d;
    if ((uint64_t)n * n * n * 16 < (uint64_t)1 << 37) skip();
    gls_texture *t = NULL;
    assert_ok(gls_device_clear_cache(device)); /* else the texture would */
    gls_device_memory before = gls_device_get_memory(device);
    gls_status status = gls_texture_create(device, GLS_TEXTURE_RGBA32F, (uint32_t[3]){n, n, n}, "everything", &t);
    assert_true(status == GLS_ERR_DEVICE_MEMORY || status == GLS_ERR_DEVICE || status == GLS_ERR_UNSUPPORTED);
    assert_message("everything");
    assert_null(t);
    gls_device_memory after = gls_device_get_memory(device);
    assert_memory_equal(&before, &after, sizeof before);
    /* the device works afterwards */
    clear_large(device);
}

/* Large parts of buffers of what is taken for hardware: through memory that both sides see, in more pieces than that
 * has room for. */
static void in_pieces(void **state)
{
    (void)state;
    gls_device *d = open_limited("software=0");
    const size_t n = ((size_t)40 << 20) + 5, end = 11;
    gls_buffer *b = NULL;
    uint8_t *bytes = malloc(n + end), *got = malloc(n + end);
    memset(bytes, 7, n + end);
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, n + end, "pieces", &b));
    assert_ok(gls_buffer_write(b, 0, n + end, bytes));
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < n; i++) bytes[3 + i] = (uint8_t)((i * 2654435761u >> 13) + (size_t)round);
        assert_ok(gls_buffer_write(b, 3, n, bytes + 3));
    }
    assert_ok(gls_buffer_read(b, 0, n + end, got));
    assert_memory_equal(got, bytes, n + end);
    gls_buffer_destroy(b);
    gls_device_close(d);
    free(bytes);
    free(got);
}

static void accounting(void **state)
{
    (void)state;
    gls_device *d = open_limited(NULL);
    gls_buffer *b[3];
    gls_texture *t = NULL;
    gls_kernel *k = NULL;
    for (size_t i = 0; i < 3; i++) assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 1000 * (i + 1), NULL, &b[i]));
    assert_ok(gls_texture_create(d, GLS_TEXTURE_RGBA16F, (uint32_t[3]){3, 5, 7}, NULL, &t));
    assert_ok(gls_kernel_create(d, "nothing", "layout(local_size_x = 1) in;\nvoid main() {}\n", NULL, 0, &k));
    gls_device_memory m = gls_device_get_memory(d);
    assert_int_equal(m.allocated_bytes, 6000 + 3 * 5 * 7 * 8);
    assert_int_equal(m.peak_bytes, m.allocated_bytes);
    assert_true(m.n_buffers == 3 && m.n_textures == 1 && m.n_kernels == 1);
    for (size_t i = 0; i < 3; i++) gls_buffer_destroy(b[i]);
    gls_texture_destroy(t);
    gls_kernel_destroy(k);
    m = gls_device_get_memory(d);
    assert_true(m.allocated_bytes == 0 && m.n_buffers == 0 && m.n_textures == 0 && m.n_kernels == 0);
    assert_int_equal(m.peak_bytes, 6000 + 3 * 5 * 7 * 8);
    gls_device_close(d);
}

/* --- textures ------------------------------------------------------------- */

static const char *const sampler = "layout(local_size_x = 32) in;\n"
                                   "layout(binding = 2) uniform sampler3D volume;\n"
                                   "layout(std430, binding = 0) readonly buffer Where { float where[]; };\n"
                                   "layout(std430, binding = 1) writeonly buffer Value { vec4 value[]; };\n"
                                   "layout(location = 3) uniform uint n;\n"
                                   "layout(location = 4) uniform float gain;\n"
                                   "void main()\n"
                                   "{\n"
                                   "    uint i = gl_GlobalInvocationID.x;\n"
                                   "    if (i >= n) return;\n"
                                   "    vec3 p = vec3(where[3u * i], where[3u * i + 1u], where[3u * i + 2u]);\n"
                                   "    value[i] = gain * texture(volume, (p + 0.5) / vec3(textureSize(volume, 0)));\n"
                                   "}\n";

#define X 6
#define Y 5
#define Z 7

/* Interpolates trilinearly with clamped neighbours: the rule of GL_CLAMP_TO_EDGE. */
static double trilinear(const float *data, int channels, int channel, const double p[3])
{
    static const int size[3] = {X, Y, Z};
    int low[3], high[3];
    double w[3], sum = 0;
    for (int a = 0; a < 3; a++) {
        double f = floor(p[a]);
        w[a] = p[a] - f;
        low[a] = f < 0 ? 0 : f > size[a] - 1 ? size[a] - 1 : (int)f;
        high[a] = f + 1 < 0 ? 0 : f + 1 > size[a] - 1 ? size[a] - 1 : (int)f + 1;
    }
    for (int c = 0; c < 8; c++) {
        int x = c & 1 ? high[0] : low[0], y = c & 2 ? high[1] : low[1], z = c & 4 ? high[2] : low[2];
        double weight = (c & 1 ? w[0] : 1 - w[0]) * (c & 2 ? w[1] : 1 - w[1]) * (c & 4 ? w[2] : 1 - w[2]);
        sum += weight * data[((z * Y + y) * X + x) * channels + channel];
    }
    return sum;
}

/* Writes the texture in boxes that do not overlap and cover everything. */
static void write_boxes(gls_texture *t, const float *data, int channels)
{
    static const uint32_t cut[3][3] = {{0, 2, X}, {0, 3, Y}, {0, 1, Z}};
    float box[X * Y * Z * 4];
    for (int part = 0; part < 8; part++) {
        uint32_t origin[3], size[3];
        for (int a = 0; a < 3; a++) {
            origin[a] = cut[a][part >> a & 1];
            size[a] = cut[a][(part >> a & 1) + 1] - origin[a];
        }
        size_t n = 0;
        for (uint32_t z = 0; z < size[2]; z++)
            for (uint32_t y = 0; y < size[1]; y++)
                for (uint32_t x = 0; x < size[0]; x++)
                    for (int c = 0; c < channels; c++)
                        box[n++] =
                            data[(((origin[2] + z) * Y + origin[1] + y) * X + origin[0] + x) * (uint32_t)channels +
                                 (uint32_t)c];
        assert_ok(gls_texture_write(t, origin, size, box));
    }
}

static void refused_boxes(gls_texture *t)
{
    static const uint32_t bad[][6] = {{0, 0, 0, X + 1, 1, 1},      {1, 0, 0, X, 1, 1},
                                      {0, 0, Z, 1, 1, 1},          {0, Y + 1, 0, 1, 1, 1},
                                      {0, 0, 0, 1, 0, 1},          {UINT32_MAX, 0, 0, 2, 1, 1},
                                      {1, 0, 0, UINT32_MAX, 1, 1}, {0, 0, Z - 1, 1, 1, UINT32_MAX}};
    float data[4] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gls_texture_write(t, bad[i], bad[i] + 3, data), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_texture_write(t, bad[0], bad[0] + 3, NULL), GLS_ERR_ARGUMENT);
}

static void textures_of(gls_device *d)
{
    static const gls_texture_format formats[] = {GLS_TEXTURE_R32F, GLS_TEXTURE_RGBA16F, GLS_TEXTURE_RGBA32F,
                                                 GLS_TEXTURE_R16F};
    static const uint32_t size[3] = {X, Y, Z};
    enum { N = 1000 };
    static float where[N][3], value[N + 2][4], data[X * Y * Z * 4];
    uint64_t seed = 1;
    gls_kernel *kernel = NULL;
    gls_buffer *in = NULL, *out = NULL;
    assert_ok(gls_kernel_create(d, "sampler", sampler, NULL, 0, &kernel));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof where, "where", &in));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof value, "value", &out));
    for (int i = 0; i < N; i++)
        for (int a = 0; a < 3; a++)
            where[i][a] = (float)random_uniform(&seed, -1, size[a] + 0.5); /* beyond the edges, too */
    assert_ok(gls_buffer_write(in, 0, sizeof where, where));
    for (size_t f = 0; f < 4; f++) {
        int channels = formats[f] == GLS_TEXTURE_R32F || formats[f] == GLS_TEXTURE_R16F ? 1 : 4;
        gls_texture *t = NULL;
        /* sixteenths up to 32 are exact in half floats */
        for (int i = 0; i < X * Y * Z * channels; i++) data[i] = (float)((int)(random_bits(&seed) % 1025) - 512) / 16;
        assert_ok(gls_texture_create(d, formats[f], size, "volume", &t));
        write_boxes(t, data, channels);
        refused_boxes(t);
        memset(value, 0x7f, sizeof value);
        assert_ok(gls_buffer_write(out, 0, sizeof value, value));
        gls_arg args[] = {gls_arg_buffer(0, in), gls_arg_buffer(1, out), gls_arg_texture(2, t), gls_arg_uint(3, N),
                          gls_arg_float(4, 0.5f)};
        double seconds = -1;
        assert_ok(gls_kernel_run(kernel, (uint32_t[3]){(N + 31) / 32, 1, 1}, args, 5, &seconds));
        assert_true(seconds >= 0 && seconds < 60);
        assert_ok(gls_buffer_read(out, 0, sizeof value, value));
        double bound = 0.5 * 64 * fetch_tolerance(d, size), worst = 0;
        for (int i = 0; i < N; i++)
            for (int c = 0; c < channels; c++) {
                double p[3] = {where[i][0], where[i][1], where[i][2]};
                worst = fmax(worst, fabs(value[i][c] - 0.5 * trilinear(data, channels, c, p)));
            }
        print_message("format %zu: error %.2g, allowed %.2g\n", f, worst, bound);
        assert_true(worst <= bound);
        uint32_t sentinel;
        memcpy(&sentinel, &value[N][0], sizeof sentinel);
        assert_true(sentinel == 0x7f7f7f7fu);
        gls_texture_destroy(t);
    }
    gls_buffer_destroy(in);
    gls_buffer_destroy(out);
    gls_kernel_destroy(kernel);
}

/* A new texture holds zeros, also if another texture has used its memory before. */
static void fresh_textures(gls_device *d)
{
    static const uint32_t size[3] = {64, 64, 16}, first[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    enum { N = 64 };
    float where[N][3], value[N][4], *bad = malloc((size_t)64 * 64 * 16 * 4 * sizeof *bad);
    gls_kernel *kernel = NULL;
    gls_buffer *in = NULL, *out = NULL;
    for (int i = 0; i < 64 * 64 * 16 * 4; i++) bad[i] = NAN;
    for (int i = 0; i < N; i++)
        for (int a = 0; a < 3; a++) where[i][a] = (float)(1 + i % (a == 2 ? 15 : 63));
    assert_ok(gls_kernel_create(d, "sampler", sampler, NULL, 0, &kernel));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof where, "where", &in));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof value, "value", &out));
    assert_ok(gls_buffer_write(in, 0, sizeof where, where));
    for (int round = 0; round < 6; round++) {
        gls_texture *t = NULL;
        assert_ok(gls_texture_create(d, round % 2 ? GLS_TEXTURE_RGBA16F : GLS_TEXTURE_RGBA32F, size, "fresh", &t));
        assert_ok(gls_texture_write(t, first, one, (const float[4]){7, 7, 7, 7}));
        gls_arg args[] = {gls_arg_buffer(0, in), gls_arg_buffer(1, out), gls_arg_texture(2, t), gls_arg_uint(3, N),
                          gls_arg_float(4, 1)};
        assert_ok(gls_kernel_run(kernel, (uint32_t[3]){N / 32, 1, 1}, args, 5, NULL));
        assert_ok(gls_buffer_read(out, 0, sizeof value, value));
        for (int i = 0; i < N; i++)
            for (int c = 0; c < 4; c++) assert_true(value[i][c] == 0);
        assert_ok(gls_texture_write(t, first, size, bad));
        assert_ok(gls_device_synchronize(d));
        gls_texture_destroy(t);
    }
    free(bad);
    gls_buffer_destroy(in);
    gls_buffer_destroy(out);
    gls_kernel_destroy(kernel);
}

static void textures(void **state)
{
    (void)state;
    fresh_textures(device);
    textures_of(device);
}

static void gles(void **state)
{
    (void)state;
    gls_device *d = NULL;
    int ignored;
    if (!gpu_open(GLS_GRAPHICS_GLES, &d, &ignored)) {
        leave_out("GLES", "OpenGL ES");
    }
    assert_true(gls_device_get_info(d)->gles);
    buffers_of(d);
    clear_large(d);
    textures_of(d);
    fresh_textures(d);
    assert_int_equal(gls_device_get_memory(d).allocated_bytes, 0);
    gls_device_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy_null),   cmocka_unit_test(buffers),   cmocka_unit_test(refused_sizes),
        cmocka_unit_test(refused_memory), cmocka_unit_test(in_pieces), cmocka_unit_test(accounting),
        cmocka_unit_test(textures),       cmocka_unit_test(gles),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
