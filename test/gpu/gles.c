/* OpenGL ES 3.1: the same shaders give the same bytes as on OpenGL, also with no more than every implementation of that
 * standard has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/log.h>
#include <glslines/odf.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"

#define N_SEEDS 60

static gls_device *gl;
static series phantom;
static gls_qball *qball;
static gls_image *odf;
static gls_odf_source *source;
static gls_seeds *seeds;
static gls_track_params params;
static unsigned warnings; /* of half precision */

static gls_device *open_gles(const char *limits)
{
    gls_device *d = NULL;
    if (limits) setenv("GLSLINES_FORCE_LIMITS", limits, 1);
    gls_status status = gls_device_open(NULL, GLS_GRAPHICS_GLES, &d);
    unsetenv("GLSLINES_FORCE_LIMITS");
    assert_ok(status);
    return d;
}

static void count_warnings(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level == GLS_LOG_WARNING && strstr(line, "half precision")) warnings++;
}

static int fan(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    double x = p[0] / grid->dim[0] - 0.5, y = p[1] / grid->dim[1] - 0.5;
    direction[0][0] = 1, direction[0][1] = 1.5 * x, direction[0][2] = 0.4 * y;
    direction[1][0] = 0.1, direction[1][1] = 0.3 * y, direction[1][2] = 1;
    unit3(direction[0]);
    unit3(direction[1]);
    *stop = 0.9 - 1.3 * y * y - 0.9 * x * x + 0.03 * sin(3 * p[2]);
    return fabs(x) < 0.2 ? 2 : 1;
}

/* Amplitudes of lobes along the fibres: shapes of ODFs, which is all that the getters see. */
static void make_odf(void)
{
    const gls_grid *grid = &phantom.dwi->grid;
    const gls_sphere *sphere = phantom.sphere;
    size_t n = gls_grid_voxels(grid), v = 0;
    assert_ok(gls_image_create(grid, sphere->n, &odf));
    for (int z = 0; z < grid->dim[2]; z++)
        for (int y = 0; y < grid->dim[1]; y++)
            for (int x = 0; x < grid->dim[0]; x++, v++) {
                double direction[2][3], stop;
                int n_fibres = fan(grid, (const double[3]){x, y, z}, direction, &stop);
                for (size_t i = 0; i < sphere->n; i++) {
                    double sum = 0.05;
                    for (int f = 0; f < n_fibres; f++)
                        sum += (1 - 0.2 * f) * exp(8 * (pow(dot3(sphere->vertex[i], direction[f]), 2) - 1));
                    odf->data[i * n + v] = (float)sum;
                }
            }
    gls_odf_options options = gls_odf_options_default();
    assert_ok(gls_odf_source_create_amplitudes(odf, "lobes", (const double(*)[3])sphere->vertex, sphere->n,
                                               "the sphere", GLS_BVEC_IMAGE, &options, &source));
}

static int set_up(void **state)
{
    (void)state;
    static const int dim[3] = {14, 12, 11};
    double points[N_SEEDS][3];
    uint64_t seed = 31;
    series_create(&phantom, dim, voxel_space, fan, 2000, 20, "small", 2);
    qball = series_qball(&phantom, GLS_QBALL_OPDT, 4);
    make_odf();
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++) points[i][a] = random_uniform(&seed, -0.5, dim[a] - 0.5001);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    params = gls_track_params_default();
    params.step_size = 0.5;
    params.max_length = 30;
    params.stop_threshold = 0.35;
    params.max_directions_per_seed = 3;
    gls_log_set(count_warnings, NULL, GLS_LOG_WARNING);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
    gls_seeds_destroy(seeds);
    gls_odf_source_destroy(source);
    gls_image_destroy(odf);
    gls_qball_destroy(qball);
    series_destroy(&phantom);
    return 0;
}

static void track(gls_device *d, gls_direction_getter dg, gls_mapping mapping, gls_precision precision, collection *c)
{
    gls_track_params p = params;
    p.mapping = mapping;
    gls_tracker *t = NULL;
    gls_track_input input = series_input(&phantom, qball);
    p.dg = dg;
    p.precision = precision;
    if (dg != GLS_DG_BOOT) input.odf = source;
    if (dg == GLS_DG_PTT) p.max_angle = 15, p.ptt_substep = 0.05;
    assert_ok(gls_tracker_create(d, &p, &input, &t));
    gls_track_result result = run_tracker(t, seeds, c);
    assert_sums(&result);
    gls_tracker_destroy(t);
}

/* With the least of OpenGL ES parallel transport takes textures for want of a fifth storage block, and these round
 * otherwise. */
