/* Registration of streamlines: transforms that are known, bounds, threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <omp.h>

#include <glslines/slr.h>

#include "util/maths.h"
#include "util/minimise.h"

enum { LINES = 60, POINTS = 20 };

static float fixed[LINES][POINTS][3], moving[LINES][POINTS][3];

static double draw(uint32_t i, uint32_t k)
{
    uint32_t word[4];
    gls_philox((const uint32_t[4]){i, k, 2, 0}, 5, word);
    return 2 * (double)gls_uniform(word[0]) - 1;
}

/* Makes a bent bundle, and moves it by the inverse of a matrix. Every third moving streamline is reversed. */
static void make(const double *parameter, size_t n)
{
    double m[4][4];
    gls_slr_matrix(parameter, n, m);
    for (uint32_t i = 0; i < LINES; i++)
        for (uint32_t p = 0; p < POINTS; p++) {
            const double at = (double)p / (POINTS - 1), a = 30 + 15 * draw(i, 0), b = 40 + 10 * draw(i, 1);
            double x[3] = {a * cos(3 * at) + 8 * draw(i, 2), b * sin(3 * at), 25 * at * at + 9 * draw(i, 3)};
            const uint32_t q = i % 3 == 0 ? POINTS - 1 - p : p;
            for (int k = 0; k < 3; k++) {
                moving[i][q][k] = (float)x[k];
                fixed[i][p][k] = (float)(m[k][0] * x[0] + m[k][1] * x[1] + m[k][2] * x[2] + m[k][3]);
            }
        }
}

static gls_slr_result find(const gls_slr_options *o)
{
    gls_slr_result r;
    assert_int_equal(gls_slr_find(o, (const float(*)[3])fixed, LINES, (const float(*)[3])moving, LINES, POINTS, &r),
                     GLS_OK);
    return r;
}

/* Returns the largest distance of a moved point from its right place, mm. */
static double farthest(const gls_slr_result *r)
{
    double most = 0;
    for (uint32_t i = 0; i < LINES; i++)
        for (uint32_t p = 0; p < POINTS; p++) {
            const float *x = moving[i][i % 3 == 0 ? POINTS - 1 - p : p];
            double square = 0;
            for (int k = 0; k < 3; k++) {
                const double *m = r->matrix[k],
                             at = m[0] * (double)x[0] + m[1] * (double)x[1] + m[2] * (double)x[2] + m[3];
                square += (at - (double)fixed[i][p][k]) * (at - (double)fixed[i][p][k]);
            }
            most = fmax(most, sqrt(square));
        }
    return most;
}

static void finds_known_transforms(void **state)
{
    static const struct {
        gls_slr_type type;
        double parameter[GLS_SLR_MAX], within;
    } cases[] = {{GLS_SLR_TRANSLATION, {12, -7, 5}, 1e-2},
                 {GLS_SLR_RIGID, {5, -4, 3, 8, -6, 11}, 1e-2},
                 {GLS_SLR_SIMILARITY, {5, -4, 3, 8, -6, 11, 1.1}, 1e-2},
                 {GLS_SLR_SCALING, {5, -4, 3, 8, -6, 11, 1.1, 0.95, 1.04}, 1e-2},
                 {GLS_SLR_AFFINE, {5, -4, 3, 8, -6, 11, 1.1, 0.95, 1.04, 0.05, -0.04, 0.03}, 1e-2}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gls_slr_options o = gls_slr_options_default();
        o.type = cases[k].type;
        o.value_tolerance = 1e-14;
        o.max_iterations = 1000;
        make(cases[k].parameter, (size_t)o.type);
        const gls_slr_result r = find(&o);
        assert_true(r.before > 10);
        assert_true(r.after < 1e-4);
        assert_true(farthest(&r) < cases[k].within);
        assert_int_equal(r.at_bound, 0);
    }
}

