/* The q-ball fit of an image: every voxel as gls_qball_fit() fits it, the mask, what is refused; and the mask of the
 * response. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/csd.h>
#include <glslines/phantom.h>
#include <glslines/qball.h>

static gls_phantom *phantom;

static int make_phantom(void **state)
{
    (void)state;
    gls_phantom_params params = gls_phantom_params_default();
    for (int a = 0; a < 3; a++) params.shape[a] = 18 + a;
    params.n_directions = 30;
    params.n_b0 = 3;
    params.ground_truth = false;
    return gls_phantom_create(&params, &phantom) != GLS_OK;
}

static int drop_phantom(void **state)
{
    (void)state;
    gls_phantom_destroy(phantom);
    return 0;
}

/* Checks one voxel against gls_qball_fit(). */
static void expect_voxel(const gls_qball *q, size_t at, double *coefficients)
{
    const gls_image *dwi = phantom->dwi;
    size_t voxels = gls_grid_voxels(&dwi->grid), n = 0;
    double signal[64], s0 = 0;
    for (size_t t = 0; t < dwi->n_volumes; t++) {
        double v = dwi->data[t * voxels + at];
        if (phantom->gradients->is_b0[t])
            s0 += fmax(v, q->options.min_signal) / (double)phantom->gradients->n_b0;
        else
            signal[n++] = v;
    }
    gls_qball_fit(q, signal, s0, coefficients);
}

static void fits_every_voxel_of_the_mask(void **state)
{
    (void)state;
    size_t voxels = gls_grid_voxels(&phantom->dwi->grid);
    for (int model = GLS_QBALL_OPDT; model <= GLS_QBALL_CSA; model++) {
        gls_qball_options options = gls_qball_options_default();
        gls_qball *q;
        gls_image *sh, *all;
        options.model = (gls_qball_model)model;
        options.min_signal = 20; /* a threshold above some of the noise */
        assert_int_equal(gls_qball_create(phantom->gradients, &options, GLS_SHELLS_ONE, &q), GLS_OK);
        assert_int_equal(gls_qball_fit_image(q, phantom->dwi, phantom->gradients, phantom->mask, &sh), GLS_OK);
        assert_int_equal(gls_qball_fit_image(q, phantom->dwi, phantom->gradients, NULL, &all), GLS_OK);
        assert_int_equal(sh->n_volumes, 15);
        for (size_t v = 0; v < voxels; v++) {
            double want[45];
            expect_voxel(q, v, want);
            for (size_t c = 0; c < 15; c++) {
                assert_true(all->data[c * voxels + v] == (float)want[c]);
                assert_true(sh->data[c * voxels + v] == (phantom->mask->data[v] > 0 ? (float)want[c] : 0));
            }
        }
        gls_image_destroy(sh);
        gls_image_destroy(all);
        gls_qball_destroy(q);
    }
}

static void values_that_are_not_finite(void **state)
{
    (void)state;
    size_t voxels = gls_grid_voxels(&phantom->dwi->grid);
    gls_qball *q;
    gls_image *sh;
    float old[2] = {phantom->dwi->data[5 * voxels], phantom->dwi->data[5 * voxels + 1]};
    assert_int_equal(gls_qball_create(phantom->gradients, NULL, GLS_SHELLS_ONE, &q), GLS_OK);
    phantom->dwi->data[5 * voxels] = NAN;
    phantom->dwi->data[5 * voxels + 1] = INFINITY;
    assert_int_equal(gls_qball_fit_image(q, phantom->dwi, phantom->gradients, NULL, &sh), GLS_OK);
    for (size_t c = 0; c < 15; c++) {
        assert_true(isfinite(sh->data[c * voxels]));
        assert_true(sh->data[c * voxels + 1] == 0);
    }
    memcpy(phantom->dwi->data + 5 * voxels, old, sizeof old);
    gls_image_destroy(sh);
    gls_qball_destroy(q);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    gls_qball *q;
    gls_image *sh = NULL, *other;
    gls_gradients *selected;
    assert_int_equal(gls_qball_create(phantom->gradients, NULL, GLS_SHELLS_ONE, &q), GLS_OK);
    assert_int_equal(gls_gradients_create(phantom->gradients->bval, (const double(*)[3])phantom->gradients->bvec, 20,
                                          NULL, &phantom->dwi->grid, &selected),
                     GLS_OK);
    assert_int_equal(gls_qball_fit_image(q, phantom->dwi, selected, NULL, &sh), GLS_ERR_ARGUMENT);
    gls_grid grid = phantom->dwi->grid;
    grid.dim[0]--;
    assert_int_equal(gls_image_create(&grid, 1, &other), GLS_OK);
    assert_int_equal(gls_qball_fit_image(q, phantom->dwi, phantom->gradients, other, &sh), GLS_ERR_INPUT);
    assert_null(sh);
    gls_image_destroy(other);
    gls_gradients_destroy(selected);
    gls_qball_destroy(q);
}

/* Noise outside the head has a high FA, and the cube of a small grid reaches it. */
static void response_of_the_mask_alone(void **state)
{
    (void)state;
    gls_response_options options = gls_response_options_default();
    gls_response all, masked, rest;
    options.min_voxels = 1;
    gls_image *outside;
    size_t voxels = gls_grid_voxels(&phantom->dwi->grid);
    assert_int_equal(gls_image_create(&phantom->dwi->grid, 1, &outside), GLS_OK);
    for (size_t v = 0; v < voxels; v++) outside->data[v] = !(phantom->mask->data[v] > 0);
    assert_int_equal(gls_response_estimate(phantom->dwi, phantom->gradients, NULL, &options, &all), GLS_OK);
    options.mask = phantom->mask;
    assert_int_equal(gls_response_estimate(phantom->dwi, phantom->gradients, NULL, &options, &masked), GLS_OK);
    options.mask = outside;
    assert_int_equal(gls_response_estimate(phantom->dwi, phantom->gradients, NULL, &options, &rest), GLS_OK);
    assert_int_equal(masked.n_voxels + rest.n_voxels, all.n_voxels);
    assert_true(masked.s0 > 800 && masked.s0 < 1200 && rest.s0 < 800);
    memset(outside->data, 0, voxels * sizeof *outside->data);
    assert_int_equal(gls_response_estimate(phantom->dwi, phantom->gradients, NULL, &options, &rest), GLS_ERR_INPUT);
    gls_image_destroy(outside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_every_voxel_of_the_mask), cmocka_unit_test(values_that_are_not_finite),
        cmocka_unit_test(refuses_what_does_not_fit), cmocka_unit_test(response_of_the_mask_alone)};
    return cmocka_run_group_tests(tests, make_phantom, drop_phantom);
}
