#include <glslines/phantom.h>

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Returns a grid of default extent with voxels of 4 mm. */
static gls_phantom_params coarse(void)
{
    gls_phantom_params p = gls_phantom_params_default();
    const int32_t shape[3] = {20, 26, 19};
    for (int k = 0; k < 3; k++) {
        p.shape[k] = shape[k];
        p.voxel_size[k] = 4;
    }
    p.n_directions = 12;
    p.n_b0 = 2;
    return p;
}

static gls_phantom *make(const gls_phantom_params *p)
{
    gls_phantom *phantom = NULL;
    if (gls_phantom_create(p, &phantom)) fail_msg("%s", gls_last_error());
    return phantom;
}

static size_t voxels_of(const gls_phantom *p)
{
    return gls_grid_voxels(&p->dwi->grid);
}

static bool same(const gls_image *a, const gls_image *b)
{
    size_t n = gls_grid_voxels(&a->grid) * a->n_volumes;
    return a->n_volumes == b->n_volumes && !memcmp(a->data, b->data, n * sizeof *a->data);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset, size;
        union {
            int i;
            int32_t shape;
            double d;
            char text[4];
        } value;
    } cases[] = {
#define CASE(message, field, member, bad)                                                       \
    {                                                                                           \
        message, offsetof(gls_phantom_params, field), sizeof(((gls_phantom_params *)0)->field), \
        {                                                                                       \
            .member = bad                                                                       \
        }                                                                                       \
    }
        CASE("shape", shape[1], shape, 15),
        CASE("shape", shape[2], shape, 513),
        CASE("voxel size", voxel_size[0], d, 0),
        CASE("voxel size", voxel_size[2], d, NAN),
        CASE("voxel size", voxel_size[1], d, -2),
        CASE("rotation", oblique[0], d, INFINITY),
        CASE("rotation", oblique[2], d, 181),
        CASE("orientation \"LAR\"", orientation, text, "LAR"),
        CASE("orientation \"las\"", orientation, text, "las"),
        CASE("orientation \"LA\"", orientation, text, "LA"),
        CASE("orientation", orientation, text, ""),
        CASE("0 shells", n_shells, i, 0),
        CASE("9 shells", n_shells, i, 9),
        CASE("b-value 50", bval[0], d, 50),
        CASE("b-value", bval[0], d, NAN),
        CASE("5 directions", n_directions, i, 5),
        CASE("1025 directions", n_directions, i, 1025),
        CASE("0 b0", n_b0, i, 0),
        CASE("65 b0", n_b0, i, 65),
        CASE("SNR -1", snr, d, -1),
        CASE("SNR 0.5", snr, d, 0.5),
        CASE("SNR", snr, d, NAN),
#undef CASE
    };
    gls_phantom *phantom = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_phantom_params p = gls_phantom_params_default();
        memcpy((char *)&p + cases[i].offset, &cases[i].value, cases[i].size);
        assert_int_equal(gls_phantom_create(&p, &phantom), GLS_ERR_ARGUMENT);
        assert_null(phantom);
        if (!strstr(gls_last_error(), cases[i].text))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].text, gls_last_error());
    }
    assert_int_equal(gls_phantom_create(NULL, NULL), GLS_ERR_ARGUMENT);
    gls_phantom_destroy(NULL);
}

static void test_threads(void **state)
{
    (void)state;
    gls_phantom_params p = coarse();
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    gls_phantom *one = make(&p);
    omp_set_num_threads(5);
    gls_phantom *five = make(&p);
    omp_set_num_threads(threads);
    p.ground_truth = false;
    gls_phantom *bare = make(&p);
    assert_true(same(one->dwi, five->dwi) && same(one->tissue, five->tissue) && same(one->peaks, five->peaks));
    assert_true(same(one->mask, five->mask) && same(one->roi, five->roi));
    assert_int_equal(one->n_bundles, five->n_bundles);
    for (size_t i = 0; i < one->n_bundles; i++) assert_true(same(one->bundle[i].mask, five->bundle[i].mask));
    assert_true(same(one->dwi, bare->dwi) && same(one->roi, bare->roi));
    assert_int_equal(bare->n_bundles, 0);
    assert_null(bare->peaks);
    gls_phantom_destroy(one);
    gls_phantom_destroy(five);
    gls_phantom_destroy(bare);
}