static void streamlines_without_partner_have_no_effect(void **state)
{
    const double parameter[] = {3, -2, 1};
    double off[2];
    (void)state;
    make(parameter, GLS_SLR_TRANSLATION);
    /* the fixed streamlines are the first ones, somewhat away from their partners; the others are another bundle */
    for (uint32_t i = 0; i < LINES; i++)
        for (uint32_t p = 0; p < POINTS; p++) {
            fixed[i][p][1] += (float)(i % 2 ? 4 : -4);
            if (i >= LINES / 6) moving[i][p][0] += 40;
        }
    gls_slr_options o = gls_slr_options_default();
    o.type = GLS_SLR_TRANSLATION;
    o.centred = false;
    o.value_tolerance = 1e-14;
    for (int metric = 0; metric < 2; metric++) {
        gls_slr_result r;
        o.metric = (gls_slr_metric)metric;
        assert_int_equal(
            gls_slr_find(&o, (const float(*)[3])fixed, LINES / 6, (const float(*)[3])moving, LINES, POINTS, &r),
            GLS_OK);
        off[metric] = fabs(r.parameter[0] - parameter[0]);
    }
    assert_true(off[GLS_SLR_ASYMMETRIC] < 0.5 && off[GLS_SLR_SYMMETRIC] > 2);
}

/* MDF of two streamlines. */
static double distance_of(float (*a)[3], float (*b)[3])
{
    double least = INFINITY;
    for (int turned = 0; turned < 2; turned++) {
        double d = 0;
        for (size_t p = 0; p < POINTS; p++) {
            const float *x = a[p], *y = b[turned ? POINTS - 1 - p : p];
            d += sqrt(pow((double)x[0] - (double)y[0], 2) + pow((double)x[1] - (double)y[1], 2) +
                      pow((double)x[2] - (double)y[2], 2));
        }
        least = fmin(least, d / POINTS);
    }
    return least;
}

/* Mean distance of the streamlines of one set from the nearest of the other, all pairs compared; all: sum of the
 * distances of all pairs. */
static double compare(float (*a)[POINTS][3], size_t n, float (*b)[POINTS][3], size_t m, bool all)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double least = INFINITY;
        for (size_t j = 0; j < m; j++) {
            const double d = distance_of(a[i], b[j]);
            least = fmin(least, d);
            sum += all ? d : 0;
        }
        sum += all ? 0 : least / (double)n;
    }
    return sum;
}

/* Bounds spare the registration most pairs, but none that counts, also after long ways. */
static void values_are_those_of_all_pairs(void **state)
{
    static float moved[LINES][POINTS][3];
    (void)state;
    for (int far = 0; far < 2; far++)
        for (int metric = 0; metric < (far ? 2 : 3); metric++) {
            make((const double[]){4, -6, 3, 8, -5, 10, 1.1}, GLS_SLR_SIMILARITY);
            for (size_t i = 0; i < LINES; i++)
                for (size_t p = 0; p < POINTS; p++) fixed[i][p][0] += (float)(far ? 900 : 0) + (float)(i % 7);
            gls_slr_options o = gls_slr_options_default();
            o.metric = (gls_slr_metric)metric;
            o.centred = !far;
            for (int k = 0; k < 3 && far; k++) {
                o.low[k] = -2000;
                o.high[k] = 2000;
            }
            const gls_slr_result r = find(&o);
            for (size_t i = 0; i < LINES; i++)
                for (size_t p = 0; p < POINTS; p++)
                    for (int k = 0; k < 3; k++) {
                        const float *x = moving[i][p];
                        moved[i][p][k] = (float)(r.matrix[k][0] * (double)x[0] + r.matrix[k][1] * (double)x[1] +
                                                 r.matrix[k][2] * (double)x[2] + r.matrix[k][3]);
                    }
            const double there = compare(fixed, LINES, moved, LINES, metric == GLS_SLR_SUM),
                         sum = there + compare(moved, LINES, fixed, LINES, false),
                         value = metric == GLS_SLR_SYMMETRIC ? 0.25 * sum * sum : there;
            assert_true(fabs(r.after - value) < 1e-4 * value);
            if (metric == GLS_SLR_SUM)
                assert_true(value < 0.9 * r.before);
            else
                assert_true(value < (metric == GLS_SLR_SYMMETRIC ? 36 : 6));
        }
}

static void takes_no_parameter_beyond_bounds(void **state)
{
    (void)state;
    make((const double[]){0, 0, 0, 30, 0, 0}, GLS_SLR_RIGID);
    gls_slr_options o = gls_slr_options_default();
    o.type = GLS_SLR_RIGID;
    for (int k = 3; k < 6; k++) {
        o.low[k] = -10;
        o.high[k] = 10;
    }
    const gls_slr_result r = find(&o);
    assert_true(r.parameter[3] == 10);
    assert_true(r.at_bound & 1u << 3);
    assert_true(r.after < r.before);
}

