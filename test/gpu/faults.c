/* Faults of the driver, injected: the status and message of each call, and what the tracker makes of each of its first
 * calls failing. It may go on another way, with the same streamlines, or give up; then cleanly: nothing is left on the
 * device, and unless that was lost, the next run is as good as any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "inject.h"
#include "gpu/open_device.h"
#include "gpu/internal.h"
#include "band.h"

#define N_SEEDS 40

static gls_track_params params;

static gls_status create(gls_device *d, gls_tracker **t)
{
    gls_track_input input = series_input(&phantom, qball);
    return gls_tracker_create(d, &params, &input, t);
}

static gls_status run(gls_tracker *t, collection *c)
{
    gls_track_result result;
    *c = (collection){.sound = true};
    return run_in_voxels(t, seeds, c, NULL, NULL, &result);
}

static int set_up(void **state)
{
    (void)state;
    create_band(N_SEEDS);
    params = gls_track_params_default();
    params.step_size = 0.8;
    params.max_length = 20;
    params.stop_threshold = 0.2;
    params.max_directions_per_seed = 2;
    params.batch_seeds = 15;
    return 0;
}

/* --- the rules ------------------------------------------------------------ */

static void rules(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "alloc", "alloc:", "alloc:0",  "alloc:-1",         "alloc:x",   "alloc:1x", "alloc:1++",
        ":1",    "all:1",  "allocs:1", "alloc:1,,reset:2", "memory:1+", " alloc:1", "alloc:1;reset:2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (gls_inject_set(bad[i]) != GLS_ERR_ARGUMENT) print_error("'%s' is accepted\n", bad[i]);
        assert_int_equal(gls_inject_set(bad[i]), GLS_ERR_ARGUMENT);
        assert_message("is no rule such as alloc:3");
        assert_false(gls_inject(GLS_FAULT_ALLOC) || gls_inject_memory(UINT64_MAX));
    }
    assert_ok(gls_inject_set("alloc:2,alloc:4,reset:3+,memory:100"));
    for (int i = 1; i <= 6; i++) {
        assert_true(gls_inject(GLS_FAULT_ALLOC) == (i == 2 || i == 4));
        assert_true(gls_inject(GLS_FAULT_RESET) == (i >= 3));
        assert_false(gls_inject(GLS_FAULT_COMPILE));
    }
    assert_true(gls_inject_memory(101) && !gls_inject_memory(100));
    assert_int_equal(gls_inject_count(GLS_FAULT_ALLOC), 6);
    assert_ok(gls_inject_set(NULL));
    assert_false(gls_inject(GLS_FAULT_RESET));
    assert_int_equal(gls_inject_count(GLS_FAULT_RESET), 0);
}

/* The environment is read when a device is opened, and again only once it has changed. */
static void environment(void **state)
{
    (void)state;
    gls_device *d = NULL;
    setenv("GLSLINES_INJECT", "nonsense", 1);
    assert_int_equal(gls_device_open(NULL, GLS_GRAPHICS_AUTO, &d), GLS_ERR_ARGUMENT);
    assert_message("nonsense");
    setenv("GLSLINES_INJECT", "open:2", 1);
    assert_ok(gls_device_open(NULL, GLS_GRAPHICS_AUTO, &d));
    gls_device_close(d);
    d = NULL;
    assert_int_equal(gls_device_open(NULL, GLS_GRAPHICS_AUTO, &d), GLS_ERR_DEVICE);
    assert_null(d);
    assert_message("context");
    assert_ok(gls_device_open(NULL, GLS_GRAPHICS_AUTO, &d));
    gls_device_close(d);
    unsetenv("GLSLINES_INJECT");
    assert_ok(gls_device_open(NULL, GLS_GRAPHICS_AUTO, &d));
    assert_int_equal(gls_inject_count(GLS_FAULT_OPEN), 0);
    gls_device_close(d);
}

/* --- the device layer ----------------------------------------------------- */

static const char *const doubler = "layout(local_size_x = 16) in;\n"
                                   "layout(std430, binding = 0) buffer Data { uint data[]; };\n"
                                   "void main() { data[gl_LocalInvocationIndex] *= 2u; }\n";

/* Every call that can fail, one after the other; the status of the one at this place, the others have to succeed. A
 * failed call changes nothing. */
