/* Programs run with grid and block: sizes, arguments, results, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compute.h"

static gls_device *device;

/* Each invocation writes who it is to its place; scale and offset are scalars of all three types. */
static const char *const who = "layout(std430, binding = 1) writeonly buffer Out { uint place[]; };\n"
                               "layout(location = 0) uniform uint scale;\n"
                               "layout(location = 3) uniform int offset;\n"
                               "layout(location = 5) uniform float factor;\n"
                               "void main()\n"
                               "{\n"
                               "    uvec3 g = gl_GlobalInvocationID, n = gl_NumWorkGroups * gl_WorkGroupSize;\n"
                               "    uint at = (g.z * n.y + g.y) * n.x + g.x;\n"
                               "    place[at] = uint(int(at * scale) + offset) + uint(factor * float(BLOCK_X * 10000 + "
                               "BLOCK_Y * 100 + BLOCK_Z));\n"
                               "}\n";

static void grids_and_blocks(gls_device *d)
{
    static const uint32_t sizes[][2][3] = {{{7, 1, 1}, {64, 1, 1}}, {{3, 5, 2}, {4, 2, 3}},  {{1, 1, 1}, {1, 1, 1}},
                                           {{2, 2, 2}, {1, 8, 8}},  {{1, 9, 1}, {16, 8, 1}}, {{40, 1, 1}, {128, 1, 1}}};
    gls_program *p = NULL;
    assert_ok(gls_program_create(d, "who", who, NULL, 0, &p));
    for (int round = 0; round < 2; round++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const uint32_t *grid = sizes[s][0], *block = sizes[s][1];
            uint32_t n = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2], got[8192];
            gls_array *a = guarded(d, GLS_TYPE_UINT32, n);
            gls_arg args[] = {gls_arg_float(5, 1), gls_arg_array(1, a), gls_arg_int(3, -3), gls_arg_uint(0, 7)};
            gls_run_result result = {GLS_ERR_INPUT, -1, -1, "x"};
            assert_ok(gls_program_run(p, grid, block, args, 4, round ? &result : NULL));
            if (round)
                assert_true(result.status == GLS_OK && result.gpu_seconds > 0 && result.wall_seconds > 0 &&
                            result.message[0] == '\0');
            read_guarded(a, n, got, GLS_TYPE_UINT32);
            for (uint32_t i = 0; i < n; i++)
                assert_int_equal(got[i], i * 7 - 3 + block[0] * 10000 + block[1] * 100 + block[2]);
            gls_array_destroy(a);
        }
    gls_program_destroy(p);
}

static void sizes(void **state)
{
    (void)state;
    grids_and_blocks(device);
}

static void gles(void **state)
{
    (void)state;
    gls_device *d = NULL;
    int ignored;
    if (!gpu_open(GLS_GRAPHICS_GLES, &d, &ignored)) {
        leave_out("GLES", "OpenGL ES");
    }
    grids_and_blocks(d);
    assert_int_equal(finish_device(d, 0), 0);
}

/* Uses more block sizes than are kept compiled. */
static void many_blocks(void **state)
{
    (void)state;
    gls_program *p = NULL;
    gls_define define = {"TIMES", "3u", false, NULL};
    gls_array *a = guarded(device, GLS_TYPE_UINT32, 20);
    static const char *const source = "layout(std430, binding = 0) buffer Out { uint place[]; };\n"
                                      "void main() { place[gl_LocalInvocationID.x] = uint(BLOCK_X) * TIMES; }\n";
    assert_ok(gls_program_create(device, "blocks", source, &define, 1, &p));
    for (uint32_t block = 1; block <= 20; block++) {
        uint32_t got[20];
        assert_ok(gls_program_run(p, (uint32_t[3]){1, 1, 1}, (uint32_t[3]){block, 1, 1},
                                  (gls_arg[]){gls_arg_array(0, a)}, 1, NULL));
        read_guarded(a, 20, got, GLS_TYPE_UINT32);
        for (uint32_t i = 0; i < block; i++) assert_int_equal(got[i], 3 * block);
    }
    assert_true(gls_device_get_memory(device).n_kernels <= 8);
    gls_program_destroy(p);
    gls_array_destroy(a);
}

