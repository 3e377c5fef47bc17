/* Multi-tissue deconvolution: conditions that its solution must meet, and input that it refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glslines/msmt.h>
#include <glslines/sh.h>

#include "csd_series.h"
#include "dwi/nonneg_kernel.h"
#include "dwi/nonneg_plan.h"
#include "dwi/nonneg.h"

enum { K = 6, N_ROWS = 40, N_DATA = 20, COUNT = 50 };

static double next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

/* The optimum: no row below zero, the gradient a sum of active rows with positive factors. It is checked by the angle
 * between them: no feasible step in the directions of the coordinates makes the fit better. */
static void kernels(void **state)
{
    (void)state;
    uint32_t seed = 7;
    double design[N_DATA * K], rows[N_ROWS * K], direction[N_ROWS][3];
    spiral(N_ROWS, direction);
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, 2, (const double(*)[3])direction, N_ROWS, rows);
    for (int i = 0; i < N_DATA * K; i++) design[i] = next(&seed) + (i % K == 0);
    gls_nonneg_plan plan;
    assert_int_equal(gls_nonneg_plan_init(&plan, "test", design, N_DATA, K, false, rows, N_ROWS), GLS_OK);
    double *data = aligned_alloc(64, N_DATA * GLS_NONNEG_BLOCK * sizeof *data),
           *f = aligned_alloc(64, 2 * K * GLS_NONNEG_BLOCK * sizeof *f), *other = f + K * GLS_NONNEG_BLOCK;
    void *scratch = aligned_alloc(64, (gls_nonneg_scratch_bytes(&plan) + 63) / 64 * 64);
    for (int i = 0; i < N_DATA * GLS_NONNEG_BLOCK; i++) data[i] = 100 * next(&seed);
    for (int i = 0; i < N_DATA; i++) data[i * GLS_NONNEG_BLOCK] = 0; /* voxel 0 has no signal */
    for (size_t i = 0; i <= gls_cpu_level(); i++) {
        assert_int_equal(gls_nonneg_kernels[i](&plan, data, COUNT, scratch, i ? other : f), 0);
        for (int j = 0; i && j < K; j++)
            for (int v = 0; v < COUNT; v++)
                assert_float_equal(other[j * GLS_NONNEG_BLOCK + v], f[j * GLS_NONNEG_BLOCK + v], 1e-6);
    }
    /* voxels that need more active rows than there is room for are counted; those that need none are solved */
    size_t room = plan.max_active, few = 0;
    plan.max_active = 0;
    for (size_t i = 0; i <= gls_cpu_level(); i++) {
        const size_t left = gls_nonneg_kernels[i](&plan, data, COUNT, scratch, other);
        assert_true(left > 0 && left <= COUNT && (i == 0 || left == few));
        few = left;
    }
    for (int j = 0; j < K; j++) assert_true(other[j * GLS_NONNEG_BLOCK] == 0);
    plan.max_active = room;
    for (int v = 0; v < COUNT; v++) {
        double misfit[N_DATA], own = 0;
        for (int r = 0; r < N_ROWS; r++) {
            double value = 0;
            for (int j = 0; j < K; j++) value += rows[r * K + j] * f[j * GLS_NONNEG_BLOCK + v];
            assert_true(value > -1e-5);
        }
        for (int i = 0; i < N_DATA; i++) {
            misfit[i] = -data[i * GLS_NONNEG_BLOCK + v];
            for (int j = 0; j < K; j++) misfit[i] += design[i * K + j] * f[j * GLS_NONNEG_BLOCK + v];
            own += misfit[i] * misfit[i];
        }
        for (int try = 0; try < 200; try++) { /* feasible points nearby are no better */
            double g[K], sum = 0;
            bool feasible = true;
            for (int j = 0; j < K; j++) g[j] = f[j * GLS_NONNEG_BLOCK + v] + 0.1 * next(&seed);
            for (int r = 0; r < N_ROWS; r++) {
                double value = 0;
                for (int j = 0; j < K; j++) value += rows[r * K + j] * g[j];
                feasible = feasible && value >= 0;
            }
            for (int i = 0; i < N_DATA && feasible; i++) {
                double x = -data[i * GLS_NONNEG_BLOCK + v];
                for (int j = 0; j < K; j++) x += design[i * K + j] * g[j];
                sum += x * x;
            }
            if (feasible) assert_true(sum > own * (1 - 1e-6) - 1e-6);
        }
    }
    for (int j = 0; j < K; j++) assert_true(f[j * GLS_NONNEG_BLOCK] == 0);
    free(data);
    free(f);
    free(scratch);
    gls_nonneg_plan_finish(&plan);
}

/* A voxel that has the response of a tissue is that tissue alone. */
static void tissues(void **state)
{
    (void)state;
    enum { N = 1 + 2 * 40 };
    double bval[N] = {0}, bvec[N][3] = {{0}};
    spiral(40, bvec + 1);
    spiral(40, bvec + 41);
    for (int i = 1; i < N; i++) bval[i] = i < 41 ? 1000 : 2000;
    gls_gradients_options table_options = {.size = sizeof table_options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_gradients *table = NULL;
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, N, &table_options, NULL, &table), GLS_OK);
    gls_tissue_response *r[3] = {NULL};
    const double zonal[3][3][3] = {
        {{3000}, {1800, -700, 120}, {1100, -650, 220}}, {{3500}, {1700}, {800}}, {{9000}, {450}, {60}}};
    for (int t = 0; t < 3; t++) {
        assert_int_equal(gls_tissue_response_create(3, t ? 0 : 4, &r[t]), GLS_OK);
        for (int s = 0; s < 3; s++)
            for (int l = 0; l <= r[t]->order / 2; l++) r[t]->zonal[s * (r[t]->order / 2 + 1) + l] = zonal[t][s][l];
    }
    gls_image *dwi = make_image(3, 1, 1, N), *tissue[3] = {NULL};
    for (int i = 0; i < N; i++)
        for (int v = 0; v < 3; v++) {
            double x = bvec[i][0], p[3] = {1, (3 * x * x - 1) / 2, (35 * x * x * x * x - 30 * x * x + 3) / 8}, sum = 0;
            for (int l = 0; l < 3; l++)
                sum += zonal[v][i == 0 ? 0 : i < 41 ? 1 : 2][l] * sqrt((4 * l + 1) / (4 * M_PI)) * p[l];
            dwi->data[i * 3 + v] = (float)sum;
        }
    const gls_tissue_response *const response[3] = {r[0], r[1], r[2]};
    assert_int_equal(gls_msmt_fit(dwi, table, NULL, response, 3, NULL, NULL, NULL, tissue), GLS_OK);
    assert_int_equal(tissue[0]->n_volumes, 15);
    for (int t = 0; t < 3; t++)
        for (int v = 0; v < 3; v++) assert_float_equal(tissue[t]->data[v], t == v ? sqrt(0.25 / M_PI) : 0, 0.03);
    for (int t = 0; t < 3; t++) gls_image_destroy(tissue[t]);
    r[1]->n_shells = 2;
    assert_int_equal(gls_msmt_fit(dwi, table, NULL, response, 3, NULL, NULL, NULL, tissue), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "2 rows, but the series has 3 shells"));
    for (int t = 0; t < 3; t++) gls_tissue_response_destroy(r[t]);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels), cmocka_unit_test(tissues)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
