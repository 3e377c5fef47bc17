#include <glslines/gradients.h>
#include <glslines/tensor.h>

#include "dwi/tensor.h"
#include "dwi/tensor_plan.h"
#include "util/maths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 15

/* Three b0 and the half of an icosahedron's vertices on two shells. */
static gls_gradients *make_table(void)
{
    const double g = (1 + sqrt(5)) / 2, norm = sqrt(1 + g * g);
    const double half[6][3] = {{0, 1, g}, {0, -1, g}, {1, g, 0}, {-1, g, 0}, {g, 0, 1}, {g, 0, -1}};
    double bval[N] = {0, 0, 45}, bvec[N][3] = {{0}};
    for (int i = 0; i < 12; i++) {
        bval[3 + i] = i < 6 ? 1000 : 2500;
        for (int c = 0; c < 3; c++) bvec[3 + i][c] = half[i % 6][c] / norm;
    }
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_gradients *gradients = NULL;
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, N, &options, NULL, &gradients), GLS_OK);
    return gradients;
}

/* Printed by test/peer/dipy_tensor.py --golden with DIPY 1.12.1: signal, FA, tensor as fitted, eigenvalues. The third
 * voxel has a negative signal and a negative eigenvalue, the fourth is empty, the last two have weights over many
 * orders of magnitude. */
static const struct golden {
    double signal[N], fa, tensor[6], evals[3];
} golden[] = {
    {{1000, 990, 985, 310, 620, 540, 480, 700, 290, 60, 300, 210, 160, 420, 50},
     0.69305637854,
     {0.000747938369988, -6.31652773716e-05, 0.0006415825127, -0.000491608886342, 0.00038061514148, 0.000881804427429},
     {0.00145048703488, 0.000621242131356, 0.000199596143882}},
    {{900, 905, 870, 300, 302, 299, 305, 301, 300, 70, 72, 69, 71, 70, 68},
     0.0116706644222,
     {0.00107171969894, 1.02417670172e-05, 0.00106283436414, -3.12276482931e-06, 4.55817166685e-06, 0.00106758867383},
     {0.00107844213424, 0.00106981453859, 0.00105388606409}},
    {{500, 510, 490, 200, 210, 3, 190, 250, 205, 40, -5, 60, 0, 55, 45},
     0.999999910418,
     {0.00118142642427, 0.00224864512046, 0.00366526395085, -9.98668209454e-05, 3.26379218488e-05, -0.00016092495603},
     {0.00499225127489, 4.472135955e-10, 4.472135955e-10}},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     0,
     {0, 0, 0, 0, 0, 0},
     {4.472135955e-10, 4.472135955e-10, 4.472135955e-10}},
    {{40, 0, 35, 0, 0, 12, 0, 700, 0, 0, 0, 3, 0, 0, 900},
     0.999999527871,
     {-0.014604529813, -0.00160561770626, 0.000694238184025, -0.00469538579669, -1.25073562618e-15, -0.00316471857406},
     {0.000947228392083, 4.472135955e-10, 4.472135955e-10}},
    {{40000, 0, 35, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 20000},
     0,
     {-0.0135963589835, -0.00626900114059, -0.0196704782013, 0.00012044368517, 3.02188829515e-15, -0.0096014595724},
     {4.472135955e-10, 4.472135955e-10, 4.472135955e-10}},
};

enum {
    GOLDEN = sizeof golden / sizeof *golden,
    HOPELESS = 5
}; /* HOPELESS: a voxel for which normal equations are too inexact */

static gls_image *make_image(int32_t x, int32_t y, int32_t z, size_t n)
{
    const int32_t dim[3] = {x, y, z};
    const double affine[3][4] = {{-2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_grid grid;
    gls_image *image = NULL;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, n, &image), GLS_OK);
    return image;
}

/* Golden voxel v % GOLDEN in every voxel v. */
static gls_image *golden_image(int32_t x, int32_t y, int32_t z)
{
    gls_image *dwi = make_image(x, y, z, N);
    size_t voxels = gls_grid_voxels(&dwi->grid);
    for (size_t i = 0; i < N; i++)
        for (size_t v = 0; v < voxels; v++) dwi->data[i * voxels + v] = (float)golden[v % GOLDEN].signal[i];
    return dwi;
}

