/* Weights of streamlines by the signal: pieces, products with the matrix, and fits, whose values are those of a
 * separate implementation in double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "signal_scene.h"

static void test_values(void **state)
{
    static const double weight[LINES] = {0.16004743, 0.07583427, 0.12592346, 0.04908195, 0.08131266, 0.03559668,
                                         0.12125435, 0.05321663, 0.08415416, 0.07692831, 0.06114991, 0.04548964};
    scene s;
    gls_signal signal;
    const gls_signal_options o = tight();
    (void)state;
    make_scene(&s);
    assert_ok(fit(&s, &o, NULL, LINES, &signal));
    assert_int_equal(signal.rows.start[LINES], 96);
    assert_int_equal(signal.model.n_voxels, 67);
    double length = 0;
    for (uint64_t i = 0; i < 96; i++) length += signal.rows.length[i] * signal.rows.unit;
    assert_true(fabs(length - 122.12311827839585) < 2e-3);
    assert_true(fabs(signal.fit.iteration[0].objective - 116.5832686733787) < 1e-4);
    assert_true(fabs(signal.fit.objective / 9.796964661643216 - 1) < 1e-6);
    assert_int_equal(signal.fit.iterations, 28);
    assert_int_equal(signal.fit.back_tracks, 7);
    assert_int_equal(signal.fit.why, GLS_SIGNAL_STOP_OBJECTIVE);
    for (int i = 0; i < LINES; i++) assert_true(fabs((double)signal.weight[i] - weight[i]) < 1e-4 * weight[i]);
    gls_signal_finish(&signal);
    free_scene(&s);
}

/* The penalty removes whole groups; debiasing fits those that stay again. */
static void test_groups(void **state)
{
    static const uint64_t group[LINES] = {7, 1, 2, 3, 7, 1, 2, 3, 7, 1, 2, 3};
    static const double weight[3] = {0.0124007, 0.01903724, 0.01496983};
    scene s;
    gls_signal signal;
    gls_signal_options o = tight();
    (void)state;
    make_scene(&s);
    o.share = 0.05;
    for (int rule = 0; rule < 3; rule++) {
        o.peer = rule == 1;
        o.debias = rule == 2;
        assert_ok(fit(&s, &o, group, LINES, &signal));
        assert_int_equal(signal.groups.n, 4);
        assert_int_equal(signal.n_groups_positive, 1);
        assert_true(fabs(signal.groups.lambda / 0.4031411789300472 - 1) < 1e-5);
        for (int i = 0; i < LINES; i++) {
            const double w = (double)signal.weight[i];
            if (i % 4 != 0)
                assert_true(w == 0);
            else if (rule < 2)
                assert_true(fabs(w - weight[i / 4]) < 1e-3 * weight[i / 4]);
            else
                assert_true(w > 2 * weight[i / 4]);
        }
        if (rule < 2) assert_true(fabs(signal.fit.objective / 10.80614632600001 - 1) < 1e-6);
        gls_signal_finish(&signal);
    }
    free_scene(&s);
}

/* Products with the matrix and with its transpose agree: (A x) r = x (A' r). */
static void test_adjoint(void **state)
{
    scene s;
    gls_signal signal;
    gls_signal_options o = tight();
    (void)state;
    make_scene(&s);
    o.solver.max_iters = 1;
    assert_ok(fit(&s, &o, NULL, LINES, &signal));
    const gls_signal_model *m = &signal.model;
    const size_t n_r = m->n_voxels * m->m;
    double *x = malloc(m->n * sizeof *x), *g = malloc(m->n * sizeof *g), left = 0, right = 0;
    float *r = malloc(n_r * sizeof *r), *ax = malloc(n_r * sizeof *ax);
    for (size_t i = 0; i < m->n; i++) x[i] = sin(1.1 * (double)i);
    for (size_t i = 0; i < n_r; i++) r[i] = (float)cos(0.7 * (double)i);
    gls_signal_model_apply(m, x, true, ax);
    gls_signal_model_transpose(m, r, r, 0, g);
    for (size_t i = 0; i < n_r; i++) left += (double)ax[i] * (double)r[i];
    for (size_t i = 0; i < m->n; i++) right += x[i] * g[i];
    assert_true(fabs(left) > 0.1 && fabs(left / right - 1) < 1e-5);
    free(x);
    free(g);
    free(r);
    free(ax);
    gls_signal_finish(&signal);
    free_scene(&s);
}

