/* Connectomes: the region of each end, and the values of cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/connectome.h>
#include <math.h>
#include <string.h>

/* Voxels of 1 mm in a row of 20 along x; labels 7 at 2, 9 at 8, 30 at 15 and 16. */
static gls_labels *make_labels(void)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    static int32_t data[20];
    gls_labels *labels;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){20, 1, 1}, affine), GLS_OK);
    memset(data, 0, sizeof data);
    assert_int_equal(gls_labels_wrap(&grid, data, &labels), GLS_OK);
    labels->data[2] = 7;
    labels->data[8] = 9;
    labels->data[15] = labels->data[16] = 30;
    return labels;
}

/* Streamlines 7 - 9 of 8 mm, 9 - 7 of 4 mm, 30 - 30 of one point, 7 - none, none. */
static const float points[][3] = {{1, 0, 0}, {9, 0, 0}, {7, 0, 0}, {3, 0, 0}, {16.5f, 0, 0}, {2, 0, 0}, {2, 9, 0}};
static const uint64_t offsets[] = {0, 2, 4, 5, 7, 7};
static const double weights[] = {2, 1, 4, 8, 16};
static const gls_column column = {"w", GLS_TYPE_FLOAT64, 1, weights};
static const gls_streamlines lines = {.n = 5, .offset = offsets, .point = points, .n_dps = 1, .dps = &column};

static gls_connectome *make(gls_connectome_options o)
{
    gls_connectome *c;
    gls_labels *labels = make_labels();
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_OK);
    gls_labels_destroy(labels);
    gls_sink sink = gls_connectome_sink(c);
    assert_int_equal(gls_sink_append(&sink, &lines), GLS_OK);
    return c;
}

static void test_counts(void **state)
{
    const int32_t *label;
    (void)state;
    gls_connectome *c = make(gls_connectome_options_default());
    gls_connectome_counts counts = gls_connectome_get_counts(c);
    assert_true(counts.streamlines == 5 && counts.empty == 1 && counts.joined == 3 && counts.unassigned == 1);
    assert_true(gls_connectome_nodes(c, &label) == 3 && label[0] == 7 && label[1] == 9 && label[2] == 30);
    assert_true(gls_connectome_size(c) == 3 && gls_connectome_value(c, 0, 1) == 2);
    assert_true(gls_connectome_value(c, 1, 0) == 0 && gls_connectome_value(c, 2, 2) == 1);
    gls_connectome_destroy(c);
    gls_connectome_options o = {
        .size = sizeof o, .radius = 4, .symmetric = true, .zero_diagonal = true, .keep_unassigned = true};
    c = make(o);
    assert_true(gls_connectome_size(c) == 4 && gls_connectome_value(c, 0, 1) == 1);
    assert_true(gls_connectome_value(c, 2, 1) == 2 && gls_connectome_value(c, 3, 3) == 0);
    gls_connectome_destroy(c);
    o = gls_connectome_options_default();
    o.radius = 1; /* a region has to be strictly nearer: only the single point finds one */
    c = make(o);
    assert_true(gls_connectome_value(c, 0, 1) == 0 && gls_connectome_value(c, 2, 2) == 1);
    gls_connectome_destroy(c);
    o.assignment = GLS_ASSIGN_END;
    c = make(o);
    assert_true(gls_connectome_get_counts(c).joined == 0 || gls_connectome_value(c, 0, 1) == 0);
    gls_connectome_destroy(c);
}

static double cell(gls_connectome_scale scale, gls_connectome_stat stat, const char *name, size_t row, size_t col)
{
    gls_connectome_options o = {.size = sizeof o, .radius = 4, .scale = scale, .stat = stat, .weights = name};
    gls_connectome *c = make(o);
    double value = gls_connectome_value(c, row, col);
    gls_connectome_destroy(c);
    return value;
}

static void test_values(void **state)
{
    (void)state;
    assert_true(cell(GLS_SCALE_NONE, GLS_STAT_SUM, "w", 0, 1) == 3);
    assert_true(cell(GLS_SCALE_LENGTH, GLS_STAT_SUM, NULL, 0, 1) == 12);
    assert_true(cell(GLS_SCALE_LENGTH, GLS_STAT_MEAN, NULL, 0, 1) == 6);
    assert_true(fabs(cell(GLS_SCALE_LENGTH, GLS_STAT_MEAN, "w", 0, 1) - 20.0 / 3) < 1e-12);
    assert_true(cell(GLS_SCALE_LENGTH, GLS_STAT_MIN, NULL, 0, 1) == 4);
    assert_true(cell(GLS_SCALE_LENGTH, GLS_STAT_MAX, NULL, 0, 1) == 8);
    assert_true(isnan(cell(GLS_SCALE_LENGTH, GLS_STAT_MAX, NULL, 0, 2)));
    assert_true(cell(GLS_SCALE_NONE, GLS_STAT_MEAN, NULL, 0, 2) == 0);
    assert_true(cell(GLS_SCALE_INVLENGTH, GLS_STAT_SUM, NULL, 0, 1) == 0.375);
    assert_true(cell(GLS_SCALE_INVLENGTH, GLS_STAT_SUM, NULL, 2, 2) == 0);
    assert_true(cell(GLS_SCALE_INVNODEVOL, GLS_STAT_SUM, NULL, 2, 2) == 0.5);
}

