/* The uniform blocks lie in memory as C has them: the driver's own account of every field's offset against offsetof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <epoxy/gl.h>

#include "gpu.h"
#include "gpu/cache.h"
#include "track/internal.h"

typedef struct field {
    const char *name;
    size_t offset;
    GLenum type;
} field;

#define float_TYPE GL_FLOAT
#define uint_TYPE GL_UNSIGNED_INT
#define FIELD(type, name) {#name, offsetof(STRUCTURE, name), type##_TYPE},
static const field track_fields[] = {
#define STRUCTURE gls_track_uniforms
#include "layout/track_params.h"
#undef STRUCTURE
};
static const field gather_fields[] = {
#define STRUCTURE gls_gather_uniforms
#include "layout/gather_params.h"
#undef STRUCTURE
};

/* Every field is read, or the driver would drop it from what it tells. */
static void source_reading(const char *header, const field *fields, size_t n, char *source, size_t size)
{
    size_t at = (size_t)snprintf(source, size,
                                 "layout(local_size_x = 1) in;\n"
                                 "#define FIELD(type, name) type name;\n"
                                 "layout(std140, binding = 0) uniform Params {\n#include \"%s\"\n} params;\n"
                                 "layout(std430, binding = 0) writeonly buffer Out { uint value[]; };\n"
                                 "void main()\n{\n",
                                 header);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(source + at, size - at, "    value[%zu] = %s(params.%s);\n", i,
                               fields[i].type == GL_FLOAT ? "floatBitsToUint" : "uint", fields[i].name);
    at += (size_t)snprintf(source + at, size - at, "}\n");
    assert_true(at < size);
}

static void check_reflection(GLuint program, const field *fields, size_t n, size_t bytes)
{
    GLint count = 0;
    glGetProgramInterfaceiv(program, GL_UNIFORM, GL_ACTIVE_RESOURCES, &count);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++) {
        char name[80];
        snprintf(name, sizeof name, "Params.%s", fields[i].name);
        GLuint index = glGetProgramResourceIndex(program, GL_UNIFORM, name);
        static const GLenum asked[3] = {GL_OFFSET, GL_TYPE, GL_ARRAY_SIZE};
        GLint got[3] = {-1, 0, 0};
        assert_int_not_equal(index, GL_INVALID_INDEX);
        glGetProgramResourceiv(program, GL_UNIFORM, index, 3, asked, 3, NULL, got);
        if (got[0] != (GLint)fields[i].offset) print_error("%s: driver %d, C %zu\n", name, got[0], fields[i].offset);
        assert_int_equal(got[0], fields[i].offset);
        assert_int_equal(got[1], fields[i].type);
        assert_int_equal(got[2], 1);
    }
    GLenum asked = GL_BUFFER_DATA_SIZE;
    GLint size = 0;
    glGetProgramResourceiv(program, GL_UNIFORM_BLOCK, glGetProgramResourceIndex(program, GL_UNIFORM_BLOCK, "Params"), 1,
                           &asked, 1, NULL, &size);
    assert_true(size > 0 && (size_t)size <= bytes && (size_t)size + 16 > bytes);
}

/* Word i of the block, written by C, arrives as field i. */
static void check_values(gls_device *device, gls_kernel *kernel, size_t n)
{
    uint32_t sent[64], got[64];
    gls_buffer *block = NULL, *out = NULL;
    for (uint32_t i = 0; i < n; i++) sent[i] = 0x3f800000u + i * 1001;
    assert_ok(gls_buffer_create(device, GLS_BUFFER_UNIFORM, 4 * n, "block", &block));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, 4 * n, "out", &out));
    assert_ok(gls_buffer_write(block, 0, 4 * n, sent));
    gls_arg args[] = {gls_arg_uniforms(0, block), gls_arg_buffer(0, out)};
    assert_ok(gls_kernel_run(kernel, (uint32_t[3]){1, 1, 1}, args, 2, NULL));
    assert_ok(gls_buffer_read(out, 0, 4 * n, got));
    assert_memory_equal(sent, got, 4 * n);
    gls_buffer_destroy(block);
    gls_buffer_destroy(out);
}

static void check_block(gls_device *device, const char *header, const field *fields, size_t n, size_t bytes)
{
    static char source[16384];
    gls_kernel *kernel = NULL;
    assert_int_equal(bytes, 4 * n); /* scalars without holes, and whole 16 bytes as std140 rounds a block up to */
    assert_int_equal(bytes % 16, 0);
    source_reading(header, fields, n, source, sizeof source);
    assert_ok(gls_kernel_create(device, header, source, NULL, 0, &kernel));
    gls_device_hold(device);
    check_reflection(kernel->program->name, fields, n, bytes);
    gls_device_release(device);
    check_values(device, kernel, n);
    gls_kernel_destroy(kernel);
}

static gls_device *device, *es;

static void track_params(void **state)
{
    (void)state;
    check_block(device, "layout/track_params.h", track_fields, sizeof track_fields / sizeof *track_fields,
                sizeof(gls_track_uniforms));
    if (es)
        check_block(es, "layout/track_params.h", track_fields, sizeof track_fields / sizeof *track_fields,
                    sizeof(gls_track_uniforms));
}

static void gather_params(void **state)
{
    (void)state;
    check_block(device, "layout/gather_params.h", gather_fields, sizeof gather_fields / sizeof *gather_fields,
                sizeof(gls_gather_uniforms));
    if (es)
        check_block(es, "layout/gather_params.h", gather_fields, sizeof gather_fields / sizeof *gather_fields,
                    sizeof(gls_gather_uniforms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(track_params), cmocka_unit_test(gather_params)};
    int status;
    if (!gpu_open(NULL, &device, &status)) return status;
    int ignored;
    if (!gpu_open("gles", &es, &ignored)) es = NULL;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    gls_device_close(es);
    gls_device_close(device);
    return status;
}