static void track_gl(gls_direction_getter dg, gls_mapping mapping, gls_precision precision, bool least, collection *c)
{
    if (least) setenv("GLSLINES_ODF_CELLS", "0", 1);
    track(gl, dg, mapping, precision, c);
    unsetenv("GLSLINES_ODF_CELLS");
}

/* --- the context ---------------------------------------------------------- */

static void limits(void **state)
{
    (void)state;
    gls_device *d = open_gles(NULL), *least = open_gles("gles31"),
               *bare = open_gles("gles31,float_linear=0,storage_bindings=3");
    const gls_device_info *info = gls_device_get_info(d), *low = gls_device_get_info(least);
    assert_true(info->gles && info->version_major * 10 + info->version_minor >= 31 &&
                strstr(info->version, "OpenGL ES"));
    /* a software renderer, by the variable that main() sets */
    if (info->software) assert_int_equal(info->version_major * 10 + info->version_minor, 31);
    assert_true(info->max_storage_bytes >= 1 << 27 && info->max_storage_bindings >= 4 &&
                info->max_uniform_bytes >= 16384 && info->max_texture_3d >= 256);
    assert_true(info->max_texture_units >= 16 && info->max_shared_bytes >= 16384 && info->max_work_group_size >= 128 &&
                info->max_work_groups >= 65535);
    assert_true(low->max_storage_bytes == 1 << 27 && low->max_storage_bindings == 4 &&
                low->max_uniform_bytes == 16384 && low->max_texture_3d == 256);
    assert_true(low->max_texture_units == 16 && low->max_shared_bytes == 16384 && low->max_work_group_size == 128 &&
                low->max_work_groups == 65535);
    assert_true(low->float_linear == info->float_linear);
    assert_true(!gls_device_get_info(bare)->float_linear && gls_device_get_info(bare)->max_storage_bindings == 3);
    gls_device_close(d);
    gls_device_close(least);
    gls_device_close(bare);
    gls_device_info *list = NULL;
    size_t n = 0;
    assert_ok(gls_device_list(GLS_GRAPHICS_GLES, &list, &n, NULL, NULL));
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) assert_true(list[i].gles);
    free(list);
}

/* A kernel that needs more than the limits is refused, whatever the driver would do. */
static void kernels_within_limits(void **state)
{
    (void)state;
    static const char *const five =
        "layout(local_size_x = 1) in;\n"
        "layout(std430, binding = 0) buffer A { uint a[]; };\nlayout(std430, binding = 1) buffer B { uint b[]; };\n"
        "layout(std430, binding = 2) buffer C { uint c[]; };\nlayout(std430, binding = 3) buffer D { uint d[]; };\n"
        "#if N == 5\nlayout(std430, binding = 4) buffer E { uint e[]; };\n#define LAST e[0]\n#else\n#define LAST "
        "0u\n#endif\n"
        "void main() { a[0] = b[0] + c[0] + d[0] + LAST; }\n";
    static const char *const wide =
        "layout(local_size_x = N, local_size_y = 2, local_size_z = 2) in;\n"
        "layout(std430, binding = 0) buffer A { uint a[]; };\nvoid main() { atomicAdd(a[0], 1u); }\n";
    static const char *const textures = "layout(local_size_x = 1) in;\nlayout(binding = 0) uniform sampler3D "
                                        "first;\nlayout(binding = 1) uniform sampler3D others[N];\n"
                                        "layout(std430, binding = 0) buffer A { float a[]; };\n"
                                        "void main() { a[0] = texture(first, vec3(0.5)).r + texture(others[0], "
                                        "vec3(0.5)).r + texture(others[N - 1], vec3(0.5)).r; }\n";
    const struct {
        const char *label, *source;
        const char *fits, *too_many;
    } cases[] = {{"storage", five, "4", "5"}, {"group", wide, "32", "33"}, {"textures", textures, "15", "16"}};
    gls_device *d = open_gles("gles31");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_kernel *k = NULL;
        gls_define n = {"N", cases[i].fits, false, NULL};
        assert_ok(gls_kernel_create(d, cases[i].label, cases[i].source, &n, 1, &k));
        gls_kernel_destroy(k);
        n.value = cases[i].too_many;
        k = NULL;
        gls_status status = gls_kernel_create(d, cases[i].label, cases[i].source, &n, 1, &k);
        /* a driver without more resources may refuse by itself */
        assert_true(status == GLS_ERR_UNSUPPORTED || (status == GLS_ERR_DEVICE && !gls_device_get_info(gl)->software));
        assert_message(cases[i].label);
        assert_null(k);
    }
    assert_int_equal(gls_device_get_memory(d).n_kernels, 0);
    gls_device_close(d);
}