static gls_connectome *make_by(gls_assignment assignment, double radius, gls_roi_test test, unsigned scale)
{
    gls_connectome_options o = gls_connectome_options_default();
    o.assignment = assignment;
    o.radius = radius;
    o.test = test;
    o.scale = scale;
    o.edges = true;
    return make(o);
}

static void test_assignments(void **state)
{
    (void)state;
    gls_connectome *c = make_by(GLS_ASSIGN_ALL, 0, GLS_ROI_TEST_SEGMENT, GLS_SCALE_NONE);
    gls_connectome_counts counts = gls_connectome_get_counts(c);
    assert_true(gls_connectome_value(c, 0, 1) == 1 && gls_connectome_value(c, 0, 0) == 1);
    assert_true(gls_connectome_value(c, 2, 2) == 0 && counts.joined == 1 && counts.unassigned == 5);
    gls_connectome_edge edge = gls_connectome_get_edge(c, 0, 1);
    assert_true(edge.count == 1 && edge.mean_length == 8 && edge.sum == 1);
    assert_true(gls_connectome_get_edge(c, 1, 2).count == 0 && isnan(gls_connectome_get_edge(c, 1, 2).mean));
    assert_true(gls_connectome_get_edge(c, 0, 1000).count == 0 && isnan(gls_connectome_get_edge(c, 1000, 1).mean));
    gls_connectome_destroy(c);
    c = make_by(GLS_ASSIGN_ALL, 0, GLS_ROI_TEST_VERTEX, GLS_SCALE_NONE);
    assert_true(gls_connectome_value(c, 0, 1) == 0);
    gls_connectome_destroy(c);
    c = make_by(GLS_ASSIGN_FORWARD, 3, GLS_ROI_TEST_SEGMENT, GLS_SCALE_NONE);
    assert_true(gls_connectome_value(c, 0, 1) == 1); /* from 7 to 3 mm: 8 and 2 are ahead; from 1 to 9: nothing is */
    gls_connectome_destroy(c);
    c = make_by(GLS_ASSIGN_RADIAL, 4, GLS_ROI_TEST_SEGMENT, GLS_SCALE_LENGTH | GLS_SCALE_INVNODEVOL_MM3);
    assert_true(gls_connectome_value(c, 0, 1) == 12);
    gls_connectome_destroy(c);
    gls_connectome_options o = {.size = sizeof o, .radius = 4, .raw_labels = true};
    c = make(o);
    assert_true(gls_connectome_get_edge(c, 6, 8).count == 0); /* without the option edges */
    assert_true(gls_connectome_size(c) == 30 && gls_connectome_value(c, 6, 8) == 2);
    gls_connectome_destroy(c);
    /* labels that get rows even if they do not occur, however large; numbers that are no labels get none */
    o = (gls_connectome_options){
        .size = sizeof o, .radius = 4, .rows = (const int32_t[]){40, 9, 8, 0, -3, 1 << 30, 8}, .n_rows = 7};
    c = make(o);
    const int32_t *label;
    assert_true(gls_connectome_nodes(c, &label) == 6 && label[1] == 8 && label[4] == 40 && label[5] == 1 << 30);
    assert_true(gls_connectome_value(c, 0, 2) == 2 && gls_connectome_value(c, 0, 1) == 0);
    gls_connectome_destroy(c);
}

static void test_errors(void **state)
{
    gls_connectome *c;
    gls_labels *labels = make_labels();
    gls_connectome_options o = {.size = sizeof o, .radius = 4, .weights = "nothing"};
    (void)state;
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_OK);
    gls_sink sink = gls_connectome_sink(c);
    assert_int_equal(gls_sink_append(&sink, &lines), GLS_ERR_INPUT);
    gls_connectome_destroy(c);
    o.n_rows = 1; /* without rows */
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_ERR_ARGUMENT);
    o.n_rows = 0;
    o.radius = 0;
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_ERR_ARGUMENT);
    labels->data[0] = -1;
    assert_int_equal(gls_connectome_create(labels, "labels", NULL, &c), GLS_ERR_INPUT);
    memset(labels->data, 0, 20 * sizeof *labels->data);
    assert_int_equal(gls_connectome_create(labels, "labels", NULL, &c), GLS_ERR_INPUT);
    gls_labels_destroy(labels);
    gls_connectome_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_assignments), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