static void check_near(double value, double expected, double bound)
{
    if (!(fabs(value - expected) <= bound))
        fail_msg("%.10g instead of %.10g, off by %.1e > %.1e", value, expected, fabs(value - expected), bound);
}

static void check_voxel(size_t v, size_t voxels, const gls_image *fa, const gls_image *tensor, const gls_image *evals)
{
    const struct golden *g = &golden[v % GOLDEN];
    double largest = 1e-9; /* an empty voxel has only rounding errors */
    for (int i = 0; i < 6; i++) largest = fmax(largest, fabs(g->tensor[i]));
    check_near(fa->data[v], g->fa, 2e-7); /* float output */
    for (size_t i = 0; i < 6; i++) check_near(tensor->data[i * voxels + v], g->tensor[i], 1e-6 * largest);
    for (size_t i = 0; i < 3; i++) check_near(evals->data[i * voxels + v], g->evals[i], 1e-6 * largest);
}

/* Sizes around the number of lanes, the gathered block and the chunk of a thread. */
static void like_dipy(void **state)
{
    (void)state;
    static const int32_t sizes[][3] = {{1, 1, 1},   {5, 1, 1},    {17, 1, 1},  {16, 16, 1},
                                       {257, 1, 1}, {17, 241, 1}, {31, 29, 11}};
    gls_gradients *gradients = make_table();
    gls_tensor_options options = gls_tensor_options_default();
    assert_true(options.min_signal == 1e-4);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        gls_image *dwi = golden_image(sizes[k][0], sizes[k][1], sizes[k][2]), *fa, *tensor, *evals;
        assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &options, &fa, &tensor, &evals), GLS_OK);
        assert_int_equal(fa->n_volumes, 1);
        assert_int_equal(tensor->n_volumes, 6);
        assert_int_equal(evals->n_volumes, 3);
        size_t voxels = gls_grid_voxels(&dwi->grid);
        for (size_t v = 0; v < voxels; v++) check_voxel(v, voxels, fa, tensor, evals);
        gls_image_destroy(dwi);
        gls_image_destroy(fa);
        gls_image_destroy(tensor);
        gls_image_destroy(evals);
    }
    gls_gradients_destroy(gradients);
}

static void masked(void **state)
{
    (void)state;
    gls_gradients *gradients = make_table();
    gls_tensor_options options = gls_tensor_options_default();
    gls_image *dwi = golden_image(41, 23, 9), *mask = make_image(41, 23, 9, 1), *fa, *tensor, *evals, *fa_only;
    size_t voxels = gls_grid_voxels(&dwi->grid);
    for (size_t v = 0; v < voxels; v++) {
        uint32_t out[4], counter[4] = {(uint32_t)v, 0, 0, 0};
        gls_philox(counter, 1, out);
        mask->data[v] = v / 500 % 4 == 3  ? 0
                        : out[0] % 3 == 0 ? 0
                        : out[0] % 3 == 1 ? 0.5f
                                          : -1; /* a sparse mask, with empty and negative voxels */
    }
    assert_int_equal(gls_tensor_fit(dwi, gradients, mask, &options, &fa, &tensor, &evals), GLS_OK);
    assert_int_equal(gls_tensor_fit(dwi, gradients, mask, &options, &fa_only, NULL, NULL), GLS_OK);
    assert_memory_equal(fa->data, fa_only->data, voxels * sizeof *fa->data);
    for (size_t v = 0; v < voxels; v++) {
        if (mask->data[v] > 0) {
            check_voxel(v, voxels, fa, tensor, evals);
            continue;
        }
        assert_true(fa->data[v] == 0);
        for (size_t i = 0; i < 6; i++) assert_true(tensor->data[i * voxels + v] == 0);
        for (size_t i = 0; i < 3; i++) assert_true(evals->data[i * voxels + v] == 0);
    }
    memset(mask->data, 0, voxels * sizeof *mask->data);
    gls_image *none;
    assert_int_equal(gls_tensor_fit(dwi, gradients, mask, &options, &none, NULL, NULL), GLS_OK);
    for (size_t v = 0; v < voxels; v++) assert_true(none->data[v] == 0);
    gls_image *images[] = {dwi, mask, fa, tensor, evals, fa_only, none};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) gls_image_destroy(images[i]);
    gls_gradients_destroy(gradients);
}