static void each_call(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *part;
        gls_status status;
    } cases[] = {
        {"alloc:1", "words", GLS_ERR_DEVICE_MEMORY},     {"alloc:2", "texels", GLS_ERR_DEVICE_MEMORY},
        {"memory:127", "texels", GLS_ERR_DEVICE_MEMORY}, {"compile:1", "doubler", GLS_ERR_DEVICE},
        {"upload:1", "buffer", GLS_ERR_DEVICE_MEMORY},   {"upload:2", "buffer", GLS_ERR_DEVICE_MEMORY},
        {"upload:3", "texture", GLS_ERR_DEVICE_MEMORY},  {"dispatch:1", "doubler", GLS_ERR_DEVICE},
        {"readback:1", "buffer", GLS_ERR_DEVICE_MEMORY}, {"memory:128", "", GLS_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_device *d = open_limited(NULL);
        gls_buffer *b = NULL;
        gls_texture *t = NULL;
        gls_kernel *k = NULL;
        uint32_t words[16], size[3] = {1, 1, 4}, origin[3] = {0, 0, 0}, one[3] = {1, 1, 1};
        float texels[16] = {0};
        for (uint32_t w = 0; w < 16; w++) words[w] = w;
        assert_ok(gls_inject_set(cases[i].rule));
        gls_status status[] = {
            [0] = gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof words, "words", &b),
            [1] = gls_texture_create(d, GLS_TEXTURE_RGBA32F, size, "texels", &t),
            [2] = gls_kernel_create(d, "doubler", doubler, NULL, 0, &k),
        };
        int failures = 0;
        for (int s = 0; s < 3; s++) failures += status[s] != GLS_OK;
        if (failures) {
            assert_int_equal(failures, 1);
            assert_true((status[0] != GLS_OK) == !b && (status[1] != GLS_OK) == !t && (status[2] != GLS_OK) == !k);
            for (int s = 0; s < 3; s++) assert_true(status[s] == GLS_OK || status[s] == cases[i].status);
            assert_message(cases[i].part);
        } else {
            gls_arg arg = gls_arg_buffer(0, b);
            gls_status later[] = {gls_buffer_write(b, 0, sizeof words, words), gls_buffer_clear(b),
                                  gls_texture_write(t, origin, size, texels), gls_kernel_run(k, one, &arg, 1, NULL),
                                  gls_buffer_read(b, 0, sizeof words, words)};
            for (int s = 0; s < 5; s++) {
                failures += later[s] != GLS_OK;
                assert_true(later[s] == GLS_OK || later[s] == cases[i].status);
            }
            assert_int_equal(failures, cases[i].status != GLS_OK);
            if (failures) assert_message(cases[i].part);
            /* a read that failed leaves the old contents; a clear that failed leaves the words, doubled */
            for (uint32_t w = 0; w < 16; w++)
                assert_int_equal(words[w], later[4] != GLS_OK ? w : later[1] != GLS_OK ? 2 * w : 0);
        }
        /* the device goes on */
        assert_ok(gls_device_synchronize(d));
        gls_buffer_destroy(b);
        gls_texture_destroy(t);
        gls_kernel_destroy(k);
        assert_ok(gls_inject_set(NULL));
        gls_device_memory m = gls_device_get_memory(d);
        assert_true(m.allocated_bytes == 0 && m.n_buffers == 0 && m.n_textures == 0 && m.n_kernels == 0);
        gls_device_close(d);
    }
}

/* After a loss every call says so, objects can still be destroyed, and another device is not concerned. */
static void lost(void **state)
{
    (void)state;
    gls_device *d = open_limited(NULL), *other = open_limited(NULL);
    gls_buffer *b = NULL, *b2 = NULL;
    gls_texture *t = NULL, *t2 = NULL;
    gls_kernel *k = NULL, *k2 = NULL;
    uint32_t words[16] = {7}, size[3] = {1, 1, 4}, origin[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    float texels[16] = {0};
    assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof words, "words", &b));
    assert_ok(gls_texture_create(d, GLS_TEXTURE_RGBA32F, size, "texels", &t));
    assert_ok(gls_kernel_create(d, "doubler", doubler, NULL, 0, &k));
    gls_arg arg = gls_arg_buffer(0, b);
    assert_ok(gls_inject_set("reset:1"));
    assert_int_equal(gls_device_synchronize(d), GLS_ERR_LOST);
    assert_message("lost");
    assert_ok(gls_inject_set(NULL));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(gls_device_synchronize(d), GLS_ERR_LOST);
        assert_int_equal(gls_buffer_create(d, GLS_BUFFER_STORAGE, sizeof words, "more words", &b2), GLS_ERR_LOST);
        assert_message("more words");
        assert_int_equal(gls_texture_create(d, GLS_TEXTURE_RGBA32F, size, "more texels", &t2), GLS_ERR_LOST);
        assert_message("more texels");
        assert_int_equal(gls_kernel_create(d, "another", doubler, NULL, 0, &k2), GLS_ERR_LOST);
        assert_message("another");
        assert_int_equal(gls_buffer_write(b, 0, sizeof words, words), GLS_ERR_LOST);
        assert_int_equal(gls_buffer_clear(b), GLS_ERR_LOST);
        assert_int_equal(gls_texture_write(t, origin, size, texels), GLS_ERR_LOST);
        assert_int_equal(gls_kernel_run(k, one, &arg, 1, NULL), GLS_ERR_LOST);
        assert_message("doubler");
        assert_int_equal(gls_buffer_read(b, 0, sizeof words, words), GLS_ERR_LOST);
        assert_int_equal(words[0], 7);
        gls_device_hold(d); /* the same is true of a device that is held */
    }
    gls_device_release(d);
    gls_device_release(d);
    assert_true(!b2 && !t2 && !k2);
    assert_ok(gls_device_synchronize(other));
    gls_buffer_destroy(b);
    gls_texture_destroy(t);
    gls_kernel_destroy(k);
    assert_int_equal(gls_device_get_memory(d).allocated_bytes, 0);
    gls_device_close(d);
    assert_ok(gls_device_synchronize(other));
    gls_device_close(other);
}

