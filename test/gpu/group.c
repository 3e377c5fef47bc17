/* Several devices that track together: the bytes of one, in the order of seeds; runs that are cancelled or cannot
 * write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "gpu.h"
#include "group.h"
#include "track/engine/pace.h"

/* --- the same bytes ------------------------------------------------------- */

static void same_bytes(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        uint64_t batch;
    } cases[] = {{1, 50}, {2, 1}, {2, 50}, {2, 25000}, {3, 7}, {4, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[64];
        group g;
        gls_track_params p = params;
        p.batch_seeds = cases[i].batch;
        snprintf(what, sizeof what, "%d devices, batches of %d", (int)cases[i].n, (int)cases[i].batch);
        open_group(&g, cases[i].n);
        assert_ok(create_group(&g, &p));
        for (int run = 0; run < 2; run++) {
            assert_ok(run_group(&g));
            assert_complete(&g, what);
            assert_int_equal(g.result.n_devices, cases[i].n);
        }
        assert_true(cases[i].n == 1 || g.result.batches >= cases[i].n);
        gls_track_result counted;
        assert_ok(run_in_voxels(g.tracker, seeds, NULL, NULL, NULL, &counted));
        assert_true(counted.points == expected.n_points && counted.seeds == N_SEEDS);
        close_group(&g);
    }
}

/* The bytes are the same however little a dispatch gets to do. */
static void any_pace(void **state)
{
    (void)state;
    const gls_pace_rules usual = gls_pace_rule;
    static const gls_pace_rules rules[] = {{1, 1, 1e-9, 1e-9}, {64, 3, 1e-3, 2e-3}, {4000000000u, 1, 1e9, 1e9}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (size_t n = 1; n <= 2; n++) {
            group g;
            gls_pace_rule = rules[i];
            open_group(&g, n);
            assert_ok(create_group(&g, &params));
            assert_ok(run_group(&g));
            assert_complete(&g, "a pace of its own");
            assert_true(g.result.seconds_longest > 0);
            close_group(&g);
        }
    gls_pace_rule = usual;
}

static void refused(void **state)
{
    (void)state;
    group g;
    open_group(&g, 2);
    gls_track_input input = series_input(&phantom, qball);
    gls_device *twice[2] = {g.device[0], g.device[0]}, *with_null[2] = {g.device[0], NULL};
    assert_int_equal(gls_tracker_create_group(twice, 2, &params, &input, &g.tracker), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tracker_create_group(with_null, 2, &params, &input, &g.tracker), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tracker_create_group(g.device, 0, &params, &input, &g.tracker), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tracker_create_group(g.device, GLS_TRACKER_MAX_DEVICES + 1, &params, &input, &g.tracker),
                     GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tracker_create_group(NULL, 1, &params, &input, &g.tracker), GLS_ERR_ARGUMENT);
    assert_null(g.tracker);
    close_group(&g);
    gls_device *several[3] = {NULL};
    assert_ok(gls_device_open_several(gls_device_get_info(device)->software ? "llvmpipe" : NULL, GLS_GRAPHICS_AUTO, 1,
                                      several));
    gls_device_close(several[0]);
    assert_int_equal(gls_device_open_several("nobody's renderer", GLS_GRAPHICS_AUTO, 2, several), GLS_ERR_DEVICE);
    assert_int_equal(gls_device_open_several(NULL, GLS_GRAPHICS_AUTO, 0, several), GLS_ERR_ARGUMENT);
    if (!gls_device_get_info(device)->software) return;
    assert_ok(gls_device_open_several(NULL, GLS_GRAPHICS_AUTO, 3, several));
    for (int i = 0; i < 3; i++) gls_device_close(several[i]);
}

/* --- ends before time ----------------------------------------------------- */

typedef struct watch {
    uint64_t last, stop_at, streamlines;
    bool sound;
} watch;

static bool progress(void *user, uint64_t done, uint64_t total, uint64_t streamlines, uint64_t points)
{
    watch *w = user;
    w->sound = w->sound && done >= w->last && done <= total && total == N_SEEDS && streamlines >= w->streamlines &&
               points >= streamlines;
    w->last = done;
    w->streamlines = streamlines;
    return w->stop_at == 0 || done < w->stop_at;
}

static void cancelled(void **state)
{
    (void)state;
    group g;
    gls_track_params p = params;
    p.batch_seeds = 10;
    open_group(&g, 3);
    assert_ok(create_group(&g, &p));
    for (uint64_t stop_at = 1; stop_at <= N_SEEDS; stop_at += 60) {
        watch w = {.stop_at = stop_at, .sound = true};
        gls_track_result result = {.seeds = 77};
        g.got = (collection){.sound = true};
        gls_status status = run_in_voxels(g.tracker, seeds, &g.got, progress, &w, &result);
        /* between the last call and the end, nothing is cancelled any more */
        assert_true(status == GLS_ERR_CANCELLED || (status == GLS_OK && w.last < stop_at));
        assert_true(w.sound && (result.seeds == 77) == (status != GLS_OK));
        if (status != GLS_OK) assert_message("cancel");
        assert_beginning(&g);
        collection_finish(&g.got);
    }
    size_t calls = 0;
    for (int i = 0; i < 3; i++) {
        static const gls_status statuses[] = {GLS_ERR_OUTPUT, GLS_ERR_MEMORY, GLS_ERR_LOST};
        gls_track_result result;
        assert_ok(run_group(&g));
        assert_complete(&g, "after a failure");
        calls = g.got.calls;
        collection_finish(&g.got);
        g.got = (collection){.sound = true, .fail_at = i == 0 ? 1 : i == 1 ? calls / 2 : 3, .fail_with = statuses[i]};
        size_t fail_at = g.got.fail_at;
        assert_int_equal(run_in_voxels(g.tracker, seeds, &g.got, NULL, NULL, &result), statuses[i]);
        assert_message("/failing/sink");
        assert_int_equal(g.got.calls, fail_at);
        assert_beginning(&g);
        collection_finish(&g.got);
    }
    close_group(&g);
}

/* --- a sink that waits ---------------------------------------------------- */

static atomic_int reports;

static bool count_report(void *user, uint64_t done, uint64_t total, uint64_t streamlines, uint64_t points)
{
    (void)user, (void)done, (void)total, (void)streamlines, (void)points;
    atomic_fetch_add(&reports, 1);
    return true;
}

/* Keeps the first streamlines until progress was reported twice more; gives up after 20 s. */
static gls_status wait_for_reports(void *user, const gls_streamlines *s)
{
    bool *waits = user;
    const int wanted = *waits ? atomic_load(&reports) + 2 : 0;
    (void)s;
    *waits = false;
    for (int i = 0; i < 2000 && atomic_load(&reports) < wanted; i++) nanosleep(&(struct timespec){0, 10000000}, NULL);
    return atomic_load(&reports) >= wanted ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "no progress is reported");
}

static void reports_while_all_wait(void **state)
{
    (void)state;
    group g;
    bool waits = true;
    gls_track_result result;
    gls_track_params p = params;
    p.batch_seeds = 2; /* more batches than results, so that all workers wait for the sink */
    open_group(&g, 2);
    assert_ok(create_group(&g, &p));
    atomic_store(&reports, 0);
    assert_ok(gls_tracker_run(g.tracker, seeds, &(gls_sink){.append = wait_for_reports, .user = &waits}, count_report,
                              NULL, &result));
    close_group(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bytes), cmocka_unit_test(any_pace),
                                       cmocka_unit_test(refused), cmocka_unit_test(cancelled),
                                       cmocka_unit_test(reports_while_all_wait)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
