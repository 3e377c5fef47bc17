/* One invocation a streamline against a subgroup a streamline: the same streamlines but for rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"
#include "track/getter/getters.h"
#include "track/engine/track_plan.h"

#define N_SEEDS 200

static gls_device *device;
static series phantom;
static gls_qball *qball;
static gls_seeds *seeds;
static gls_track_params params;

static int set_up(void **state)
{
    (void)state;
    static const int dim[3] = {13, 12, 11};
    double points[N_SEEDS][3];
    uint64_t seed = 23;
    series_create(&phantom, dim, voxel_space, waves, 2000, 20, "small", 2);
    qball = series_qball(&phantom, GLS_QBALL_OPDT, 4);
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++) points[i][a] = i % 20 == 7 ? -2 : random_uniform(&seed, -0.5, dim[a] - 0.5001);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    params = gls_track_params_default();
    params.step_size = 0.5;
    params.max_length = 60;
    params.stop_threshold = 0.6;
    params.max_directions_per_seed = 4;
    params.precision = GLS_PRECISION_FLOAT;
    params.keep_single_points = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gls_seeds_destroy(seeds);
    gls_qball_destroy(qball);
    series_destroy(&phantom);
    return 0;
}

static gls_track_result run_mapping(gls_mapping mapping, gls_boot_start start, uint64_t batch, collection *c)
{
    gls_track_params p = params;
    gls_tracker *t = NULL;
    gls_track_input input = series_input(&phantom, qball);
    p.mapping = mapping;
    p.boot_start = start;
    p.batch_seeds = batch;
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    gls_track_result result = run_tracker(t, seeds, c);
    assert_sums(&result);
    gls_tracker_destroy(t);
    return result;
}

static bool offered(void)
{
    uint32_t size = gls_device_get_info(device)->subgroup_size;
    if (size == 0)
        print_message("%s does not offer KHR_shader_subgroup: only the refusal is tested\n",
                      gls_device_get_info(device)->renderer);
    return size > 0;
}

static void refused(void **state)
{
    (void)state;
    if (offered()) return;
    gls_track_params p = params;
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *t = NULL;
    p.mapping = GLS_MAPPING_SUBGROUP;
    assert_int_equal(gls_tracker_create(device, &p, &input, &t), GLS_ERR_UNSUPPORTED);
    assert_message("KHR_shader_subgroup");
    /* a driver that reports an extension which its compiler does not support */
    gls_device *d = open_limited("subgroup=8");
    assert_int_equal(gls_tracker_create(d, &p, &input, &t), GLS_ERR_DEVICE);
    assert_message("does not compile");
    assert_null(t);
    assert_int_equal(gls_device_get_memory(d).allocated_bytes, 0);
    gls_device_close(d);
}

/* A mapping that a driver promises and does not compile is left for another one, with a warning. */
static void falls_back(void **state)
{
    (void)state;
    if (offered()) return;
    gls_track_params p = params;
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *t = NULL;
    gls_device *d = open_limited("subgroup=8,software=0");
    assert_int_equal(gls_mapping_auto(gls_device_get_info(d)), GLS_MAPPING_SUBGROUP);
    assert_ok(gls_tracker_create(d, &p, &input, &t));
    gls_tracker_destroy(t);
    gls_device_close(d);
    /* if there are no sums over a subgroup, shuffles do the same */
    d = open_limited("subgroup=8,subgroup_features=187,software=0");
    assert_int_equal(gls_mapping_auto(gls_device_get_info(d)), GLS_MAPPING_SUBGROUP);
    gls_device_close(d);
    d = open_limited("software=0");
    assert_int_equal(gls_mapping_auto(gls_device_get_info(d)), GLS_MAPPING_GROUP);
    gls_device_close(d);
    assert_int_equal(gls_mapping_auto(gls_device_get_info(device)), GLS_MAPPING_SINGLE);
}

/* The mapping that auto stands for depends on the getter, too; messages name this mapping. */
static void meant(void **state)
{
    (void)state;
    const gls_device_info gpu = {.subgroup_size = 32}, cpu = {.subgroup_size = 8, .software = true};
    gls_track_params p = params;
    for (p.dg = 0; (int)p.dg < GLS_DG_COUNT; p.dg++) {
        const gls_getter *getter = gls_getter_of(&p);
        assert_int_equal(gls_mapping_meant(getter, &gpu), getter->one_lane ? GLS_MAPPING_SINGLE : GLS_MAPPING_SUBGROUP);
        assert_int_equal(gls_mapping_meant(getter, &cpu), GLS_MAPPING_SINGLE);
    }
}

/* A work group a streamline needs no extension. */
static void groups(void **state)
{
    (void)state;
    static const gls_boot_start starts[] = {GLS_BOOT_START_SAMPLE, GLS_BOOT_START_FIT};
    for (int i = 0; i < 2; i++) {
        collection single, group, again;
        gls_track_result a = run_mapping(GLS_MAPPING_SINGLE, starts[i], 0, &single),
                         b = run_mapping(GLS_MAPPING_GROUP, starts[i], 0, &group);
        assert_int_equal(a.mapping, GLS_MAPPING_SINGLE);
        assert_int_equal(b.mapping, GLS_MAPPING_GROUP);
        assert_int_equal(b.lanes, gls_mapping_lanes(GLS_MAPPING_GROUP, gls_device_get_info(device)));
        size_t same = same_lines(&single, &group);
        print_message("groups of %d, from %s: %zu of %zu streamlines are the same\n", (int)b.lanes,
                      i ? "the fit" : "a sample", same, single.n);
        assert_true((double)same >= 0.99 * (double)single.n && (double)group.n <= 1.01 * (double)single.n);
        run_mapping(GLS_MAPPING_GROUP, starts[i], 7, &again);
        assert_same_collection(&again, &group, "batches of 7");
        collection_finish(&single);
        collection_finish(&group);
        collection_finish(&again);
    }
}

static void both(void **state)
{
    (void)state;
    if (!offered()) leave_out("SUBGROUP", "KHR_shader_subgroup");
    static const gls_boot_start starts[] = {GLS_BOOT_START_SAMPLE, GLS_BOOT_START_FIT};
    for (int i = 0; i < 2; i++) {
        collection single, subgroup, again;
        gls_track_result a = run_mapping(GLS_MAPPING_SINGLE, starts[i], 0, &single),
                         b = run_mapping(GLS_MAPPING_SUBGROUP, starts[i], 0, &subgroup);
        assert_int_equal(a.lanes, 1);
        assert_int_equal(b.lanes, gls_device_get_info(device)->subgroup_size);
        size_t same = same_lines(&single, &subgroup);
        print_message("%d lanes, from %s: %zu of %zu streamlines are the same, %zu and %zu points\n", (int)b.lanes,
                      i ? "the fit" : "a sample", same, single.n, single.n_points, subgroup.n_points);
        assert_true(single.n > N_SEEDS && single.n_points > 10 * single.n);
        assert_true((double)same >= 0.99 * (double)single.n && (double)subgroup.n <= 1.01 * (double)single.n);
        /* within a mapping the bytes are the same */
        run_mapping(GLS_MAPPING_SUBGROUP, starts[i], 7, &again);
        assert_same_collection(&again, &subgroup, "batches of 7");
        collection_finish(&single);
        collection_finish(&subgroup);
        collection_finish(&again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(falls_back), cmocka_unit_test(meant),
                                       cmocka_unit_test(groups), cmocka_unit_test(both)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