static GLenum guilty(void)
{
    return GL_GUILTY_CONTEXT_RESET;
}

static GLenum innocent(void)
{
    return GL_INNOCENT_CONTEXT_RESET;
}

static GLenum unknown(void)
{
    return GL_UNKNOWN_CONTEXT_RESET;
}

/* What the driver tells of a reset is asked for where the host waits, and nowhere else: each asking may cost a call of
 * the kernel. */
static void notification(void **state)
{
    (void)state;
    static const struct {
        GLenum (*told)(void);
        const char *part;
    } cases[] = {{guilty, "this program"}, {innocent, "another program"}, {unknown, "reset"}};
    for (int gles = 0; gles < 2; gles++)
        for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
            gls_device *d = NULL;
            gls_buffer *b = NULL;
            uint32_t word = 5;
            if (gls_device_open(NULL, gles ? GLS_GRAPHICS_GLES : GLS_GRAPHICS_GL, &d) != GLS_OK) {
                assert_true(gles);
                leave_out("GLES", "OpenGL ES");
            }
            if (gls_device_get_info(d)->software) assert_non_null(d->reset_status); /* Mesa notifies */
            assert_ok(gls_buffer_create(d, GLS_BUFFER_STORAGE, 4, "word", &b));
            d->reset_status = cases[i / 2].told;
            assert_ok(gls_buffer_write(b, 0, 4, &word));
            assert_int_equal(i % 2 ? gls_device_synchronize(d) : gls_buffer_read(b, 0, 4, &word), GLS_ERR_LOST);
            assert_message(cases[i / 2].part);
            assert_int_equal(gls_buffer_write(b, 0, 4, &word), GLS_ERR_LOST);
            assert_message(cases[i / 2].part);
            gls_buffer_destroy(b);
            gls_device_close(d);
        }
}

/* --- the tracker ---------------------------------------------------------- */

/* Calls to try of so many: the first ones, then some that spread over the rest. */
static uint64_t next_call(uint64_t n)
{
    return n < 12 ? n + 1 : n + n / 3;
}

