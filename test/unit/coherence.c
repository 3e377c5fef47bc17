/* The check of axes: smooth fields of FODs that are right give no warning. That wrong axes of bundles give one is
 * tested in test/cli/axes.sh. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/log.h>
#include <glslines/odf.h>
#include <glslines/sh.h>

#include "dwi/coherence.h"

enum { SIDE = 32, ORDER = 8, K = 45, FIELDS = 6, WAVES = 2 };

static int n_warnings;

static void count_warnings(void *user, gls_log_level level, const char *line)
{
    (void)user;
    n_warnings += level == GLS_LOG_WARNING;
    if (level == GLS_LOG_WARNING) printf("%s\n", line);
}

static double random_number(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return (double)(*state >> 8) / (1 << 24);
}

/* FODs of one bundle a voxel, whose direction is a sum of long waves, which no bundle follows. */
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
        gls_odf_source_destroy(odf);
        gls_image_destroy(sh);
    }
    gls_log_set(NULL, NULL, GLS_LOG_INFO);
    gls_sphere_destroy(sphere);
    assert_int_equal(n_warnings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smooth_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