static void refused_sizes(void **state)
{
    (void)state;
    const gls_device_info *info = gls_device_get_info(device);
    gls_program *p = NULL;
    gls_array *a = guarded(device, GLS_TYPE_UINT32, 4);
    gls_arg args[] = {gls_arg_float(5, 1), gls_arg_array(1, a), gls_arg_int(3, 0), gls_arg_uint(0, 1)};
    assert_ok(gls_program_create(device, "who", who, NULL, 0, &p));
    gls_run_result result;
    for (int axis = 0; axis < 3; axis++) {
        uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
        block[axis] = 0;
        assert_int_equal(gls_program_run(p, grid, block, args, 4, &result), GLS_ERR_ARGUMENT);
        assert_true(result.status == GLS_ERR_ARGUMENT && strstr(result.message, "who") && result.gpu_seconds == 0);
        block[axis] = axis == 2 ? 4096 : info->max_work_group_size + 1;
        assert_int_equal(gls_program_run(p, grid, block, args, 4, &result), GLS_ERR_UNSUPPORTED);
        assert_message("limit");
        block[axis] = UINT32_MAX;
        assert_int_equal(gls_program_run(p, grid, block, args, 4, &result), GLS_ERR_UNSUPPORTED);
        block[axis] = 1;
        grid[axis] = UINT32_MAX;
        assert_int_equal(gls_program_run(p, grid, block, args, 4, &result), GLS_ERR_UNSUPPORTED);
        assert_message("limit");
        grid[axis] = 0; /* nothing to do */
        assert_ok(gls_program_run(p, grid, block, args, 4, &result));
    }
    /* each axis is within its limit, the product is not */
    assert_int_equal(
        gls_program_run(p, (uint32_t[3]){1, 1, 1}, (uint32_t[3]){info->max_work_group_size, 2, 1}, args, 4, NULL),
        GLS_ERR_UNSUPPORTED);
    static const uint32_t one[3] = {1, 1, 1};
    assert_int_equal(gls_program_run(p, NULL, one, args, 4, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_run(p, one, NULL, args, 4, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_run(p, one, one, NULL, 4, NULL), GLS_ERR_ARGUMENT);
    gls_program_destroy(p);
    gls_array_destroy(a);
}

static const char *const blocks = "layout(std430, binding = 0) buffer Data { uint first[20]; uint rest[]; } data;\n"
                                  "layout(std140, binding = 2) uniform Params { vec4 lots[4]; } params;\n"
                                  "void main() { data.first[0] = uint(params.lots[3].x); data.rest[0] = 5u; }\n";

static void refused_arguments(void **state)
{
    (void)state;
    static const uint32_t one[3] = {1, 1, 1};
    gls_program *p = NULL, *q = NULL;
    gls_array *a = guarded(device, GLS_TYPE_UINT32, 4);
    assert_ok(gls_program_create(device, "who", who, NULL, 0, &p));
    gls_arg good[] = {gls_arg_array(1, a), gls_arg_uint(0, 1), gls_arg_int(3, 0), gls_arg_float(5, 1), {0}};
    static const char *const missing[] = {"Out", "scale", "offset", "factor"};
    for (int leave = 0; leave < 4; leave++) {
        gls_arg args[3];
        for (int i = 0, n = 0; i < 4; i++)
            if (i != leave) args[n++] = good[i];
        assert_refused(gls_program_run(p, one, one, args, 3, NULL), missing[leave]);
        good[4] = good[leave];
        assert_refused(gls_program_run(p, one, one, good, 5, NULL), "the same slot");
    }
    for (int wrong = 1; wrong < 4; wrong++) {
        gls_arg args[4];
        memcpy(args, good, sizeof args);
        args[wrong].kind = wrong == 1 ? GLS_ARG_FLOAT : wrong == 2 ? GLS_ARG_UINT : GLS_ARG_INT;
        assert_refused(gls_program_run(p, one, one, args, 4, NULL), missing[wrong]);
    }
    gls_arg odd[5];
    memcpy(odd, good, sizeof odd);
    odd[4].kind = (gls_arg_kind)42;
    assert_refused(gls_program_run(p, one, one, odd, 5, NULL), "who");
    assert_ok(gls_program_run(p, one, one, good, 4, NULL));

    gls_buffer *small = NULL, *large = NULL, *uniforms = NULL;
    assert_ok(gls_program_create(device, "blocks", blocks, NULL, 0, &q));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, 64, "small", &small));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, 84, "large", &large));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_UNIFORM, 64, "uniforms", &uniforms));
    assert_ok(gls_buffer_clear(uniforms));
    assert_refused(
        gls_program_run(q, one, one, (gls_arg[]){gls_arg_buffer(0, small), gls_arg_uniforms(2, uniforms)}, 2, NULL),
        "its buffer has 64");
    assert_refused(gls_program_run(q, one, one, (gls_arg[]){gls_arg_buffer(0, large)}, 1, NULL), "slot 2");
    assert_refused(
        gls_program_run(q, one, one, (gls_arg[]){gls_arg_buffer(0, large), gls_arg_buffer(2, uniforms)}, 2, NULL),
        "slot 2");
    assert_ok(
        gls_program_run(q, one, one, (gls_arg[]){gls_arg_buffer(0, large), gls_arg_uniforms(2, uniforms)}, 2, NULL));
    gls_buffer_destroy(small);
    gls_buffer_destroy(large);
    gls_buffer_destroy(uniforms);
    gls_program_destroy(q);
    gls_program_destroy(p);
    gls_array_destroy(a);
}

