/* The response function: its estimate from made-up tensors, its two forms, its files. */
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
#include <glslines/log.h>

#include "csd_series.h"
#include "dwi/units.h"
#include "files.h"

static void assert_same(const gls_response *a, const gls_response *b)
{
    assert_true(a->is_zonal == b->is_zonal && a->evals[0] == b->evals[0] && a->evals[1] == b->evals[1] &&
                a->s0 == b->s0);
    assert_true(a->order == b->order && a->n_voxels == b->n_voxels);
    assert_memory_equal(a->zonal, b->zonal, sizeof a->zonal);
}

/* Makes tensors along x whose eigenvalues and S0 identify the voxel: index v in x + nx (y + ny z). */
static gls_image *tensor_image(const gls_gradients *table, const int32_t n[3], double fa_scale)
{
    gls_image *dwi = make_image(n[0], n[1], n[2], table->n);
    size_t voxels = gls_grid_voxels(&dwi->grid);
    for (size_t t = 0; t < table->n; t++)
        for (size_t v = 0; v < voxels; v++) {
            const double *g = table->bvec[t];
            double across = 0.0003 * fa_scale, along = 0.0012 + 1e-6 * (double)v,
                   d = table->bval[t] > 0 ? along * g[0] * g[0] + across * (1 - g[0] * g[0]) : 0;
            dwi->data[t * voxels + v] = (float)((1000 + (double)v) * exp(-table->bval[t] * d));
        }
    return dwi;
}

