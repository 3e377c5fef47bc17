/* What gls_track_plan_memory() says is what a tracker takes, byte by byte, whatever the getter, the mapping and the
 * device's limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/glslines.h>

#include "gpu/gpu.h"

static gls_device *device;
static gls_phantom *phantom;
static gls_qball *qball;
static gls_sphere *sphere;
static gls_image *sh, *fa;
static gls_odf_source *odf;

static gls_track_input input_for(gls_direction_getter dg)
{
    gls_track_input input = {.stop_map = fa, .sphere = sphere, .odf = odf};
    if (dg == GLS_DG_BOOT) {
        input.dwi = phantom->dwi;
        input.gradients = phantom->gradients;
        input.qball = qball;
    }
    return input;
}

static void check(gls_device *on, gls_track_params params)
{
    gls_track_input input = input_for(params.dg);
    gls_track_memory planned;
    gls_tracker *tracker = NULL;
    uint64_t before = gls_device_get_memory(on).allocated_bytes;
    assert_ok(gls_track_plan_memory(gls_device_get_info(on), 1, &params, &input, &planned));
    assert_int_equal(gls_device_get_memory(on).allocated_bytes, before);
    assert_int_equal(planned.device_bytes,
                     planned.volume_bytes + planned.stop_map_bytes + planned.table_bytes + planned.buffer_bytes);
    assert_ok(gls_tracker_create(on, &params, &input, &tracker));
    assert_int_equal(gls_device_get_memory(on).allocated_bytes - before, planned.device_bytes);
    gls_tracker_destroy(tracker);
    assert_int_equal(gls_device_get_memory(on).allocated_bytes, before);
}

static void check_getters(gls_device *on)
{
    static const gls_direction_getter getters[] = {GLS_DG_BOOT, GLS_DG_PROB, GLS_DG_DET, GLS_DG_PTT};
    for (size_t i = 0; i < sizeof getters / sizeof *getters; i++) {
        gls_track_params params = gls_track_params_default();
        gls_track_params_scale(&params, phantom->dwi->grid.voxel_size[0]);
        params.dg = getters[i];
        check(on, params);
        params.precision = GLS_PRECISION_FLOAT;
        params.batch_seeds = 777;
        check(on, params);
    }
}

static void test_as_allocated(void **state)
{
    (void)state;
    check_getters(device);
}

static void test_amplitudes(void **state)
{
    gls_track_params params = gls_track_params_default();
    (void)state;
    gls_track_params_scale(&params, phantom->dwi->grid.voxel_size[0]);
    params.dg = GLS_DG_PROB;
    params.odf_interpolation = GLS_ODF_INTERPOLATE_AMPLITUDES;
    check(device, params);
}

static void test_limits(void **state)
{
    gls_device *limited = open_limited("storage_bytes=2097152,texture_3d=128");
    (void)state;
    check_getters(limited);
    gls_device_close(limited);
}

static void test_subgroups(void **state)
{
    gls_track_params params = gls_track_params_default();
    (void)state;
    if (!has_subgroups(device)) {
        gls_track_input input = input_for(GLS_DG_BOOT);
        gls_track_memory planned;
        params.mapping = GLS_MAPPING_SUBGROUP;
        assert_int_equal(gls_track_plan_memory(gls_device_get_info(device), 1, &params, &input, &planned),
                         GLS_ERR_UNSUPPORTED);
        return;
    }
    params.mapping = GLS_MAPPING_SUBGROUP;
    check(device, params);
    params.dg = GLS_DG_PTT;
    check(device, params);
}

/* The formula knows no seeds; with several devices there are more batches on their way. */
static void test_host(void **state)
{
    gls_track_params params = gls_track_params_default();
    gls_track_input input = input_for(GLS_DG_BOOT);
    gls_track_memory one, four;
    (void)state;
    assert_ok(gls_track_plan_memory(gls_device_get_info(device), 1, &params, &input, &one));
    assert_ok(gls_track_plan_memory(gls_device_get_info(device), 4, &params, &input, &four));
    assert_true(one.host_bytes > 12ull * 16 * one.batch_seeds);
    assert_true(four.host_bytes >= 4 * one.host_bytes);
    assert_int_equal(one.device_bytes, four.device_bytes);
    assert_int_equal(gls_track_plan_memory(gls_device_get_info(device), 0, &params, &input, &one), GLS_ERR_ARGUMENT);
}

static int set_up(void **state)
{
    gls_phantom_params params = gls_phantom_params_default();
    gls_odf_options options = gls_odf_options_default();
    (void)state;
    for (int a = 0; a < 3; a++) params.shape[a] = 18 + a;
    params.n_directions = 30;
    params.ground_truth = false;
    assert_ok(gls_phantom_create(&params, &phantom));
    assert_ok(gls_qball_create(phantom->gradients, NULL, GLS_SHELLS_ANY, &qball));
    assert_ok(gls_sphere_create("default", &sphere));
    assert_ok(gls_tensor_fit(phantom->dwi, phantom->gradients, phantom->mask, NULL, &fa, NULL, NULL));
    assert_ok(gls_qball_fit_image(qball, phantom->dwi, phantom->gradients, phantom->mask, &sh));
    assert_ok(gls_odf_source_create_sh(sh, "fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, sphere, &options, &odf));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gls_odf_source_destroy(odf);
    gls_image_destroy(sh);
    gls_image_destroy(fa);
    gls_sphere_destroy(sphere);
    gls_qball_destroy(qball);
    gls_phantom_destroy(phantom);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_allocated), cmocka_unit_test(test_amplitudes),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_subgroups),
                                       cmocka_unit_test(test_host)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
