/* Constrained spherical deconvolution of single voxels by both rules: coefficients of DIPY 1.12.1 and MRtrix3 3.0.3, a
 * plain reference for all orders and kernels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/csd.h>
#include <glslines/sh.h>

#include "csd_series.h"
#include "dwi/csd.h"
#include "dwi/csd_kernel.h"
#include "dwi/csd_plan.h"

enum { N = CSD_N, N_VOXELS = CSD_VOXELS };

/* Solves a x = z for symmetric a (n x n) by Gaussian elimination with pivots. */
static void solve(size_t n, const double *a, const double *z, double *x)
{
    double *m = malloc(n * (n + 1) * sizeof *m);
    for (size_t i = 0; i < n; i++) {
        memcpy(m + i * (n + 1), a + i * n, n * sizeof *m);
        m[i * (n + 1) + n] = z[i];
    }
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c; r < n; r++)
            if (fabs(m[r * (n + 1) + c]) > fabs(m[best * (n + 1) + c])) best = r;
        for (size_t j = 0; j <= n; j++) {
            double t = m[c * (n + 1) + j];
            m[c * (n + 1) + j] = m[best * (n + 1) + j];
            m[best * (n + 1) + j] = t;
        }
        for (size_t r = 0; r < n; r++) {
            double scale = m[r * (n + 1) + c] / m[c * (n + 1) + c];
            for (size_t j = c; r != c && j <= n; j++) m[r * (n + 1) + j] -= scale * m[c * (n + 1) + j];
        }
    }
    for (size_t i = 0; i < n; i++) x[i] = m[i * (n + 1) + n] / m[i * (n + 1) + i];
    free(m);
}

typedef struct reference {
    size_t n, k, rows;
    double *x, *p, *b; /* matrices of n x k, k x k and rows x k */
    double tau;
    bool mrtrix;
} reference;

static reference reference_make(const gls_gradients *table, const double *harmonics, const gls_csd_options *o,
                                const gls_sphere *sphere)
{
    const int order = o->sh_order;
    reference r = {.n = table->n - 1,
                   .k = gls_sh_count(order),
                   .rows = sphere->n,
                   .tau = o->tau,
                   .mrtrix = o->rule == GLS_CSD_RULE_MRTRIX};
    r.x = malloc(r.n * r.k * sizeof *r.x);
    r.p = calloc(r.k * r.k, sizeof *r.p);
    r.b = malloc(r.rows * r.k * sizeof *r.b);
    assert_int_equal(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])(table->bvec + 1), r.n, r.x),
                     GLS_OK);
    assert_int_equal(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])sphere->vertex, r.rows, r.b),
                     GLS_OK);
    for (size_t i = 0; i < r.n * r.k; i++) r.x[i] *= harmonics[gls_sh_degree(i % r.k) / 2];
    for (size_t i = 0; i < r.rows * r.k; i++)
        r.b[i] *= o->lambda * (r.mrtrix ? 50 * harmonics[0] / sqrt(4 * M_PI) / (double)r.rows
                                        : (double)r.k * harmonics[0] / (sqrt((double)r.rows) * sqrt(362.0)));
    for (size_t t = 0; t < r.n; t++)
        for (size_t i = 0; i < r.k; i++)
            for (size_t j = 0; j < r.k; j++) r.p[i * r.k + j] += r.x[t * r.k + i] * r.x[t * r.k + j];
    double ridge = r.mrtrix ? 2e-4 * r.p[0] : r.n < r.k ? 1e-5 : 0;
    for (size_t i = 0; i < r.k; i++) r.p[i * r.k + i] += ridge;
    return r;
}

static void reference_free(reference *r)
{
    free(r->x);
    free(r->p);
    free(r->b);
}

static size_t below(const reference *r, const double *f, size_t k, double threshold, bool *set)
{
    size_t n = 0;
    for (size_t v = 0; v < r->rows; v++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += r->b[v * r->k + j] * f[j];
        n += set[v] = sum < threshold;
    }
    return n;
}

/* Computes MRtrix3's first solution: least squares of the highest order that directions and response determine, cut
 * after order 4. */
