/* Clusters against the serial algorithms in plain loops: the same members and centroids to the bit for any sizes of
 * blocks and number of threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <omp.h>

#include <glslines/clusters.h>

#include "geometry/features.h"
#include "tracts/line_geometry.h"
#include "util/maths.h"

enum { LINES = 1500, MAX_LINE = 40, POINTS = 12, MAX_LEVELS = 4 };

static uint64_t offset[LINES + 1];
static float point[LINES * MAX_LINE][3];
/* the streamlines resampled, in both senses */
static float x[LINES][POINTS][3], y[LINES][POINTS][3];

/* Returns a random number from -1 to 1. */
static float draw(uint32_t i, uint32_t k)
{
    uint32_t word[4];
    gls_philox((const uint32_t[4]){i, k, 0, 0}, 7, word);
    return (float)(2 * gls_uniform(word[0]) - 1);
}

/* Makes streamlines along 30 curves, in both senses, with noise. */
static int make_lines(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t bundle = (uint32_t)(14.99F * (1 + draw(i, 0))), n = 3 + (uint32_t)(18 * (1 + draw(i, 1)));
        offset[i + 1] = offset[i] + n;
        for (uint32_t p = 0; p < n; p++) {
            const float at = draw(i, 2) > 0 ? (float)p / (float)(n - 1) : 1 - (float)p / (float)(n - 1);
            for (uint32_t k = 0; k < 3; k++)
                point[offset[i] + p][k] = 40 * draw(100000 + bundle, k) + 50 * at * draw(100000 + bundle, 3 + k) +
                                          20 * at * at * draw(100000 + bundle, 6 + k) + 5 * draw(i, 10 + k) +
                                          draw(i, 100 + 3 * p + k);
        }
    }
    gls_features f;
    float a[3 * 16], b[3 * 16];
    const gls_streamlines all = {.n = LINES, .offset = offset, .point = (const float(*)[3])point};
    gls_features_init(&f, POINTS, true);
    assert_int_equal(gls_features_add(&f, &all), GLS_OK);
    for (size_t i = 0; i < LINES; i++) {
        gls_features_expand(&f, i, a, b);
        gls_points_pack(a, POINTS, f.pad, x[i]);
        gls_points_pack(b, POINTS, f.pad, y[i]);
    }
    gls_features_finish(&f);
    return 0;
}

/* --- The serial algorithms. */

typedef struct cluster {
    float point[POINTS][3];
    uint32_t size, parent;
} cluster;

static double distance(const float (*a)[3], const float (*b)[3])
{
    double sum = 0;
    for (int p = 0; p < POINTS; p++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            const float d = a[p][k] - b[p][k];
            square += (double)d * (double)d;
        }
        sum += sqrt(square);
    }
    return sum / POINTS;
}

static void join(cluster *c, const float (*a)[3])
{
    for (int p = 0; p < POINTS; p++)
        for (int k = 0; k < 3; k++) c->point[p][k] = (c->point[p][k] * (float)c->size + a[p][k]) / (float)(c->size + 1);
    c->size++;
}

static size_t serial(double threshold, size_t max, cluster *c, uint32_t *member)
{
    size_t n = 0;
    for (size_t i = 0; i < LINES; i++) {
        double direct = INFINITY, reversed = INFINITY;
        size_t d = 0, r = 0;
        for (size_t k = 0; k < n; k++) {
            const double a = distance((const float(*)[3])c[k].point, (const float(*)[3])x[i]),
                         b = distance((const float(*)[3])c[k].point, (const float(*)[3])y[i]);
            if (a < direct) direct = a, d = k;
            if (b < reversed) reversed = b, r = k;
        }
        const bool turned = reversed < direct;
        size_t which = turned ? r : d;
        if (!(fmin(direct, reversed) < threshold) && n < max) {
            which = n++;
            memset(&c[which], 0, sizeof *c);
        }
        join(&c[which], (const float(*)[3])(turned ? y[i] : x[i]));
        member[i] = (uint32_t)which;
    }
    return n;
}

static bool boxes_meet(const float (*a)[3], const float (*b)[3], float wide)
{
    for (int k = 0; k < 3; k++) {
        float mid[2], half[2];
        for (int s = 0; s < 2; s++) {
            const float(*v)[3] = s == 0 ? a : b;
            float low = v[0][k], high = v[0][k];
            for (int p = 1; p < POINTS; p++) {
                low = fminf(low, v[p][k]);
                high = fmaxf(high, v[p][k]);
            }
            half[s] = (high - low) / 2;
            mid[s] = low + half[s];
        }
        if (fabs((double)mid[0] - (double)mid[1]) > (double)(half[0] + half[1] + wide)) return false;
    }
    return true;
}