/* A source that is valid for blocks of one shape only. */
static void one_shape(void **state)
{
    (void)state;
    static const char *const source =
        "layout(std430, binding = 0) writeonly buffer Out { uint value[]; };\n"
        "shared uint corner[BLOCK_Y / 4][BLOCK_X / 4];\n"
        "void main()\n{\n    uvec2 p = gl_LocalInvocationID.xy;\n"
        "    if (p % 4u == uvec2(0)) corner[p.y / 4u][p.x / 4u] = p.x + p.y;\n    barrier();\n"
        "    value[gl_LocalInvocationIndex] = corner[p.y / 4u][p.x / 4u];\n}\n";
    gls_program *p = NULL;
    uint32_t got[64];
    gls_array *a = guarded(device, GLS_TYPE_UINT32, 64);
    assert_ok(gls_program_create(device, "corners", source, NULL, 0, &p));
    assert_ok(
        gls_program_run(p, (uint32_t[3]){1, 1, 1}, (uint32_t[3]){8, 8, 1}, (gls_arg[]){gls_arg_array(0, a)}, 1, NULL));
    read_guarded(a, 64, got, GLS_TYPE_UINT32);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i], i % 8 / 4 * 4 + i / 8 / 4 * 4);
    gls_run_result result;
    assert_int_equal(gls_program_run(p, (uint32_t[3]){1, 1, 1}, (uint32_t[3]){64, 1, 1},
                                     (gls_arg[]){gls_arg_array(0, a)}, 1, &result),
                     GLS_ERR_DEVICE);
    assert_true(result.status == GLS_ERR_DEVICE && strstr(result.message, "corners"));
    gls_program_destroy(p);
    gls_array_destroy(a);
}

