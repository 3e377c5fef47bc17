/* Devices and kernels: how devices are found and shared, which kernels are refused, and that nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "gpu.h"
#include "gpu/fetch.h"

static gls_device *device;

/* --- finding and opening -------------------------------------------------- */

static void count_finding(void *user, bool usable, const char *line)
{
    int *n = user;
    n[usable]++;
    assert_true(*line && !strchr(line, '\n'));
}

static void list_and_open(void **state)
{
    (void)state;
    gls_device_info *list = NULL;
    size_t n = 0;
    int findings[2] = {0, 0};
    assert_ok(gls_device_list(GLS_GRAPHICS_AUTO, &list, &n, count_finding, findings));
    assert_true(n > 0);
    assert_true((size_t)findings[1] == n);
    for (size_t i = 0; i < n; i++) {
        char name[24];
        gls_device *d = NULL;
        assert_int_equal(list[i].index, i);
        if (i > 0) assert_true(list[i - 1].software <= list[i].software); /* hardware first */
        snprintf(name, sizeof name, "%zu", i);
        assert_ok(gls_device_open(name, GLS_GRAPHICS_AUTO, &d));
        assert_string_equal(gls_device_get_info(d)->renderer, list[i].renderer);
        assert_int_equal(gls_device_get_info(d)->index, i);
        gls_device_close(d);
        assert_ok(
            gls_device_open(list[i].renderer, GLS_GRAPHICS_GL, &d)); /* the whole name counts as a part of the name */
        assert_string_equal(gls_device_get_info(d)->renderer, list[i].renderer);
        gls_device_close(d);
    }
    free(list);
    assert_int_equal(gls_device_list(GLS_GRAPHICS_AUTO, NULL, &n, NULL, NULL), GLS_ERR_ARGUMENT);
}

static void limits_are_sane(void **state)
{
    (void)state;
    const gls_device_info *info = gls_device_get_info(device);
    assert_true(info->renderer[0] && info->vendor[0] && info->version[0]);
    assert_true(info->version_major * 10 + info->version_minor >= 43 && !info->gles);
    /* the least that OpenGL 4.3 demands */
    assert_true(info->max_storage_bytes >= 1 << 24 && info->max_storage_bindings >= 8 &&
                info->max_uniform_bytes >= 16384);
    assert_true(info->max_texture_3d >= 256 && info->max_texture_units >= 16 && info->max_shared_bytes >= 32768);
    assert_true(info->max_work_group_size >= 1024 && info->max_work_groups >= 65535);
    gls_device_hold(device);
    assert_true(info->max_work_group_size <= gls_device_group_limit(device, 0));
    gls_device_release(device);
    assert_true(info->subgroup_size == 0 || (info->subgroup_size >= 2 && info->subgroup_size <= 128));
}

static void software_by_name(void **state)
{
    (void)state;
    gls_device *d = NULL;
    if (gls_device_open("llvmpipe", GLS_GRAPHICS_AUTO, &d) != GLS_OK) {
        print_message("no software renderer: %s\n", gls_last_error());
        return;
    }
    assert_true(gls_device_get_info(d)->software);
    gls_device_close(d);
}

