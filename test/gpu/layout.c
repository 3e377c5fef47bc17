/* What C and GLSL share lies in memory as C has it: the driver's own account of every field's offset against offsetof,
 * and every shared number as a shader has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <epoxy/gl.h>

#include "gpu.h"
#include "gpu/device_cache.h"
#include <glslines/track.h>

#include "track/shader/layout.h"

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
#include "layout/track_params.def"
#undef STRUCTURE
};
static const field gather_fields[] = {
#define STRUCTURE gls_gather_uniforms
#include "layout/gather_params.def"
#undef STRUCTURE
};

static const field seed_fields[] = {
#define STRUCTURE gls_seed_record
#include "layout/seed.def"
#undef STRUCTURE
};
static const field line_fields[] = {
#define STRUCTURE gls_line_record
#include "layout/line.def"
#undef STRUCTURE
};
static const field placed_fields[] = {
#define STRUCTURE gls_placed_record
#include "layout/placed.def"
#undef STRUCTURE
};
static const field state_fields[] = {
#define STRUCTURE gls_state_header
#include "layout/state.def"
#undef STRUCTURE
};
#undef FIELD

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
    size_t n_fields = 0;
    glGetProgramInterfaceiv(program, GL_UNIFORM, GL_ACTIVE_RESOURCES, &count);
    for (GLint i = 0; i < count; i++) {
        static const GLenum wanted = GL_TYPE;
        GLint type = 0;
        glGetProgramResourceiv(program, GL_UNIFORM, (GLuint)i, 1, &wanted, 1, NULL, &type);
        n_fields += type != GL_UNSIGNED_INT_ATOMIC_COUNTER; /* bindings of completion counts, which some drivers list */
    }
    assert_int_equal(n_fields, n);
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

/* Word i of the block, written by C, arrives as field i of the shader. */
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

/* --- records of storage buffers -------------------------------------------- */

/* Reads every field of the second record of an array. */
static void record_source(const char *list, const field *fields, size_t n, char *source, size_t size)
{
    size_t at = (size_t)snprintf(source, size,
                                 "layout(local_size_x = 1) in;\n"
                                 "#define FIELD(type, name) type name;\n"
                                 "struct Record {\n#include \"%s\"\n};\n"
                                 "layout(std430, binding = 0) readonly buffer Records { Record record[]; };\n"
                                 "layout(std430, binding = 1) writeonly buffer Out { uint value[]; };\n"
                                 "void main()\n{\n",
                                 list);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(source + at, size - at, "    value[%zu] = %s(record[1].%s);\n", i,
                               fields[i].type == GL_FLOAT ? "floatBitsToUint" : "uint", fields[i].name);
    at += (size_t)snprintf(source + at, size - at, "}\n");
    assert_true(at < size);
}

static GLint variable(GLuint program, const char *name, GLenum property)
{
    GLuint index = glGetProgramResourceIndex(program, GL_BUFFER_VARIABLE, name);
    GLint got = -1;
    if (index == GL_INVALID_INDEX) print_error("the driver has no %s\n", name);
    assert_int_not_equal(index, GL_INVALID_INDEX);
    glGetProgramResourceiv(program, GL_BUFFER_VARIABLE, index, 1, &property, 1, NULL, &got);
    return got;
}

static void check_record(gls_device *d, const char *list, const field *fields, size_t n, size_t bytes)
{
    static char source[8192];
    gls_kernel *kernel = NULL;
    gls_buffer *records = NULL, *out = NULL;
    uint32_t sent[64], got[32];
    assert_int_equal(bytes, 4 * n);
    record_source(list, fields, n, source, sizeof source);
    assert_ok(gls_kernel_create(d, "record", source, NULL, 0, &kernel));
    gls_device_hold(d);
    GLuint program = kernel->program->name;
    for (size_t i = 0; i < n; i++) {
        char name[80];
        snprintf(name, sizeof name, "record[0].%s", fields[i].name);
        assert_int_equal(variable(program, name, GL_OFFSET), fields[i].offset);
        assert_int_equal(variable(program, name, GL_TYPE), fields[i].type);
        assert_int_equal(variable(program, name, GL_TOP_LEVEL_ARRAY_STRIDE), bytes);
    }
    gls_device_release(d);
    /* the second record, written by C, arrives field by field */
    for (uint32_t i = 0; i < 2 * n; i++) sent[i] = 0x3f800000u + i * 1003;
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 2 * bytes, "records", &records));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, bytes, "out", &out));
    assert_ok(gls_buffer_write(records, 0, 2 * bytes, sent));
    gls_arg args[] = {gls_arg_buffer(0, records), gls_arg_buffer(1, out)};
    assert_ok(gls_kernel_run(kernel, (uint32_t[3]){1, 1, 1}, args, 2, NULL));
    assert_ok(gls_buffer_read(out, 0, bytes, got));
    assert_memory_equal(sent + n, got, bytes);
    gls_buffer_destroy(records);
    gls_buffer_destroy(out);
    gls_kernel_destroy(kernel);
}