/* Returns the smallest angle between directions or their antipodes, degrees. */
static double closest(const double (*v)[3], size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            most = fmax(most, fabs(v[i][0] * v[j][0] + v[i][1] * v[j][1] + v[i][2] * v[j][2]));
    }
    return acos(fmin(most, 1)) * 180 / 3.14159265358979323846;
}

static void test_directions(void **state)
{
    (void)state;
    /* Caps of half the smallest angle cannot cover more of the hemisphere than hexagonal packing does: 0.907. */
    static const int counts[] = {6, 12, 64, 150, 300};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        gls_phantom_params p = coarse();
        size_t n = (size_t)counts[c];
        p.n_directions = counts[c];
        p.n_shells = 3;
        p.bval[1] = 1000;
        p.bval[2] = 3000;
        p.n_b0 = 3;
        gls_phantom *phantom = make(&p);
        const gls_gradients *g = phantom->gradients;
        assert_int_equal(g->n, 3 + 3 * n);
        assert_int_equal(g->n, phantom->dwi->n_volumes);
        assert_int_equal(g->n_b0, 3);
        for (size_t i = 0; i < g->n; i++) {
            const double *v = g->bvec[i];
            assert_float_equal(g->bval[i], i < 3 ? 0 : p.bval[(i - 3) / n], 0);
            assert_int_equal(g->is_b0[i], i < 3);
            if (i >= 3) assert_float_equal(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 1, 1e-12);
        }
        double ideal = 2 * acos(1 - 0.907 / (double)n) * 180 / 3.14159265358979323846;
        for (size_t shell = 0; shell < 3; shell++)
            assert_true(closest((const double(*)[3])g->bvec + 3 + shell * n, n) > 0.8 * ideal);
        /* The first half of the set is about as sparse as it can be, given that it is a subset. */
        double half = 2 * acos(1 - 0.907 / (double)(n / 2)) * 180 / 3.14159265358979323846;
        assert_true(closest((const double(*)[3])g->bvec + 3, n / 2) > 0.55 * half);
        /* Shells share no direction. */
        if (n >= 12) assert_true(closest((const double(*)[3])g->bvec + 3, 3 * n) > 0.01);
        gls_phantom_destroy(phantom);
    }
}

static void test_noise(void **state)
{
    (void)state;
    gls_phantom_params p = gls_phantom_params_default();
    p.n_directions = 16;
    p.snr = 20;
    p.seed = 7;
    p.ground_truth = false;
    gls_phantom *noisy = make(&p);
    p.seed = 8;
    gls_phantom *other = make(&p);
    p.snr = 0;
    gls_phantom *clean = make(&p);
    size_t n = voxels_of(noisy), outside = 0, bright = 0;
    double sum = 0, sum2 = 0, d = 0, d2 = 0, neighbour = 0, volume = 0, seed = 0;
    const double sigma = 1000 / 20.0;
    for (size_t v = 0; v < noisy->dwi->n_volumes; v++) {
        const float *a = noisy->dwi->data + v * n, *b = other->dwi->data + v * n, *c = clean->dwi->data + v * n;
        for (size_t i = 0; i < n; i++) {
            assert_true(isfinite(a[i]) && a[i] >= 0 && c[i] >= 0 && c[i] <= 2500.5f);
            if (c[i] == 0) {
                sum += a[i];
                sum2 += (double)a[i] * a[i];
                outside++;
            } else if (c[i] > 900) {
                double e = a[i] - c[i], next = i + 1 < n && c[i + 1] > 900 ? a[i + 1] - c[i + 1] : 0,
                       then = v < 3 && c[i + n] > 900 ? a[i + n] - c[i + n] : 0;
                d += e;
                d2 += e * e;
                neighbour += e * next;
                volume += e * then;
                seed += e * (b[i] - c[i]);
                bright++;
            }
        }
    }
    assert_true(outside > 100000 && bright > 60000);
    /* Rayleigh: mean sigma sqrt(pi/2), mean square 2 sigma^2; five standard errors. */
    double error = 5 / sqrt((double)outside);
    assert_float_equal(sum / (double)outside / sigma, sqrt(1.5707963267948966), 0.6551 * error);
    assert_float_equal(sum2 / (double)outside / (sigma * sigma), 2, 2 * error);
    /* Nearly normal far from zero: mean sigma^2 / (2 S), at most 1.4 here. */
    error = 5 / sqrt((double)bright);
    assert_true(d / (double)bright / sigma > -error && d / (double)bright / sigma < 1.4 / sigma + error);
    assert_float_equal(d2 / (double)bright / (sigma * sigma), 1, 1.42 * error + 0.005);
    assert_float_equal(neighbour / (double)bright / (sigma * sigma), 0, error + 0.001);
    assert_float_equal(volume / (double)bright / (sigma * sigma), 0, error + 0.001);
    assert_float_equal(seed / (double)bright / (sigma * sigma), 0, error + 0.001);
    gls_phantom_destroy(noisy);
    gls_phantom_destroy(other);
    gls_phantom_destroy(clean);
}