/* The mean over the cube from first to last is found. */
static void check_cube(const int32_t n[3], int radius, const int32_t first[3], const int32_t last[3])
{
    gls_gradients *table = make_table(30, 1000);
    gls_image *dwi = tensor_image(table, n, 1);
    gls_response_options options = gls_response_options_default();
    gls_response response;
    double mean = 0;
    size_t count = 0;
    options.roi_radius = radius;
    options.min_voxels = 1;
    for (int32_t z = first[2]; z <= last[2]; z++)
        for (int32_t y = first[1]; y <= last[1]; y++)
            for (int32_t x = first[0]; x <= last[0]; x++, count++) mean += x + n[0] * (y + n[1] * z);
    mean /= (double)count;
    assert_int_equal(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_OK);
    assert_int_equal(response.n_voxels, count);
    assert_false(response.is_zonal);
    assert_float_equal(response.s0, 1000 + mean, 1e-3);
    assert_float_equal(response.evals[0], 0.0012 + 1e-6 * mean, 1e-8);
    assert_float_equal(response.evals[1], 0.0003, 1e-8);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

/* The rules of auto_response_ssst(): centre n div 2; a cube that does not fit shrinks to min(centre, n - centre), cut
 * at the end. */
static void cubes(void **state)
{
    (void)state;
    check_cube((int32_t[]){9, 8, 7}, 1, (int32_t[]){3, 3, 2}, (int32_t[]){5, 5, 4});
    check_cube((int32_t[]){5, 4, 12}, 2, (int32_t[]){0, 0, 4}, (int32_t[]){4, 3, 8});
    check_cube((int32_t[]){6, 5, 1}, 10, (int32_t[]){0, 0, 0}, (int32_t[]){5, 4, 0});
}

/* Only voxels above the threshold count, from the chosen volumes. */
static void selection(void **state)
{
    (void)state;
    gls_gradients *table = make_table(30, 1000);
    const int32_t n[3] = {6, 6, 6};
    gls_image *dwi = tensor_image(table, n, 1), *isotropic = tensor_image(table, n, 3.9),
              *long_series = make_image(6, 6, 6, 40);
    gls_response_options options = gls_response_options_default();
    gls_response response, same;
    size_t volume[31], voxels = 216, first_half = 100;
    for (size_t t = 0; t < 31; t++) {
        for (size_t v = first_half; v < voxels; v++) dwi->data[t * voxels + v] = isotropic->data[t * voxels + v];
        volume[t] = t < 2 ? t + 1 : t + 9;
        memcpy(long_series->data + volume[t] * voxels, dwi->data + t * voxels, voxels * sizeof *dwi->data);
    }
    assert_int_equal(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_OK);
    assert_int_equal(response.n_voxels, first_half);
    assert_float_equal(response.s0, 1000 + 49.5, 1e-3);
    assert_float_equal(response.evals[0], 0.0012 + 49.5e-6, 1e-8);
    assert_int_equal(gls_response_estimate(long_series, table, volume, &options, &same), GLS_OK);
    assert_same(&same, &response);
    expect(
        gls_response_estimate(isotropic, table, NULL, &options, &response), GLS_ERR_INPUT,
        "0 of the 6 x 6 x 6 voxels at the centre have FA above 0.7, but at least 30 are needed; the largest is 0.113");
    /* bundles of low FA, 0.43: the best voxels, of which 30 are the least */
    gls_image *low = tensor_image(table, n, 2);
    assert_int_equal(gls_response_estimate(low, table, NULL, &options, &response), GLS_OK);
    assert_int_equal(response.n_voxels, 30);
    assert_true(response.evals[0] > response.evals[1] && response.s0 > 1000);
    gls_image_destroy(low);
    options.n_voxels = 40;
    assert_int_equal(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_OK);
    assert_int_equal(response.n_voxels, 40);
    options.n_voxels = 20;
    expect(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_ERR_INPUT, "at least 30 are needed");
    options = gls_response_options_default();
    options.roi_radius = 0;
    assert_int_equal(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_OK);
    assert_int_equal(response.n_voxels, first_half);
    options.roi_radius = -1;
    expect(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_ERR_ARGUMENT, "roi_radius");
    options = gls_response_options_default();
    options.fa_threshold = 1;
    expect(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_ERR_ARGUMENT, "fa_threshold");
    gls_image_destroy(dwi);
    gls_image_destroy(isotropic);
    gls_image_destroy(long_series);
    gls_gradients_destroy(table);
}

/* auto_response_ssst(gtab, data, roi_radii=10, fa_thr=0.7) of DIPY 1.12.1. */
static void real_data(void **state)
{
    (void)state;
    const char *folder = getenv("GLS_TEST_DATA");
    char dwi_path[512], bval[512], bvec[512];
    snprintf(dwi_path, sizeof dwi_path, "%s/small_64D.nii", folder ? folder : "");
    snprintf(bval, sizeof bval, "%s/small_64D.bval", folder ? folder : "");
    snprintf(bvec, sizeof bvec, "%s/small_64D.bvec", folder ? folder : "");
    if (!folder || access(dwi_path, R_OK) != 0) leave_out("DATA", "DIPY's small_64D in the folder GLS_TEST_DATA");
    gls_image *dwi = NULL;
    gls_gradients *table = NULL;
    gls_gradients_options frame = {.size = sizeof frame, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_response_options options = gls_response_options_default();
    gls_response response;
    options.min_voxels = 1;
    assert_int_equal(gls_image_read(dwi_path, GLS_IMAGE_4D, &dwi), GLS_OK);
    assert_int_equal(gls_gradients_read(bval, bvec, &frame, &dwi->grid, dwi->n_volumes, &table), GLS_OK);
    assert_int_equal(gls_response_estimate(dwi, table, NULL, &options, &response), GLS_OK);
    assert_float_equal(response.evals[0], 0.00148827440126, 1e-9);
    assert_float_equal(response.evals[1], 0.000302562108783, 1e-9);
    assert_float_equal(response.s0, 191.533333333, 1e-4);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

/* A zonal form serves as well as the eigenvalues that it came from. */
static void zonal_form(void **state)
{
    (void)state;
    gls_gradients *table = make_table(CSD_N, 2000);
    gls_image *dwi = make_series(table), *a = NULL, *b = NULL;
    gls_csd_options options = gls_csd_options_default();
    gls_response zonal, cut;
    assert_int_equal(gls_response_to_zonal(&golden_response, table, 8, &zonal), GLS_OK);
    assert_true(zonal.is_zonal);
    assert_int_equal(zonal.order, 8);
    for (int l = 0; l <= 8; l += 2)
        assert_float_equal(zonal.zonal[l / 2] / sqrt((2 * l + 1) / (4 * M_PI)), golden_harmonics[l / 2], 1e-9);
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &golden_response, &options, NULL, NULL, &a), GLS_OK);
    assert_int_equal(gls_csd_fit(dwi, table, NULL, NULL, &zonal, &options, NULL, NULL, &b), GLS_OK);
    assert_memory_equal(a->data, b->data, 45 * CSD_VOXELS * sizeof *a->data);
    assert_int_equal(gls_response_to_zonal(&zonal, table, 4, &cut), GLS_OK);
    assert_int_equal(cut.order, 4);
    assert_true(cut.zonal[2] == zonal.zonal[2] && cut.zonal[3] == 0);
    expect(gls_response_to_zonal(&cut, table, 6, &zonal), GLS_ERR_INPUT, "up to order 4, but CSD of order 6");
    cut.zonal[1] = 0;
    expect(gls_response_to_zonal(&cut, table, 4, &zonal), GLS_ERR_INPUT, "coefficient 0 for l = 2");
    gls_image_destroy(a);
    gls_image_destroy(b);
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

static void round_trip(void **state)
{
    (void)state;
    const char *path = scratch("response.txt");
    gls_gradients *table = make_table(CSD_N, 2000);
    gls_response zonal, got;
    assert_int_equal(gls_response_write(path, &golden_response), GLS_OK);
    assert_int_equal(gls_response_read(path, 8, NULL, 0, &got), GLS_OK);
    assert_same(&got, &golden_response);
    assert_int_equal(gls_response_to_zonal(&golden_response, table, 8, &zonal), GLS_OK);
    assert_int_equal(gls_response_write(path, &zonal), GLS_OK);
    assert_int_equal(gls_response_read(path, 8, NULL, 0, &got), GLS_OK);
    assert_same(&got, &zonal);
    assert_int_equal(gls_response_read(path, 4, NULL, 0, &got), GLS_OK);
    assert_int_equal(got.order, 4);
    assert_true(got.zonal[2] == zonal.zonal[2] && got.zonal[3] == 0);
    expect(gls_response_write(scratch("none/response.txt"), &zonal), GLS_ERR_OUTPUT, "none/response.txt");
    gls_gradients_destroy(table);
}

static gls_status read_text(const char *text, int order, const gls_gradients *table, double bval,
                            gls_response *response)
{
    const char *path = scratch("given.txt");
    put_file(path, text, strlen(text));
    return gls_response_read(path, order, table, bval, response);
}

/* Checks which numbers are a response, and the messages for others. */
static void files(void **state)
{
    (void)state;
    const double bval[10] = {0, 700, 700, 700, 1000, 1000, 1000, 3000, 3000, 3000};
    double bvec[10][3];
    gls_gradients *table = NULL;
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_response r;
    spiral(10, bvec);
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, 10, &options, NULL, &table), GLS_OK);
    const char *shells =
        "# Shells: 0,700,1000,3000\n5000 0 0 0\n3000 -700 80 -5\n2500 -900 150 -20\n1000 -500 200 -60\n";
    assert_int_equal(read_text(shells, 6, table, 1000, &r), GLS_OK);
    assert_true(r.is_zonal && r.order == 6 && r.zonal[0] == 2500 && r.zonal[3] == -20);
    assert_int_equal(read_text("5000 0 0 0\n3000 -700 0 0\n2500 -900 150 0\n1000 -500 200 -60\n", 4, table, 1000, &r),
                     GLS_OK);
    assert_true(r.order == 4 && r.zonal[2] == 150);
    expect(read_text("5000 0 0 0\n3000 -700 0 0\n2500 -900 150 0\n1000 -500 200 -60\n", 6, table, 1000, &r),
           GLS_ERR_INPUT, "3 coefficients for a shell (order 4), but order 6 needs 4");
    assert_int_equal(read_text("600 -250 60 -8\n", 6, NULL, 0, &r), GLS_OK);
    assert_true(r.is_zonal && r.zonal[1] == -250);
    assert_int_equal(read_text("0.0017,0.0003,0.0003,950 # DIPY\n", 8, NULL, 0, &r), GLS_OK);
    assert_true(!r.is_zonal && r.evals[0] == 0.0017 && r.evals[1] == 0.0003 && r.s0 == 950);

    /* as many voxels as there are */
    assert_int_equal(read_text("600 -250 60 -8 0 0\n", 0, NULL, 0, &r), GLS_OK);
    assert_true(r.is_zonal && r.order == 6 && r.zonal[3] == -8 && r.zonal[4] == 0);
    assert_int_equal(read_text("600 -250 60 -8 4 -3 2 -1 1\n", 0, NULL, 0, &r), GLS_OK);
    assert_true(r.order == GLS_CSD_MAX_ORDER && r.zonal[6] == 2);
    expect(read_text("600\n", 0, NULL, 0, &r), GLS_ERR_INPUT, "given.txt: 1 coefficient for a shell (order 0)");

    expect(read_text("600 -250 60\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: 3 coefficients for a shell (order 4), but order 8 needs 5");
    expect(read_text("0.0017 0.0003 950\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: 3 coefficients for a shell (order 4), but order 8 needs 5: lower --sh-order, or use --csd-rule "
           "mrtrix, which accepts responses of lower order (a response of eigenvalues has 4");
    expect(read_text("600\n", 4, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: 1 coefficient for a shell (order 0), but order 4 needs 3");
    expect(read_text("600 250 60 8 1\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: has the coefficients 600 for l = 0 and 250 for l = 2");
    expect(read_text("600 -250 0 8 1\n", 8, NULL, 0, &r), GLS_ERR_INPUT, "given.txt: has the coefficient 0 for l = 4");
    expect(read_text("600 -250 nan 8 1\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: has the coefficient nan for l = 4");
    expect(read_text("0.0003 0.0017 0.0017 950\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: 0.0003 0.0017 0.0017 950 is no response");
    expect(read_text("0.0017 0.0003 0.0005 950\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "is no response: eigenvalues l1 > l2 = l3");
    expect(read_text("1.7 0.3 0.3 950\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: the response has eigenvalues of 1.7 and 0.3 mm2/s, but those of water are at most 0.006: divide "
           "eigenvalues in um2/ms by 1000");
    expect(read_text("1.7e-6 3e-7 3e-7 950\n", 8, NULL, 0, &r), GLS_ERR_INPUT,
           "multiply eigenvalues in mm2/ms by 1000");
    expect(read_text("600 -250 60\n500 -200 50\n", 4, NULL, 0, &r), GLS_ERR_INPUT,
           "given.txt: has 2 rows, but one is expected");
    expect(read_text("600 -250 60\n500 -200 50\n", 4, table, 1000, &r), GLS_ERR_INPUT,
           "given.txt: 2 rows, but the gradient table has 4 shells");
    expect(read_text("600 -250 60\n500 -200\n", 4, table, 1000, &r), GLS_ERR_INPUT, "given.txt: line 2");
    expect(gls_response_read(scratch("absent.txt"), 4, NULL, 0, &r), GLS_ERR_INPUT, "absent.txt");
    expect(gls_response_read(scratch("absent.txt"), 5, NULL, 0, &r), GLS_ERR_ARGUMENT, "sh_order");
    gls_gradients_destroy(table);
}

/* Units that are wrong by 1000: of a given response, of the b-values from which one is estimated, of the signal. */
static void units(void **state)
{
    gls_gradients *table = make_table(30, 1000);
    gls_image *dwi = tensor_image(table, (const int32_t[]){6, 6, 6}, 1), *sh = NULL;
    gls_response_options options = gls_response_options_default();
    gls_response r = {.evals = {1.7, 0.3}, .s0 = 1000}, zonal;
    double gain;
    (void)state;
    expect(gls_response_to_zonal(&r, table, 8, &zonal), GLS_ERR_INPUT, "eigenvalues of 1.7 and 0.3 mm2/s");
    expect(gls_csd_fit(dwi, table, NULL, NULL, &r, NULL, NULL, NULL, &sh), GLS_ERR_INPUT, "at most 0.006");
    assert_int_equal(gls_units_gain(dwi, NULL, table->is_b0, table->n, NULL, 1000, &gain), GLS_OK);
    assert_true(gain > 1.2 && gain < 1.22); /* 1000 + 0 .. 215 */
    assert_int_equal(gls_units_check_gain("r.txt", 1000, gain), GLS_OK);
    assert_int_equal(gls_units_gain(dwi, NULL, table->is_b0, table->n, NULL, 1, &gain), GLS_OK);
    expect(gls_units_check_gain("r.txt", 1, gain), GLS_ERR_INPUT, "r.txt: the response has a signal of 1, ");
    expect(gls_units_check_gain("r.txt", 1e6, 1e-3), GLS_ERR_INPUT, "different units");
    for (size_t t = 0; t < table->n; t++) table->bval[t] /= 1000;
    options.roi_radius = 0;
    expect(gls_response_estimate(dwi, table, NULL, &options, &r), GLS_ERR_INPUT,
           "check that its b-values are in s/mm2, and not in ms/um2, which are 1000 times smaller");
    gls_image_destroy(dwi);
    gls_gradients_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubes),      cmocka_unit_test(selection),  cmocka_unit_test(real_data),
        cmocka_unit_test(zonal_form), cmocka_unit_test(round_trip), cmocka_unit_test(files),
        cmocka_unit_test(units),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
