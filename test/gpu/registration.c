/* Registration on a device against that on the CPU: the same steps, so fields that differ by rounding alone; and the
 * same bytes in each run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu.h"
#include "head_scene.h"
#include "registration/velocity.h"

static gls_device *device;

/* A field between two heads, with two channels; the moving one goes through an affine map. */
static gls_velocity bend(const gls_level *f, const gls_level *m, bool ssd, gls_device *on)
{
    static const double map[3][4] = {{0.998, -0.05, 0.01, 2}, {0.05, 0.997, -0.02, -3}, {0, 0.02, 1.02, 1}};
    const gls_velocity_options options = {.ssd = ssd,
                                          .radius = 2,
                                          .step = 0.4,
                                          .smooth_update = 1.6,
                                          .smooth_total = 0.5,
                                          .n_levels = 2,
                                          .voxel = {8, 4},
                                          .iterations = {4, 3}};
    const gls_velocity_channel channel[2] = {{f, m, 0.75}, {f + 1, m + 1, 0.25}};
    gls_velocity v;
    if (gls_velocity_register(channel, 2, map, &options, on, NULL, NULL, &v)) fail_msg("%s", gls_last_error());
    return v;
}

static void test_host(void **state)
{
    (void)state;
    static const int32_t dim[3] = {36, 44, 34};
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_level f[2], m[2];
    for (int k = 0; k < 2; k++) {
        uint64_t bad;
        gls_image *fixed = head_image(dim, 4, identity, 6, k), *moving = head_image(dim, 4, identity, 0, k);
        assert_int_equal(gls_level_init(&f[k], fixed, 0, NULL, NULL, "fixed", &bad), GLS_OK);
        assert_int_equal(gls_level_init(&m[k], moving, 0, NULL, NULL, "moving", &bad), GLS_OK);
        gls_image_destroy(fixed);
        gls_image_destroy(moving);
    }
    for (int ssd = 0; ssd < 2; ssd++) {
        gls_velocity host = bend(f, m, ssd, NULL), one = bend(f, m, ssd, device), two = bend(f, m, ssd, device);
        const size_t n = 3 * gls_grid_voxels(&host.grid);
        float most = 0, longest = 0;
        for (size_t i = 0; i < n; i++) {
            most = fmaxf(most, fabsf(host.v[i] - one.v[i]));
            longest = fmaxf(longest, fabsf(host.v[i]));
        }
        if (!(most < 1e-3f) || !(longest > 0.5f)) fail_msg("%g voxels apart of %g", (double)most, (double)longest);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(host.level[k].iterations, one.level[k].iterations);
            assert_true(fabs(host.level[k].last - one.level[k].last) < 1e-4);
        }
        assert_memory_equal(one.v, two.v, n * sizeof *one.v);
        gls_velocity_finish(&host);
        gls_velocity_finish(&one);
        gls_velocity_finish(&two);
    }
    for (int k = 0; k < 2; k++) {
        gls_level_finish(&f[k]);
        gls_level_finish(&m[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
