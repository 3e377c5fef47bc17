/* gls_peaks_find() against the rule written down a second time, over a list of edges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <glslines/peaks.h>

#include "util/philox.h"

#define MAX_VERTICES 724

/* Every edge votes against its smaller end and for its larger one; then a selection sort and the thresholds. */
static size_t brute_force(const gls_sphere *s, const double *value, double threshold, double angle, uint32_t *peak)
{
    int vote_against[MAX_VERTICES] = {0}, vote_for[MAX_VERTICES] = {0};
    uint32_t sorted[MAX_VERTICES];
    size_t n = 0, kept = 0;
    for (uint32_t u = 0; u < s->n; u++) {
        for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++) {
            uint32_t v = s->neighbour[i];
            if (value[u] < value[v]) {
                vote_against[u]++;
                vote_for[v]++;
            }
        }
    }
    double minimum = INFINITY;
    for (uint32_t v = 0; v < s->n; v++) minimum = fmin(minimum, value[v]);
    minimum = fmax(minimum, 0);
    for (uint32_t v = 0; v < s->n; v++) {
        if (vote_against[v] || !vote_for[v]) continue;
        size_t at = n++;
        for (; at > 0 && value[sorted[at - 1]] < value[v]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = v;
    }
    if (n == 0 || value[sorted[0]] < 0) return 0;
    for (size_t m = 0; m < n; m++) {
        bool keep = n == 1 || value[sorted[m]] - minimum >= threshold * (value[sorted[0]] - minimum);
        for (size_t p = 0; keep && p < kept; p++) {
            const double *x = s->vertex[sorted[m]], *y = s->vertex[peak[p]];
            double c = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            if ((s->antipodal ? fabs(c) : c) > cos(angle * M_PI / 180)) keep = false;
        }
        if (keep) peak[kept++] = sorted[m];
    }
    return kept;
}

static double random_value(uint32_t trial, uint32_t v, int kind)
{
    uint32_t word[4];
    gls_philox((const uint32_t[4]){v, trial, (uint32_t)kind, 0}, 7, word);
    double u = gls_uniform(word[0]);
    switch (kind) {
    case 0: return u;
    case 1: return floor(4 * u);     /* many ties and plateaus */
    case 2: return floor(6 * u) - 5; /* ties, the maximum 0 */
    case 3: return u - 1.5;          /* all negative */
    case 4: return u < 0.01 ? 1 : 0; /* few, isolated */
    default: return u - 0.3;
    }
}

static void compare(const gls_sphere *s)
{
    static const double threshold[] = {0, 0.25, 0.5, 1}, angle[] = {0, 25, 45, 90};
    double value[MAX_VERTICES];
    size_t total = 0;
    for (uint32_t trial = 0; trial < 480; trial++) {
        for (uint32_t v = 0; v < s->n; v++) value[v] = random_value(trial, v, (int)(trial % 6));
        gls_peak_options options = {.size = sizeof options,
                                    .relative_threshold = threshold[trial / 6 % 4],
                                    .min_separation_angle = angle[trial / 24 % 4]};
        uint32_t found[MAX_VERTICES], expected[MAX_VERTICES];
        size_t n = gls_peaks_find(s, value, &options, found, MAX_VERTICES);
        assert_int_equal(n, brute_force(s, value, options.relative_threshold, options.min_separation_angle, expected));
        assert_memory_equal(found, expected, n * sizeof *found);
        total += n;
    }
    assert_true(total > 480);
}

static void built_in_spheres(void **state)
{
    (void)state;
    static const char *const name[] = {"default", "small"};
    for (int i = 0; i < 2; i++) {
        gls_sphere *s = NULL;
        assert_int_equal(gls_sphere_create(name[i], &s), GLS_OK);
        compare(s);
        gls_sphere_destroy(s);
    }
}

/* Directions without antipodes: the sign counts. */
static void asymmetric_sphere(void **state)
{
    (void)state;
    enum { N = 300 };
    double direction[N][3];
    for (int i = 0; i < N; i++) {
        double z = 1 - (2 * i + 1.0) / N, r = sqrt(1 - z * z), phi = i * M_PI * (3 - sqrt(5));
        direction[i][0] = r * cos(phi);
        direction[i][1] = r * sin(phi);
        direction[i][2] = z;
    }
    gls_sphere *s = NULL;
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, N, GLS_SPHERE_AS_GIVEN, &s, NULL), GLS_OK);
    assert_false(s->antipodal);
    compare(s);
    /* two opposite lobes are one fibre on an antipodal sphere, and two directions here */
    double value[N];
    for (int i = 0; i < N; i++) value[i] = pow(direction[i][2], 8);
    gls_peak_options options = gls_peak_options_default();
    uint32_t peak[4];
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 4), 2);
    gls_sphere_destroy(s);
}

static void special_cases(void **state)
{
    (void)state;
    gls_sphere *s = NULL;
    assert_int_equal(gls_sphere_create("default", &s), GLS_OK);
    double value[MAX_VERTICES];
    uint32_t peak[3] = {99, 99, 99};
    gls_peak_options options = gls_peak_options_default();
    assert_true(options.relative_threshold == 0.25 && options.min_separation_angle == 45);
    for (size_t v = 0; v < s->n; v++) value[v] = 1;
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 3), 0); /* flat */
    value[17] = 2;
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 3), 1);
    assert_int_equal(peak[0], 17);
    for (size_t v = 0; v < s->n; v++) value[v] = -2 + (v == 17);
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 3), 0); /* negative everywhere */
    /* more peaks than room: the count is whole, the store is not overrun */
    options.min_separation_angle = 0;
    for (size_t v = 0; v < s->n; v++) value[v] = random_value(0, (uint32_t)v, 0);
    uint32_t all[MAX_VERTICES];
    size_t n = gls_peaks_find(s, value, &options, all, MAX_VERTICES);
    assert_true(n > 3);
    peak[2] = 99;
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 2), n);
    assert_memory_equal(peak, all, 2 * sizeof *peak);
    assert_int_equal(peak[2], 99);
    assert_int_equal(gls_peaks_find(s, value, &options, NULL, 0), n);
    gls_sphere_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in_spheres), cmocka_unit_test(asymmetric_sphere),
                                       cmocka_unit_test(special_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
