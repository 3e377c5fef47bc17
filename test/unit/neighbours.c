/* Neighbours of streamlines against distances of all pairs in plain loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <omp.h>

#include <glslines/neighbours.h>

#include "geometry/features.h"
#include "util/maths.h"

enum { REFERENCES = 200, QUERIES = 120, LINE = 15, POINTS = 24 };

static uint64_t offset[2][REFERENCES + 1];
static float point[2][REFERENCES * LINE][3];
static float resampled[2][REFERENCES][POINTS][3];
/* reference without length */
enum { VOID_REFERENCE = 7, VOID_QUERY = 11 };

static float draw(uint32_t i, uint32_t k)
{
    uint32_t word[4];
    gls_philox((const uint32_t[4]){i, k, 1, 0}, 3, word);
    return (float)(2 * gls_uniform(word[0]) - 1);
}

static gls_streamlines block(int which, size_t n)
{
    return (gls_streamlines){.n = n, .offset = offset[which], .point = (const float(*)[3])point[which]};
}

static int make_lines(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < REFERENCES; i++) {
            const uint32_t own = i + 1000 * (uint32_t)which;
            offset[which][i + 1] = offset[which][i] + LINE;
            for (uint32_t p = 0; p < LINE; p++)
                for (uint32_t k = 0; k < 3; k++) {
                    const float at = (float)(own % 2 ? p : LINE - 1 - p) / (LINE - 1);
                    float *to = &point[which][i * LINE + p][k];
                    *to = 20 * draw(5000 + i % 20, k) + 60 * at * draw(5000 + i % 20, 3 + k) + 8 * draw(own, k) +
                          draw(own, 10 + 3 * p + k);
                    if (i == (which ? VOID_QUERY : VOID_REFERENCE)) *to = 3;
                }
        }
        gls_features f;
        gls_features_init(&f, POINTS, false);
        const gls_streamlines all = block(which, REFERENCES);
        assert_int_equal(gls_features_add(&f, &all), GLS_OK);
        memcpy(resampled[which], f.point, sizeof resampled[which]);
        gls_features_finish(&f);
    }
    return 0;
}

static double mm(const float *a, const float *b)
{
    const double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    return sqrt(x * x + y * y + z * z);
}

static double nearest_points(const float (*a)[3], const float (*b)[3], bool largest)
{
    double sum = 0, max = 0;
    for (int p = 0; p < POINTS; p++) {
        double least = INFINITY;
        for (int q = 0; q < POINTS; q++) least = fmin(least, mm(a[p], b[q]));
        sum += least;
        max = fmax(max, least);
    }
    return largest ? max : sum / POINTS;
}

/* Returns the distance of query i from reference j, by a plain loop. */
static double measure(gls_distance kind, size_t i, size_t j, bool *reversed)
{
    const float(*a)[3] = (const float(*)[3])resampled[1][i], (*b)[3] = (const float(*)[3])resampled[0][j];
    *reversed = false;
    if (kind == GLS_DISTANCE_MAM) return (nearest_points(a, b, false) + nearest_points(b, a, false)) / 2;
    if (kind == GLS_DISTANCE_HAUSDORFF) return fmax(nearest_points(a, b, true), nearest_points(b, a, true));
    double there = 0, back = 0;
    const int step = kind == GLS_DISTANCE_ENDPOINTS ? POINTS - 1 : 1, n = kind == GLS_DISTANCE_ENDPOINTS ? 2 : POINTS;
    for (int p = 0; p < n; p++) {
        there += mm(a[p * step], b[p * step]) / n;
        back += mm(a[p * step], b[(n - 1 - p) * step]) / n;
    }
    *reversed = back < there;
    return fmin(there, back);
}

/* Computes the distances of all pairs for each kind, and whether the reversed sense is nearer. */
static double distances[GLS_DISTANCE_ENDPOINTS + 1][QUERIES][REFERENCES];
static bool turned[GLS_DISTANCE_ENDPOINTS + 1][QUERIES][REFERENCES];

static double plain(gls_distance kind, size_t i, size_t j, bool *reversed)
{
    *reversed = turned[kind][i][j];
    return distances[kind][i][j];
}

static int measure_all(void **state)
{
    (void)make_lines(state);
    for (int kind = GLS_DISTANCE_MDF; kind <= GLS_DISTANCE_ENDPOINTS; kind++)
        for (size_t i = 0; i < QUERIES; i++)
            for (size_t j = 0; j < REFERENCES; j++)
                distances[kind][i][j] = measure((gls_distance)kind, i, j, &turned[kind][i][j]);
    return 0;
}

