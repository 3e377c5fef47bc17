/* Summaries of streamlines, and filters that change their columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/filters.h>
#include <glslines/summary.h>
#include <math.h>
#include <string.h>

static float points[7][3] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {5, 5, 5}, {0, 0, 0}, {0, NAN, 0}, {9, 0, 0}};
static const uint64_t offsets[] = {0, 3, 3, 4, 6, 7};
static float fa[7] = {1, 2, 3, 4, NAN, 6, 7};
static unsigned char members[5] = {1, 0, 1, 1, 0};

static gls_streamlines make_lines(gls_column dpv[1], gls_column group[1])
{
    dpv[0] = (gls_column){"fa", GLS_TYPE_FLOAT32, 1, fa};
    group[0] = (gls_column){"left", GLS_TYPE_BOOL, 1, members};
    return (gls_streamlines){.n = 5,
                             .offset = offsets,
                             .point = (const float(*)[3])points,
                             .n_dpv = 1,
                             .dpv = dpv,
                             .n_groups = 1,
                             .group = group};
}

static void test_summary(void **state)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    gls_summary *summary;
    gls_column dpv[1], group[1];
    gls_streamlines s = make_lines(dpv, group);
    (void)state;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){8, 8, 8}, affine), GLS_OK);
    assert_int_equal(gls_summary_create(&grid, &summary), GLS_OK);
    gls_sink sink = gls_summary_sink(summary);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    const gls_summary_result *r = gls_summary_get(summary);
    assert_true(r->streamlines == 10 && r->points == 14 && r->empty == 2 && r->single_points == 4);
    assert_true(r->not_finite == 2 && r->first_not_finite == 3);
    assert_true(r->outside == 2 && r->first_outside == 4);
    assert_true(r->low[0] == 0 && r->high[0] == 9 && r->high[2] == 5);
    assert_true(r->length.n == 6 && r->length.min == 0 && r->length.max == 3 && fabs(r->length.mean - 1) < 1e-12);
    assert_true(r->step.n == 4 && r->step.median == 1.5 && r->step.quartile[0] == 1 && r->step.quartile[1] == 2);
    assert_true(r->n_columns == 2 && strcmp(r->column[0].name, "fa") == 0);
    assert_true(r->column[0].n == 12 && r->column[0].n_not_finite == 2 && r->column[0].max == 7);
    assert_true(r->column[1].kind == GLS_COLUMN_GROUP && r->column[1].n == 6);
    s.n_dpv = 0;
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_ARGUMENT);
    gls_summary_destroy(summary);
}

static void test_nothing(void **state)
{
    gls_summary *summary;
    (void)state;
    assert_int_equal(gls_summary_create(NULL, &summary), GLS_OK);
    const gls_summary_result *r = gls_summary_get(summary);
    assert_true(r->streamlines == 0 && r->length.median == 0 && r->length.sd == 0 && r->n_columns == 0);
    gls_summary_destroy(summary);
    gls_summary_destroy(NULL);
}

/* The streamlines of the last append. */
static gls_streamlines got;
static double first_weight;
static bool finished;

static gls_status take(void *user, const gls_streamlines *s)
{
    (void)user;
    got = *s;
    if (s->n_dps > 0) first_weight = gls_column_value(&s->dps[0], 0);
    return GLS_OK;
}

static gls_status finish(void *user)
{
    (void)user;
    finished = true;
    return GLS_OK;
}

static void test_fields(void **state)
{
    const char *const names[] = {"left", "nothing"};
    gls_column dpv[1], group[1];
    gls_streamlines s = make_lines(dpv, group);
    gls_sink last = {take, finish, NULL, NULL}, sink;
    (void)state;
    assert_int_equal(gls_filter_columns_create(names, 2, &last, &sink), GLS_OK);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    assert_true(got.n == 5 && got.n_dpv == 0 && got.n_groups == 1 && got.n_dps == 0);
    finished = false;
    assert_int_equal(gls_sink_finish(&sink), GLS_OK);
    assert_true(finished);
}

static void test_added(void **state)
{
    static const float weights[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const gls_column column = {"w", GLS_TYPE_FLOAT32, 1, weights};
    gls_column dpv[1], group[1];
    gls_streamlines s = make_lines(dpv, group);
    gls_sink last = {take, finish, NULL, NULL}, sink;
    (void)state;
    for (int times = 1; times <= 3; times++) {
        assert_int_equal(gls_filter_dps_create(&column, 10, &last, &sink), GLS_OK);
        finished = false;
        for (int i = 0; i < times && i < 2; i++) assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
        assert_true(got.n_dps == 1 && first_weight == (times > 1 ? 5 : 0));
        if (times == 3) assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_INPUT);
        if (times == 3)
            gls_sink_abort(&sink);
        else
            assert_int_equal(gls_sink_finish(&sink), times == 2 ? GLS_OK : GLS_ERR_INPUT);
        assert_int_equal(finished, times == 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_summary), cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_fields), cmocka_unit_test(test_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
