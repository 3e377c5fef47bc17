/* Constrained spherical deconvolution of images: masks, threads, broken values, orders too high, errors, the choice of
 * the shell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <omp.h>

#include <glslines/csd.h>
#include <glslines/log.h>
#include <glslines/sh.h>

#include "csd_series.h"

enum { N = CSD_N, N_VOXELS = CSD_VOXELS };

static char log_text[4096];

static void keep_line(void *user, gls_log_level level, const char *line)
{
    (void)user;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s%s\n", level == GLS_LOG_WARNING ? "warning: " : "", line);
}

static bool count_calls(void *user, size_t done, size_t total)
{
    size_t *calls = user;
    assert_true(done <= total);
    ++*calls;
    return true;
}

static bool refuse(void *user, size_t done, size_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return false;
}

/* Checks the mask, selected volumes, threads, broken voxels and progress. */
static void images(void **state)
{
    (void)state;
    gls_gradients *table = make_table(N, 2000);
    gls_image *dwi = make_series(table), *mask = make_image(N_VOXELS / 6, 3, 2, 1), *sh = NULL, *other = NULL,
              *shuffled = make_image(N_VOXELS / 6, 3, 2, N + 3);
    gls_sphere *sphere = make_sphere(150);
    gls_csd_options options = gls_csd_options_default();
    size_t calls = 0, volume[N + 1];
    options.sphere = sphere;
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, count_calls, &calls, &sh), GLS_OK);
    assert_true(calls > 0);
    assert_int_equal(sh->n_volumes, 45);
    for (size_t v = 0; v < 2; v++)
        for (size_t j = 0; j < 45; j++) assert_float_equal(sh->data[j * N_VOXELS + v], golden8[v][j], 2e-6);

    /* another order of volumes, every second voxel, more threads */
    for (size_t t = 0; t <= N; t++) {
        volume[t] = N + 2 - t;
        memcpy(shuffled->data + volume[t] * N_VOXELS, dwi->data + t * N_VOXELS, N_VOXELS * sizeof *dwi->data);
    }
    for (size_t v = 0; v < N_VOXELS; v++) mask->data[v] = v % 2 ? 0.25f : 0;
    int threads = omp_get_max_threads();
    omp_set_num_threads(5);
    assert_int_equal(gls_csd_fit(shuffled, table, volume, mask, &golden_response, &options, NULL, NULL, &other),
                     GLS_OK);
    omp_set_num_threads(threads);
    for (size_t v = 0; v < N_VOXELS; v++)
        for (size_t j = 0; j < 45; j++) {
            float expected = v % 2 ? sh->data[j * N_VOXELS + v] : 0;
            assert_memory_equal(&other->data[j * N_VOXELS + v], &expected, sizeof expected);
        }
    gls_image_destroy(other);

    dwi->data[5 * N_VOXELS + 7] = NAN;
    dwi->data[9 * N_VOXELS + 8] = INFINITY;
    log_text[0] = '\0';
    gls_log_set(keep_line, NULL, GLS_LOG_INFO);
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, NULL, NULL, &other), GLS_OK);
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    assert_non_null(strstr(log_text, "CSD: 2 of 150 voxels have a signal that is NaN or infinite and get no ODF"));
    for (size_t v = 0; v < N_VOXELS; v++)
        for (size_t j = 0; j < 45; j++) {
            float expected = v == 7 || v == 8 ? 0 : sh->data[j * N_VOXELS + v];
            assert_memory_equal(&other->data[j * N_VOXELS + v], &expected, sizeof expected);
        }
    gls_image_destroy(other);
    other = NULL;
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, refuse, NULL, &other),
                     GLS_ERR_CANCELLED);
    assert_null(other);
    gls_image_destroy(sh);
    gls_image_destroy(shuffled);
    gls_image_destroy(mask);
    gls_image_destroy(dwi);
    gls_sphere_destroy(sphere);
    gls_gradients_destroy(table);
}

