/* Intensity normalisation of tissues, masks from a series, and regions of seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glslines/normalise.h>

#include "csd_series.h"

enum { N = 16, VOXELS = N * N * N };
#define REFERENCE 0.28209479177

static gls_image *full_mask(void)
{
    gls_image *mask = make_image(N, N, N, 1);
    for (int v = 0; v < VOXELS; v++) mask->data[v] = 1;
    return mask;
}

/* A smooth field of the form that the method has is found, and every coefficient is divided by it. */
static void field_is_found(void **state)
{
    (void)state;
    gls_image *mask = full_mask(), *tissue[2] = {make_image(N, N, N, 3), make_image(N, N, N, 1)}, *field = NULL;
    double truth[VOXELS];
    for (int v = 0; v < VOXELS; v++) {
        int x = v % N, y = v / N % N, z = v / N / N;
        double share = (double)((x * 7 + y * 3 + z) % 10) / 9;
        truth[v] = exp(0.3 + 0.02 * x - 0.01 * y + 0.001 * z * z - 1e-4 * x * y * z);
        for (int j = 0; j < 3; j++)
            tissue[0]->data[j * VOXELS + v] = (float)(REFERENCE * truth[v] * share * (1 - 0.4 * j));
        tissue[1]->data[v] = (float)(REFERENCE * truth[v] * (1 - share));
    }
    gls_normalise_result result;
    assert_int_equal(gls_normalise(tissue, 2, mask, &field, &result), GLS_OK);
    for (int v = 0; v < VOXELS; v++) {
        assert_float_equal(field->data[v], truth[v], 1e-4 * truth[v]);
        assert_float_equal(tissue[0]->data[v] + tissue[1]->data[v], REFERENCE, 1e-4);
        assert_float_equal(tissue[0]->data[VOXELS + v], 0.6 * tissue[0]->data[v], 1e-5);
    }
    assert_float_equal(result.balance[0], 1, 1e-4);
    assert_float_equal(result.balance[1], 1, 1e-4);
    assert_int_equal(result.n_voxels, VOXELS);
    gls_image_destroy(field);
    gls_image_destroy(mask);
    for (int t = 0; t < 2; t++) gls_image_destroy(tissue[t]);
}

/* Tissues on other scales are balanced, and voxels far off do not count. */
static void balance_and_outliers(void **state)
{
    (void)state;
    gls_image *mask = full_mask(), *tissue[2] = {make_image(N, N, N, 1), make_image(N, N, N, 1)};
    for (int v = 0; v < VOXELS; v++) {
        double share = (double)(v * 13 % 101) / 100, off = v % 97 == 0 ? 20 : 1;
        tissue[0]->data[v] = (float)(REFERENCE * 2 * share * off);
        tissue[1]->data[v] = (float)(REFERENCE * 0.5 * (1 - share) * off);
    }
    gls_normalise_result result;
    assert_int_equal(gls_normalise(tissue, 2, mask, NULL, &result), GLS_OK);
    assert_float_equal(result.balance[0] * 2, result.balance[1] * 0.5, 1e-3);
    assert_float_equal(result.balance[0] * result.balance[1], 1, 1e-9);
    assert_true(result.n_outliers >= VOXELS / 97 && result.n_outliers < VOXELS / 20);
    for (int v = 1; v < 97; v++)
        assert_float_equal(result.balance[0] * tissue[0]->data[v] + result.balance[1] * tissue[1]->data[v], REFERENCE,
                           1e-3);
    /* too few voxels for the polynomial */
    for (int v = 12; v < VOXELS; v++) mask->data[v] = 0;
    assert_int_equal(gls_normalise(tissue, 2, mask, NULL, &result), GLS_ERR_INPUT);
    gls_image_destroy(mask);
    for (int t = 0; t < 2; t++) gls_image_destroy(tissue[t]);
}

/* The mask of a ball with a hole, and a speck beside it, is the ball without hole and speck. */
static void mask_of_a_ball(void **state)
{
    (void)state;
    enum { D = 32, V = D * D * D };
    const double bval[4] = {0, 1000, 1000, 1000}, bvec[4][3] = {{0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    gls_gradients_options options = gls_gradients_options_default();
    options.frame = GLS_BVEC_IMAGE;
    gls_gradients *table = NULL;
    assert_int_equal(gls_gradients_create(bval, bvec, 4, &options, NULL, &table), GLS_OK);
    gls_image *dwi = make_image(D, D, D, 4), *mask = NULL;
    uint32_t seed = 3;
    for (int t = 0; t < 4; t++)
        for (int v = 0; v < V; v++) {
            int x = v % D - 15, y = v / D % D - 15, z = v / D / D - 15, r2 = x * x + y * y + z * z;
            bool ball = r2 < 100 && r2 > 4, speck = x == 14 && y == 14 && abs(z) < 2;
            seed = seed * 1664525u + 1013904223u;
            dwi->data[t * V + v] = (float)((ball || speck ? 1000.0 / (1 + t) : 10.0) + (seed >> 24) / 64.0);
        }
    assert_int_equal(gls_mask_estimate(dwi, table, &mask), GLS_OK);
    int wrong = 0, inside = 0;
    for (int v = 0; v < V; v++) {
        int x = v % D - 15, y = v / D % D - 15, z = v / D / D - 15;
        bool ball = x * x + y * y + z * z < 100;
        inside += ball;
        wrong += (mask->data[v] > 0) != ball;
    }
    assert_true(wrong < inside / 20);
    gls_image_destroy(mask);
    memset(dwi->data, 0, sizeof(float) * 4 * V);
    assert_int_equal(gls_mask_estimate(dwi, table, &mask), GLS_ERR_INPUT);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

static void seed_regions(void **state)
{
    (void)state;
    gls_image *mask = full_mask(), *fa = make_image(N, N, N, 1), *region = NULL,
              *tissue[3] = {make_image(N, N, N, 6), make_image(N, N, N, 1), make_image(N, N, N, 1)};
    for (int v = 0; v < VOXELS; v++) {
        fa->data[v] = v % N < 8 ? 0.3f : 0.1f;
        tissue[0]->data[v] = v % N < 8 ? 0.3f : 0.1f;
        tissue[1]->data[v] = 0.15f;
        tissue[2]->data[v] = 0.1f;
    }
    mask->data[0] = 0;
    assert_int_equal(gls_seed_region_of_tissues((const gls_image *const *)tissue, 3, mask, &region), GLS_OK);
    for (int v = 0; v < VOXELS; v++) assert_true((region->data[v] > 0) == (v > 0 && v % N < 8));
    gls_image_destroy(region);
    assert_int_equal(gls_seed_region_of_fa(fa, 0.2, mask, &region), GLS_OK);
    /* the border of the grid counts as the mask's */
    assert_true(region->data[0] == 0 && region->data[1] == 0);
    int middle = (8 * N + 8) * N;
    assert_true(region->data[middle + 4] > 0 && region->data[middle + 10] == 0);
    gls_image_destroy(region);
    gls_image_destroy(mask);
    gls_image_destroy(fa);
    for (int t = 0; t < 3; t++) gls_image_destroy(tissue[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(field_is_found), cmocka_unit_test(balance_and_outliers),
                                       cmocka_unit_test(mask_of_a_ball), cmocka_unit_test(seed_regions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
