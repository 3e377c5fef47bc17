/* Counts that are read from a file are added only if no number in them lies outside of the histograms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "track/engine/outcomes.h"

#define MAX_STEPS 10
#define PARTS 2

/* Two streamlines of the second of three seeds: one that is kept, of all steps, and one that is too short. */
static void fill(gls_outcomes *t)
{
    assert_int_equal(gls_outcomes_reserve(t, 3, 2), GLS_OK);
    t->n_seeds = 3;
    t->n_outcomes = 2;
    t->lines[0] = 0;
    t->lines[1] = 2;
    t->lines[2] = GLS_SEED_REJECTED;
    t->outcome[0] = (gls_outcome){.backward = 4,
                                  .forward = 6,
                                  .parts = MAX_STEPS * PARTS,
                                  .points = MAX_STEPS + 1,
                                  .verdict = GLS_VERDICT_KEPT,
                                  .met = 0x80000001u,
                                  .met_counts = true};
    t->outcome[1] = (gls_outcome){.verdict = GLS_VERDICT_TOO_SHORT};
}

static void test_counts(void **state)
{
    (void)state;
    gls_outcomes t = {0};
    gls_track_stats stats;
    assert_int_equal(gls_track_stats_init(&stats, MAX_STEPS, PARTS), GLS_OK);
    fill(&t);
    assert_true(gls_outcomes_are_valid(&t, UINT64_MAX, 1, &stats));
    assert_int_equal(gls_outcomes_count(&t, UINT64_MAX, &stats), 1);
    const gls_track_result *r = &stats.result;
    assert_true(r->seeds == 3 && r->seeds_without_direction == 1 && r->seeds_rejected == 1 && r->directions == 2);
    assert_true(r->streamlines == 1 && r->points == MAX_STEPS + 1 && r->met[0] == 1 && r->met[31] == 1 && !r->met[1]);
    gls_outcomes_finish(&t);
    gls_track_stats_finish(&stats);
}

static void test_damage(void **state)
{
    (void)state;
    gls_outcomes t = {0};
    gls_track_stats stats;
    assert_int_equal(gls_track_stats_init(&stats, MAX_STEPS, PARTS), GLS_OK);
#define REFUSED(change) \
    fill(&t);           \
    change;             \
    assert_false(gls_outcomes_are_valid(&t, UINT64_MAX, 1, &stats))
    REFUSED(t.outcome[0].points = 0);
    REFUSED(t.outcome[0].points = MAX_STEPS + 2);
    REFUSED(t.outcome[0].points = UINT32_MAX);
    REFUSED(t.outcome[0].parts = MAX_STEPS * PARTS + 1);
    REFUSED(t.outcome[0].verdict = GLS_VERDICT_COUNT);
    REFUSED(t.outcome[1].end[1] = GLS_END_COUNT);
    REFUSED(t.outcome[1] = t.outcome[0]); /* two are kept according to the file, one is there */
    REFUSED(t.lines[1] = 1);
    REFUSED(t.n_outcomes = 1);
#undef REFUSED
    gls_outcomes_finish(&t);
    gls_track_stats_finish(&stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