static void reference_start(const reference *r, const double *signal, double *f)
{
    size_t k = 1;
    for (int order = 2; gls_sh_count(order) <= (r->n < r->k ? r->n : r->k); order += 2)
        if (r->x[gls_sh_count(order) - 1] != 0) k = gls_sh_count(order);
    double *p = calloc(k * k, sizeof *p), *z = calloc(k, sizeof *z);
    for (size_t t = 0; t < r->n; t++)
        for (size_t i = 0; i < k; i++) {
            z[i] += r->x[t * r->k + i] * signal[t];
            for (size_t j = 0; j < k; j++) p[i * k + j] += r->x[t * r->k + i] * r->x[t * r->k + j];
        }
    memset(f, 0, r->k * sizeof *f);
    solve(k, p, z, f);
    for (size_t i = 15; i < k; i++) f[i] = 0;
    free(p);
    free(z);
}

/* Number of solutions with the constraint, 0 if the unconstrained one is the result. */
static int reference_fit(const reference *r, const double *signal, double *f)
{
    double *z = calloc(r->k, sizeof *z), *q = malloc(r->k * r->k * sizeof *q);
    bool *set = malloc(r->rows), *next = malloc(r->rows);
    int iterations = 0;
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->k; j++) z[j] += r->x[i * r->k + j] * signal[i];
    if (r->mrtrix)
        reference_start(r, signal, f);
    else
        solve(r->k, r->p, z, f);
    double threshold = r->mrtrix ? 0 : r->b[0] * f[0] * r->tau;
    if (below(r, f, r->k < 15 ? r->k : 15, threshold, set) || below(r, f, r->k, threshold, set) || r->mrtrix) {
        for (bool same = false; !same && iterations < 50; iterations++) {
            memcpy(q, r->p, r->k * r->k * sizeof *q);
            for (size_t v = 0; v < r->rows; v++)
                for (size_t i = 0; set[v] && i < r->k; i++)
                    for (size_t j = 0; j < r->k; j++) q[i * r->k + j] += r->b[v * r->k + i] * r->b[v * r->k + j];
            solve(r->k, q, z, f);
            below(r, f, r->k, threshold, next);
            same = memcmp(set, next, r->rows) == 0;
            memcpy(set, next, r->rows);
        }
    }
    free(z);
    free(q);
    free(set);
    free(next);
    return iterations;
}

static double relative_difference(const double *a, const double *b, size_t n)
{
    double worst = 0, largest = 1e-300;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        largest = fmax(largest, fabs(b[i]));
    }
    return worst / largest;
}