static void is_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    make((const double[]){5, -4, 3, 8, -6, 11, 1.1}, GLS_SLR_SIMILARITY);
    for (uint32_t i = 0; i < LINES; i++)
        for (uint32_t p = 0; p < POINTS; p++) fixed[i][p][1] += (float)(3 * draw(i, 9));
    const gls_slr_options o = gls_slr_options_default();
    omp_set_num_threads(1);
    const gls_slr_result one = find(&o);
    omp_set_num_threads(3);
    const gls_slr_result three = find(&o);
    assert_memory_equal(&one, &three, sizeof one);
    assert_true(one.after > 0.1);
}

static void refuses_what_it_cannot_do(void **state)
{
    (void)state;
    gls_slr_result r;
    const double start[3] = {0};
    const float(*x)[3] = (const float(*)[3])fixed;
    gls_slr_options o = gls_slr_options_default();
    assert_int_equal(gls_slr_find(&o, x, 0, x, 1, POINTS, &r), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_slr_find(&o, x, 1, x, 0, POINTS, &r), GLS_ERR_ARGUMENT);
    o.start = start;
    assert_int_equal(gls_slr_find(&o, x, 1, x, 1, POINTS, &r), GLS_ERR_ARGUMENT);
    o = gls_slr_options_default();
    o.low[6] = 2;
    assert_int_equal(gls_slr_find(&o, x, 1, x, 1, POINTS, &r), GLS_ERR_ARGUMENT);
    o = gls_slr_options_default();
    o.type = (gls_slr_type)4;
    assert_int_equal(gls_slr_find(&o, x, 1, x, 1, POINTS, &r), GLS_ERR_ARGUMENT);
}

/* --- The search for minima. */

/* Rosenbrock's valley. */
static double valley(void *user, const double *x, double *g)
{
    (void)user;
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return a * a + 100 * b * b;
}

/* A function: the sum of distances from (1, 2), whose gradient jumps there. */
static double corner(void *user, const double *x, double *g)
{
    (void)user;
    g[0] = x[0] > 1 ? 1 : -1;
    g[1] = x[1] > 2 ? 3 : -3;
    return fabs(x[0] - 1) + 3 * fabs(x[1] - 2);
}

/* A function with a small minimum of 1 at x = 0 beside the large one of 0 at x = 1.5. */
static double two_minima(void *user, const double *x, double *g)
{
    (void)user;
    const double small = 1 + x[0] * x[0], large = 4 * (x[0] - 1.5) * (x[0] - 1.5);
    g[0] = small < large ? 2 * x[0] : 8 * (x[0] - 1.5);
    return fmin(small, large);
}

static void looks_beside_minima(void **state)
{
    static const double high[1] = {10}, low[1] = {-10}, unit[1] = {1};
    (void)state;
    gls_minimise_problem p = {1, low, high, unit, two_minima, NULL, 1e-15, 1e-8, 500, 0};
    double x[1] = {-0.3};
    assert_true(fabs(gls_minimise(&p, x).value - 1) < 1e-10);
    p.n_beside = 1;
    x[0] = -0.3;
    assert_true(gls_minimise(&p, x).value < 1e-10 && fabs(x[0] - 1.5) < 1e-4);
}

static void minimises(void **state)
{
    static const double wide[2] = {10, 10}, minus[2] = {-10, -10}, tight[2] = {0.5, 10}, unit[2] = {1, 1};
    (void)state;
    gls_minimise_problem p = {2, minus, wide, unit, valley, NULL, 1e-15, 1e-8, 500, 0};
    double x[2] = {-1.2, 1};
    assert_true(gls_minimise(&p, x).value < 1e-10);
    assert_true(fabs(x[0] - 1) < 1e-4 && fabs(x[1] - 1) < 1e-4);
    /* the bound holds x0 at 0.5, so that x1 is its square */
    p.high = tight;
    x[0] = -1.2;
    x[1] = 1;
    assert_true(fabs(gls_minimise(&p, x).value - 0.25) < 1e-8);
    assert_true(x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-4);
    p.high = wide;
    p.function = corner;
    x[0] = -4;
    x[1] = 5.3;
    assert_true(gls_minimise(&p, x).value < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_known_transforms),
        cmocka_unit_test(streamlines_without_partner_have_no_effect),
        cmocka_unit_test(values_are_those_of_all_pairs),
        cmocka_unit_test(takes_no_parameter_beyond_bounds),
        cmocka_unit_test(is_the_same_on_any_number_of_threads),
        cmocka_unit_test(refuses_what_it_cannot_do),
        cmocka_unit_test(minimises),
        cmocka_unit_test(looks_beside_minima),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