/* Maps of voxel v, whose tensor has these eigenvalues along the columns of r. */
static void check_maps(gls_image *const maps[GLS_TENSOR_N_MAPS], size_t v, const double evals[3], const double r[3][3],
                       double fa)
{
    check_near(maps[GLS_TENSOR_MD]->data[v], (evals[0] + evals[1] + evals[2]) / 3, 1e-9);
    check_near(maps[GLS_TENSOR_AD]->data[v], evals[0], 1e-9);
    check_near(maps[GLS_TENSOR_RD]->data[v], (evals[1] + evals[2]) / 2, 1e-9);
    for (size_t k = 0; k < 3; k++) {
        double cosine = 0;
        const bool apart = (k == 0 || evals[k - 1] > evals[k]) && (k == 2 || evals[k] > evals[k + 1]);
        for (size_t a = 0; a < 3; a++) cosine += r[a][k] * (double)maps[GLS_TENSOR_V1 + k]->data[a * 4 + v];
        if (apart) check_near(fabs(cosine), 1, 1e-6);
        if (apart && k == 0)
            for (size_t a = 0; a < 3; a++) check_near(maps[GLS_TENSOR_RGB]->data[a * 4 + v], fabs(r[a][0]) * fa, 1e-6);
    }
}

/* Noise-free signals of known tensors come back, by every method. */
static void known_tensors_by(gls_tensor_method method)
{
    static const double evals_in[4][3] = {
        {1.7e-3, 3e-4, 3e-4}, {1e-3, 1e-3, 1e-3}, {2e-3, 2e-3, 1e-4}, {1.5e-3, 7e-4, 2e-4}};
    gls_gradients *gradients = make_table();
    gls_tensor_options options = gls_tensor_options_default();
    options.method = method;
    gls_image *dwi = make_image(4, 1, 1, N), *fa, *tensor, *evals, *maps[GLS_TENSOR_N_MAPS];
    /* Principal axes: columns of a rotation. */
    const double r[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    double d[4][6];
    for (int v = 0; v < 4; v++) {
        static const int row[6] = {0, 0, 1, 0, 1, 2}, col[6] = {0, 1, 1, 2, 2, 2};
        for (int k = 0; k < 6; k++) {
            d[v][k] = 0;
            for (int e = 0; e < 3; e++) d[v][k] += r[row[k]][e] * evals_in[v][e] * r[col[k]][e];
        }
        for (size_t i = 0; i < N; i++) {
            const double *g = gradients->bvec[i];
            double exponent = d[v][0] * g[0] * g[0] + d[v][2] * g[1] * g[1] + d[v][5] * g[2] * g[2] +
                              2 * (d[v][1] * g[0] * g[1] + d[v][3] * g[0] * g[2] + d[v][4] * g[1] * g[2]);
            dwi->data[i * 4 + (size_t)v] = (float)(1000 * exp(-gradients->bval[i] * exponent));
        }
    }
    assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &options, &fa, &tensor, &evals), GLS_OK);
    assert_int_equal(gls_tensor_maps(tensor, evals, NULL, maps), GLS_OK);
    const double fa_out[4] = {0.799022, 0, sqrt(0.5 * 2 * 1.9 * 1.9 / (4 + 4 + 0.01)),
                              sqrt(0.5 * (0.64 + 0.25 + 1.69) / (2.25 + 0.49 + 0.04))};
    for (size_t v = 0; v < 4; v++) {
        check_near(fa->data[v], fa_out[v], 1e-6);
        for (size_t k = 0; k < 6; k++) check_near(tensor->data[k * 4 + v], d[v][k], 1e-9);
        for (size_t k = 0; k < 3; k++) check_near(evals->data[k * 4 + v], evals_in[v][k], 1e-9);
        check_maps(maps, v, evals_in[v], r, fa_out[v]);
    }
    gls_image *images[] = {dwi, fa, tensor, evals};
    for (size_t i = 0; i < 4; i++) gls_image_destroy(images[i]);
    for (size_t i = 0; i < GLS_TENSOR_N_MAPS; i++) gls_image_destroy(maps[i]);
    gls_gradients_destroy(gradients);
}

