/* The check of axes: FODs that are right give no warning, neither smooth fields nor those of the phantom, in any basis
 * and frame, on grids along any axes. Wrong axes, wrong frames and wrong bases give one, of the right words. That
 * `track` looks is tested in test/cli/axes.sh. */
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
#include <glslines/odf.h>
#include <glslines/phantom.h>
#include <glslines/sh.h>

#include "dwi/coherence.h"
#include "dwi/model_options.h"

enum { SIDE = 32, ORDER = 8, K = 45, FIELDS = 6, WAVES = 2 };

static int n_warnings;
static char warning[512]; /* the last one */

static void count_warnings(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level != GLS_LOG_WARNING) return;
    n_warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

static double random_number(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return (double)(*state >> 8) / (1 << 24);
}

/* Makes FODs of one bundle in each voxel, whose direction is a sum of long waves, which no bundle follows. */
static gls_image *smooth_field(uint32_t seed)
{
    gls_grid grid;
    gls_image *sh = NULL;
    double wave[3][WAVES][4];
    for (int a = 0; a < 3; a++)
        for (int w = 0; w < WAVES; w++) {
            for (int b = 0; b < 3; b++) wave[a][w][b] = 2 * M_PI * (random_number(&seed) * 2 - 1) / SIDE;
            wave[a][w][3] = 2 * M_PI * random_number(&seed);
        }
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){SIDE, SIDE, SIDE},
                                   (const double[3][4]){{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}),
                     GLS_OK);
    assert_int_equal(gls_image_create(&grid, K, &sh), GLS_OK);
    const size_t n = gls_grid_voxels(&grid);
    for (size_t i = 0; i < n; i++) {
        const double x[3] = {(double)(i % SIDE), (double)(i / SIDE % SIDE), (double)(i / SIDE / SIDE)};
        double u[3] = {0}, length = 0, basis[K];
        for (int a = 0; a < 3; a++) {
            for (int w = 0; w < WAVES; w++)
                u[a] += cos(wave[a][w][0] * x[0] + wave[a][w][1] * x[1] + wave[a][w][2] * x[2] + wave[a][w][3]);
            length += u[a] * u[a];
        }
        for (int a = 0; a < 3; a++) u[a] /= sqrt(length);
        assert_int_equal(gls_sh_matrix(GLS_SH_TOURNIER07, ORDER, (const double(*)[3])u, 1, basis), GLS_OK);
        for (size_t j = 0; j < K; j++) {
            const double l = gls_sh_degree(j);
            sh->data[j * n + i] = (float)(basis[j] * exp(-0.02 * l * (l + 1)));
        }
    }
    return sh;
}

static void smooth_fields(void **state)
{
    (void)state;
    gls_sphere *sphere = NULL;
    assert_int_equal(gls_sphere_create("default", &sphere), GLS_OK);
    n_warnings = 0;
    gls_log_set(count_warnings, NULL, GLS_LOG_WARNING);
    for (uint32_t seed = 1; seed <= FIELDS; seed++) {
        gls_image *sh = smooth_field(seed);
        gls_odf_source *odf = NULL;
        assert_int_equal(gls_odf_source_create_sh(sh, "field", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, NULL, &odf),
                         GLS_OK);
        gls_coherence_advise(odf, NULL, 0, GLS_BVEC_WORLD, NULL, NULL);
        /* if the file has a name, other bases are tried, too */
        if (seed <= 2) gls_coherence_advise(odf, NULL, 0, GLS_BVEC_WORLD, NULL, "field");
        gls_odf_source_destroy(odf);
        gls_image_destroy(sh);
    }
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    gls_sphere_destroy(sphere);
    assert_int_equal(n_warnings, 0);
}

/* --- The phantom, on grids along several axes. */

/* Deconvolves a phantom: coefficients in this program's own basis and axes. */
static gls_image *deconvolved(const char *orientation, const double oblique[3], gls_image **mask)
{
    gls_phantom_params params = gls_phantom_params_default();
    gls_phantom *phantom = NULL;
    gls_response response;
    gls_image *sh = NULL;
    gls_response_options response_options = gls_response_options_default();
    gls_csd_options options = gls_csd_options_default();
    memcpy(params.orientation, orientation, sizeof params.orientation);
    memcpy(params.oblique, oblique, sizeof params.oblique);
    params.ground_truth = false;
    params.n_directions = 32;
    options.sh_order = 6;
    assert_int_equal(gls_phantom_create(&params, &phantom), GLS_OK);
    response_options.mask = phantom->mask;
    response_options.roi_radius = 0;
    assert_int_equal(gls_response_estimate(phantom->dwi, phantom->gradients, NULL, &response_options, &response),
                     GLS_OK);
    assert_int_equal(
        gls_csd_fit(phantom->dwi, phantom->gradients, NULL, phantom->mask, &response, &options, NULL, NULL, &sh),
        GLS_OK);
    *mask = phantom->mask;
    phantom->mask = NULL;
    gls_phantom_destroy(phantom);
    return sh;
}

/* The check of coefficients that are read in a basis and along the axes of a frame has to warn with these words; NULL:
 * it has to be silent. fitted: they come from a fit, so that their basis is known. what: the coefficients, for a
 * failure. */
