/* A device that becomes slow in the middle of a run, as one does that is too hot: its kernels get less work each,
 * nobody takes it for hung, and the streamlines stay the same. How slow it is, is injected: the clock is put forward by
 * what a work group takes and stands still besides, so that the times do not depend on this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "gpu.h"
#include "inject.h"
#include "track/engine/pace.h"
#include "track/engine/schedule.h"
#include "util/clock.h"
#include "band.h"

#define N_SEEDS 2500
#define LONGEST 0.13 /* seconds of a kernel on a board */

static int set_up(void **state)
{
    (void)state;
    create_band(N_SEEDS);
    return 0;
}

typedef struct outcome {
    uint64_t runs;    /* of kernels */
    double longest;   /* seconds that a kernel took, with its readback */
    uint32_t resumes; /* lost contexts */
} outcome;

/* Tracks under these rules. The streamlines must be those of the first call. */
static outcome track(const char *rules)
{
    gls_device *d = open_limited(NULL);
    gls_tracker *t = NULL;
    gls_track_params p = gls_track_params_default();
    gls_track_input input = series_input(&phantom, qball);
    collection c;
    p.step_size = 0.8;
    p.max_length = 8;
    p.stop_threshold = 0.2;
    p.max_directions_per_seed = 1;
    p.mapping = GLS_MAPPING_GROUP;
    assert_ok(gls_tracker_create(d, &p, &input, &t));
    assert_ok(gls_inject_set(rules));
    gls_clock_stop(true);
    gls_track_result r = run_tracker(t, seeds, &c);
    gls_clock_stop(false);
    outcome o = {.runs = gls_inject_count(GLS_FAULT_DISPATCH), .longest = r.seconds_longest};
    assert_ok(gls_inject_set(NULL));
    o.resumes = gls_tracker_get_share(t, 0).resumes;
    if (expected.n == 0) {
        expected = c;
        assert_true(c.n > N_SEEDS / 2);
    } else {
        assert_same_collection(&c, &expected, rules);
        collection_finish(&c);
    }
    gls_tracker_destroy(t);
    gls_device_close(d);
    print_message("%s: %llu kernel runs, the longest %.2f s, %u contexts lost\n", rules, (unsigned long long)o.runs,
                  o.longest, o.resumes);
    return o;
}

/* A device that takes per_group nanoseconds for a work group, which tracks a streamline, and from kernel run hot_from
 * on so many times as long, under a driver that waits for patience ms. */
static outcome heated(unsigned per_group, unsigned patience, uint64_t hot_from, unsigned times)
{
    char rules[128];
    snprintf(rules, sizeof rules, "slow:1=%u,slow:%llu=%u,patience:%u", per_group, (unsigned long long)hot_from,
             times * per_group, patience);
    return track(rules);
}

/* Returns how often a driver that waits so long loses a device whose kernels would take so many seconds. After each
 * loss the kernels get a quarter of their work. */
static uint32_t losses(double seconds, double patience)
{
    uint32_t n = 0;
    for (; seconds > patience; seconds /= 4) n++;
    return n;
}

/* The GPU of a board, as src/track/run/worker.c paces it, and its driver, which waits for half a second. */
static void board(void **state)
{
    (void)state;
    gls_pace_rules kept = gls_pace_rule;
    gls_pace_rule = (gls_pace_rules){.first = 64, .least = 16, .wanted = 0.12, .longest = LONGEST};
    outcome cool = heated(100000, 500, 1, 1);
    outcome warm = heated(100000, 500, cool.runs / 2, 3), hot = heated(100000, 500, cool.runs / 2, 10),
            glowing = heated(100000, 500, cool.runs / 2, 30);
    gls_pace_rule = kept;
    /* no kernel is asked to take longer than the rule's longest, so at once so many times as long is the most; where
     * two batches are in flight the host may wait for a kernel of each */
    assert_true(cool.runs > 10 && cool.resumes == 0 && cool.longest <= 2 * LONGEST);
    assert_int_equal(warm.resumes, losses(3 * LONGEST, 0.5));
    assert_int_equal(warm.resumes, 0);
    assert_true(warm.longest > LONGEST && warm.longest <= 2 * 3 * LONGEST);
    /* where kernels take too long then, the driver resets the device, and it goes on with shorter ones; were they not
     * shorter, each of those that are left would be too long */
    assert_true(hot.resumes <= losses(2 * 10 * LONGEST, 0.5));
    assert_true(0 < glowing.resumes && glowing.resumes <= losses(2 * 30 * LONGEST, 0.5));
    /* the less work a kernel gets, the more there are */
    assert_true(warm.runs > cool.runs && hot.runs > warm.runs && glowing.runs > hot.runs);
}

/* A graphics card, whose driver waits for ten seconds: ten times slower is no reason to give up. */
static void graphics_card(void **state)
{
    (void)state;
    outcome cool = heated(1000000, 10000, 1, 1), hot = heated(1000000, 10000, cool.runs / 2, 10);
    assert_true(cool.resumes == 0 && hot.resumes == 0);
    /* the first kernel is as long as its items take; none after it is longer than the rule's longest */
    double longest = fmax(gls_pace_rule.longest, 1e-3 * gls_pace_rule.first);
    assert_true(hot.longest > longest && hot.longest < 10 && hot.longest <= 2 * 10 * longest);
    /* how much is left at that run differs with the device; on an H100 there were as many runs, 20 */
    gls_device *d = open_limited(NULL);
    bool software = gls_device_get_info(d)->software;
    gls_device_close(d);
    assert_true(software ? hot.runs > cool.runs : hot.runs >= cool.runs);
}

/* Passes that are begun as a whole, because all the seeds are few enough for a cool device, get shorter, too. */
static void whole_passes(void **state)
{
    (void)state;
    gls_pace pace = {.limit = 5000};
    gls_pace_note_least(&pace, 1000, 0.1);
    assert_int_equal(gls_pace_items(&pace, 5000), 5000);
    gls_pace_note_least(&pace, 4000, 7);
    const size_t items = gls_pace_items(&pace, 5000);
    assert_true(399 <= items && items <= 401);
}

/* Rules that are none. */
static void rules(void **state)
{
    (void)state;
    static const char *const bad[] = {"slow:1",  "slow:1=",    "slow:0=5",    "slow:1=x",     "slow:1=5x", "slow:1=5+",
                                      "slow:1+", "patience:0", "patience:5+", "patience:1=5", "reset:1=5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (gls_inject_set(bad[i]) != GLS_ERR_ARGUMENT) print_error("'%s' is accepted\n", bad[i]);
        assert_int_equal(gls_inject_set(bad[i]), GLS_ERR_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules), cmocka_unit_test(whole_passes), cmocka_unit_test(board),
                                       cmocka_unit_test(graphics_card)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
