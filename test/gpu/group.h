/* Groups of devices on a small series: contexts of one renderer stand in for several GPUs. Include after gpu.h. */
#ifndef GLS_TEST_GROUP_H
#define GLS_TEST_GROUP_H

#include "collect.h"
#include "inject.h"
#include "series.h"

#define N_SEEDS 300
#define MAX_DEVICES 4

static gls_device *device;
static series phantom;
static gls_qball *qball;
static gls_seeds *seeds;
static gls_track_params params;
static collection expected;
static gls_track_result expected_result;

/* Bands that bend; every fifth seed lies outside. */
static inline int bend(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    double x = p[0] / grid->dim[0] - 0.5, y = p[1] / grid->dim[1] - 0.5;
    direction[0][0] = 1, direction[0][1] = 1.5 * x, direction[0][2] = 0.3 * y;
    direction[1][0] = 0.2, direction[1][1] = 1, direction[1][2] = 0.5 * x;
    unit3(direction[0]);
    unit3(direction[1]);
    *stop = 0.9 - 2 * y * y;
    return x > 0 ? 2 : 1;
}

static inline int set_up(void **state)
{
    (void)state;
    static const int dim[3] = {10, 9, 7};
    static double points[N_SEEDS][3];
    uint64_t seed = 21;
    series_create(&phantom, dim, voxel_space, bend, 2000, 20, "small", 6);
    qball = series_qball(&phantom, GLS_QBALL_OPDT, 4);
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++) points[i][a] = i % 5 == 3 ? -9 : random_uniform(&seed, 0, dim[a] - 1);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    params = gls_track_params_default();
    params.step_size = 0.8;
    params.max_length = 20;
    params.stop_threshold = 0.2;
    params.max_directions_per_seed = 2;
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *t = NULL;
    assert_ok(gls_tracker_create(device, &params, &input, &t));
    expected_result = run_tracker(t, seeds, &expected);
    gls_tracker_destroy(t);
    assert_true(expected.n > N_SEEDS / 2);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    collection_finish(&expected);
    gls_seeds_destroy(seeds);
    gls_qball_destroy(qball);
    series_destroy(&phantom);
    return 0;
}

/* --- a group -------------------------------------------------------------- */

typedef struct group {
    gls_device *device[MAX_DEVICES];
    size_t n;
    gls_tracker *tracker;
    collection got;
    gls_track_result result;
} group;

static inline void open_group(group *g, size_t n)
{
    *g = (group){.n = n};
    for (size_t i = 0; i < n; i++) assert_ok(gls_device_reopen(device, &g->device[i]));
}

static inline gls_status create_group(group *g, const gls_track_params *p)
{
    gls_track_input input = series_input(&phantom, qball);
    return gls_tracker_create_group(g->device, g->n, p, &input, &g->tracker);
}

static inline gls_status run_group(group *g)
{
    collection_finish(&g->got);
    g->got = (collection){.sound = true};
    return run_in_voxels(g->tracker, seeds, &g->got, NULL, NULL, &g->result);
}

/* Checks that nothing is left on the devices, also on those that were lost. */
static inline void close_group(group *g)
{
    collection_finish(&g->got);
    gls_tracker_destroy(g->tracker);
    assert_ok(gls_inject_set(NULL));
    for (size_t i = 0; i < g->n; i++) {
        gls_device_memory m = gls_device_get_memory(g->device[i]);
        assert_true(m.n_buffers == 0 && m.n_textures == 0 && m.n_kernels == 0);
        gls_device_close(g->device[i]);
    }
}

static inline gls_track_share total_share(const group *g)
{
    gls_track_share sum = {0};
    assert_int_equal(gls_tracker_devices(g->tracker), g->n);
    for (size_t i = 0; i < g->n; i++) {
        gls_track_share s = gls_tracker_get_share(g->tracker, i);
        sum.seeds += s.seeds;
        sum.streamlines += s.streamlines;
        sum.batches += s.batches;
        sum.resumes += s.resumes;
        sum.halvings += s.halvings;
        sum.failed |= s.failed;
    }
    return sum;
}

/* Checks that every streamline came once, in order, and was counted once. */
static inline void assert_complete(const group *g, const char *what)
{
    const gls_track_result *a = &g->result, *b = &expected_result;
    gls_track_share sum = total_share(g);
    assert_true(g->got.sound);
    assert_same_collection(&g->got, &expected, what);
    assert_sums(a);
    assert_true(a->seeds == b->seeds && a->seeds_without_direction == b->seeds_without_direction &&
                a->directions == b->directions && a->streamlines == b->streamlines);
    assert_true(a->points == b->points &&
                a->verdicts[GLS_VERDICT_SINGLE_POINT] == b->verdicts[GLS_VERDICT_SINGLE_POINT] &&
                a->verdicts[GLS_VERDICT_TOO_SHORT] == b->verdicts[GLS_VERDICT_TOO_SHORT]);
    assert_memory_equal(a->ends, b->ends, sizeof a->ends);
    assert_true(a->mean_length == b->mean_length && a->median_length == b->median_length &&
                a->max_length == b->max_length && a->min_length == b->min_length);
    assert_true(sum.seeds == N_SEEDS && sum.streamlines == expected.n && sum.batches == a->batches);
}

/* Checks that the streamlines that were delivered before a failure are right. */
static inline void assert_beginning(const group *g)
{
    const collection *c = &g->got;
    assert_true(c->sound && c->n <= expected.n);
    assert_true(c->n == 0 || memcmp(c->point, expected.point, c->n_points * sizeof *c->point) == 0);
}

#endif
