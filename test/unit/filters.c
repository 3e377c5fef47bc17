/* Sinks and filters: which of them finishes which, which streamlines pass, and where points and values end up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/filters.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/sink_pair.h"
#include "lines.h"
#include "util/status.h"

enum { MAX_LINES = 40000, MAX_POINTS = 400000 };

/* Keeps what it gets. */
static struct kept {
    size_t n, appends, finished, aborted, fail_at;
    uint64_t offset[MAX_LINES + 1];
    float point[MAX_POINTS][3], seed[MAX_LINES][3], fa[MAX_POINTS];
    int16_t label[MAX_POINTS];
    uint32_t seed_index[MAX_LINES];
    unsigned char member[MAX_LINES];
} kept, other;

static gls_status take(void *user, const gls_streamlines *s)
{
    struct kept *k = user;
    if (++k->appends == k->fail_at) return gls_fail(GLS_ERR_OUTPUT, "the disk is full");
    assert_true(s->n > 0 && s->offset[0] == 0);
    uint64_t first = k->offset[k->n], points = s->offset[s->n];
    for (size_t i = 0; i < s->n; i++) k->offset[k->n + i + 1] = first + s->offset[i + 1];
    memcpy(k->point[first], s->point, points * sizeof *s->point);
    const gls_column *fa = gls_column_find(s->dpv, s->n_dpv, "fa"), *label = gls_column_find(s->dpv, s->n_dpv, "label");
    if (fa) memcpy(k->fa + first, fa->data, points * sizeof *k->fa);
    if (label) memcpy(k->label + first, label->data, points * sizeof *k->label);
    if (seed_of(s)) memcpy(k->seed[k->n], seed_of(s), s->n * sizeof *k->seed);
    if (seed_index_of(s)) memcpy(k->seed_index + k->n, seed_index_of(s), s->n * sizeof *k->seed_index);
    if (s->n_groups > 0) memcpy(k->member + k->n, s->group[0].data, s->n);
    k->n += s->n;
    return GLS_OK;
}

static gls_status finish(void *user)
{
    ((struct kept *)user)->finished++;
    return GLS_OK;
}

static void drop(void *user)
{
    ((struct kept *)user)->aborted++;
}

static gls_sink keeper(struct kept *k)
{
    memset(k, 0, sizeof *k);
    return (gls_sink){take, finish, drop, k};
}

/* Streamlines along x with points 1 mm apart: of 4, 0, 1 and 11 points, starting at y = 10 times their number. */
static const uint64_t offsets[] = {0, 4, 4, 5, 16};
static gls_streamlines make_lines(void)
{
    static float point[16][3], seed[4][3], fa[16];
    static int16_t label[16];
    static uint32_t index[4] = {5, 6, 7, 8};
    static unsigned char member[4] = {1, 0, 0, 1};
    static gls_column dps[2], dpv[2], group[1];
    for (int i = 0; i < 4; i++) {
        for (uint64_t p = offsets[i]; p < offsets[i + 1]; p++) {
            point[p][0] = (float)(p - offsets[i]);
            point[p][1] = 10.0f * (float)i;
            fa[p] = 0.5f * (float)(p - offsets[i]);
            label[p] = (int16_t)(p - offsets[i]);
        }
        seed[i][0] = (float)i;
    }
    gls_streamlines s = make_streamlines(4, offsets, (const float(*)[3])point, index, (const float(*)[3])seed, dps);
    dpv[0] = (gls_column){"fa", GLS_TYPE_FLOAT32, 1, fa};
    dpv[1] = (gls_column){"label", GLS_TYPE_INT16, 1, label};
    group[0] = (gls_column){"a", GLS_TYPE_BOOL, 1, member};
    s.n_dpv = 2;
    s.dpv = dpv;
    s.n_groups = 1;
    s.group = group;
    return s;
}