/* Computes the result for these options. */
static gls_neighbours *search(gls_distance kind, double radius, uint32_t nearest, const uint64_t **first,
                              const gls_neighbour **found)
{
    gls_neighbours *n;
    gls_neighbours_options o = gls_neighbours_options_default();
    o.distance = kind;
    o.radius = radius;
    o.nearest = nearest;
    assert_int_equal(gls_neighbours_create(&o, &n), GLS_OK);
    const gls_sink sink = gls_neighbours_references(n);
    const gls_streamlines references = block(0, REFERENCES), queries = block(1, QUERIES);
    assert_int_equal(gls_sink_append(&sink, &references), GLS_OK);
    assert_int_equal(gls_neighbours_find(n, &queries, first, found), GLS_OK);
    assert_int_equal(gls_neighbours_count(n), REFERENCES);
    assert_int_equal(gls_neighbours_void(n), 1);
    return n;
}

static void all_within_a_radius(void **state)
{
    static const double radius[] = {8, 6, 12, 9};
    (void)state;
    for (int kind = GLS_DISTANCE_MDF; kind <= GLS_DISTANCE_ENDPOINTS; kind++) {
        const uint64_t *first;
        const gls_neighbour *found;
        size_t pairs = 0;
        gls_neighbours *n = search((gls_distance)kind, radius[kind], 0, &first, &found);
        for (size_t i = 0; i < QUERIES; i++)
            for (size_t j = 0; j < REFERENCES; j++) {
                bool reversed;
                const double d = plain((gls_distance)kind, i, j, &reversed);
                if (!(d < radius[kind]) || i == VOID_QUERY || j == VOID_REFERENCE) continue;
                assert_true(pairs < first[i + 1] && pairs >= first[i]);
                assert_int_equal(found[pairs].reference, j);
                assert_true(fabs((double)found[pairs].distance - d) < 2e-5);
                assert_int_equal(found[pairs].reversed, reversed);
                pairs++;
            }
        assert_true(pairs > QUERIES);
        assert_int_equal(first[QUERIES], pairs);
        gls_neighbours_destroy(n);
    }
}

static void the_nearest_ones(void **state)
{
    enum { K = 5 };
    (void)state;
    for (int kind = GLS_DISTANCE_MDF; kind <= GLS_DISTANCE_ENDPOINTS; kind++) {
        const uint64_t *first;
        const gls_neighbour *found;
        gls_neighbours *n = search((gls_distance)kind, INFINITY, K, &first, &found);
        for (size_t i = 0; i < QUERIES; i++) {
            assert_int_equal(first[i + 1] - first[i], i == VOID_QUERY ? 0 : K);
            double last = 0;
            for (uint64_t k = first[i]; k < first[i + 1]; k++) {
                bool reversed;
                size_t nearer = 0;
                const double d = plain((gls_distance)kind, i, found[k].reference, &reversed);
                assert_true(fabs((double)found[k].distance - d) < 2e-5 && d >= last);
                assert_int_not_equal(found[k].reference, VOID_REFERENCE);
                for (size_t j = 0; j < REFERENCES; j++)
                    nearer += j != VOID_REFERENCE && plain((gls_distance)kind, i, j, &reversed) < d - 1e-9;
                assert_int_equal(nearer, k - first[i]);
                last = d;
            }
        }
        gls_neighbours_destroy(n);
    }
}

static void threads_change_nothing(void **state)
{
    const int threads = omp_get_max_threads();
    const uint64_t *first[2];
    const gls_neighbour *found[2];
    gls_neighbours *n[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(1 + 3 * k);
        n[k] = search(GLS_DISTANCE_MDF, 10, 7, &first[k], &found[k]);
    }
    omp_set_num_threads(threads);
    assert_memory_equal(first[0], first[1], (QUERIES + 1) * sizeof **first);
    for (uint64_t k = 0; k < first[0][QUERIES]; k++) {
        assert_int_equal(found[0][k].reference, found[1][k].reference);
        assert_true(found[0][k].distance == found[1][k].distance && found[0][k].reversed == found[1][k].reversed);
    }
    gls_neighbours_destroy(n[0]);
    gls_neighbours_destroy(n[1]);
}

static void bad_input(void **state)
{
    gls_neighbours *n;
    gls_neighbours_options o = gls_neighbours_options_default();
    (void)state;
    o.radius = 0;
    assert_int_equal(gls_neighbours_create(&o, &n), GLS_ERR_ARGUMENT);
    o.radius = INFINITY;
    assert_int_equal(gls_neighbours_create(&o, &n), GLS_ERR_ARGUMENT);
    o = gls_neighbours_options_default();
    o.points = 1;
    assert_int_equal(gls_neighbours_create(&o, &n), GLS_ERR_ARGUMENT);
    gls_neighbours_destroy(NULL);
    /* no references: nobody has neighbours */
    o = gls_neighbours_options_default();
    const gls_streamlines queries = block(1, QUERIES);
    const uint64_t *first;
    const gls_neighbour *found;
    for (uint32_t k = 0; k < 2; k++) {
        o.nearest = k;
        assert_int_equal(gls_neighbours_create(&o, &n), GLS_OK);
        assert_int_equal(gls_neighbours_find(n, &queries, &first, &found), GLS_OK);
        assert_int_equal(first[QUERIES], 0);
        gls_neighbours_destroy(n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_within_a_radius),
        cmocka_unit_test(the_nearest_ones),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, measure_all, NULL);
}
