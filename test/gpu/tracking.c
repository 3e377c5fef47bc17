/* Whole runs of the tracker: the same bytes however the work is cut, counts that agree, and runs that end early or
 * empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"
#include "crossing.h"

/* --- the same bytes ------------------------------------------------------- */

static void repeated_runs(void **state)
{
    (void)state;
    collection c;
    assert_true(expected.n > N_SEEDS / 2 && expected.n_points > 10 * expected.n);
    gls_track_result result = run_tracker(tracker, seeds, &c);
    assert_same_collection(&c, &expected, "second run");
    assert_same_counts(&result, &expected_result);
    collection_finish(&c);
}

static void batch_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 7, 100, 1000, 25000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char what[32];
        gls_track_params p = params;
        collection c;
        p.batch_seeds = sizes[i];
        gls_track_result result = run_with(device, &p, &c);
        snprintf(what, sizeof what, "batches of %d", (int)sizes[i]);
        assert_same_collection(&c, &expected, what);
        assert_same_counts(&result, &expected_result);
        assert_true(result.batch_seeds <= sizes[i] &&
                    result.batches == (N_SEEDS + result.batch_seeds - 1) / result.batch_seeds);
        collection_finish(&c);
    }
}

/* The smallest pool has room for one seed and little more. */
static void tiny_limits(void **state)
{
    (void)state;
    static const char *const limits[] = {"storage_bytes=13200", "storage_bytes=30000",
                                         "work_groups=3",       "work_group_size=4",
                                         "texture_3d=33",       "texture_3d=64,storage_bytes=13100,work_groups=5"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        collection c;
        gls_device *d = open_limited(limits[i]);
        gls_track_result result = run_with(d, &params, &c);
        assert_same_collection(&c, &expected, limits[i]);
        assert_same_counts(&result, &expected_result);
        assert_int_equal(gls_device_get_memory(d).allocated_bytes, 0);
        collection_finish(&c);
        gls_device_close(d);
    }
}

/* Where textures are too small for sides that are powers of two, coordinates are rounded as the layout has it, and so,
 * rarely, another of two peaks is the larger: the same but for rounding, and for every batch of that layout the same
 * bytes. */
static void small_textures(void **state)
{
    (void)state;
    static const char *const limits[] = {"texture_3d=20", "texture_3d=28,storage_bytes=13100,work_groups=5"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        gls_track_params p = params;
        collection c, again;
        gls_device *d = open_limited(limits[i]);
        run_with(d, &p, &c);
        p.batch_seeds = 9;
        run_with(d, &p, &again);
        assert_same_collection(&again, &c, limits[i]);
        size_t same = same_lines(&expected, &c);
        print_message("%s: %zu of %zu streamlines are the same\n", limits[i], same, expected.n);
        assert_true((double)same >= (gls_device_get_info(d)->software ? 0.99 : 0.8) * (double)expected.n);
        collection_finish(&c);
        collection_finish(&again);
        gls_device_close(d);
    }
}

/* Short streamlines first, from which the rounds learn to take many, then long ones: the pool runs full. */
static void overflowing_rounds(void **state)
{
    (void)state;
    double points[N_SEEDS][3];
    uint64_t seed = 12;
    for (int i = 0; i < N_SEEDS; i++) {
        for (int a = 0; a < 2; a++) points[i][a] = random_uniform(&seed, 5, 7);
        points[i][2] =
            i < 2 * N_SEEDS / 3 ? 0 : random_uniform(&seed, 4, 5); /* where the stop map is low, and where it is high */
    }
    gls_seeds *list = NULL, *before = seeds;
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &list));
    seeds = list;
    gls_track_params p = params;
    collection with_room, without;
    p.min_length = 15;
    p.step_size = 0.25;
    gls_device *d = open_limited("storage_bytes=38600");
    gls_track_result a = run_with(device, &p, &with_room), b = run_with(d, &p, &without);
    seeds = before;
    assert_same_collection(&without, &with_room, "overflowing pool");
    assert_same_counts(&b, &a);
    assert_true(a.verdicts[GLS_VERDICT_TOO_SHORT] + a.verdicts[GLS_VERDICT_SINGLE_POINT] > N_SEEDS / 3 &&
                a.streamlines > N_SEEDS / 4);
    assert_sums(&a);
    for (size_t i = 0; i < with_room.n; i++)
        assert_true((double)(with_room.offset[i + 1] - with_room.offset[i] - 1) * p.step_size >= 15 - 1e-9);
    collection_finish(&with_room);
    collection_finish(&without);
    gls_seeds_destroy(list);
    gls_device_close(d);
}