static void refused_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        gls_graphics api;
        const char *part;
        gls_status status;
    } cases[] = {
        {"99", GLS_GRAPHICS_AUTO, "99", GLS_ERR_DEVICE},
        {"-1", GLS_GRAPHICS_AUTO, "-1", GLS_ERR_DEVICE},
        {"no such renderer", GLS_GRAPHICS_AUTO, "no such renderer", GLS_ERR_DEVICE},
        {"/dev/dri/renderD999", GLS_GRAPHICS_AUTO, "/dev/dri/renderD999", GLS_ERR_DEVICE},
        {"/dev/null", GLS_GRAPHICS_AUTO, "/dev/null", GLS_ERR_DEVICE},
        {"/no/such/folder/with/a/name/that/is/longer/than/any/device/node/has/ever/been/renderD128", GLS_GRAPHICS_AUTO,
         "renderD128", GLS_ERR_DEVICE},
        {"", GLS_GRAPHICS_AUTO, "", GLS_ERR_DEVICE},
        {NULL, (gls_graphics)9, "9", GLS_ERR_ARGUMENT},
        {"llvmpipe", (gls_graphics)-1, "-1", GLS_ERR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_device *d = (gls_device *)&cases;
        gls_status status = gls_device_open(cases[i].name, cases[i].api, &d);
        if (status != cases[i].status)
            print_error("case %zu, name '%s': %s\n", i, cases[i].name ? cases[i].name : "", gls_status_name(status));
        assert_int_equal(status, cases[i].status);
        assert_message(cases[i].part);
        assert_ptr_equal(d, &cases); /* untouched */
    }
    assert_int_equal(gls_device_open(NULL, GLS_GRAPHICS_AUTO, NULL), GLS_ERR_ARGUMENT);
}

/* --- kernels -------------------------------------------------------------- */

static void broken_kernels(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "layout(local_size_x = 1) in;\nvoid main() { float x = undefined_name; }\n",
        "layout(local_size_x = 1) in;\nvoid main() { this is no GLSL }\n",
        "",
        "layout(local_size_x = 1) in;\nvoid not_main() {}\n",
        "layout(local_size_x = 1) in;\nvoid missing();\nvoid main() { missing(); }\n",
    };
    gls_device_memory before = gls_device_get_memory(device);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        gls_kernel *k = (gls_kernel *)&before;
        gls_status status = gls_kernel_create(device, "broken", sources[i], NULL, 0, &k);
        if (status != GLS_ERR_DEVICE) print_error("source %zu: %s\n", i, gls_status_name(status));
        assert_int_equal(status, GLS_ERR_DEVICE);
        assert_message("broken");
        assert_ptr_equal(k, &before);
    }
    gls_kernel *k = NULL;
    assert_int_equal(gls_kernel_create(device, "lost", "#include \"no_such_file.glsl\"\n", NULL, 0, &k), GLS_ERR_INPUT);
    assert_message("no_such_file.glsl");
    assert_int_equal(gls_kernel_load(device, "no_such_kernel.comp", NULL, 0, &k), GLS_ERR_INPUT);
    assert_message("no_such_kernel.comp");
    assert_null(k);
    gls_device_memory after = gls_device_get_memory(device);
    assert_memory_equal(&before, &after, sizeof before);
    assert_ok(gls_device_synchronize(device));
}

static const char *const adder =
    "layout(local_size_x = 16) in;\n"
    "layout(std430, binding = 0) buffer Data { uint data[]; };\n"
    "layout(location = 0) uniform uint add;\n"
    "void main() { data[gl_GlobalInvocationID.x] = data[gl_GlobalInvocationID.x] * FACTOR + add; }\n";
static const gls_define factor = {"FACTOR", "3u", false, NULL};