/* An order beyond the directions is possible, with a message; an iteration that is cut short is counted. */
static void super_resolution(void **state)
{
    (void)state;
    gls_gradients *table = make_table(30, 2000);
    gls_image *dwi = make_image(4, 1, 1, 31), *sh = NULL;
    gls_csd_options options = gls_csd_options_default();
    const double fibre[1][3] = {{1, 0, 0}};
    for (size_t t = 0; t < 31; t++)
        for (size_t v = 0; v < 4; v++)
            dwi->data[t * 4 + v] = (float)fibres(table, t, fibre, (double[]){1}, 1, 0.1 * (double)v);
    log_text[0] = '\0';
    gls_log_set(keep_line, NULL, GLS_LOG_INFO);
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, NULL, NULL, &sh), GLS_OK);
    assert_non_null(strstr(log_text, "warning: CSD: order 8 has 45 coefficients, but the 30 directions determine only "
                                     "coefficients up to order 6"));
    /* the peak lies on the fibre */
    for (size_t v = 0; v < 4; v++) {
        const double direction[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        double basis[3][45], amplitude[3] = {0};
        assert_int_equal(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, 8, direction, 3, basis[0]), GLS_OK);
        for (int d = 0; d < 3; d++)
            for (size_t j = 0; j < 45; j++) amplitude[d] += basis[d][j] * sh->data[j * 4 + v];
        assert_true(amplitude[0] > 5 * fabs(amplitude[1]) && amplitude[0] > 5 * fabs(amplitude[2]) &&
                    amplitude[0] < 10);
    }
    gls_image_destroy(sh);
    options.sh_order = 6;
    options.max_iterations = 1;
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, NULL, NULL, &sh), GLS_OK);
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    assert_non_null(strstr(log_text, "of 4 voxels did not converge within 1 iterations"));
    gls_image_destroy(sh);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

/* MRtrix3's rule: coefficients of dwi2fod csd, orders beyond the response's, negative signal as 0, 300 directions. */
static void mrtrix_rule(void **state)
{
    (void)state;
    gls_gradients *table = make_table(N, 2000);
    gls_image *dwi = make_series(table), *sh = NULL, *other = NULL;
    gls_sphere *sphere = make_sphere(150), *built_in = NULL;
    gls_csd_options options = gls_csd_options_default();
    gls_response response;
    options.rule = GLS_CSD_RULE_MRTRIX;
    options.sphere = sphere;
    assert_int_equal(gls_response_to_zonal(&golden_response, table, 8, &response), GLS_OK);
    log_text[0] = '\0';
    gls_log_set(keep_line, NULL, GLS_LOG_INFO);
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_OK);
    assert_null(strstr(log_text, "the constraint alone"));
    for (size_t v = 0; v < 2; v++)
        for (size_t j = 0; j < 45; j++) assert_float_equal(sh->data[j * N_VOXELS + v], golden_mrtrix8[v][j], 2e-6);
    /* the response of a tensor becomes one of the order that the directions determine */
    options.sh_order = 12;
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, NULL, NULL, &other), GLS_OK);
    assert_non_null(strstr(log_text, "CSD of order 12: the response has order 8; the constraint alone"));
    gls_image_destroy(sh);
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_OK);
    assert_int_equal(sh->n_volumes, 91);
    assert_memory_equal(sh->data, other->data, 91 * N_VOXELS * sizeof *sh->data);
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    assert_null(strstr(log_text, "warning"));
    gls_image_destroy(other);
    gls_image_destroy(sh);
    /* the directions of the rule, unless others are given */
    options.sh_order = 6;
    options.sphere = NULL;
    assert_int_equal(gls_sphere_create("repulsion600", &built_in), GLS_OK);
    assert_int_equal(built_in->n, 300);
    dwi->data[5 * N_VOXELS + 3] = 0;
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_OK);
    options.sphere = built_in;
    dwi->data[5 * N_VOXELS + 3] = -50;
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &other), GLS_OK);
    assert_memory_equal(sh->data, other->data, 28 * N_VOXELS * sizeof *sh->data);
    gls_image_destroy(other);
    gls_image_destroy(sh);
    gls_image_destroy(dwi);
    gls_sphere_destroy(sphere);
    gls_sphere_destroy(built_in);
    gls_gradients_destroy(table);
}