static void check_state(gls_device *d)
{
    static const char source[] = "layout(local_size_x = 1) in;\n"
                                 "#define FIELD(type, name) type name;\n"
                                 "layout(std430, binding = 0) buffer State {\n#include \"layout/state.def\"\n"
                                 "    uint state[];\n};\n"
                                 "void main() { state[0] = queue + pool_head; }\n";
    gls_kernel *kernel = NULL;
    assert_ok(gls_kernel_create(d, "state", source, NULL, 0, &kernel));
    gls_device_hold(d);
    for (size_t i = 0; i < sizeof state_fields / sizeof *state_fields; i++)
        assert_int_equal(variable(kernel->program->name, state_fields[i].name, GL_OFFSET), state_fields[i].offset);
    assert_int_equal(variable(kernel->program->name, "state[0]", GL_OFFSET), sizeof(gls_state_header));
    gls_device_release(d);
    gls_kernel_destroy(kernel);
}

/* --- shared numbers -------------------------------------------------------- */

#define WORD(name, first, n) {#name, name},
#define CONSTANT(name, value) {#name, name},
#define GLS_END_ROW(symbol, value, name, keeps) {#symbol, symbol},
#define GLS_VERDICT_ROW(symbol, ...) {#symbol, symbol},
static const struct number {
    const char *name;
    uint32_t value;
} numbers[] = {
#include "layout/directions.def"
#include "layout/block.def"
#include "layout/work.def"
#include "layout/constants.def"
#include <glslines/ends.def>
#include <glslines/verdicts.def>
};
#undef WORD
#undef CONSTANT
#undef GLS_END_ROW
#undef GLS_VERDICT_ROW
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static void check_numbers(gls_device *d)
{
    static char source[8192];
    uint32_t got[N_NUMBERS];
    gls_kernel *kernel = NULL;
    gls_buffer *out = NULL;
    size_t at =
        (size_t)snprintf(source, sizeof source,
                         "layout(local_size_x = 1) in;\n"
                         "#define WORD(name, first, n) const uint name = uint(first);\n"
                         "#define GLS_VERDICT_ROW(symbol, value, name, first, words) const uint symbol = uint(value);\n"
                         "#include \"layout/directions.def\"\n#include \"layout/block.def\"\n"
                         "#include \"layout/work.def\"\n#include \"base/constants.glsl\"\n"
                         "#include \"glslines/verdicts.def\"\n"
                         "layout(std430, binding = 0) writeonly buffer Out { uint value[]; };\n"
                         "void main()\n{\n");
    for (size_t i = 0; i < N_NUMBERS; i++)
        at += (size_t)snprintf(source + at, sizeof source - at, "    value[%zu] = %s;\n", i, numbers[i].name);
    at += (size_t)snprintf(source + at, sizeof source - at, "}\n");
    assert_true(at < sizeof source);
    assert_ok(gls_kernel_create(d, "numbers", source, NULL, 0, &kernel));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof got, "out", &out));
    gls_arg args[] = {gls_arg_buffer(0, out)};
    assert_ok(gls_kernel_run(kernel, (uint32_t[3]){1, 1, 1}, args, 1, NULL));
    assert_ok(gls_buffer_read(out, 0, sizeof got, got));
    for (size_t i = 0; i < N_NUMBERS; i++) {
        if (got[i] != numbers[i].value) print_error("%s: GLSL %u, C %u\n", numbers[i].name, got[i], numbers[i].value);
        assert_int_equal(got[i], numbers[i].value);
    }
    gls_buffer_destroy(out);
    gls_kernel_destroy(kernel);
}

/* --------------------------------------------------------------------------- */

#define COUNT(array) (sizeof array / sizeof *array)
static gls_device *device, *es;

static void blocks_of(gls_device *d)
{
    check_block(d, "layout/track_params.def", track_fields, COUNT(track_fields), sizeof(gls_track_uniforms));
    check_block(d, "layout/gather_params.def", gather_fields, COUNT(gather_fields), sizeof(gls_gather_uniforms));
}

static void records_of(gls_device *d)
{
    check_record(d, "layout/seed.def", seed_fields, COUNT(seed_fields), sizeof(gls_seed_record));
    check_record(d, "layout/line.def", line_fields, COUNT(line_fields), sizeof(gls_line_record));
    check_record(d, "layout/placed.def", placed_fields, COUNT(placed_fields), sizeof(gls_placed_record));
    check_state(d);
}

static void uniform_blocks(void **state)
{
    (void)state;
    blocks_of(device);
    if (es) blocks_of(es);
}

static void records(void **state)
{
    (void)state;
    records_of(device);
    if (es) records_of(es);
}

static void shared_numbers(void **state)
{
    (void)state;
    check_numbers(device);
    if (es) check_numbers(es);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(gls_end_name(GLS_END_STOP_MAP), "stop_map");
    assert_string_equal(gls_end_name(GLS_END_COUNT), "unknown");
    assert_string_equal(gls_verdict_name(GLS_VERDICT_TOO_SHORT), "too_short");
    assert_string_equal(gls_verdict_name(GLS_VERDICT_COUNT), "unknown");
    assert_string_equal(gls_verdict_words(GLS_VERDICT_TOO_SHORT), "shorter than --min-length");
    /* the last value of an end's bits stands for halves that have none */
    assert_true(GLS_END_COUNT <= UINT32_MAX >> HALF_END_SHIFT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uniform_blocks), cmocka_unit_test(records),
                                       cmocka_unit_test(shared_numbers), cmocka_unit_test(names)};
    int status;
    if (!gpu_open(GLS_GRAPHICS_AUTO, &device, &status)) return status;
    int ignored;
    if (!gpu_open(GLS_GRAPHICS_GLES, &es, &ignored)) es = NULL;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    gls_device_close(es);
    gls_device_close(device);
    return status;
}