static void known_tensors(void **state)
{
    (void)state;
    for (int method = GLS_TENSOR_DIPY; method <= GLS_TENSOR_OLS; method++) known_tensors_by((gls_tensor_method)method);
}

/* Whatever the file holds, FA stays a number from 0 to 1; not a number counts as the least signal. */
static void odd_values(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e-45f, -1e30f};
    gls_gradients *gradients = make_table();
    gls_tensor_options options = gls_tensor_options_default();
    gls_image *dwi = golden_image(6, 2, 1), *fa, *evals;
    for (size_t v = 0; v < 6; v++) {
        dwi->data[5 * 12 + v] = odd[v];
        for (size_t i = 0; i < N; i++) dwi->data[i * 12 + 6 + v] = odd[v];
    }
    assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &options, &fa, NULL, &evals), GLS_OK);
    for (size_t v = 0; v < 12; v++) {
        assert_true(fa->data[v] >= 0 && fa->data[v] <= 1);
        for (size_t e = 0; e < 3; e++) assert_true(isfinite(evals->data[e * 12 + v]) && evals->data[e * 12 + v] > 0);
    }
    for (size_t v = 6; v < 12; v++) assert_true(fa->data[v] == 0);
    gls_image_destroy(fa);
    gls_image_destroy(evals);
    for (size_t i = 0; i < N; i++) dwi->data[i * 12] = dwi->data[i * 12 + 1] = 500 - 10 * (float)i;
    dwi->data[5 * 12] = NAN;
    dwi->data[5 * 12 + 1] = 2;
    options.min_signal = 2;
    assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &options, &fa, NULL, NULL), GLS_OK);
    assert_true(fa->data[0] == fa->data[1] && fa->data[0] > 0);
    gls_image_destroy(fa);
    gls_image_destroy(dwi);
    gls_gradients_destroy(gradients);
}

/* Each kernel that this processor runs, and the fit by singular values, agree. */
static void kernels_agree(void **state)
{
    (void)state;
    enum { P = GLS_TENSOR_PARAMETERS, L = GLS_TENSOR_LANES };
    gls_gradients *gradients = make_table();
    gls_tensor_plan plan;
    assert_int_equal(gls_tensor_plan_init(&plan, gradients, 1e-4), GLS_OK);
    float *signal = aligned_alloc(64, N * L * sizeof *signal);
    double *scratch = aligned_alloc(64, 2 * N * L * sizeof *scratch), wls[P], ols[P];
    gls_tensor_solution solution;
    for (size_t i = 0; i < N; i++)
        for (size_t v = 0; v < L; v++) signal[i * L + v] = (float)golden[v % GOLDEN].signal[i];
    for (size_t k = 0; k <= gls_cpu_level(); k++) {
        memset(&solution, 0xff, sizeof solution);
        gls_tensor_kernels[k](&plan, signal, L, scratch, &solution);
        for (size_t v = 0; v < L; v++) {
            assert_true(solution.trusted[v] == (v % GOLDEN != HOPELESS));
            for (int p = 0; p < P; p++) ols[p] = solution.ols[p][v];
            assert_true(gls_tensor_fit_svd(&plan, signal + v, L, ols, scratch, wls));
            for (int p = 0; p < P && v % GOLDEN != HOPELESS; p++)
                check_near(solution.wls[p][v], wls[p], 1e-7 * fmax(1, fabs(wls[p])));
            for (int p = 0; p < 6; p++) check_near(wls[p] / plan.scale[p], golden[v % GOLDEN].tensor[p], 1e-9);
        }
    }
    free(signal);
    free(scratch);
    gls_tensor_plan_finish(&plan);
    gls_gradients_destroy(gradients);
}

