/* The scene of the tests of whole runs: two bands that cross, a model, seeds, a tracker and what it gives. Include
 * after gpu.h, series.h and collect.h. */
#ifndef GLS_TEST_CROSSING_H
#define GLS_TEST_CROSSING_H

#define N_SEEDS 300

static gls_device *device;
static series phantom;
static gls_qball *qball;
static gls_seeds *seeds;
static gls_track_params params;
static gls_tracker *tracker;
static collection expected;
static gls_track_result expected_result;

/* Two bands that bend and cross; the stop map falls towards the sides. */
static int crossing(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    double x = p[0] / grid->dim[0] - 0.5, y = p[1] / grid->dim[1] - 0.5, z = p[2] / grid->dim[2] - 0.5;
    direction[0][0] = 1, direction[0][1] = 1.2 * x, direction[0][2] = 0.2 * y;
    direction[1][0] = 0.3 * z, direction[1][1] = 1, direction[1][2] = 0.8 * y;
    unit3(direction[0]);
    unit3(direction[1]);
    *stop = 0.9 - 3 * (y * y * x * x + z * z) - 1.5 * y * y;
    return fabs(x) < 0.25 ? 2 : 1;
}

static int set_up(void **state)
{
    (void)state;
    static const int dim[3] = {14, 12, 10};
    static double points[N_SEEDS][3];
    double affine[3][4];
    uint64_t seed = 8;
    oblique_affine((const double[3]){2, 2, 2}, affine);
    series_create(&phantom, dim, (const double(*)[4])affine, crossing, 2000, 20, "small", 6);
    qball = series_qball(&phantom, GLS_QBALL_OPDT, 4);
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++)
            points[i][a] = i % 17 == 5 ? -3 - i : random_uniform(&seed, 0, dim[a] - 1); /* some outside */
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    params = gls_track_params_default();
    params.step_size = 0.8;
    params.max_length = 100;
    params.max_angle = 45;
    params.stop_threshold = 0.2;
    params.max_directions_per_seed = 3;
    params.mapping = GLS_MAPPING_SINGLE;
    gls_track_input input = series_input(&phantom, qball);
    assert_ok(gls_tracker_create(device, &params, &input, &tracker));
    expected_result = run_tracker(tracker, seeds, &expected);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    collection_finish(&expected);
    gls_tracker_destroy(tracker);
    gls_seeds_destroy(seeds);
    gls_qball_destroy(qball);
    series_destroy(&phantom);
    return 0;
}

/* Tracks with another tracker, with other parameters or on another device, into c. */
static inline gls_track_result run_with(gls_device *d, const gls_track_params *p, collection *c)
{
    gls_tracker *t = NULL;
    gls_track_input input = series_input(&phantom, qball);
    assert_ok(gls_tracker_create(d, p, &input, &t));
    gls_track_result result = run_tracker(t, seeds, c);
    gls_tracker_destroy(t);
    return result;
}

static inline void assert_same_counts(const gls_track_result *a, const gls_track_result *b)
{
    assert_true(a->seeds == b->seeds && a->seeds_without_direction == b->seeds_without_direction &&
                a->directions == b->directions);
    assert_true(a->streamlines == b->streamlines && a->points == b->points && a->truncated == b->truncated);
    assert_true(a->verdicts[GLS_VERDICT_SINGLE_POINT] == b->verdicts[GLS_VERDICT_SINGLE_POINT] &&
                a->verdicts[GLS_VERDICT_TOO_SHORT] == b->verdicts[GLS_VERDICT_TOO_SHORT]);
    assert_memory_equal(a->ends, b->ends, sizeof a->ends);
    assert_true(a->mean_length == b->mean_length && a->median_length == b->median_length &&
                a->max_points == b->max_points);
}

#endif
