/* Sampling along streamlines: the values of blocks of points are those of single points, whatever the image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/sample.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000 };

static uint64_t seed;

static double uniform(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

static gls_image *make_image(const int32_t dim[3], const double affine[3][4])
{
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) {
        double kind = uniform(0, 1);
        image->data[v] = kind < 0.02 ? NAN : kind < 0.03 ? INFINITY : kind < 0.1 ? 0 : (float)uniform(-5, 5);
    }
    return image;
}

/* Points inside and around the grid, many of them at whole voxel coordinates. */
static void make_points(const gls_grid *grid, float point[POINTS][3])
{
    for (int i = 0; i < POINTS; i++) {
        double v[3];
        for (int r = 0; r < 3; r++) {
            v[r] = uniform(-1.5, grid->dim[r] + 0.5);
            if (uniform(0, 1) < 0.3) v[r] = round(v[r]);
        }
        for (int r = 0; r < 3; r++)
            point[i][r] = (float)(grid->affine[r][0] * v[0] + grid->affine[r][1] * v[1] + grid->affine[r][2] * v[2] +
                                  grid->affine[r][3]);
    }
}

typedef struct kept {
    float value[POINTS];
    double mean;
    size_t n;
} kept;

static gls_status keep(void *user, const gls_streamlines *s)
{
    kept *k = user;
    const gls_column *value = gls_column_find(s->dpv, s->n_dpv, "value"),
                     *mean = gls_column_find(s->dps, s->n_dps, "mean");
    k->n = (size_t)s->offset[s->n];
    memcpy(k->value, value->data, k->n * sizeof *k->value);
    k->mean = gls_column_value(mean, 0);
    return GLS_OK;
}

static gls_status keep_mean(void *user, const gls_streamlines *s)
{
    ((kept *)user)->mean = gls_column_value(gls_column_find(s->dps, s->n_dps, "mean"), 0);
    return GLS_OK;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_outside(const gls_image *image, gls_sample_edge edge, const float point[3])
{
    const double reach = edge == GLS_EDGE_ZERO ? 1 : 0.5;
    double m[3][4];
    bool outside = false;
    gls_grid_inverse(&image->grid, m);
    for (int r = 0; r < 3; r++) {
        const double v = m[r][0] * point[0] + m[r][1] * point[1] + m[r][2] * point[2] + m[r][3];
        outside |= !(v > -reach && v < image->grid.dim[r] - 1 + reach);
    }
    return outside;
}

static void compare(const gls_image *image, gls_sample_edge edge, size_t n)
{
    static float point[POINTS][3];
    gls_sample_options o = gls_sample_options_default();
    gls_sample_counts counts;
    gls_sink filter;
    kept k = {.n = 0};
    const gls_sink next = {.append = keep, .user = &k};
    const gls_sample_column columns[] = {{.image = image, .name = "value", .per_vertex = true},
                                         {.image = image, .name = "mean", .stat = GLS_TRACK_MEAN}};
    const uint64_t offset[] = {0, n};
    double weight = 0, sum = 0, before = 0;
    uint64_t outside = 0, not_finite = 0;
    o.edge = edge;
    make_points(&image->grid, point);
    const gls_streamlines s = {.n = 1, .offset = offset, .point = (const float(*)[3])point};
    assert_int_equal(gls_filter_sample_create(columns, 2, &o, &counts, &next, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_OK);
    assert_int_equal(k.n, n);
    for (size_t i = 0; i < n; i++) {
        double value, after = 0;
        gls_sample_at(image, &o, point[i], &value);
        assert_true(same(k.value[i], (float)value));
        for (int r = 0; r < 3 && i + 1 < n; r++)
            after += ((double)point[i + 1][r] - point[i][r]) * ((double)point[i + 1][r] - point[i][r]);
        after = sqrt(after);
        const double w = n > 1 ? 0.5 * (before + after) : 1;
        before = after;
        outside += isnan(value) && is_outside(image, edge, point[i]);
        not_finite += isnan(value) && !is_outside(image, edge, point[i]);
        if (isnan(value)) continue;
        weight += w;
        sum += w * value;
    }
    assert_true(same(k.mean, sum / weight));
    assert_true(counts.points == n && counts.outside == outside && counts.not_finite == not_finite);
    assert_true(n < 100 || (outside > 0 && outside + not_finite < n));
    assert_true(n < 700 || not_finite > 0 || gls_grid_voxels(&image->grid) < 100);
    assert_int_equal(gls_sink_finish(&filter), GLS_OK);
}

static void test_blocks(void **state)
{
    static const double affine[3][4] = {{-1.6, 0.31, 0.42, 31.7}, {0.28, 1.93, -0.5, -22.1}, {-0.44, 0.47, 2.4, 12.9}},
                        plain[3][4] = {{2, 0, 0, 4}, {0, 2, 0, -8}, {0, 0, 2, 16}};
    static const int32_t dims[][3] = {{9, 8, 7}, {2, 2, 2}, {9, 8, 1}, {1, 5, 6}};
    static const size_t sizes[] = {1, 2, 127, 128, 129, 700, POINTS};
    (void)state;
    seed = 7;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (int oblique = 0; oblique < 2; oblique++) {
            gls_image *image = make_image(dims[d], oblique ? affine : plain);
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                compare(image, GLS_EDGE_CLAMP, sizes[i]);
                compare(image, GLS_EDGE_ZERO, sizes[i]);
            }
            gls_image_destroy(image);
        }
}

/* Checks each statistic of a streamline along x through an image of one row. */
static double statistic_of(const float *row, int n, gls_sample_options o, gls_track_stat stat, const float *x, size_t m,
                           gls_sample_counts *counts)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const int32_t dim[3] = {n, 3, 3};
    const uint64_t offset[] = {0, m};
    float point[16][3];
    gls_grid grid;
    gls_image *image;
    gls_sink filter;
    kept k = {.n = 0};
    const gls_sink next = {.append = keep_mean, .user = &k};
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    for (int v = 0; v < n * 9; v++) image->data[v] = row[v % n];
    for (size_t i = 0; i < m; i++) memcpy(point[i], (float[3]){x[i], 1, 1}, sizeof point[i]);
    const gls_sample_column column = {.image = image, .name = "mean", .stat = stat};
    const gls_streamlines s = {.n = 1, .offset = offset, .point = (const float(*)[3])point};
    assert_int_equal(gls_filter_sample_create(&column, 1, &o, counts, &next, &filter), GLS_OK);
    assert_int_equal(gls_sink_append(&filter, &s), GLS_OK);
    assert_int_equal(gls_sink_finish(&filter), GLS_OK);
    gls_image_destroy(image);
    return k.mean;
}