static void eigenvalues(void **state)
{
    (void)state;
    const double cases[][9] = {
        /* xx xy yy xz yz zz, eigenvalues */
        {3, 0, 1, 0, 0, 2, 3, 2, 1},    {2, 0, 2, 0, 0, 2, 2, 2, 2},
        {0, 0, 0, 0, 0, 0, 0, 0, 0},    {2, 1, 2, 1, 1, 2, 4, 1, 1},
        {1, 2, 1, 0, 0, -5, 3, -1, -5}, {2, -1, 2, 0, -1, 2, 3.414213562373095, 2, 0.585786437626905},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double evals[3];
        gls_tensor_eigenvalues(cases[k], evals);
        for (int e = 0; e < 3; e++)
            check_near(evals[e], cases[k][6 + e], 1e-7); /* a double root costs half the digits */
        assert_true(evals[0] >= evals[1] - 1e-15 && evals[1] >= evals[2] - 1e-15);
    }
    const double stick[3] = {1, 0, 0}, ball[3] = {2, 2, 2}, none[3] = {0, 0, 0}, disk[3] = {1, 1, 0};
    assert_true(gls_tensor_fa(stick) == 1 && gls_tensor_fa(ball) == 0 && gls_tensor_fa(none) == 0);
    check_near(gls_tensor_fa(disk), sqrt(0.5), 1e-15);
}

static void poor_tables(void **state)
{
    (void)state;
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_tensor_options fit = gls_tensor_options_default();
    double bval[9] = {0}, bvec[9][3] = {{0}};
    for (int i = 1; i < 9; i++) { /* all directions lie in one plane, and say nothing about z */
        bval[i] = 1000;
        bvec[i][0] = cos(i);
        bvec[i][1] = sin(i);
    }
    const struct {
        size_t n;
        const char *text;
    } cases[] = {{9, "9 volumes determine only 4 of the 7"}, {6, "only 6 volumes"}};
    for (int k = 0; k < 2; k++) {
        gls_gradients *gradients = NULL;
        gls_image *dwi = make_image(2, 2, 2, cases[k].n), *fa = NULL;
        assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, cases[k].n, &options, NULL, &gradients),
                         GLS_OK);
        assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &fit, &fa, NULL, NULL), GLS_ERR_INPUT);
        assert_null(fa);
        if (!strstr(gls_last_error(), cases[k].text)) fail_msg("'%s' is not in: %s", cases[k].text, gls_last_error());
        gls_gradients_destroy(gradients);
        gls_image_destroy(dwi);
    }
}

static void bad_arguments(void **state)
{
    (void)state;
    gls_gradients *gradients = make_table();
    gls_tensor_options options = gls_tensor_options_default();
    gls_image *dwi = golden_image(3, 3, 3), *other = make_image(3, 3, 4, 1), *series = make_image(3, 3, 3, 2),
              *fa = NULL;
    assert_int_equal(gls_tensor_fit(dwi, gradients, other, &options, &fa, NULL, NULL), GLS_ERR_INPUT);
    assert_int_equal(gls_tensor_fit(dwi, gradients, series, &options, &fa, NULL, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tensor_fit(series, gradients, NULL, &options, &fa, NULL, NULL), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tensor_fit(NULL, gradients, NULL, &options, &fa, NULL, NULL), GLS_ERR_ARGUMENT);
    options.min_signal = 0;
    assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &options, &fa, NULL, NULL), GLS_ERR_ARGUMENT);
    options.min_signal = NAN;
    assert_int_equal(gls_tensor_fit(dwi, gradients, NULL, &options, &fa, NULL, NULL), GLS_ERR_ARGUMENT);
    assert_null(fa);
    gls_image *images[] = {dwi, other, series};
    for (size_t i = 0; i < 3; i++) gls_image_destroy(images[i]);
    gls_gradients_destroy(gradients);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_dipy),   cmocka_unit_test(masked),        cmocka_unit_test(known_tensors),
        cmocka_unit_test(odd_values),  cmocka_unit_test(kernels_agree), cmocka_unit_test(eigenvalues),
        cmocka_unit_test(poor_tables), cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