static void errors(void **state)
{
    (void)state;
    gls_gradients *table = make_table(30, 2000);
    gls_image *dwi = make_image(4, 1, 1, 31), *mask = make_image(4, 1, 2, 1), *sh = NULL;
    gls_csd_options options = gls_csd_options_default(), bad;
    gls_response response = golden_response;
    bad = options;
    bad.sh_order = 5;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "sh_order");
    bad.sh_order = 14;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "sh_order");
    bad = options;
    bad.rule = (gls_csd_rule)2;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "rule");
    bad = options;
    bad.lambda = 0;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "lambda");
    bad = options;
    bad.tau = 1;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "tau");
    bad = options;
    bad.max_iterations = 0;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "max_iterations");
    const double none[2][3] = {{0, 0, 1}, {0, 0, 0}}, nan[1][3] = {{0, NAN, 1}};
    bad = options;
    bad.direction = none;
    bad.n_directions = 2;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT,
           "direction 2 of the constraint, 0 0 0, is no unit vector");
    bad.direction = nan;
    bad.n_directions = 1;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &bad, NULL, NULL, &sh), GLS_ERR_ARGUMENT, "no unit vector");
    expect(gls_csd_fit(dwi, table, NULL, mask, &response, &options, NULL, NULL, &sh), GLS_ERR_INPUT, "different grids");
    expect(gls_csd_fit(mask, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_ERR_ARGUMENT,
           "1 volumes, the gradient table 31");
    size_t volume[31] = {[30] = 31};
    expect(gls_csd_fit(dwi, table, volume, NULL, &response, &options, NULL, NULL, &sh), GLS_ERR_ARGUMENT,
           "volume 31 (counted from 0) does not exist in a series of 31 volumes");
    for (size_t i = 1; i < 10; i++) table->bval[i] = 1000;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_ERR_INPUT,
           "one shell, but the weighted volumes have b-values from 1000 to 2000");
    for (size_t i = 1; i < 10; i++) table->bval[i] = 2000;
    response.evals[1] = 0.002;
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_ERR_INPUT, "eigenvalues");
    response = (gls_response){.is_zonal = true, .order = 6, .zonal = {900, -400, 100, -20}};
    expect(gls_csd_fit(dwi, table, NULL, NULL, &response, &options, NULL, NULL, &sh), GLS_ERR_INPUT,
           "up to order 6, but CSD of order 8 needs all up to order 8: lower --sh-order, or give --csd-rule mrtrix");
    assert_null(sh);
    gls_image_destroy(dwi);
    gls_image_destroy(mask);
    gls_gradients_destroy(table);
}

static void shells(void **state)
{
    (void)state;
    enum { N = 40 };
    double bval[N] = {0}, bvec[N][3], chosen = 0;
    gls_gradients *table = NULL;
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    spiral(N, bvec);
    for (int i = 1; i < N; i++) bval[i] = i < 5 ? 300 : i < 12 ? 995 + 5 * (i % 3) : i < 26 ? 2995 : 6000;
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, N, &options, NULL, &table), GLS_OK);
    log_text[0] = '\0';
    gls_log_set(keep_line, NULL, GLS_LOG_INFO);
    assert_int_equal(gls_csd_choose_shell(table, 0, 4, &chosen), GLS_OK);
    assert_float_equal(chosen, 2995, 1e-9);
    assert_non_null(strstr(log_text,
                           "CSD uses the shell of b = 2995 s/mm2 (as many directions as others and the best "
                           "contrast, though fewer than the order has coefficients); the shells are: 300 (4 volumes)"));
    assert_non_null(strstr(log_text, "msmt"));
    assert_int_equal(gls_csd_choose_shell(table, 2996, 4, &chosen), GLS_OK);
    assert_float_equal(chosen, 2995, 1e-9);
    assert_int_equal(gls_csd_choose_shell(table, 300, 4, &chosen), GLS_OK);
    assert_float_equal(chosen, 300, 1e-9);
    assert_non_null(strstr(log_text, "warning: CSD on a shell of b = 300"));
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    expect(gls_csd_choose_shell(table, 2000, 4, &chosen), GLS_ERR_INPUT, "the shells are: 300 (4 volumes), ");
    gls_gradients_destroy(table);
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, 5, &options, NULL, &table), GLS_OK);
    expect(gls_csd_choose_shell(table, 0, 4, &chosen), GLS_ERR_INPUT,
           "at least 500 s/mm2, but the shells are: 300 (4 volumes); --shells B");
    gls_gradients_destroy(table);
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, 1, &options, NULL, &table), GLS_OK);
    expect(gls_csd_choose_shell(table, 0, 4, &chosen), GLS_ERR_INPUT, "no diffusion-weighted volume");
    gls_gradients_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images), cmocka_unit_test(super_resolution),
                                       cmocka_unit_test(mrtrix_rule), cmocka_unit_test(errors),
                                       cmocka_unit_test(shells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