static void expect(const gls_image *sh, gls_sh_basis basis, gls_bvec_frame frame, const gls_image *mask, bool fitted,
                   const char *words, const char *what)
{
    gls_sphere *sphere = NULL;
    gls_odf_source *odf = NULL;
    assert_int_equal(gls_sphere_create("small", &sphere), GLS_OK);
    assert_int_equal(gls_odf_source_create_sh(sh, "field", basis, frame, sphere, NULL, &odf), GLS_OK);
    n_warnings = 0;
    warning[0] = 0;
    gls_log_set(count_warnings, NULL, GLS_LOG_WARNING);
    gls_coherence_advise(odf, NULL, 0, frame, mask, fitted ? NULL : "field");
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    gls_odf_source_destroy(odf);
    gls_sphere_destroy(sphere);
    if (n_warnings != (words ? 1 : 0) || (words && !strstr(warning, words)))
        fail_msg("%s, read as %s along %s axes: not \"%s\" but %d warnings: %s", what, gls_basis_name(basis),
                 gls_odf_frame_name(frame), words ? words : "", n_warnings, warning);
}

/* Turns coefficients along mirrored or exchanged voxel axes, those of a grid whose affine is mirrored or exchanged so.
 */
static gls_image *turned(const gls_image *sh, const int axis[3], const double sign[3])
{
    gls_image copy = *sh, *world = NULL;
    const double affine[3][4] = {
        {axis[0] == 0 ? sign[0] : 0, axis[1] == 0 ? sign[1] : 0, axis[2] == 0 ? sign[2] : 0, 0},
        {axis[0] == 1 ? sign[0] : 0, axis[1] == 1 ? sign[1] : 0, axis[2] == 1 ? sign[2] : 0, 0},
        {axis[0] == 2 ? sign[0] : 0, axis[1] == 2 ? sign[1] : 0, axis[2] == 2 ? sign[2] : 0, 0}};
    assert_int_equal(gls_grid_init(&copy.grid, sh->grid.dim, affine), GLS_OK);
    assert_int_equal(gls_odf_convert_sh(&copy, "turned", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE,
                                        GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_WORLD, &world),
                     GLS_OK);
    world->grid = sh->grid;
    return world;
}

/* all: also wrong bases and wrong axes */
static void check_grid(const char *orientation, const double oblique[3], bool all)
{
    static const struct {
        gls_sh_basis basis;
        gls_bvec_frame frame;
        const char *name;
    } kinds[] = {{GLS_SH_TOURNIER07, GLS_BVEC_WORLD, "tournier07"},
                 {GLS_SH_DESCOTEAUX07, GLS_BVEC_FSL, "descoteaux07"},
                 {GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, "descoteaux07_legacy"}};
    static const struct {
        int axis[3];
        double sign[3];
        const char *words;
    } turns[] = {{{0, 1, 2}, {-1, 1, 1}, "with x mirrored"},       {{0, 1, 2}, {1, -1, 1}, "with y mirrored"},
                 {{0, 1, 2}, {1, 1, -1}, "with z mirrored"},       {{1, 0, 2}, {1, 1, 1}, "with x and y exchanged"},
                 {{0, 2, 1}, {1, 1, 1}, "with y and z exchanged"}, {{2, 1, 0}, {1, 1, 1}, "with x and z exchanged"}};
    gls_image *mask = NULL, *own = deconvolved(orientation, oblique, &mask);
    const bool negative = gls_grid_determinant(&own->grid) < 0;
    char what[128];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        gls_image *sh = NULL;
        assert_int_equal(gls_odf_convert_sh(own, "own", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, kinds[k].basis,
                                            kinds[k].frame, &sh),
                         GLS_OK);
        snprintf(what, sizeof what, "%s, %g degrees about x: %s along %s axes", orientation, oblique[0], kinds[k].name,
                 gls_odf_frame_name(kinds[k].frame));
        expect(sh, kinds[k].basis, kinds[k].frame, mask, false, NULL, what);
        for (size_t b = 0; all && b < sizeof kinds / sizeof *kinds; b++) {
            char words[64];
            snprintf(words, sizeof words, "better as %s (", kinds[k].name);
            if (b != k) expect(sh, kinds[b].basis, kinds[k].frame, mask, false, words, what);
        }
        /* FSL's axes are those of the image with x mirrored if the determinant is positive */
        if (kinds[k].frame == GLS_BVEC_IMAGE)
            expect(sh, kinds[k].basis, GLS_BVEC_FSL, mask, false, negative ? NULL : "with x mirrored", what);
        if (kinds[k].frame == GLS_BVEC_FSL)
            expect(sh, kinds[k].basis, GLS_BVEC_IMAGE, mask, false, negative ? NULL : "with x mirrored", what);
        gls_image_destroy(sh);
    }
    for (size_t t = 0; all && t < sizeof turns / sizeof *turns; t++) {
        gls_image *sh = turned(own, turns[t].axis, turns[t].sign);
        snprintf(what, sizeof what, "%s, %g degrees about x: FODs %s", orientation, oblique[0], turns[t].words);
        expect(sh, GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, mask, t > 1, turns[t].words, what);
        gls_image_destroy(sh);
    }
    gls_image_destroy(own);
    gls_image_destroy(mask);
}

static void las(void **state)
{
    (void)state;
    check_grid("LAS", (const double[3]){0, 0, 0}, false);
}

static void ras(void **state)
{
    (void)state;
    check_grid("RAS", (const double[3]){0, 0, 0}, false);
}

static void rotated(void **state)
{
    (void)state;
    check_grid("LAS", (const double[3]){14, -9, 11}, true);
}

static void exchanged(void **state)
{
    (void)state;
    check_grid("PIR", (const double[3]){-8, 5, 20}, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smooth_fields), cmocka_unit_test(las), cmocka_unit_test(ras),
                                       cmocka_unit_test(rotated), cmocka_unit_test(exchanged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
