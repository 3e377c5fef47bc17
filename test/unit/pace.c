/* The pace of dispatches against devices of all speeds: none takes much longer than it may, and fast ones are not held
 * up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "track/engine/pace.h"
#include "track/engine/schedule.h"

/* A device that takes this long for a dispatch and for each item. Returns the time of all items; *longest: that of the
 * longest dispatch, *n: number of dispatches. */
static double run_all(gls_pace *pace, double overhead, double per_item, uint64_t items, double *longest, uint64_t *n)
{
    double total = 0;
    *longest = 0;
    *n = 0;
    while (items > 0) {
        uint32_t piece = gls_pace_items(pace, items < 100000 ? (uint32_t)items : 100000);
        double seconds = overhead + per_item * piece;
        assert_true(piece > 0 && piece <= items);
        gls_pace_note(pace, piece, seconds);
        total += seconds;
        if (seconds > *longest) *longest = seconds;
        items -= piece;
        ++*n;
    }
    return total;
}

static void all_speeds(void **state)
{
    (void)state;
    for (double per_item = 1e-9; per_item < 7e-4; per_item *= 1.7)
        for (double overhead = 1e-6; overhead < 0.2; overhead *= 4) {
            gls_pace pace = {0};
            double longest;
            uint64_t n;
            const uint64_t items = 1000000;
            double total = run_all(&pace, overhead, per_item, items, &longest, &n), least = per_item * (double)items;
            assert_true(longest < 1 && pace.longest == longest);
            /* dispatches as long as they may be, but for the first few; batches end each 100000 items */
            double dispatches = least / 0.12 + 20;
            assert_true((double)n <= dispatches);
            assert_true(total <= least + overhead * dispatches + 1e-9);
        }
}

/* A device that becomes slower, as its items become more work. */
static void slowing_down(void **state)
{
    (void)state;
    gls_pace pace = {0};
    double longest;
    uint64_t n;
    run_all(&pace, 1e-5, 1e-7, 2000000, &longest, &n);
    for (double per_item = 1e-7; per_item < 1e-3; per_item *= 1.3) {
        run_all(&pace, 1e-5, per_item, 200000, &longest, &n);
        assert_true(longest < 1);
    }
    /* the device becomes this much slower at once: one dispatch is too long, the next ones are not */
    gls_pace fast = {0};
    run_all(&fast, 1e-5, 1e-7, 2000000, &longest, &n);
    run_all(&fast, 1e-5, 1e-4, 1, &longest, &n);
    gls_pace_note(&fast, 100000, 10);
    run_all(&fast, 1e-5, 1e-4, 200000, &longest, &n);
    assert_true(longest < 1);
}

/* The GPU of a board, whose driver waits for half a second: it gets too hot and three times as slow, at once, and cools
 * down, again and again. */
static void throttled(void **state)
{
    (void)state;
    for (double per_item = 1e-6; per_item < 1.5e-3; per_item *= 1.7) {
        gls_pace pace = {.first = 64, .least = 16, .wanted = 0.12};
        double longest, total = 0;
        uint64_t n;
        for (int i = 0; i < 20; i++) {
            total += run_all(&pace, 1e-4, i % 2 ? 3 * per_item : per_item, 300000, &longest, &n);
            assert_true(longest < 0.4);
        }
        /* no time is lost after it has cooled down */
        assert_true(total < 20 * 2 * per_item * 300000 * 1.05);
    }
}

/* If smaller pieces do not become faster, pieces do not get smaller than a GPU needs. */
static void long_latency(void **state)
{
    (void)state;
    gls_pace pace = {0};
    double longest;
    uint64_t n;
    run_all(&pace, 1.5, 1e-6, 100000, &longest, &n);
    assert_int_equal(gls_pace_items(&pace, 100000), gls_pace_rule.least);
}

/* Pieces that the pace cuts a little shorter than its limit, as whole turns make them, get longer all the same. */
static void rounded(void **state)
{
    (void)state;
    gls_pace pace = {0};
    for (int i = 0; i < 30; i++) {
        uint32_t n = gls_pace_items(&pace, 1000000);
        gls_pace_note(&pace, n - n / 9, 1e-6 * n);
    }
    assert_true(gls_pace_items(&pace, 1000000) > 200000);
    gls_pace own = {.least = 10};
    for (int i = 0; i < 30; i++) gls_pace_note(&own, gls_pace_items(&own, 1000), 5);
    assert_int_equal(gls_pace_items(&own, 1000), 10);
}

static void guesses(void **state)
{
    (void)state;
    gls_pace known = {0}, guessed = {0};
    gls_pace_guess(&guessed, &known, 100);
    assert_int_equal(guessed.limit, 0);
    gls_pace_note(&known, 1000, 1e-3);
    gls_pace_guess(&guessed, &known, 100);
    assert_true(3400 <= guessed.limit && guessed.limit <= 3600); /* 0.35 s of 1e-4 s each */
    gls_pace_guess(&guessed, &known, 1);
    assert_true(3400 <= guessed.limit && guessed.limit <= 3600); /* the pace is known by now */
    /* a hundredth of the work took 1 ms for 2000 items: 0.35 s are enough for 7000 */
    gls_pace part = {0};
    gls_pace_guess_from(&part, 2000, 1e-3, 100);
    assert_true(6800 <= part.limit && part.limit <= 7200);
    /* few cheap items say nothing of many, and a board's first dispatches stay small */
    gls_pace_note(&known, 100, 1e-9);
    gls_pace after = {0}, board = {.first = 64, .least = 16, .wanted = 0.12};
    gls_pace_guess(&after, &known, 100);
    assert_int_equal(after.limit, guessed.limit);
    gls_pace_guess(&board, &known, 1e-3);
    assert_int_equal(board.limit, 64);
    gls_pace_note(&board, 64, 1e-9);
    assert_int_equal(board.limit, 512);
    gls_pace_slow(&guessed);
    assert_true(850 <= guessed.limit && guessed.limit <= 900);
    for (int i = 0; i < 40; i++) gls_pace_slow(&guessed);
    assert_int_equal(guessed.limit, gls_pace_rule.least);
    gls_pace none = {0};
    gls_pace_slow(&none);
    gls_pace_note(&none, 0, 1);
    assert_int_equal(none.limit, 0);
    gls_pace_note(&none, 1024, 0);
    assert_true(gls_pace_items(&none, UINT32_MAX) > 1024);
    for (int i = 0; i < 40; i++) gls_pace_note(&none, gls_pace_items(&none, UINT32_MAX), 1e-12);
    assert_int_equal(gls_pace_items(&none, UINT32_MAX), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_speeds), cmocka_unit_test(slowing_down),
                                       cmocka_unit_test(throttled),  cmocka_unit_test(long_latency),
                                       cmocka_unit_test(rounded),    cmocka_unit_test(guesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