/* Without noise a voxel of one fibre population has the signal of its tensor, on any grid, with the table's vectors
 * turned into the world. */
static void test_signal(void **state)
{
    (void)state;
    gls_phantom_params p = coarse();
    const double turn[3] = {12, -20, 35};
    memcpy(p.orientation, "PIR", 4);
    p.shape[0] = 26;
    p.shape[1] = 38;
    p.shape[2] = 20;
    p.voxel_size[1] = 2;
    memcpy(p.oblique, turn, sizeof turn);
    p.snr = 0;
    p.n_shells = 2;
    p.bval[1] = 700;
    gls_phantom *phantom = make(&p);
    const gls_grid *grid = &phantom->dwi->grid;
    size_t n = voxels_of(phantom), fibres = 0, grey = 0, csf = 0;
    for (size_t v = 0; v < phantom->gradients->n; v++) {
        double b = phantom->gradients->bval[v], g[3] = {0, 0, 0};
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < 3; k++)
                g[r] += grid->affine[r][k] / grid->voxel_size[k] * phantom->gradients->bvec[v][k];
        }
        for (size_t i = 0; i < n; i++) {
            double signal = phantom->dwi->data[v * n + i];
            const float *peak = phantom->peaks->data + i;
            if (peak[3 * n] > 0.99999f) {
                double c = g[0] * peak[0] + g[1] * peak[n] + g[2] * peak[2 * n];
                assert_float_equal(signal, 1000 * exp(-b * (0.25e-3 + 1.45e-3 * c * c)), 2e-3);
                fibres++;
            } else if (phantom->tissue->data[n + i] == 1) {
                assert_float_equal(signal, 1300 * exp(-b * 0.8e-3), 2e-3);
                grey++;
            } else if (phantom->tissue->data[2 * n + i] == 1) {
                assert_float_equal(signal, 2500 * exp(-b * 3e-3), 2e-3);
                csf++;
            }
        }
    }
    assert_true(fibres > 1000 && grey > 1000 && csf > 100);
    gls_phantom_destroy(phantom);
}

/* Five tissues add up to 1 wherever there is tissue, as 5ttcheck of MRtrix3 wants it. */
static void test_five_tissues(void **state)
{
    (void)state;
    gls_phantom_params p = coarse();
    gls_phantom *phantom = make(&p);
    gls_image *five = NULL;
    assert_int_equal(gls_phantom_five_tissues(phantom, &five), GLS_OK);
    assert_int_equal(five->n_volumes, 5);
    size_t n = voxels_of(phantom), whole = 0, filled = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0, own = 0;
        for (size_t t = 0; t < 5; t++) sum += five->data[t * n + i];
        for (size_t t = 0; t < 3; t++) own += phantom->tissue->data[t * n + i];
        if (sum > 0) assert_float_equal(sum, 1, 1e-6);
        assert_true((sum > 0) == (own >= 0.5));
        whole += own > 1 - 1e-6;
        filled += sum > 0 && own < 1 - 1e-6;
    }
    assert_true(whole > 1000 && filled > 100);
    gls_image_destroy(five);
    gls_phantom_destroy(phantom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors), cmocka_unit_test(test_threads), cmocka_unit_test(test_directions),
        cmocka_unit_test(test_noise),  cmocka_unit_test(test_signal),  cmocka_unit_test(test_five_tissues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