/* --- textures without filtering of single precision ----------------------- */

static const char *const fetch = "layout(local_size_x = 1) in;\nlayout(binding = 0) uniform sampler3D "
                                 "volume;\nlayout(std430, binding = 0) buffer Value { vec4 value[]; };\n"
                                 "void main() { uint i = gl_WorkGroupID.x; value[i] = texture(volume, (vec3(float(i) * "
                                 "0.5, 0.0, 0.0) + 0.5) / vec3(5.0, 1.0, 1.0)); }\n";

static void half_instead(void **state)
{
    (void)state;
    static const float data[5] = {1, -3, 70000, -1e30f, 0.5f};
    static const float expected[9] = {1, -1, -3, 32750.5f, 65504, 0, -65504, -32751.75f, 0.5f};
    static const uint32_t size[3] = {5, 1, 1}, origin[3] = {0, 0, 0};
    gls_device *d = open_gles("float_linear=0");
    warnings = 0;
    for (int channels = 1; channels <= 4; channels += 3) {
        gls_texture *t = NULL;
        gls_buffer *b = NULL;
        gls_kernel *k = NULL;
        float texels[20], value[9][4];
        double seconds = -1;
        for (int i = 0; i < 5 * channels; i++) texels[i] = data[i / channels];
        assert_ok(gls_texture_create(d, channels == 1 ? GLS_TEXTURE_R32F : GLS_TEXTURE_RGBA32F, size, "volume", &t));
        assert_int_equal(gls_device_get_memory(d).allocated_bytes, 5 * channels * 2);
        assert_ok(gls_texture_write(t, origin, size, texels));
        assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof value, "value", &b));
        assert_ok(gls_kernel_create(d, "fetch", fetch, NULL, 0, &k));
        gls_arg args[] = {gls_arg_texture(0, t), gls_arg_buffer(0, b)};
        assert_ok(gls_kernel_run(k, (uint32_t[3]){9, 1, 1}, args, 2, &seconds));
        assert_true(seconds >= 0 && seconds < 60);
        assert_ok(gls_buffer_read(b, 0, sizeof value, value));
        for (int i = 0; i < 9; i++)
            for (int c = 0; c < channels; c++)
                assert_true(fabsf(value[i][c] - expected[i]) <= 2e-3f * fabsf(expected[i]) + (i == 5 ? 64 : 0.01f));
        gls_kernel_destroy(k);
        gls_buffer_destroy(b);
        gls_texture_destroy(t);
    }
    assert_int_equal(warnings, 1); /* once is enough */
    gls_device_close(d);
}

/* The same kernels with and without the device's own clock. */
static void timing(void **state)
{
    (void)state;
    static const char *const busy = "layout(local_size_x = 32) in;\nlayout(location = 0) uniform uint "
                                    "turns;\nlayout(std430, binding = 0) buffer Data { uint data[]; };\n"
                                    "void main()\n{\n    uint x = gl_GlobalInvocationID.x;\n    for (uint i = 0u; i < "
                                    "turns; i++) x = x * 1664525u + 1013904223u;\n"
                                    "    data[gl_GlobalInvocationID.x] = x;\n}\n";
    gls_device *d = open_gles(NULL);
    gls_kernel *k = NULL;
    gls_buffer *b = NULL;
    double brief = -1, lengthy = -1;
    assert_ok(gls_kernel_create(d, "busy", busy, NULL, 0, &k));
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 4 * 32 * 1024, "data", &b));
    gls_arg args[] = {gls_arg_buffer(0, b), gls_arg_uint(0, 1)};
    assert_ok(gls_kernel_run(k, (uint32_t[3]){1024, 1, 1}, args, 2, &brief)); /* the first run also compiles */
    assert_ok(gls_kernel_run(k, (uint32_t[3]){1024, 1, 1}, args, 2, &brief));
    args[1] = gls_arg_uint(0, 20000);
    assert_ok(gls_kernel_run(k, (uint32_t[3]){1024, 1, 1}, args, 2, &lengthy));
    print_message("1 turn %.3g s, 20000 turns %.3g s\n", brief, lengthy);
    assert_true(brief >= 0 && lengthy > brief && lengthy < 60);
    gls_kernel_destroy(k);
    gls_buffer_destroy(b);
    gls_device_close(d);
}

/* --- tracking ------------------------------------------------------------- */

static const gls_direction_getter getters[] = {GLS_DG_BOOT, GLS_DG_PROB, GLS_DG_DET, GLS_DG_PTT};
static const char *const names[] = {"boot", "prob", "det", "ptt"};