/* Compares the two golden voxels through every kernel, in double precision. */
static void check_golden(gls_csd_rule rule, const double want4[2][15], const double want8[2][45])
{
    gls_gradients *table = make_table(N, 2000);
    gls_image *dwi = make_series(table);
    gls_sphere *sphere = make_sphere(150);
    for (int order = 4; order <= 8; order += 4) {
        gls_response zonal;
        double harmonics[7];
        gls_csd_options options = gls_csd_options_default();
        gls_csd_plan plan;
        options.rule = rule;
        options.sh_order = order;
        int fitted = rule == GLS_CSD_RULE_MRTRIX ? 8 : order; /* the file of a response has all its orders */
        assert_int_equal(gls_response_to_zonal(&golden_response, table, fitted, &zonal), GLS_OK);
        for (int l = 0; l <= order; l += 2) harmonics[l / 2] = zonal.zonal[l / 2] / sqrt((2 * l + 1) / (4 * M_PI));
        if (order == 8) assert_true(relative_difference(harmonics, golden_harmonics, 5) < 1e-12);
        assert_int_equal(gls_csd_plan_init(&plan, table, harmonics, &options, sphere), GLS_OK);
        assert_false(plan.regularised);
        void *scratch = aligned_alloc(64, (gls_csd_scratch_bytes(&plan) + 63) / 64 * 64);
        float *signal = aligned_alloc(64, N * GLS_CSD_BLOCK * sizeof *signal);
        double *out = malloc(plan.k * GLS_CSD_BLOCK * sizeof *out), got[45];
        for (size_t i = 0; i < N; i++)
            memcpy(signal + i * GLS_CSD_BLOCK, dwi->data + (i + 1) * N_VOXELS, GLS_CSD_BLOCK * sizeof *signal);
        for (size_t c = 0; c <= gls_cpu_level(); c++) {
            assert_int_equal(gls_csd_kernels[c](&plan, signal, GLS_CSD_BLOCK, 3, scratch, out), 0);
            for (size_t v = 0; v < 2; v++) {
                for (size_t j = 0; j < plan.k; j++) got[j] = out[j * GLS_CSD_BLOCK + v];
                /* the signal is single precision here */
                assert_true(relative_difference(got, order == 4 ? want4[v] : want8[v], plan.k) < 2e-6);
            }
            for (size_t j = 0; j < plan.k; j++) assert_true(out[j * GLS_CSD_BLOCK + 2] == 0);
        }
        free(scratch);
        free(signal);
        free(out);
        gls_csd_plan_finish(&plan);
    }
    gls_sphere_destroy(sphere);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

static void golden_kernels(void **state)
{
    (void)state;
    check_golden(GLS_CSD_RULE_DIPY, golden4, golden8);
    check_golden(GLS_CSD_RULE_MRTRIX, golden_mrtrix4, golden_mrtrix8);
}

/* Compares all voxels, orders and kernels with the plain reference; blocks that are partly filled, too. */
static void check_values(gls_csd_rule rule, const double harmonics[7])
{
    gls_gradients *table = make_table(N, 2000);
    gls_image *dwi = make_series(table);
    for (int order = 2; order <= 12; order += 2) {
        gls_sphere *sphere = make_sphere(order % 4 ? 181 : 150);
        gls_csd_options options = gls_csd_options_default();
        gls_csd_plan plan;
        options.rule = rule;
        options.sh_order = order;
        options.lambda = 1.5;
        options.tau = 0.12;
        assert_int_equal(gls_csd_plan_init(&plan, table, harmonics, &options, sphere), GLS_OK);
        assert_int_equal(plan.regularised, rule == GLS_CSD_RULE_DIPY && order > 8);
        reference ref = reference_make(table, harmonics, &options, sphere);
        void *scratch = aligned_alloc(64, (gls_csd_scratch_bytes(&plan) + 63) / 64 * 64);
        float *signal = aligned_alloc(64, N * GLS_CSD_BLOCK * sizeof *signal);
        double *out = malloc(plan.k * GLS_CSD_BLOCK * sizeof *out), got[91], want[91], s[N];
        size_t count = order == 6 ? GLS_CSD_BLOCK : 21;
        for (size_t i = 0; i < N; i++)
            memcpy(signal + i * GLS_CSD_BLOCK, dwi->data + (i + 1) * N_VOXELS, GLS_CSD_BLOCK * sizeof *signal);
        for (size_t c = 0; c <= gls_cpu_level(); c++) {
            int most = 0;
            size_t unsettled = gls_csd_kernels[c](&plan, signal, GLS_CSD_BLOCK, count, scratch, out), expected = 0;
            for (size_t v = 0; v < count; v++) {
                for (size_t i = 0; i < N; i++) s[i] = signal[i * GLS_CSD_BLOCK + v];
                int iterations = reference_fit(&ref, s, want);
                most = iterations > most ? iterations : most;
                for (size_t j = 0; j < plan.k; j++) got[j] = out[j * GLS_CSD_BLOCK + v];
                expected += iterations == 50;
                if (relative_difference(got, want, plan.k) > 1e-7)
                    fail_msg("order %d, kernel %zu, voxel %zu: %g", order, c, v,
                             relative_difference(got, want, plan.k));
            }
            assert_int_equal(unsettled, expected);
            if (order > 2) assert_true(most >= 2);
        }
        free(scratch);
        free(signal);
        free(out);
        reference_free(&ref);
        gls_csd_plan_finish(&plan);
        gls_sphere_destroy(sphere);
    }
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

static void reference_values(void **state)
{
    (void)state;
    check_values(GLS_CSD_RULE_DIPY, (const double[]){3586.9, -944.9, 222, -40.6, 6, -1.5, 0.7});
    check_values(GLS_CSD_RULE_MRTRIX, (const double[]){3586.9, -944.9, 222, -40.6, 6, -1.5, 0.7});
    check_values(GLS_CSD_RULE_MRTRIX, (const double[]){3586.9, -944.9, 222, -40.6, 0, 0, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_kernels), cmocka_unit_test(reference_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
