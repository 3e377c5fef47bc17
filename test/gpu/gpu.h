/* A device for a test program, or the reason why there is none. Include after cmocka.h. */
#ifndef GLS_TEST_GPU_H
#define GLS_TEST_GPU_H

#include <glslines/device.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skip.h"

#define assert_ok(expression) assert_ok_(expression, #expression, __FILE__, __LINE__)
static inline void assert_ok_(gls_status status, const char *what, const char *file, int line)
{
    if (status == GLS_OK) return;
    print_error("%s: %s: %s\n", what, gls_status_name(status), gls_last_error());
    _fail(file, line);
}

/* Checks that a text is one line, and not empty. */
static inline void assert_message(const char *part)
{
    const char *text = gls_last_error();
    if (!*text || strchr(text, '\n') || strchr(text, '\r') || !strstr(text, part)) {
        print_error("message '%s' should be one line with '%s'\n", text, part);
        fail();
    }
}

/* Opens the best device. Without one: false and the exit status of the program, 77 (skipped) unless
 * GLS_TEST_REQUIRE_GPU is set. */
static inline bool gpu_open(gls_graphics api, gls_device **device, int *exit_status)
{
    if (gls_device_open(NULL, api, device) == GLS_OK) return true;
    const char *required = getenv("GLS_TEST_REQUIRE_GPU");
    *exit_status = required && strcmp(required, "0") != 0 ? 1 : 77;
    fprintf(stderr, "no device: %s\n", gls_last_error());
    return false;
}

/* Ends a test program: checks that nothing is left on the device. */
static inline int finish_device(gls_device *device, int status)
{
    gls_device_memory m = gls_device_get_memory(device);
    if (status == 0 && m.allocated_bytes + m.n_buffers + m.n_textures + m.n_kernels > 0) {
        fprintf(stderr, "%zu buffers, %zu textures, %zu kernels left\n", m.n_buffers, m.n_textures, m.n_kernels);
        status = 1;
    }
    gls_device_close(device);
    return status;
}

/* Leaves only the test that GLS_TEST_ONLY names. */
static inline void gpu_select_test(void)
{
    if (getenv("GLS_TEST_ONLY")) cmocka_set_test_filter(getenv("GLS_TEST_ONLY"));
}

/* Runs the tests of a program on the best device. Returns the exit status for main(). */
#define gpu_run_tests(tests, set_up, tear_down, device) \
    gpu_run_tests_(#tests, tests, sizeof(tests) / sizeof *(tests), set_up, tear_down, device)
static inline int gpu_run_tests_(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction set_up,
                                 CMFixtureFunction tear_down, gls_device **device)
{
    int status;
    if (!gpu_open(GLS_GRAPHICS_AUTO, device, &status)) return status;
    gpu_select_test();
    return finish_device(*device, _cmocka_run_group_tests(name, tests, n, set_up, tear_down));
}

/* Whether the device has subgroups, which it must if GLS_TEST_REQUIRE_SUBGROUP is set. */
static inline bool has_subgroups(const gls_device *device)
{
    const char *required = getenv("GLS_TEST_REQUIRE_SUBGROUP");
    bool has = gls_device_get_info(device)->subgroup_size > 0;
    if (!has && required && *required && strcmp(required, "0") != 0) fail_msg("GLS_TEST_REQUIRE_SUBGROUP is set");
    return has;
}

/* Opens another device with lower limits, e.g. "storage_bytes=65536"; NULL: with its own limits. */
static inline gls_device *open_limited(const char *limits)
{
    gls_device *device = NULL;
    if (limits) setenv("GLSLINES_FORCE_LIMITS", limits, 1);
    gls_status status = gls_device_open(NULL, GLS_GRAPHICS_AUTO, &device);
    unsetenv("GLSLINES_FORCE_LIMITS");
    assert_ok(status);
    return device;
}

/* Bound of what a trilinear fetch may be off, as a part of the range of the values around it. CPU renderers weight in
 * float32: the coordinate is a float in 0 .. 1, off by half a unit in the last place of 1 at each of three operations,
 * which the size of the texture multiplies. GPUs keep 8 bits of each of three weights, and may filter half floats in
 * half floats. */
static inline double fetch_tolerance(const gls_device *device, const uint32_t size[3])
{
    double texels = (double)size[0] + size[1] + size[2];
    return gls_device_get_info(device)->software ? 3 * texels * 0x1p-24 + 4e-7 : 3 * 0x1p-8 + 3 * 0x1p-10;
}

/* Returns a random number for tests, by splitmix64. */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline double random_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(random_bits(state) >> 11) * 0x1p-53;
}

/* Box-Muller. */
static inline double random_normal(uint64_t *state)
{
    return sqrt(-2 * log(random_uniform(state, 1e-300, 1))) * cos(2 * acos(-1.0) * random_uniform(state, 0, 1));
}

#endif
