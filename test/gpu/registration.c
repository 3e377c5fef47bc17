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
#include "registration/linear.h"
#include "registration/nmi.h"
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
    if (gls_velocity_register(channel, 2, map, &options, on, &(gls_go_on){.ask = NULL}, &v))
        fail_msg("%s", gls_last_error());
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

/* Scores of maps on a device are those on the CPU but for the rounding of positions: at most one sample in 5,000 comes
 * to lie beyond a border. A mask of the moving image counts on both. */
static void test_scores(void **state)
{
    (void)state;
    static const int32_t dim[3] = {36, 44, 34};
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    static const double map[5][3][4] = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}},
                                        {{1, 0, 0, 2.3}, {0, 1, 0, -1.1}, {0, 0, 1, 0.7}},
                                        {{0.998, -0.05, 0.01, 2}, {0.05, 0.997, -0.02, -3}, {0, 0.02, 1.02, 1}},
                                        {{-1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}},
                                        {{1, 0, 0, 900}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    double host[5], there[5], share[2];
    uint64_t bad;
    gls_level f, m;
    gls_nmi nmi;
    gls_nmi_device *on = NULL;
    gls_image *fixed = head_image(dim, 4, identity, 0, 0), *moving = head_image(dim, 4, identity, 3, 1);
    assert_int_equal(gls_level_init(&f, fixed, 0, NULL, NULL, "fixed", &bad), GLS_OK);
    assert_int_equal(gls_level_init(&m, moving, 0, NULL, NULL, "moving", &bad), GLS_OK);
    for (size_t v = 0; v < gls_grid_voxels(&m.grid); v += 7) m.mask[v] = 0;
    assert_int_equal(gls_nmi_init(&nmi, &f, &m, 2, NULL), GLS_OK);
    gls_nmi_scores(&nmi, map, 5, host);
    gls_nmi_score(&nmi, map[2], &share[0]);
    gls_nmi_finish(&nmi);
    if (gls_nmi_device_create(device, &on)) fail_msg("%s", gls_last_error());
    assert_int_equal(gls_nmi_init(&nmi, &f, &m, 2, on), GLS_OK);
    gls_nmi_scores(&nmi, map, 5, there);
    gls_nmi_score(&nmi, map[2], &share[1]);
    assert_int_equal(nmi.status, GLS_OK);
    gls_nmi_finish(&nmi);
    gls_nmi_device_destroy(on);
    for (int k = 0; k < 5; k++)
        if (!(fabs(host[k] - there[k]) < 2e-4))
            fail_msg("map %d: %.7f on the CPU, %.7f on the device", k, host[k], there[k]);
    assert_true(host[0] > host[1] && host[4] == 0 && share[0] < 0.87 && fabs(share[0] - share[1]) < 2e-4);
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image_destroy(fixed);
    gls_image_destroy(moving);
}

/* The bytes are the same in each run; the CPU finds the same map within a fifth of a voxel. */
static void test_linear(void **state)
{
    (void)state;
    static const int32_t dim[3] = {36, 44, 34};
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    uint64_t bad;
    gls_level f, m;
    gls_linear_result found[3];
    gls_image *fixed = head_image(dim, 4, identity, 0, 0), *moving = head_image(dim, 4, identity, 3, 1);
    assert_int_equal(gls_level_init(&f, fixed, 0, NULL, NULL, "fixed", &bad), GLS_OK);
    assert_int_equal(gls_level_init(&m, moving, 0, NULL, NULL, "moving", &bad), GLS_OK);
    for (int k = 0; k < 3; k++) {
        const gls_linear_options options = {
            .affine = true, .n_levels = 2, .voxel = {8, 4}, .device = k < 2 ? device : NULL};
        if (gls_linear_register(&f, &m, &f, &m, &options, &found[k])) fail_msg("%s", gls_last_error());
    }
    assert_memory_equal(found[0].map, found[1].map, sizeof found[0].map);
    for (int k = 0; k < 8; k++) {
        double square = 0;
        for (int r = 0; r < 3; r++) {
            const double *a = found[0].map[r], *b = found[2].map[r];
            const double d = a[3] - b[3] +
                             40 * ((k & 1 ? 1 : -1) * (a[0] - b[0]) + (k & 2 ? 1 : -1) * (a[1] - b[1]) +
                                   (k & 4 ? 1 : -1) * (a[2] - b[2]));
            square += d * d;
        }
        if (!(sqrt(square) < 0.8)) fail_msg("%.3f mm apart", sqrt(square));
    }
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image_destroy(fixed);
    gls_image_destroy(moving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host), cmocka_unit_test(test_scores),
                                       cmocka_unit_test(test_linear)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