/* Voxels without a number: no statistic counts them, or they count as in tcksample. */
static void test_not_finite(void **state)
{
    static const float row[] = {1, 2, NAN, 8, 6, INFINITY, 3}, x[] = {0, 2, 4};
    static const struct {
        gls_track_stat stat;
        double left_out, kept;
    } expected[] = {{GLS_TRACK_MEAN, 3.5, NAN}, {GLS_TRACK_SUM, 7, NAN}, {GLS_TRACK_STD, 2.5, NAN},
                    {GLS_TRACK_MIN, 1, 1},      {GLS_TRACK_MAX, 6, 6},   {GLS_TRACK_MEDIAN, 3.5, 3.5}};
    gls_sample_options o = gls_sample_options_default();
    gls_sample_counts counts;
    (void)state;
    o.nearest = true;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        for (int zero = 0; zero < 2; zero++) {
            o.outside_zero = zero;
            o.keep_not_finite = false;
            assert_true(same(statistic_of(row, 7, o, expected[i].stat, x, 3, &counts), expected[i].left_out));
            assert_true(counts.points == 3 && counts.outside == 0 && counts.not_finite == 1);
            o.keep_not_finite = true;
            assert_true(same(statistic_of(row, 7, o, expected[i].stat, x, 3, &counts), expected[i].kept));
            assert_true(counts.points == 3 && counts.outside == 0 && counts.not_finite == 1);
        }
    }
    static const float far[] = {4, 9, 5};
    o.keep_not_finite = false;
    o.outside_zero = true;
    assert_true(statistic_of(row, 7, o, GLS_TRACK_MIN, far, 3, &counts) == 0);
    assert_true(counts.outside == 1 && counts.not_finite == 1);
    o.outside_zero = false;
    assert_true(statistic_of(row, 7, o, GLS_TRACK_MIN, far, 3, &counts) == 6);
    o.keep_not_finite = true;
    assert_true(isnan(statistic_of(row, 7, o, GLS_TRACK_MAX, far, 3, &counts))); /* infinity is no result */
}

/* A statistic of both ends is the same for a reversed streamline, and NaN if one end is. */
static void test_ends(void **state)
{
    static const float row[] = {1, 2, NAN, -8}, x[] = {0, 3}, reversed[] = {3, 0}, from_nan[] = {2, 0},
                       to_nan[] = {0, 2};
    static const double expected[] = {1, -8, -3.5, 0};
    gls_sample_options o = gls_sample_options_default();
    gls_sample_counts counts;
    (void)state;
    o.nearest = true;
    for (int i = 0; i < 4; i++) {
        const gls_track_stat stat = (gls_track_stat)(GLS_TRACK_ENDS_MIN + i);
        assert_true(statistic_of(row, 4, o, stat, x, 2, &counts) == expected[i]);
        assert_true(statistic_of(row, 4, o, stat, reversed, 2, &counts) == expected[i]);
        assert_true(isnan(statistic_of(row, 4, o, stat, from_nan, 2, &counts)));
        assert_true(isnan(statistic_of(row, 4, o, stat, to_nan, 2, &counts)));
    }
}

/* Half of the length of a streamline lies in voxels whose values are at most the median. */
static void test_weighted_median(void **state)
{
    static const float row[] = {5, 1, 3, 9, 7}, most_in_one[] = {0, 1.75f}, even[] = {0.5f, 2.5f},
                       half[] = {-0.25f, 1.25f};
    gls_sample_options o = gls_sample_options_default();
    gls_sample_counts counts;
    (void)state;
    o.weight = GLS_SAMPLE_BY_VOXEL;
    assert_true(statistic_of(row, 5, o, GLS_TRACK_MEDIAN, most_in_one, 2, &counts) == 1); /* 0.5, 1, 0.25 mm */
    assert_true(statistic_of(row, 5, o, GLS_TRACK_MEDIAN, even, 2, &counts) ==
                2); /* 1 mm in a voxel of 1, 1 mm in a voxel of 3 */
    assert_true(statistic_of(row, 5, o, GLS_TRACK_MEDIAN, half, 2, &counts) == 3); /* 0.75 mm of each */
    o.weight = GLS_SAMPLE_BY_SPLINE;
    assert_true(statistic_of(row, 5, o, GLS_TRACK_MEDIAN, most_in_one, 2, &counts) == 1);
    assert_true(statistic_of(row, 5, o, GLS_TRACK_MEDIAN, even, 2, &counts) ==
                1); /* the median is the value below the middle */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_not_finite),
                                       cmocka_unit_test(test_ends), cmocka_unit_test(test_weighted_median)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