static void random_seeds(void **state)
{
    (void)state;
    static const uint64_t other[] = {1, (uint64_t)1 << 32};
    for (int i = 0; i < 2; i++) {
        gls_track_params p = params;
        collection c;
        p.rng_seed = other[i]; /* both halves of the key count */
        gls_track_result r = run_with(device, &p, &c);
        assert_true(c.n_points != expected.n_points ||
                    memcmp(c.point, expected.point, c.n_points * sizeof *c.point) != 0);
        assert_true(r.directions > expected_result.directions / 2 && r.directions < expected_result.directions * 2);
        collection_finish(&c);
    }
}

/* Nobody takes the streamlines; the counts are the same. */
static void no_sink(void **state)
{
    (void)state;
    gls_track_result result;
    assert_ok(run_in_voxels(tracker, seeds, NULL, NULL, NULL, &result));
    assert_same_counts(&result, &expected_result);
}

/* --- counts and space ----------------------------------------------------- */

static void counts(void **state)
{
    (void)state;
    const gls_track_result *r = &expected_result;
    double sum = 0, longest = 0, shortest = 1e9;
    uint32_t outside = 0;
    assert_sums(r);
    assert_int_equal(r->seeds, N_SEEDS);
    assert_int_equal(r->lanes, 1);
    for (size_t i = 0; i < N_SEEDS; i++) outside += i % 17 == 5;
    assert_true(r->seeds_without_direction >= outside && r->seeds_without_direction < outside + 20);
    for (size_t i = 0; i < expected.n; i++) {
        double length = params.step_size * (double)(expected.offset[i + 1] - expected.offset[i] - 1);
        sum += length;
        longest = fmax(longest, length);
        shortest = fmin(shortest, length);
        assert_true(expected.seed_index[i] < N_SEEDS && expected.seed_index[i] % 17 != 5);
    }
    assert_true(fabs(r->mean_length - sum / (double)expected.n) < 1e-9 && fabs(r->max_length - longest) < 1e-9 &&
                fabs(r->min_length - shortest) < 1e-9);
    assert_true(r->max_points == (uint64_t)(longest / params.step_size + 1.5) &&
                r->min_length >= params.step_size - 1e-9);
    print_message("%d seeds: %d directions, %d streamlines, %d points; ends %d %d %d %d\n", N_SEEDS, (int)r->directions,
                  (int)r->streamlines, (int)r->points, (int)r->ends[0], (int)r->ends[1], (int)r->ends[2],
                  (int)r->ends[3]);
}

static void space(void **state)
{
    (void)state;
    collection c = {.sound = true};
    gls_track_result result;
    const double(*map)[4] = (const double(*)[4])phantom.dwi->grid.affine;
    assert_ok(gls_tracker_run(tracker, seeds, &(gls_sink){.append = collect, .user = &c}, NULL, NULL, &result));
    assert_true(c.sound && c.n == expected.n && c.n_points == expected.n_points);
    /* float32: three products and sums of numbers below 64 */
    double worst = 0, bound = 6 * 64 * 0x1p-24;
    for (size_t i = 0; i < c.n_points; i++)
        for (int a = 0; a < 3; a++) {
            const float *p = expected.point[i];
            worst =
                fmax(worst, fabs(map[a][0] * p[0] + map[a][1] * p[1] + map[a][2] * p[2] + map[a][3] - c.point[i][a]));
        }
    for (size_t i = 0; i < c.n; i++) {
        float p[1][3];
        gls_seeds_get(seeds, c.seed_index[i], 1, p);
        assert_memory_equal(p[0], expected.seed[i], sizeof p[0]);
        bool found = false; /* the seed is one of the points, and the very same in output space */
        for (uint64_t k = c.offset[i]; k < c.offset[i + 1]; k++)
            found = found || memcmp(expected.point[k], p[0], sizeof p[0]) == 0;
        assert_true(found);
        for (int a = 0; a < 3; a++)
            worst = fmax(worst, fabs(map[a][0] * p[0][0] + map[a][1] * p[0][1] + map[a][2] * p[0][2] + map[a][3] -
                                     c.seed[i][a]));
    }
    assert_true(worst < bound);
    collection_finish(&c);
}