/* Software compiles both alike: the same bytes. Compilers of GPUs may contract other products and sums. */
static void compare(const collection *c, const collection *expected, const char *what, bool exact)
{
    size_t same = same_lines(c, expected);
    print_message("%s: %zu of %zu streamlines are the same\n", what, same, expected->n);
    if (exact) assert_same_collection(c, expected, what);
    assert_true((double)same >= 0.9 * (double)expected->n && (double)c->n <= 1.05 * (double)expected->n);
}

static void same_bytes(void **state)
{
    (void)state;
    static const char *const limited[] = {NULL, "gles31", "gles31,texture_3d=64,storage_bytes=300000,work_groups=3"};
    for (size_t g = 0; g < sizeof getters / sizeof *getters; g++) {
        for (int single = 0; single < 2; single++) {
            collection expected[2];
            for (int least = 0; least < 2; least++) {
                track_gl(getters[g], GLS_MAPPING_SINGLE, single, least, &expected[least]);
                assert_true(expected[least].n > N_SEEDS / 2 && expected[least].n_points > 8 * expected[least].n);
            }
            for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
                if (single && i != 1) continue; /* tells nothing new */
                char what[96];
                collection c;
                gls_device *d = open_gles(limited[i]);
                snprintf(what, sizeof what, "%s, %s precision, limits %s", names[g], single ? "single" : "half",
                         limited[i] ? limited[i] : "its own");
                track(d, getters[g], GLS_MAPPING_SINGLE, single, &c);
                compare(&c, &expected[i > 0], what, gls_device_get_info(d)->software);
                collection_finish(&c);
                assert_int_equal(gls_device_get_memory(d).allocated_bytes, 0);
                gls_device_close(d);
            }
            for (int least = 0; least < 2; least++) collection_finish(&expected[least]);
        }
    }
}

static void subgroups(void **state)
{
    (void)state;
    static const char *const limited[] = {NULL, "gles31"};
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        gls_device *d = open_gles(limited[i]);
        uint32_t size = gls_device_get_info(d)->subgroup_size;
        if (size == 0 || size != gls_device_get_info(gl)->subgroup_size) {
            print_message("no subgroups of the same size: %u in OpenGL ES, %u in OpenGL\n", size,
                          gls_device_get_info(gl)->subgroup_size);
            gls_device_close(d);
            return;
        }
        for (size_t g = 0; g < sizeof getters / sizeof *getters; g++) {
            char what[64];
            collection expected, c;
            snprintf(what, sizeof what, "%s, subgroups of %u, limits %s", names[g], size,
                     limited[i] ? limited[i] : "its own");
            track_gl(getters[g], GLS_MAPPING_SUBGROUP, false, i > 0, &expected);
            track(d, getters[g], GLS_MAPPING_SUBGROUP, false, &c);
            compare(&c, &expected, what, gls_device_get_info(d)->software);
            collection_finish(&c);
            collection_finish(&expected);
        }
        gls_device_close(d);
    }
}

/* Without filtering of single precision the stop map is in half precision, and with it, rarely, where a streamline
 * ends. */
static void without_float_linear(void **state)
{
    (void)state;
    for (size_t g = 0; g < sizeof getters / sizeof *getters; g++) {
        char what[64];
        collection expected, c, single;
        gls_device *d = open_gles("gles31,float_linear=0");
        warnings = 0;
        track_gl(getters[g], GLS_MAPPING_SINGLE, false, true, &expected);
        track(d, getters[g], GLS_MAPPING_SINGLE, false, &c);
        assert_int_equal(warnings, 1);
        snprintf(what, sizeof what, "%s, stop map in half precision", names[g]);
        compare(&c, &expected, what, false);
        /* single precision was asked for explicitly, so it is used */
        track(d, getters[g], GLS_MAPPING_SINGLE, true, &single);
        assert_same_collection(&single, &c, what);
        collection_finish(&single);
        collection_finish(&c);
        collection_finish(&expected);
        gls_device_close(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(kernels_within_limits),
        cmocka_unit_test(half_instead),
        cmocka_unit_test(timing),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(subgroups),
        cmocka_unit_test(without_float_linear),
    };
    int status;
    gls_device *d = NULL;
    /* Mesa gives the newest version that it has; set the version, because nothing of 3.2 may be needed */
    setenv("MESA_GLES_VERSION_OVERRIDE", "3.1", 0);
    if (!gpu_open(GLS_GRAPHICS_GLES, &d, &status)) return status;
    gls_device_close(d);
    if (!gpu_open(GLS_GRAPHICS_GL, &gl, &status)) return status;
    gpu_select_test();
    status = cmocka_run_group_tests(tests, set_up, tear_down);
    gls_device_close(gl);
    return status;
}
