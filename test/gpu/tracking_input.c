/* Checks what a tracker refuses, and the messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"
#include "crossing.h"

static void refused_input(void **state)
{
    (void)state;
    const gls_track_input good = series_input(&phantom, qball);
    gls_device_memory before = gls_device_get_memory(device);
    gls_tracker *t = NULL;
    for (int i = 0; i < 5; i++) {
        gls_track_input input = good;
        const void **field[] = {(const void **)&input.dwi, (const void **)&input.gradients, (const void **)&input.qball,
                                (const void **)&input.stop_map, (const void **)&input.sphere};
        *field[i] = NULL;
        assert_int_equal(gls_tracker_create(device, &params, &input, &t), GLS_ERR_ARGUMENT);
    }
    gls_track_input input = good;
    input.stop_map = phantom.dwi; /* many volumes */
    assert_int_equal(gls_tracker_create(device, &params, &input, &t), GLS_ERR_ARGUMENT);
    gls_grid moved = phantom.stop->grid;
    moved.affine[0][3] += 5;
    gls_image *elsewhere = NULL;
    assert_ok(gls_image_create(&moved, 1, &elsewhere));
    input.stop_map = elsewhere;
    assert_int_equal(gls_tracker_create(device, &params, &input, &t), GLS_ERR_INPUT);
    gls_image_destroy(elsewhere);
#define FIELD_OF(name) offsetof(gls_track_params, name)
    const struct {
        size_t field;
        double value;
    } bad[] = {
        {FIELD_OF(step_size), 0},
        {FIELD_OF(step_size), -1},
        {FIELD_OF(step_size), NAN},
        {FIELD_OF(max_angle), 0},
        {FIELD_OF(max_angle), 90.5},
        {FIELD_OF(max_length), 0},
        {FIELD_OF(max_length), INFINITY},
        {FIELD_OF(max_length), 0.5 * 0.8},
        {FIELD_OF(min_length), 101},
        {FIELD_OF(min_length), -1},
        {FIELD_OF(stop_threshold), NAN},
        {FIELD_OF(pmf_threshold), 1.5},
        {FIELD_OF(pmf_threshold), -0.1},
        {FIELD_OF(min_separation_angle), 91},
        {FIELD_OF(relative_peak_threshold), -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gls_track_params p = params;
        memcpy((char *)&p + bad[i].field, &bad[i].value, sizeof bad[i].value);
        gls_status status = gls_tracker_create(device, &p, &good, &t);
        if (status != GLS_ERR_ARGUMENT) print_error("case %zu: %s\n", i, gls_status_name(status));
        assert_int_equal(status, GLS_ERR_ARGUMENT);
    }
    /* a model of another table, with volumes that the series does not have */
    double bval[SERIES_VOLUMES + 9], bvec[SERIES_VOLUMES + 9][3];
    for (int i = 0; i < SERIES_VOLUMES + 9; i++) {
        bval[i] = i < 12 ? 0 : 2000;
        memcpy(bvec[i], phantom.gradients->bvec[i < 12 ? 0 : i - 9], sizeof bvec[i]);
    }
    const gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_gradients *longer = NULL;
    assert_ok(gls_gradients_create(bval, (const double(*)[3])bvec, SERIES_VOLUMES + 9, &options, NULL, &longer));
    gls_qball *foreign = NULL;
    assert_ok(gls_qball_create(longer, NULL, GLS_SHELLS_ANY, &foreign));
    input = good;
    input.qball = foreign;
    assert_int_equal(gls_tracker_create(device, &params, &input, &t), GLS_ERR_ARGUMENT);
    input = good;
    input.gradients = longer;
    assert_int_equal(gls_tracker_create(device, &params, &input, &t), GLS_ERR_ARGUMENT);
    gls_qball_destroy(foreign);
    gls_gradients_destroy(longer);
    gls_track_params p = params;
    p.max_directions_per_seed = 33;
    assert_int_equal(gls_tracker_create(device, &p, &good, &t), GLS_ERR_ARGUMENT);
    p.max_directions_per_seed = 0;
    assert_int_equal(gls_tracker_create(device, &p, &good, &t), GLS_ERR_ARGUMENT);
    gls_tracker_destroy(NULL);
    assert_null(t);
    gls_device_memory after = gls_device_get_memory(device);
    assert_true(before.allocated_bytes == after.allocated_bytes && before.n_buffers == after.n_buffers &&
                before.n_textures == after.n_textures && before.n_kernels == after.n_kernels);
}

/* A device that is closed first goes with the tracker, which does not run any more. */
static bool close_it(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    (void)seeds_done, (void)seeds_total, (void)streamlines, (void)points;
    gls_device **open = user;
    gls_device_close(*open);
    *open = NULL;
    return true;
}

/* A device that is closed while a tracker works on it: the run comes to its end, whatever it returns. */
static void closed_in_a_run(void **state)
{
    (void)state;
    const gls_track_input input = series_input(&phantom, qball);
    gls_track_params small = params;
    gls_device *other = NULL;
    gls_tracker *t = NULL;
    gls_track_result result;
    gls_seeds *seeds = NULL;
    small.batch_seeds = 20;
    assert_ok(gls_seeds_create_random(phantom.stop, NULL, 200, 0, &seeds));
    assert_ok(gls_device_reopen(device, &other));
    assert_ok(gls_tracker_create(other, &small, &input, &t));
    gls_status status = gls_tracker_run(t, seeds, NULL, close_it, &other, &result);
    assert_null(other);
    assert_true(status == GLS_OK || status == GLS_ERR_ARGUMENT);
    gls_tracker_destroy(t);
    gls_seeds_destroy(seeds);
}

static void closed_device(void **state)
{
    (void)state;
    const gls_track_input input = series_input(&phantom, qball);
    gls_device *other = NULL;
    gls_tracker *t = NULL;
    gls_track_result result;
    gls_seeds *seeds = NULL;
    assert_ok(gls_seeds_create_random(phantom.stop, NULL, 5, 0, &seeds));
    assert_ok(gls_device_reopen(device, &other));
    assert_ok(gls_tracker_create(other, &params, &input, &t));
    assert_ok(gls_tracker_run(t, seeds, NULL, NULL, NULL, &result));
    assert_int_equal(gls_tracker_get_share(t, 1).seeds, 0); /* this device does not exist */
    gls_device_close(other);
    assert_int_equal(gls_tracker_run(t, seeds, NULL, NULL, NULL, &result), GLS_ERR_ARGUMENT);
    assert_message("was closed");
    gls_tracker_destroy(t);
    t = NULL;
    assert_int_equal(gls_tracker_create(other, &params, &input, &t), GLS_ERR_ARGUMENT);
    assert_null(t);
    gls_seeds_destroy(seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused_input), cmocka_unit_test(closed_device),
                                       cmocka_unit_test(closed_in_a_run)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