static void single_points(void **state)
{
    (void)state;
    gls_track_params p = params;
    collection c;
    p.max_angle = 3; /* hardly any step is possible */
    p.keep_single_points = true;
    gls_track_result kept = run_with(device, &p, &c);
    size_t singles = 0;
    for (size_t i = 0; i < c.n; i++) {
        if (c.offset[i + 1] - c.offset[i] != 1) continue;
        singles++;
        assert_memory_equal(c.point[c.offset[i]], c.seed[i], sizeof c.seed[i]);
    }
    assert_true(singles > 0 && kept.verdicts[GLS_VERDICT_SINGLE_POINT] == 0 && kept.streamlines == kept.directions);
    assert_sums(&kept);
    collection_finish(&c);
    p.keep_single_points = false;
    gls_track_result rejected = run_with(device, &p, &c);
    assert_int_equal(rejected.verdicts[GLS_VERDICT_SINGLE_POINT], singles);
    assert_int_equal(rejected.streamlines, kept.streamlines - singles);
    assert_sums(&rejected);
    collection_finish(&c);
}

/* Voxels that are not numbers, infinite, negative or nought end streamlines; they harm none, and no batch. */
static void bad_voxels(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, -300, 0, 1e30f};
    series before = phantom;
    size_t voxels = gls_grid_voxels(&phantom.dwi->grid), n_bad = 0;
    uint64_t seed = 99;
    assert_ok(gls_image_create(&before.dwi->grid, SERIES_VOLUMES, &phantom.dwi));
    assert_ok(gls_image_create(&before.dwi->grid, 1, &phantom.stop));
    memcpy(phantom.dwi->data, before.dwi->data, voxels * SERIES_VOLUMES * sizeof(float));
    memcpy(phantom.stop->data, before.stop->data, voxels * sizeof(float));
    for (size_t v = 0; v < voxels; v++) {
        if (random_bits(&seed) % 40 != 0) continue;
        n_bad++;
        for (size_t t = 0; t < SERIES_VOLUMES; t++)
            if (v % 2 == 0 || t % 5 == v % 5)
                phantom.dwi->data[t * voxels + v] = bad[v % 5]; /* 1e30 would be the largest value, which is right */
        if (v % 3 == 0) phantom.stop->data[v] = bad[v % 6];
    }
    collection c, again;
    gls_track_params p = params;
    gls_track_result r = run_with(device, &p, &c);
    p.batch_seeds = 11;
    run_with(device, &p, &again);
    assert_same_collection(&again, &c, "bad voxels, batches of 11");
    assert_sums(&r);
    assert_true(n_bad > 20 && c.n > 100);
    for (size_t i = 0; i < c.n_points; i++)
        for (int a = 0; a < 3; a++)
            assert_true(c.point[i][a] >= -0.5f && c.point[i][a] < (float)phantom.dwi->grid.dim[a] - 0.5f);
    collection_finish(&c);
    collection_finish(&again);
    gls_image_destroy(phantom.dwi);
    gls_image_destroy(phantom.stop);
    phantom = before;
}

/* --- runs that end early or empty ----------------------------------------- */

