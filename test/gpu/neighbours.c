/* Neighbours by distances of nearest points: those that a device looks for are those of the CPU to the last byte, for
 * any number of points, within a radius and the nearest ones, and with a device of little memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glslines/neighbours.h>

#include "gpu.h"

/* more queries than one search of the device takes */
enum { REFERENCES = 130, QUERIES = 1100, LONGEST = 300 };

static gls_device *device;

/* Some streamlines. */
typedef struct lines {
    uint64_t offset[QUERIES + 1];
    float point[QUERIES * LONGEST][3];
    gls_streamlines s;
} lines;

static lines references, queries;

/* Fills n streamlines, in 12 bundles, which run in either sense. length: points of each; 0: 1 to LONGEST of them. Some
 * are equal, one in 50 has no length. far: coordinates lie about this far from the origin, mm. */
static void fill(lines *l, size_t n, size_t length, double far, uint64_t seed)
{
    uint64_t state = seed, bundles = 7;
    double bundle[12][6];
    for (int k = 0; k < 12 * 6; k++) bundle[k / 6][k % 6] = random_uniform(&bundles, -40, 40);
    memset(l->offset, 0, sizeof l->offset);
    for (size_t i = 0; i < n; i++) {
        const double *own = bundle[random_bits(&state) % 12];
        const size_t points = length ? length : 1 + (size_t)(random_bits(&state) % LONGEST);
        const bool turned = random_bits(&state) % 2, still = random_bits(&state) % 50 == 0,
                   again = i > 0 && length && random_bits(&state) % 20 == 0;
        const double wide = random_uniform(&state, 0, 6);
        l->offset[i + 1] = l->offset[i] + points;
        for (size_t p = 0; p < points; p++)
            for (size_t k = 0; k < 3; k++) {
                const double at =
                    still || points == 1 ? 0 : (double)(turned ? points - 1 - p : p) / (double)(points - 1);
                float *to = &l->point[l->offset[i] + p][k];
                *to = (float)(far + own[k] + at * own[3 + k] + wide * sin(3 * at + (double)k) +
                              (still ? 0 : random_uniform(&state, -1, 1)));
                if (again) *to = (*(to - 3 * points));
            }
    }
    l->s = (gls_streamlines){.n = n, .offset = l->offset, .point = (const float(*)[3])l->point};
}

/* Searches, on a device or if it is NULL on the CPU. */
static gls_neighbours *search(const gls_neighbours_options *o, gls_device *on, const uint64_t **first,
                              const gls_neighbour **found)
{
    gls_neighbours *n;
    assert_ok(gls_neighbours_create(o, &n));
    assert_ok(gls_neighbours_set_device(n, on));
    const gls_sink sink = gls_neighbours_references(n);
    assert_ok(gls_sink_append(&sink, &references.s));
    assert_ok(gls_neighbours_find(n, &queries.s, first, found));
    if (on) assert_true(gls_device_get_memory(on).n_kernels > 0);
    return n;
}

/* Compares device and CPU; returns the number of pairs. */
static uint64_t compare(const gls_neighbours_options *o, gls_device *on)
{
    const uint64_t *first[2];
    const gls_neighbour *found[2];
    gls_neighbours *n[2];
    for (int k = 0; k < 2; k++) n[k] = search(o, k ? on : NULL, &first[k], &found[k]);
    const uint64_t pairs = first[0][queries.s.n];
    assert_memory_equal(first[0], first[1], (queries.s.n + 1) * sizeof **first);
    for (uint64_t k = 0; k < pairs; k++) {
        assert_int_equal(found[0][k].reference, found[1][k].reference);
        assert_memory_equal(&found[0][k].distance, &found[1][k].distance, sizeof(float));
        assert_false(found[1][k].reversed);
    }
    for (int k = 0; k < 2; k++) gls_neighbours_destroy(n[k]);
    return pairs;
}

/* Both distances, within a radius, the nearest ones within it, and the nearest ones of all. */
static void compare_all(uint32_t points, gls_device *on)
{
    for (int kind = GLS_DISTANCE_MAM; kind <= GLS_DISTANCE_HAUSDORFF; kind++) {
        gls_neighbours_options o = gls_neighbours_options_default();
        o.distance = (gls_distance)kind;
        o.points = points;
        const uint64_t within = compare(&o, on);
        assert_in_range(within, queries.s.n, queries.s.n * REFERENCES / 2);
        o.nearest = 3;
        assert_in_range(compare(&o, on), 1, 3 * queries.s.n);
        o.radius = INFINITY;
        o.nearest = kind == GLS_DISTANCE_MAM ? 5 : 1000; /* more than there are */
        assert_true(compare(&o, on) > queries.s.n * 4);
        o.radius = 1e-3; /* equal streamlines alone */
        compare(&o, on);
    }
}

static void test_resampled(void **state)
{
    static const uint32_t points[] = {2, 7, 24, 129, 256};
    (void)state;
    fill(&references, REFERENCES, 0, 0, 1);
    fill(&queries, QUERIES, 0, 0, 2);
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        queries.s.n = points[k] < 10 ? QUERIES : 40;
        compare_all(points[k], device);
    }
}

static void test_own_points(void **state)
{
    static const size_t points[] = {1, 3, 8, 9, 33};
    (void)state;
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        fill(&references, REFERENCES, points[k], 500, 3);
        fill(&queries, 60, points[k], 500, 4);
        compare_all(0, device);
    }
}

/* Room for few entries: searches of fewer streamlines follow. */
static void test_little_memory(void **state)
{
    (void)state;
    gls_device *small = open_limited("storage_bytes=40000");
    fill(&references, REFERENCES, 0, 0, 5);
    fill(&queries, QUERIES, 0, 0, 6);
    queries.s.n = 150;
    compare_all(12, small);
    assert_int_equal(finish_device(small, 0), 0);
}

/* Coordinates whose squares overflow are the CPU's. */
static void test_far(void **state)
{
    (void)state;
    fill(&references, REFERENCES, 5, 0, 8);
    fill(&queries, 50, 5, 0, 9);
    queries.point[7][1] = 1e20f;
    gls_neighbours_options o = gls_neighbours_options_default();
    o.distance = GLS_DISTANCE_MAM;
    assert_true(compare(&o, device) > 50);
}

static void test_refused(void **state)
{
    (void)state;
    const uint64_t *first;
    const gls_neighbour *found;
    gls_neighbours_options o = gls_neighbours_options_default();
    o.distance = GLS_DISTANCE_MAM;
    gls_neighbours *n = search(&o, NULL, &first, &found);
    assert_int_equal(gls_neighbours_set_device(n, device), GLS_ERR_ARGUMENT);
    assert_message("before the first search");
    gls_neighbours_destroy(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resampled), cmocka_unit_test(test_own_points), cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_far),       cmocka_unit_test(test_refused),
    };
    return gpu_run_tests(tests, NULL, NULL, &device);
}