static void run(gls_sink *filter, int times)
{
    gls_streamlines s = make_lines();
    for (int i = 0; i < times; i++) assert_int_equal(gls_sink_append(filter, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(filter), GLS_OK);
    assert_null(filter->append);
    assert_true(kept.finished == 1 && kept.aborted == 0);
}

static void expect_indices(const uint32_t *expected, size_t n)
{
    assert_int_equal(kept.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(kept.seed_index[i], expected[i]);
        assert_int_equal(kept.member[i], expected[i] == 5 || expected[i] == 8);
        assert_int_equal(kept.offset[i + 1] - kept.offset[i], offsets[expected[i] - 4] - offsets[expected[i] - 5]);
    }
}

static gls_status fail_silently(void *user, const gls_streamlines *s)
{
    (void)user, (void)s;
    return GLS_ERR_OUTPUT;
}

/* A sink without a message of its own does not leave that of an older failure. */
static void test_message(void **state)
{
    (void)state;
    gls_streamlines s = make_lines();
    gls_sink sinks[2] = {{.append = fail_silently}, keeper(&other)}, tee;
    assert_int_equal(gls_sink_tee(sinks, 2, &tee), GLS_OK);
    gls_error_set("an older failure");
    assert_int_equal(gls_sink_append(&tee, &s), GLS_ERR_OUTPUT);
    assert_string_equal(gls_last_error(), "the sink of the calling program failed: output error");
    gls_sink_abort(&tee);
}

static void test_tee(void **state)
{
    (void)state;
    gls_streamlines s = make_lines();
    gls_sink sinks[2] = {keeper(&kept), keeper(&other)}, tee;
    assert_int_equal(gls_sink_tee(sinks, 2, &tee), GLS_OK);
    assert_int_equal(gls_sink_append(&tee, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(&tee), GLS_OK);
    assert_true(kept.n == 4 && other.n == 4 && kept.finished == 1 && other.finished == 1 && other.aborted == 0);
    sinks[0] = keeper(&kept);
    sinks[1] = keeper(&other);
    kept.fail_at = 1;
    assert_int_equal(gls_sink_tee(sinks, 2, &tee), GLS_OK);
    assert_int_equal(gls_sink_append(&tee, &s), GLS_ERR_OUTPUT);
    gls_sink_abort(&tee);
    gls_sink_abort(&tee); /* empty by now */
    assert_true(kept.aborted == 1 && other.aborted == 1 && other.appends == 0 && kept.finished == 0);
    assert_int_equal(gls_sink_tee(NULL, 0, &tee), GLS_OK);
    assert_int_equal(gls_sink_append(&tee, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(&tee), GLS_OK);
}

static gls_status fail_append(void *user, const gls_streamlines *s)
{
    (void)user, (void)s;
    return gls_fail(GLS_ERR_OUTPUT, "the second: the disk is full");
}

/* The second sink works on a thread of its own; the pair fails with its failure and message. */
static void test_pair(void **state)
{
    (void)state;
    gls_streamlines s = make_lines();
    gls_sink first = keeper(&kept), second = keeper(&other), both;
    assert_int_equal(gls_sink_pair(&first, &second, &both), GLS_OK);
    for (int i = 0; i < 50; i++) assert_int_equal(gls_sink_append(&both, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(&both), GLS_OK);
    assert_true(kept.n == 200 && other.n == 200 && kept.finished == 1 && other.finished == 1 && other.aborted == 0);
    first = keeper(&kept);
    second = (gls_sink){.append = fail_append};
    assert_int_equal(gls_sink_pair(&first, &second, &both), GLS_OK);
    assert_int_equal(gls_sink_append(&both, &s), GLS_ERR_OUTPUT);
    assert_string_equal(gls_last_error(), "the second: the disk is full");
    gls_sink_abort(&both);
    assert_true(kept.aborted == 1 && kept.finished == 0);
    first = keeper(&kept);
    second = keeper(&other);
    kept.fail_at = 1;
    assert_int_equal(gls_sink_pair(&first, &second, &both), GLS_OK);
    assert_int_equal(gls_sink_append(&both, &s), GLS_ERR_OUTPUT);
    gls_sink_abort(&both);
    assert_true(kept.aborted == 1 && other.aborted == 1 && other.appends == 1);
}

static void test_selection(void **state)
{
    (void)state;
    gls_filter_counts counts;
    gls_sink last = keeper(&kept), filter;
    assert_int_equal(gls_filter_length_create(3.00005, 10, &counts, &last, &filter), GLS_OK);
    run(&filter, 1);
    expect_indices((const uint32_t[]){5, 8}, 2); /* the slack of 1e-4 mm */
    assert_true(counts.taken == 4 && counts.kept == 2);
    last = keeper(&kept);
    assert_int_equal(gls_filter_length_create(0, 9.99, NULL, &last, &filter), GLS_OK);
    run(&filter, 1);
    expect_indices((const uint32_t[]){5, 6, 7}, 3);
    last = keeper(&kept);
    assert_int_equal(gls_filter_valid_create(&counts, &last, &filter), GLS_OK);
    run(&filter, 2);
    expect_indices((const uint32_t[]){5, 7, 8, 5, 7, 8}, 6);
    last = keeper(&kept);
    assert_int_equal(gls_filter_every_create(1, 2, 3, &counts, &last, &filter), GLS_OK);
    run(&filter, 3);
    expect_indices((const uint32_t[]){6, 8, 6}, 3);
    assert_true(counts.taken == 12 && counts.kept == 3);
    last = keeper(&kept);
    assert_int_equal(gls_filter_vertices_create(1, 4, &counts, &last, &filter), GLS_OK);
    run(&filter, 1);
    expect_indices((const uint32_t[]){5, 7}, 2);
    assert_true(counts.taken == 4 && counts.kept == 2);
    last = keeper(&kept);
    assert_int_equal(gls_filter_every_create(0, 0, 3, NULL, &last, &filter), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_filter_spread_create(0, 3, NULL, &last, &filter), GLS_ERR_ARGUMENT);
    last = keeper(&kept);
    assert_int_equal(gls_filter_spread_create(3, 12, &counts, &last, &filter), GLS_OK);
    run(&filter, 3);
    expect_indices((const uint32_t[]){5, 5, 5}, 3);
    assert_true(counts.taken == 12 && counts.kept == 3);
    last = keeper(&kept);
    assert_int_equal(gls_filter_spread_create(9, 4, NULL, &last, &filter), GLS_OK);
    run(&filter, 1);
    expect_indices((const uint32_t[]){5, 6, 7, 8}, 4);
    last = keeper(&kept);
    assert_int_equal(gls_filter_vertices_create(3, 2, NULL, &last, &filter), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_filter_length_create(-1, 3, NULL, &last, &filter), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_filter_length_create(4, 3, NULL, &last, &filter), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_filter_points_create(1, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_filter_step_create(0, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_filter_compress_create(NAN, 10, &last, &filter), GLS_ERR_ARGUMENT);
}

static void test_chain(void **state)
{
    (void)state;
    static const double map[3][4] = {{2, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, -3}};
    gls_streamlines s = make_lines();
    gls_sink last = keeper(&kept), moved, filter;
    assert_int_equal(gls_filter_transform_create(map, &last, &moved), GLS_OK);
    assert_int_equal(gls_filter_valid_create(NULL, &moved, &filter), GLS_OK);
    run(&filter, 1);
    assert_int_equal(kept.n, 3);
    assert_true(kept.point[3][0] == 7 && kept.point[3][2] == -3 && kept.seed[2][0] == 7 && kept.fa[3] == 1.5f);
    last = keeper(&kept);
    kept.fail_at = 1;
    assert_int_equal(gls_filter_transform_create(map, &last, &moved), GLS_OK);
    assert_int_equal(gls_filter_valid_create(NULL, &moved, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_ERR_OUTPUT);
    gls_sink_abort(&filter);
    assert_true(kept.aborted == 1 && kept.finished == 0);
}

static void test_points(void **state)
{
    (void)state;
    gls_sink last = keeper(&kept), filter;
    assert_int_equal(gls_filter_points_create(5, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_OK);
    run(&filter, 1);
    static const uint64_t expected[] = {0, 5, 5, 10, 15};
    assert_memory_equal(kept.offset, expected, sizeof expected);
    for (int k = 0; k < 5; k++) {
        assert_float_equal(kept.point[k][0], 0.75 * k, 1e-6);
        assert_float_equal(kept.fa[k], 0.375 * k, 1e-6);
        assert_int_equal(kept.label[k], (int)lrint(0.75 * k + 1e-3));
        assert_true(kept.point[5 + k][0] == 0 && kept.point[5 + k][1] == 20);
        assert_float_equal(kept.point[10 + k][0], 2.5 * k, 1e-6);
    }
    assert_true(kept.point[14][0] == 10 && kept.label[14] == 10);
}

static void test_step(void **state)
{
    (void)state;
    gls_sink last = keeper(&kept), filter;
    assert_int_equal(gls_filter_step_create(4, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_OK);
    run(&filter, 1);
    static const uint64_t expected[] = {0, 2, 2, 3, 7};
    static const float x[] = {0, 3, 0, 0, 4, 8, 10};
    assert_memory_equal(kept.offset, expected, sizeof expected);
    for (int k = 0; k < 7; k++) assert_float_equal(kept.point[k][0], x[k], 1e-6);
    last = keeper(&kept);
    assert_int_equal(gls_filter_step_create(5, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_OK);
    run(&filter, 1);
    assert_int_equal(kept.offset[4] - kept.offset[3], 3); /* 0, 5, 10: no rest */
}

static void test_compress(void **state)
{
    (void)state;
    gls_sink last = keeper(&kept), filter;
    assert_int_equal(gls_filter_compress_create(0.01, INFINITY, &last, &filter), GLS_OK);
    run(&filter, 1);
    static const uint64_t ends[] = {0, 2, 2, 3, 5};
    assert_memory_equal(kept.offset, ends, sizeof ends);
    assert_true(kept.point[4][0] == 10 && kept.fa[4] == 5 && kept.label[1] == 3);
    last = keeper(&kept);
    assert_int_equal(gls_filter_compress_create(0.01, 4, &last, &filter), GLS_OK);
    run(&filter, 1);
    assert_int_equal(kept.offset[4] - kept.offset[3], 4); /* 0, 4, 8, 10 */
    assert_true(kept.point[4][0] == 4 && kept.point[5][0] == 8);
    /* a corner stays */
    static const float corner[5][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 2, 0}};
    static const uint64_t offset[2] = {0, 5};
    gls_streamlines s = {.n = 1, .offset = offset, .point = corner};
    last = keeper(&kept);
    assert_int_equal(gls_filter_compress_create(0.1, 10, &last, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(&filter), GLS_OK);
    assert_int_equal(kept.offset[1], 3);
    assert_memory_equal(kept.point[1], corner[2], sizeof corner[2]);
    /* of equal points in a row one is kept; a streamline that returns to its start keeps all its corners */
    static const float repeated[9][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {2, 0, 0}, {2, 0, 0},
                                         {2, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 3, 0}};
    static const uint64_t nine[2] = {0, 9};
    s = (gls_streamlines){.n = 1, .offset = nine, .point = repeated};
    last = keeper(&kept);
    assert_int_equal(gls_filter_compress_create(0.1, 10, &last, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(&filter), GLS_OK);
    assert_int_equal(kept.offset[1], 4);
    assert_true(kept.point[1][0] == 2 && kept.point[2][0] == 0 && kept.point[3][1] == 3);
}

/* Output that is much larger than the input is passed on in several batches. */
static void test_growth(void **state)
{
    (void)state;
    gls_sink last = keeper(&kept), filter;
    assert_int_equal(gls_filter_points_create(40000, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_OK);
    run(&filter, 2);
    assert_true(kept.n == 8 && kept.offset[8] == 6 * 40000 && kept.appends >= 2);
    assert_true(kept.point[40000 - 1][0] == 3 && kept.point[6 * 40000 - 1][0] == 10 && kept.seed_index[7] == 8);
}

static void test_other_columns(void **state)
{
    (void)state;
    gls_streamlines s = make_lines();
    gls_sink last = keeper(&kept), filter;
    assert_int_equal(gls_filter_valid_create(NULL, &last, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_OK);
    s.n_dpv = 1;
    assert_int_equal(gls_sink_append(&filter, &s), GLS_ERR_ARGUMENT);
    gls_sink_abort(&filter);
    /* as many columns, but one of values of points instead of streamlines, for which its memory would be too small */
    static const float many[16] = {0};
    const gls_column column = {"v", GLS_TYPE_FLOAT32, 1, many};
    s = make_lines();
    s.n_dps = s.n_groups = 0;
    s.n_dpv = 1;
    s.dpv = &column;
    gls_streamlines first = s;
    first.n_dps = 1;
    first.dps = &column;
    first.n_dpv = 0;
    last = keeper(&kept);
    assert_int_equal(gls_filter_points_create(5, GLS_INTERPOLATE_LINEAR, &last, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &first), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_ERR_ARGUMENT);
    gls_sink_abort(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message),       cmocka_unit_test(test_tee),      cmocka_unit_test(test_pair),
        cmocka_unit_test(test_selection),     cmocka_unit_test(test_chain),    cmocka_unit_test(test_points),
        cmocka_unit_test(test_step),          cmocka_unit_test(test_compress), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_other_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