static void empty_results(void **state)
{
    (void)state;
    /* one seed lies inside, where nothing is; the rest of the list lies outside */
    static const double outside[3][3] = {{-5, 2, 2}, {100, 100, 100}, {2, 2, -0.51}};
    double points[40][3];
    for (int i = 0; i < 40; i++)
        memcpy(points[i], i == 39 ? (const double[3]){0, 0, 0} : outside[i % 3], sizeof points[i]);
    gls_seeds *none = NULL;
    assert_ok(gls_seeds_create_list((const double(*)[3])points, 40, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &none));
    gls_track_params p = params;
    p.min_length = 99; /* the streamline of the seed inside is too short, too */
    p.batch_seeds = 8;
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *t = NULL;
    collection c;
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    gls_track_result r = run_tracker(t, none, &c);
    assert_true(r.seeds == 40 && r.seeds_without_direction >= 39 && r.streamlines == 0 && r.points == 0 &&
                c.calls == 0);
    assert_true(r.mean_length == 0 && r.max_points == 0);
    assert_sums(&r);
    collection_finish(&c);
    gls_tracker_destroy(t);
    gls_seeds_destroy(none);
}

typedef struct watch {
    uint64_t calls, last, stop_at, points, streamlines;
    bool sound;
} watch;

/* Called after every batch and at times within one. Checks that no count falls. */
static bool progress(void *user, uint64_t done, uint64_t total, uint64_t streamlines, uint64_t points)
{
    watch *w = user;
    w->calls++;
    w->sound = w->sound && done >= w->last && done <= total && total == N_SEEDS && points >= w->points &&
               streamlines >= w->streamlines && points >= streamlines;
    w->last = done;
    w->points = points;
    w->streamlines = streamlines;
    return w->stop_at == 0 || done < w->stop_at;
}

static void cancelling(void **state)
{
    (void)state;
    gls_track_params p = params;
    p.batch_seeds = 50;
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *t = NULL;
    gls_track_result result = {.seeds = 123};
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    watch w = {.stop_at = 100, .sound = true};
    collection c = {.sound = true};
    assert_int_equal(run_in_voxels(t, seeds, &c, progress, &w, &result), GLS_ERR_CANCELLED);
    assert_message("cancel");
    /* progress is also reported within a batch */
    assert_true(w.sound && w.last >= 100 && w.last < N_SEEDS && w.calls >= 2 && result.seeds == 123);
    /* the delivered streamlines are the beginning of the whole run */
    assert_true(c.sound && c.n > 0 && c.n < expected.n &&
                memcmp(c.point, expected.point, c.n_points * sizeof *c.point) == 0);
    collection_finish(&c);
    w = (watch){.sound = true};
    assert_ok(run_in_voxels(t, seeds, NULL, progress, &w, &result));
    assert_true(w.sound && w.calls >= 6 && w.last == N_SEEDS && w.points == expected_result.points &&
                w.streamlines == expected_result.streamlines);

    /* a sink that fails at its first, a middle and the last call ends the run with its status and message */
    static const gls_status statuses[] = {GLS_ERR_OUTPUT, GLS_ERR_MEMORY, GLS_ERR_INPUT};
    run_tracker(t, seeds, &c);
    size_t calls = c.calls;
    collection_finish(&c);
    for (size_t i = 0; i < 3; i++) {
        c = (collection){.sound = true, .fail_at = i == 0 ? 1 : i == 1 ? calls / 2 : calls, .fail_with = statuses[i]};
        result.seeds = 321;
        assert_int_equal(run_in_voxels(t, seeds, &c, NULL, NULL, &result), statuses[i]);
        assert_message("/failing/sink");
        assert_true(c.calls == c.fail_at && result.seeds == 321);
        collection_finish(&c);
    }
    /* and the tracker works afterwards */
    run_tracker(t, seeds, &c);
    assert_same_collection(&c, &expected, "after failures");
    collection_finish(&c);
    gls_tracker_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_runs),
        cmocka_unit_test(batch_sizes),
        cmocka_unit_test(tiny_limits),
        cmocka_unit_test(small_textures),
        cmocka_unit_test(overflowing_rounds),
        cmocka_unit_test(random_seeds),
        cmocka_unit_test(no_sink),
        cmocka_unit_test(counts),
        cmocka_unit_test(space),
        cmocka_unit_test(single_points),
        cmocka_unit_test(bad_voxels),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(empty_results),
    };
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