static void wrong_device(void **state)
{
    (void)state;
    gls_device *other = open_limited(NULL);
    gls_kernel *k = NULL;
    gls_buffer *mine = NULL, *foreign = NULL;
    gls_texture *texture = NULL;
    uint32_t one[3] = {1, 1, 1}, words[16] = {0};
    assert_ok(gls_kernel_create(device, "adder", adder, &factor, 1, &k));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, 64, "mine", &mine));
    assert_ok(gls_buffer_create(other, GLS_BUFFER_STORAGE, 64, "foreign", &foreign));
    assert_ok(gls_texture_create(other, GLS_TEXTURE_R32F, one, "foreign", &texture));
    gls_arg args[] = {gls_arg_buffer(0, foreign), gls_arg_uint(0, 1)};
    assert_int_equal(gls_kernel_run(k, one, args, 2, NULL), GLS_ERR_ARGUMENT);
    assert_message("adder");
    gls_arg textured[] = {gls_arg_buffer(0, mine), gls_arg_texture(0, texture)};
    assert_int_equal(gls_kernel_run(k, one, textured, 2, NULL), GLS_ERR_ARGUMENT);
    gls_arg none[] = {gls_arg_buffer(0, NULL)};
    assert_int_equal(gls_kernel_run(k, one, none, 1, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_kernel_run(NULL, one, none, 1, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_kernel_run(k, one, NULL, 1, NULL), GLS_ERR_ARGUMENT);

    /* both on one thread, one of them held: each call must reach its own device */
    gls_device_hold(device);
    assert_ok(gls_buffer_clear(mine));
    assert_ok(gls_buffer_clear(foreign));
    gls_arg good[] = {gls_arg_buffer(0, mine), gls_arg_uint(0, 7)};
    assert_ok(gls_kernel_run(k, one, good, 2, NULL));
    gls_device_hold(other);
    gls_device_hold(device);
    assert_ok(gls_kernel_run(k, one, good, 2, NULL));
    gls_device_release(device);
    assert_ok(gls_buffer_read(foreign, 0, sizeof words, words));
    assert_int_equal(words[5], 0);
    gls_device_release(other);
    assert_ok(gls_buffer_read(mine, 0, sizeof words, words));
    assert_int_equal(words[5], 28);
    gls_device_release(device);

    gls_buffer_destroy(foreign);
    gls_texture_destroy(texture);
    gls_device_close(other);
    gls_buffer_destroy(mine);
    gls_kernel_destroy(k);
}

/* A device that is opened, listed and closed while another one is held. */
static void open_while_held(void **state)
{
    (void)state;
    gls_buffer *b = NULL;
    uint32_t word = 0;
    gls_device_info *list = NULL;
    size_t n = 0;
    gls_device_hold(device);
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, 4, "word", &b));
    assert_ok(gls_device_list(GLS_GRAPHICS_AUTO, &list, &n, NULL, NULL));
    gls_device *other = open_limited(NULL);
    assert_ok(gls_buffer_write(b, 0, 4, &(uint32_t){77}));
    gls_device_close(other);
    assert_ok(gls_buffer_read(b, 0, 4, &word));
    assert_int_equal(word, 77);
    gls_buffer_destroy(b);
    gls_device_release(device);
    free(list);
}

typedef struct worker {
    gls_kernel *kernel;
    uint32_t add;
    int failures;
} worker;

static void *work(void *user)
{
    worker *w = user;
    gls_buffer *b = NULL;
    uint32_t words[16] = {0}, expected = 0;
    if (gls_buffer_create(device, GLS_BUFFER_STORAGE, sizeof words, "worker", &b) != GLS_OK ||
        gls_buffer_clear(b) != GLS_OK) {
        w->failures++;
        return NULL;
    }
    for (int i = 0; i < 100; i++) {
        if (i % 3 == 0) gls_device_hold(device);
        gls_arg args[] = {gls_arg_buffer(0, b), gls_arg_uint(0, w->add)};
        w->failures += gls_kernel_run(w->kernel, (uint32_t[3]){1, 1, 1}, args, 2, NULL) != GLS_OK;
        expected = expected * 3 + w->add;
        w->failures +=
            gls_buffer_read(b, 0, sizeof words, words) != GLS_OK || words[0] != expected || words[15] != expected;
        if (i % 3 == 0) gls_device_release(device);
    }
    gls_buffer_destroy(b);
    return NULL;
}

static void two_threads(void **state)
{
    (void)state;
    gls_kernel *k = NULL;
    assert_ok(gls_kernel_create(device, "adder", adder, &factor, 1, &k));
    worker w[2] = {{k, 5, 0}, {k, 11, 0}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    assert_true(w[0].failures == 0 && w[1].failures == 0);
    gls_kernel_destroy(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_and_open),   cmocka_unit_test(limits_are_sane), cmocka_unit_test(software_by_name),
        cmocka_unit_test(refused_names),   cmocka_unit_test(broken_kernels),  cmocka_unit_test(wrong_device),
        cmocka_unit_test(open_while_held), cmocka_unit_test(two_threads),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