/* A program uses a texture beside an array. */
static void textures(void **state)
{
    (void)state;
    static const char *const source = "layout(binding = 2) uniform sampler3D volume;\n"
                                      "layout(std430, binding = 0) writeonly buffer Out { float value[]; };\n"
                                      "void main() { value[gl_GlobalInvocationID.x] = texelFetch(volume, "
                                      "ivec3(gl_GlobalInvocationID.x, 1, 2), 0).x; }\n";
    static const uint32_t size[3] = {8, 2, 3}, grid[3] = {4, 1, 1}, block[3] = {2, 1, 1};
    float texels[48], got[8];
    gls_texture *t = NULL;
    gls_program *p = NULL;
    gls_array *a = guarded(device, GLS_TYPE_FLOAT32, 8);
    for (int i = 0; i < 48; i++) texels[i] = (float)i;
    assert_ok(gls_texture_create(device, GLS_TEXTURE_R32F, size, "volume", &t));
    assert_ok(gls_texture_write(t, (uint32_t[3]){0, 0, 0}, size, texels));
    assert_ok(gls_program_create(device, "fetch", source, NULL, 0, &p));
    assert_refused(gls_program_run(p, grid, block, (gls_arg[]){gls_arg_array(0, a)}, 1, NULL),
                   "nothing is given for 'volume' in slot 2");
    assert_refused(gls_program_run(p, grid, block, (gls_arg[]){gls_arg_array(0, a), gls_arg_texture(1, t)}, 2, NULL),
                   "volume");
    assert_refused(gls_program_run(p, grid, block, (gls_arg[]){gls_arg_array(0, a), gls_arg_texture(2, NULL)}, 2, NULL),
                   "not a texture of the kernel's device");
    assert_ok(gls_program_run(p, grid, block, (gls_arg[]){gls_arg_array(0, a), gls_arg_texture(2, t)}, 2, NULL));
    read_guarded(a, 8, got, GLS_TYPE_FLOAT32);
    for (int i = 0; i < 8; i++) assert_true(got[i] == texels[(2 * 2 + 1) * 8 + i]);
    gls_texture_destroy(t);
    assert_refused(gls_program_run(p, grid, block, (gls_arg[]){gls_arg_array(0, a), gls_arg_texture(2, t)}, 2, NULL),
                   "not a texture of the kernel's device");
    gls_program_destroy(p);
    gls_array_destroy(a);
}

static void refused_sources(void **state)
{
    (void)state;
    gls_program *p = (gls_program *)&state;
    gls_device_memory before = gls_device_get_memory(device);
    assert_int_equal(gls_program_create(device, "broken", "void main()\n{\n    no_such_function();\n}\n", NULL, 0, &p),
                     GLS_ERR_DEVICE);
    assert_message("broken");
    assert_message("3"); /* the number of the line, as the caller counts lines */
    assert_int_equal(gls_program_create(device, "broken", "", NULL, 0, &p), GLS_ERR_DEVICE);
    assert_int_equal(gls_program_create(device, "broken", "#include \"nowhere.glsl\"\n", NULL, 0, &p), GLS_ERR_INPUT);
    assert_int_equal(gls_program_create(NULL, "none", who, NULL, 0, &p), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_create(device, NULL, who, NULL, 0, &p), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_create(device, "none", NULL, NULL, 0, &p), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_create(device, "none", who, NULL, 1, &p), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_create(device, "none", who, &(gls_define){NULL, "1", false, NULL}, 1, &p),
                     GLS_ERR_ARGUMENT);
    assert_int_equal(gls_program_create(device, "none", who, NULL, 0, NULL), GLS_ERR_ARGUMENT);
    assert_ptr_equal(p, &state);
    gls_device_memory after = gls_device_get_memory(device);
    assert_memory_equal(&before, &after, sizeof before);
    gls_program_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(gles),
        cmocka_unit_test(many_blocks),
        cmocka_unit_test(refused_sizes),
        cmocka_unit_test(refused_arguments),
        cmocka_unit_test(refused_sources),
        cmocka_unit_test(textures),
        cmocka_unit_test(one_shape),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