/* Clusters streamlines on one level within the clusters of the level above (parent; NULL: one cluster for all), in the
 * order of founding. */
static size_t serial_level(float threshold, const uint32_t *parent, cluster *c, uint32_t *member)
{
    size_t n = 0;
    for (size_t i = 0; i < LINES; i++) {
        float best = INFINITY;
        size_t which = 0;
        bool turned = false;
        for (size_t k = 0; k < n; k++) {
            if (c[k].parent != (parent ? parent[i] : 0) ||
                !boxes_meet((const float(*)[3])c[k].point, (const float(*)[3])x[i], threshold))
                continue;
            const float a = (float)distance((const float(*)[3])c[k].point, (const float(*)[3])x[i]),
                        b = (float)distance((const float(*)[3])c[k].point, (const float(*)[3])y[i]);
            if (a < best) best = a, which = k, turned = false;
            if (b < best) best = b, which = k, turned = true;
        }
        if (best > threshold) {
            which = n++;
            memset(&c[which], 0, sizeof *c);
            c[which].parent = parent ? parent[i] : 0;
        }
        join(&c[which], (const float(*)[3])(turned ? y[i] : x[i]));
        member[i] = (uint32_t)which;
    }
    return n;
}

/* --- Comparison. */

static cluster expected[LINES];
static uint32_t member[LINES];

/* Clusters all streamlines, in blocks of `piece`. */
static gls_clusters *run(const gls_cluster_options *options, size_t piece)
{
    gls_clusters *c;
    assert_int_equal(gls_clusters_create(options, &c), GLS_OK);
    const gls_sink sink = gls_clusters_sink(c);
    for (size_t from = 0; from < LINES; from += piece) {
        uint64_t own[LINES + 1];
        const size_t n = LINES - from < piece ? LINES - from : piece;
        for (size_t i = 0; i <= n; i++) own[i] = offset[from + i] - offset[from];
        const gls_streamlines s = {.n = n, .offset = own, .point = (const float(*)[3])point + offset[from]};
        assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    }
    assert_int_equal(gls_clusters_complete(c), GLS_OK);
    return c;
}

/* Compares n expected clusters. number: of each expected cluster in the result; NULL: the same. */
static void compare(const gls_clusters *c, size_t n, const uint32_t *number)
{
    float centroid[POINTS][3];
    assert_int_equal(gls_clusters_count(c), n);
    for (size_t k = 0; k < n; k++) {
        const size_t at = number ? number[k] : k;
        assert_int_equal(gls_clusters_size(c, at), expected[k].size);
        gls_clusters_centroid(c, at, centroid);
        assert_memory_equal(centroid, expected[k].point, sizeof centroid);
    }
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(gls_clusters_members(c)[i], number ? number[member[i]] : member[i]);
}

static void blocks_and_threads_change_nothing(void **state)
{
    static const double thresholds[] = {20, 8, 3};
    static const uint32_t blocks[] = {0, 1, 37, 1000};
    static const size_t pieces[] = {LINES, 700, 33};
    (void)state;
    const int threads = omp_get_max_threads();
    for (int t = 0; t < 3; t++) {
        const size_t n = serial(thresholds[t], SIZE_MAX, expected, member);
        assert_true(n > 20 && n < LINES);
        for (int b = 0; b < 4; b++) {
            gls_cluster_options o = gls_cluster_options_default();
            o.threshold = &thresholds[t];
            o.n_thresholds = 1;
            o.block = blocks[b];
            omp_set_num_threads(1 + b);
            gls_clusters *c = run(&o, pieces[b % 3]);
            compare(c, n, NULL);
            gls_clusters_destroy(c);
        }
    }
    omp_set_num_threads(threads);
}

static void beyond_the_largest_number_streamlines_join_the_nearest(void **state)
{
    const double threshold = 5;
    gls_cluster_options o = gls_cluster_options_default();
    (void)state;
    o.threshold = &threshold;
    o.n_thresholds = 1;
    o.max_clusters = 60;
    assert_int_equal(serial(threshold, 60, expected, member), 60);
    gls_clusters *c = run(&o, LINES);
    compare(c, 60, NULL);
    gls_clusters_destroy(c);
}

/* The tree numbers clusters depth first. Sorts the clusters of a level, whose parents have the numbers `above`. */
static void number_level(size_t n, const uint32_t *above, uint32_t *number)
{
    uint32_t next = 0;
    size_t parents = 0;
    for (size_t k = 0; k < n; k++)
        if (expected[k].parent >= parents) parents = expected[k].parent + 1;
    for (uint32_t p = 0; p < parents; p++)
        for (size_t k = 0; k < n; k++)
            if ((above ? above[expected[k].parent] : expected[k].parent) == p) number[k] = next++;
}

