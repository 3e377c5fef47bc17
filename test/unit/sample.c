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

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
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
    uint64_t outside = 0;
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
        outside += isnan(value);
        if (isnan(value)) continue;
        weight += w;
        sum += w * value;
    }
    assert_true(same(k.mean, sum / weight));
    assert_int_equal(counts.outside, 2 * outside);
    assert_true(n < 100 || (outside > 0 && outside < n));
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
