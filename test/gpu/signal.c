/* Weights by the signal on devices: those of the CPU but for rounding, with the same bytes for any blocks, any memory
 * and any number of devices; and the CPU where a device fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "inject.h"
#include "signal_scene.h"

static gls_device *device;

/* Largest difference of two residuals or weights, as a share of the largest value of a. */
static double apart(const float *a, const float *b, size_t n)
{
    double most = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)a[i]));
    }
    assert_true(largest > 0);
    return most / largest;
}

/* Options of the k-th kind of model: zeppelins of two widths, LiFE, a penalty on groups. */
static gls_signal_options kind(int k)
{
    gls_signal_options o = tight();
    if (k == 0) o.kernels.d_perp = (gls_numbers){{0.3e-3, 0.8e-3}, 2};
    if (k == 1) o.kernels.kernel = GLS_SIGNAL_LIFE;
    if (k == 2) {
        o.share = 0.05;
        o.debias = true;
    }
    return o;
}

static void test_host(void **state)
{
    static const uint64_t group[LINES] = {7, 1, 2, 3, 7, 1, 2, 3, 7, 1, 2, 3};
    scene s;
    gls_signal host, other;
    (void)state;
    make_scene(&s);
    for (int k = 0; k < 3; k++) {
        const gls_signal_options o = kind(k);
        assert_ok(fit_on(&s, &o, k == 2 ? group : NULL, LINES, NULL, 0, &host));
        assert_ok(fit_on(&s, &o, k == 2 ? group : NULL, LINES, &device, 1, &other));
        assert_int_equal(other.n_devices, 1);
        assert_int_equal(host.fit.iterations, other.fit.iterations);
        assert_int_equal(host.fit.back_tracks, other.fit.back_tracks);
        assert_true(fabs(host.fit.objective / other.fit.objective - 1) < 1e-6);
        const double weights = apart(host.weight, other.weight, LINES),
                     residuals = apart(host.r, other.r, host.model.n_voxels * host.model.m);
        if (!(weights < 1e-5) || !(residuals < 1e-5))
            fail_msg("model %d: weights %g, residuals %g apart", k, weights, residuals);
        gls_signal_finish(&host);
        gls_signal_finish(&other);
    }
    free_scene(&s);
}

static void test_bytes(void **state)
{
    static const gls_signal_memory memory[] = {{0, 7}, {1 << 20, 1}, {1 << 20, 7}, {1, 20}, {4000, 20}};
    scene s;
    gls_signal one, other;
    gls_device *devices[3] = {device};
    gls_signal_options o = kind(0);
    (void)state;
    make_scene(&s);
    assert_ok(gls_device_reopen(device, &devices[1]));
    assert_ok(gls_device_reopen(device, &devices[2]));
    assert_ok(fit_on(&s, &o, NULL, LINES, &device, 1, &one));
    for (size_t k = 0; k < sizeof memory / sizeof *memory; k++)
        for (size_t n = 1; n <= 3; n += 2) {
            o.memory = memory[k];
            assert_ok(fit_on(&s, &o, NULL, LINES, devices, n, &other));
            /* without a given memory, as many devices as hold all entries */
            assert_int_equal(other.n_devices, memory[k].bytes ? n : 1);
            assert_memory_equal(one.weight, other.weight, LINES * sizeof *one.weight);
            assert_memory_equal(one.r, other.r, one.model.n_voxels * one.model.m * sizeof *one.r);
            gls_signal_finish(&other);
        }
    gls_signal_finish(&one);
    gls_device_close(devices[1]);
    gls_device_close(devices[2]);
    free_scene(&s);
}

/* A device that fails at the first, the tenth ... call is replaced by the CPU. */
static void test_faults(void **state)
{
    static const char *const rules[] = {"alloc:1+", "alloc:9+", "memory:6000", "readback:20+"};
    scene s;
    gls_signal host, other;
    const gls_signal_options o = kind(0);
    (void)state;
    make_scene(&s);
    assert_ok(fit(&s, &o, NULL, LINES, &host));
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        assert_ok(gls_inject_set(rules[k]));
        assert_ok(fit_on(&s, &o, NULL, LINES, &device, 1, &other));
        assert_ok(gls_inject_set(NULL));
        assert_int_equal(other.n_devices, 0);
        assert_memory_equal(host.weight, other.weight, LINES * sizeof *host.weight);
        gls_signal_finish(&other);
    }
    gls_signal_finish(&host);
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host), cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_faults)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