static void each_level_of_a_tree_is_the_serial_one(void **state)
{
    static const double thresholds[MAX_LEVELS] = {30, 15, 8, 4};
    static uint32_t parent[LINES], number[2][LINES];
    gls_cluster_options o = gls_cluster_options_default();
    (void)state;
    o.method = GLS_CLUSTER_QUICKBUNDLESX;
    o.threshold = thresholds;
    o.n_thresholds = MAX_LEVELS;
    const int threads = omp_get_max_threads();
    for (int t = 1; t <= 3; t += 2) {
        omp_set_num_threads(t);
        gls_clusters *c = run(&o, 500);
        for (size_t level = 0; level < MAX_LEVELS; level++) {
            const size_t n = serial_level((float)thresholds[level], level > 0 ? parent : NULL, expected, member);
            number_level(n, level > 0 ? number[(level + 1) % 2] : NULL, number[level % 2]);
            assert_int_equal(gls_clusters_set_level(c, level), GLS_OK);
            compare(c, n, number[level % 2]);
            memcpy(parent, member, sizeof parent);
        }
        gls_clusters_destroy(c);
    }
    omp_set_num_threads(threads);
}

static void orders_and_reassignment(void **state)
{
    static const double thresholds[] = {30, 15, 8};
    static uint64_t list[LINES / 2];
    gls_cluster_options o = gls_cluster_options_default();
    (void)state;
    o.method = GLS_CLUSTER_MERGED;
    o.threshold = thresholds;
    o.n_thresholds = 3;
    o.order = GLS_CLUSTER_ORDER_RANDOM;
    gls_clusters *one = run(&o, LINES), *same = run(&o, 100);
    o.seed = 1;
    gls_clusters *other = run(&o, LINES);
    assert_memory_equal(gls_clusters_members(one), gls_clusters_members(same), sizeof(uint32_t) * LINES);
    assert_memory_not_equal(gls_clusters_members(one), gls_clusters_members(other), sizeof(uint32_t) * LINES);
    /* streamlines that the list lacks are in no cluster; after reassignment they are in the nearest one */
    for (size_t k = 0; k < LINES / 2; k++) list[k] = LINES - 1 - 2 * k;
    o.order = GLS_CLUSTER_ORDER_LIST;
    o.list = list;
    o.n_list = LINES / 2;
    gls_clusters *half = run(&o, LINES);
    for (size_t i = 0; i < LINES; i++) assert_int_equal(gls_clusters_members(half)[i] == GLS_CLUSTER_NONE, i % 2 == 0);
    const gls_streamlines all = {.n = LINES, .offset = offset, .point = (const float(*)[3])point};
    const gls_sink sink = gls_clusters_reassign(half, 8);
    assert_int_equal(gls_sink_append(&sink, &all), GLS_OK);
    assert_int_equal(gls_clusters_complete(half), GLS_OK);
    size_t found = 0;
    for (size_t i = 0; i < LINES; i++) {
        double best = 8;
        uint32_t nearest = GLS_CLUSTER_NONE;
        for (uint32_t k = 0; k < gls_clusters_count(half); k++) {
            float c[POINTS][3];
            gls_clusters_centroid(half, k, c);
            const double d = fmin(distance((const float(*)[3])c, (const float(*)[3])x[i]),
                                  distance((const float(*)[3])c, (const float(*)[3])y[i]));
            if (d < best) best = d, nearest = k;
        }
        assert_int_equal(gls_clusters_members(half)[i], nearest);
        found += nearest != GLS_CLUSTER_NONE;
    }
    assert_true(found > LINES / 2);
    /* small clusters are dissolved, the largest one becomes the first */
    assert_int_equal(gls_clusters_reduce(half, 5, GLS_CLUSTER_NUMBERS_SIZE), GLS_OK);
    for (size_t k = 0; k < gls_clusters_count(half); k++) {
        assert_true(gls_clusters_size(half, k) >= 5);
        assert_true(k == 0 || gls_clusters_size(half, k) <= gls_clusters_size(half, k - 1));
    }
    gls_clusters_destroy(half);
    gls_clusters_destroy(one);
    gls_clusters_destroy(same);
    gls_clusters_destroy(other);
}