/* The same bytes for any number of threads and any blocks. */
static void test_bytes(void **state)
{
    scene s;
    gls_signal one, other;
    const gls_signal_options o = tight();
    const int threads = omp_get_max_threads();
    (void)state;
    make_scene(&s);
    omp_set_num_threads(1);
    assert_ok(fit(&s, &o, NULL, LINES, &one));
    for (int n = 2; n < 5; n++) {
        omp_set_num_threads(n);
        assert_ok(fit(&s, &o, NULL, (size_t)n, &other));
        assert_memory_equal(one.weight, other.weight, LINES * sizeof *one.weight);
        gls_signal_finish(&other);
    }
    omp_set_num_threads(threads);
    gls_signal_finish(&one);
    free_scene(&s);
}

/* Checks which input is accepted, and what a message names. */
static void test_refused(void **state)
{
    scene s;
    gls_signal signal;
    gls_signal_options o = tight();
    (void)state;
    make_scene(&s);
    s.dwi->data[5] = NAN;
    assert_int_equal(fit(&s, &o, NULL, LINES, &signal), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "volume 0 (counted from 0) has a value that is not finite"));
    gls_signal_finish(&signal);
    o.replacement = 0;
    assert_ok(fit(&s, &o, NULL, LINES, &signal));
    gls_signal_finish(&signal);
    o.limits.min_length = 100;
    assert_int_equal(fit(&s, &o, NULL, LINES, &signal), GLS_ERR_EMPTY);
    assert_non_null(strstr(gls_last_error(), "12 are shorter than --min-length"));
    gls_signal_finish(&signal);
    s.point[30][1] = INFINITY;
    assert_int_equal(fit(&s, &o, NULL, LINES, &signal), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "streamline 1 (counted from 0) has a point that is not finite"));
    gls_signal_finish(&signal);
    free_scene(&s);
}

/* Products whose cost is not a finite number at some applications. */
typedef struct broken {
    gls_signal_products base;
    gls_signal_products *host;
    int applied, from, to;
    double cost;
} broken;

static gls_status broken_apply(gls_signal_products *products, const double *x, bool plain, double *cost)
{
    broken *b = (broken *)products;
    const gls_status status = b->host->kind->apply(b->host, x, plain, cost);
    if (b->applied >= b->from && b->applied < b->to) *cost = b->cost;
    b->applied++;
    return status;
}

static void broken_keep(gls_signal_products *products)
{
    broken *b = (broken *)products;
    b->host->kind->keep(b->host);
}

static gls_status broken_gradient(gls_signal_products *products, double momentum, double *g, double *cost)
{
    broken *b = (broken *)products;
    return b->host->kind->gradient(b->host, momentum, g, cost);
}

static gls_status broken_read(gls_signal_products *products, float *r)
{
    broken *b = (broken *)products;
    return b->host->kind->read(b->host, r);
}

/* An objective that is not finite ends the fit at its best x: at the start if no step has a finite one, else at the
 * iteration before. */
static void test_infinite(void **state)
{
    static const gls_signal_products_kind kind = {broken_apply, broken_keep, broken_gradient, broken_read, NULL};
    static const struct {
        int from, to;
        double cost;
    } cases[] = {{2, 403, INFINITY}, {20, 21, NAN}};
    scene s;
    gls_signal signal;
    const gls_signal_options o = tight();
    (void)state;
    make_scene(&s);
    assert_ok(fit(&s, &o, NULL, LINES, &signal));
    const gls_signal_model *m = &signal.model;
    double *x = malloc(m->n * sizeof *x);
    float *r = malloc(m->n_voxels * m->m * sizeof *r);
    for (int c = 0; c < 2; c++) {
        broken b = {.from = cases[c].from, .to = cases[c].to, .cost = cases[c].cost};
        gls_signal_fit result;
        double largest = 0, least = INFINITY, at_x;
        assert_ok(gls_signal_host_create(m, &b.host));
        b.base = (gls_signal_products){&kind, m, b.host->noise};
        assert_ok(gls_signal_solve(&b.base, &o.solver, NULL, x, r, &result));
        assert_int_equal(result.why, GLS_SIGNAL_STOP_INFINITE);
        assert_string_equal(gls_signal_stop_name(result.why), "objective that is not finite");
        assert_false(isfinite(result.iteration[result.iterations].objective));
        for (size_t i = 0; i < result.iterations; i++) least = fmin(least, result.iteration[i].objective);
        for (size_t i = 0; i < m->n; i++) largest = fmax(largest, x[i]);
        assert_ok(b.host->kind->apply(b.host, x, false, &at_x));
        assert_true(isfinite(result.objective) && result.objective == at_x);
        assert_true(fabs(result.objective / least - 1) < 1e-12);
        assert_true(c == 0 ? result.iterations == 1 && largest == 0 : result.iterations > 3 && largest > 0);
        b.host->kind->destroy(b.host);
        gls_signal_fit_finish(&result);
    }
    free(x);
    free(r);
    gls_signal_finish(&signal);
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_groups),  cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_bytes),  cmocka_unit_test(test_refused), cmocka_unit_test(test_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