static const struct {
    const char *kind;
    gls_fault fault;
    gls_status status;
} kinds[] = {
    {"alloc", GLS_FAULT_ALLOC, GLS_ERR_DEVICE_MEMORY},       {"upload", GLS_FAULT_UPLOAD, GLS_ERR_DEVICE_MEMORY},
    {"compile", GLS_FAULT_COMPILE, GLS_ERR_DEVICE},          {"dispatch", GLS_FAULT_DISPATCH, GLS_ERR_DEVICE},
    {"readback", GLS_FAULT_READBACK, GLS_ERR_DEVICE_MEMORY}, {"reset", GLS_FAULT_RESET, GLS_ERR_LOST}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Makes one attempt under these rules on a device of its own. Returns true if it succeeded. */
static bool attempt(const char *text, gls_status status, bool once)
{
    gls_device *d = open_limited(NULL);
    gls_tracker *t = NULL;
    collection c = {0};
    assert_ok(gls_inject_set(text));
    gls_status created = create(d, &t), ran = created == GLS_OK ? run(t, &c) : created;
    if (ran != GLS_OK && ran != status) print_error("%s: %s: %s\n", text, gls_status_name(ran), gls_last_error());
    assert_true(ran == GLS_OK || ran == status);
    assert_true((created == GLS_OK) == (t != NULL));
    if (ran == GLS_OK) {
        assert_same_collection(&c, &expected, text);
    } else {
        assert_message("");
        assert_true(c.n <= expected.n && (c.n == 0 || memcmp(c.point, expected.point, c.n_points * sizeof *c.point) ==
                                                          0)); /* the streamlines that the sink got are right */
    }
    collection_finish(&c);
    if (once && ran != GLS_OK && status != GLS_ERR_LOST) {
        /* the fault is over: the same tracker, or the same device, succeeds now */
        if (!t) assert_ok(create(d, &t));
        assert_ok(run(t, &c));
        assert_same_collection(&c, &expected, text);
        collection_finish(&c);
    }
    gls_tracker_destroy(t);
    assert_ok(gls_inject_set(NULL));
    gls_device_memory m = gls_device_get_memory(d);
    assert_true(m.allocated_bytes == 0 && m.n_buffers == 0 && m.n_textures == 0 && m.n_kernels == 0);
    gls_device_close(d);
    return ran == GLS_OK;
}

static void tracker(void **state)
{
    (void)state;
    gls_tracker *t = NULL;
    uint64_t calls[N_KINDS];
    assert_ok(gls_inject_set("open:1000000"));
    assert_ok(create(device, &t));
    assert_ok(run(t, &expected));
    gls_tracker_destroy(t);
    assert_true(expected.n >= N_SEEDS / 2);
    for (int k = 0; k < N_KINDS; k++) calls[k] = gls_inject_count(kinds[k].fault);
    uint64_t peak = gls_device_get_memory(device).peak_bytes;
    for (int k = 0; k < N_KINDS; k++) {
        unsigned tried = 0, survived = 0;
        assert_true(calls[k] > 0);
        for (uint64_t n = 1; n <= calls[k]; n = next_call(n), tried++) {
            char text[64];
            snprintf(text, sizeof text, "%s:%llu", kinds[k].kind, (unsigned long long)n);
            survived += attempt(text, kinds[k].status, true);
        }
        char text[64];
        snprintf(text, sizeof text, "%s:%llu+", kinds[k].kind, (unsigned long long)(calls[k] + 1) / 2);
        assert_false(attempt(text, kinds[k].status, false));
        print_message("%s: %u of %llu calls failed in turn, %u runs came through\n", kinds[k].kind, tried,
                      (unsigned long long)calls[k], survived);
    }
    for (uint64_t memory = 1; memory < peak; memory = memory * 8) {
        char text[64];
        snprintf(text, sizeof text, "memory:%llu", (unsigned long long)memory);
        attempt(text, GLS_ERR_DEVICE_MEMORY, false);
    }
}

/* --- kernels that run once before the first seeds ------------------------- */

static void ignore_kernel(void *user, const char *label, double seconds, const char *messages)
{
    (void)user, (void)label, (void)seconds, (void)messages;
}

/* Number of kernel runs that making a tracker takes on a device that is waited for, or is not. The device is taken for
 * a GPU, whose kernels are rehearsed. A listener has every kernel run once in both cases. */
static uint64_t runs_of_creation(gls_listen_wait wait)
{
    gls_device *d = open_limited(NULL);
    gls_tracker *t = NULL;
    d->info.software = false;
    assert_ok(gls_device_listen(d, ignore_kernel, NULL, wait));
    assert_int_equal(gls_device_waits(d), wait == GLS_LISTEN_WAIT);
    assert_ok(gls_inject_set("dispatch:1000000"));
    assert_ok(create(d, &t));
    const uint64_t n = gls_inject_count(GLS_FAULT_DISPATCH);
    assert_ok(gls_inject_set(NULL));
    gls_tracker_destroy(t);
    gls_device_close(d);
    return n;
}

/* Nothing waits for kernels that are rehearsed where the driver is checked without its hardware. */
static void rehearsal(void **state)
{
    (void)state;
    const bool rehearses = !gls_device_get_info(device)->gles;
    const uint64_t waited = runs_of_creation(GLS_LISTEN_WAIT), never = runs_of_creation(GLS_LISTEN_NEVER_WAIT);
    assert_true(rehearses ? never < waited : never == waited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),     cmocka_unit_test(environment),  cmocka_unit_test(each_call),
        cmocka_unit_test(lost),      cmocka_unit_test(notification), cmocka_unit_test(tracker),
        cmocka_unit_test(rehearsal),
    };
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