static void bad_input(void **state)
{
    static const double rising[] = {10, 20}, zero[] = {0};
    static const uint64_t twice[] = {0, 0}, beyond[] = {2};
    static float few[5][3] = {{0, 0, 0}, {1, 0, 0}, {3, 3, 3}, {3, 3, 3}, {5, 5, 5}};
    static const uint64_t at[] = {0, 2, 4};
    (void)state;
    gls_clusters *c;
    gls_cluster_options o = gls_cluster_options_default();
    o.method = GLS_CLUSTER_MERGED;
    o.threshold = rising;
    o.n_thresholds = 2;
    assert_int_equal(gls_clusters_create(&o, &c), GLS_ERR_ARGUMENT);
    o.threshold = zero;
    o.n_thresholds = 1;
    assert_int_equal(gls_clusters_create(&o, &c), GLS_ERR_ARGUMENT);
    o = gls_cluster_options_default();
    o.points = 1;
    assert_int_equal(gls_clusters_create(&o, &c), GLS_ERR_ARGUMENT);
    /* a list with a number twice, or one too large */
    const gls_streamlines s = {.n = 2, .offset = at, .point = (const float(*)[3])few};
    for (int k = 0; k < 2; k++) {
        o = gls_cluster_options_default();
        o.order = GLS_CLUSTER_ORDER_LIST;
        o.list = k ? beyond : twice;
        o.n_list = k ? 1 : 2;
        assert_int_equal(gls_clusters_create(&o, &c), GLS_OK);
        gls_sink sink = gls_clusters_sink(c);
        assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
        assert_int_equal(gls_clusters_complete(c), GLS_ERR_ARGUMENT);
        gls_clusters_destroy(c);
    }
    /* a streamline without length is in no cluster; a point that is not finite is an error */
    o = gls_cluster_options_default();
    assert_int_equal(gls_clusters_create(&o, &c), GLS_OK);
    gls_sink sink = gls_clusters_sink(c);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    few[1][2] = NAN;
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "streamline 0"));
    few[1][2] = 0;
    assert_int_equal(gls_clusters_complete(c), GLS_OK);
    assert_int_equal(gls_clusters_count(c), 1);
    assert_int_equal(gls_clusters_void(c), 1);
    assert_int_equal(gls_clusters_members(c)[1], GLS_CLUSTER_NONE);
    gls_clusters_destroy(c);
    gls_clusters_destroy(NULL);
    /* no streamlines, no clusters */
    assert_int_equal(gls_clusters_create(&o, &c), GLS_OK);
    assert_int_equal(gls_clusters_complete(c), GLS_OK);
    assert_int_equal(gls_clusters_count(c), 0);
    gls_clusters_destroy(c);
}

/* The point at `wanted` mm of a line of n points, whose steps are added up one by one as DIPY does. */
static void point_along(float (*line)[3], size_t n, double wanted, float out[3])
{
    double at = 0, before = 0;
    size_t i = 0;
    while (at < wanted && ++i < n) {
        const float d[3] = {line[i][0] - line[i - 1][0], line[i][1] - line[i - 1][1], line[i][2] - line[i - 1][2]};
        before = at;
        at += sqrt((double)d[0] * (double)d[0] + (double)d[1] * (double)d[1] + (double)d[2] * (double)d[2]);
    }
    for (int k = 0; k < 3; k++)
        out[k] = at == wanted ? line[i][k]
                              : (float)((double)line[i - 1][k] +
                                        (1 - (at - wanted) / (at - before)) * (double)(line[i][k] - line[i - 1][k]));
}

/* Lines of more steps than are computed at a time have the points of a plain loop, in both senses. */
static void resampling_is_that_of_a_plain_loop(void **state)
{
    enum { MOST = 1100 };
    static float line[2][MOST][3];
    (void)state;
    for (size_t n = 2; n <= MOST; n = n < 6 ? n + 1 : n + 73) {
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t k = 0; k < 3; k++)
                line[0][p][k] = line[1][n - 1 - p][k] = (float)(k == 0 ? p : 0) + draw(500000 + p, k);
        for (int sense = 0; sense < 2; sense++) {
            float out[POINTS][3], want[3];
            double length = 0, wanted = 0;
            for (size_t p = 1; p < n; p++) {
                const float *a = line[sense][p - 1], *b = line[sense][p],
                            d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
                length += sqrt((double)d[0] * (double)d[0] + (double)d[1] * (double)d[1] + (double)d[2] * (double)d[2]);
            }
            if (sense)
                gls_line_resample_backwards((const float(*)[3])line[0], n, POINTS, out);
            else
                gls_line_resample((const float(*)[3])line[0], n, POINTS, out);
            for (size_t q = 0; q + 1 < POINTS; q++, wanted += length / (POINTS - 1)) {
                point_along(line[sense], n, wanted, want);
                assert_memory_equal(out[q], want, sizeof want);
            }
            assert_memory_equal(out[POINTS - 1], line[sense][n - 1], sizeof want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_threads_change_nothing),
        cmocka_unit_test(beyond_the_largest_number_streamlines_join_the_nearest),
        cmocka_unit_test(each_level_of_a_tree_is_the_serial_one),
        cmocka_unit_test(orders_and_reassignment),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(resampling_is_that_of_a_plain_loop),
    };
    return cmocka_run_group_tests(tests, make_lines, NULL);
}
