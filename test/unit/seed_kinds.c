/* Seeds in spheres, on grids, by weight and on the interface of tissues: where they lie, how many lie where, and that
 * none depends on another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/seeds.h>
#include <glslines/tissue.h>

#include "image/tissue_image.h"
#include "util/maths.h"

enum { N = 20, COUNT = 20000 };

static gls_grid grid; /* voxels of 2 x 2 x 3 mm, turned and moved */

static int set_up(void **state)
{
    static const double affine[3][4] = {{-1.6, 1.2, 0, 10}, {1.2, 1.6, 0, -20}, {0, 0, 3, 5}};
    (void)state;
    return gls_grid_init(&grid, (const int32_t[3]){N, N, N}, affine) == GLS_OK ? 0 : -1;
}

static float (*points_of(gls_seeds *seeds))[3]
{
    size_t n = (size_t)gls_seeds_count(seeds);
    float(*p)[3] = malloc(n * sizeof *p);
    gls_seeds_get(seeds, gls_seeds_first(seeds), n, p);
    return p;
}

/* Checks that seeds 777 .. 876 by themselves are those of the whole list. Frees both lists. */
static void assert_independent(gls_seeds *whole, gls_seeds *part)
{
    float alone[100][3], there[100][3];
    assert_int_equal(gls_seeds_restrict(part, 777, 100), GLS_OK);
    gls_seeds_get(part, 777, 100, alone);
    gls_seeds_get(whole, 777, 100, there);
    assert_memory_equal(alone, there, sizeof alone);
    gls_seeds_destroy(whole);
    gls_seeds_destroy(part);
}

static void test_sphere(void **state)
{
    const double centre[3] = {12, 9, 33}, radius = 7;
    gls_seeds *seeds, *again;
    int inner = 0, octant[8] = {0};
    (void)state;
    assert_int_equal(gls_seeds_create_sphere((const double[]){0, NAN, 0}, radius, &grid, COUNT, 3, &seeds),
                     GLS_ERR_ARGUMENT);
    assert_int_equal(gls_seeds_create_sphere(centre, radius, &grid, COUNT, 3, &seeds), GLS_OK);
    assert_int_equal(gls_seeds_create_sphere(centre, radius, &grid, COUNT, 3, &again), GLS_OK);
    float(*p)[3] = points_of(seeds);
    for (int i = 0; i < COUNT; i++) {
        const double v[3] = {p[i][0], p[i][1], p[i][2]};
        double w[3], square = 0;
        gls_affine_apply((const double(*)[4])grid.affine, v, w);
        for (int a = 0; a < 3; a++) square += (w[a] - centre[a]) * (w[a] - centre[a]);
        assert_true(sqrt(square) <= radius + 1e-4);
        inner += sqrt(square) < radius * cbrt(0.5);
        octant[(w[0] > centre[0]) + 2 * (w[1] > centre[1]) + 4 * (w[2] > centre[2])]++;
    }
    /* half of the volume holds half of the seeds: 5 standard deviations */
    assert_true(abs(inner - COUNT / 2) < 5 * sqrt(COUNT / 4.0));
    for (int k = 0; k < 8; k++) assert_true(abs(octant[k] - COUNT / 8) < 5 * sqrt(COUNT * 7 / 64.0));
    free(p);
    assert_independent(seeds, again);
}

static gls_image *empty_image(size_t volumes)
{
    gls_image *image = NULL;
    assert_int_equal(gls_image_create(&grid, volumes, &image), GLS_OK);
    return image;
}

static size_t voxel(int x, int y, int z)
{
    return (size_t)((z * N + y) * N + x);
}

static void test_grid(void **state)
{
    gls_image *roi = empty_image(1);
    gls_seeds *seeds;
    (void)state;
    roi->data[voxel(3, 4, 5)] = roi->data[voxel(7, 4, 5)] = 1;
    assert_int_equal(gls_seeds_create_grid(roi, NULL, 3, 1, &seeds), GLS_OK);
    assert_int_equal(gls_seeds_count(seeds), 2 * 27);
    float(*p)[3] = points_of(seeds);
    for (int i = 0; i < 54; i++) {
        int place = i / 2, at[3] = {place / 9, place / 3 % 3, place % 3};
        for (int a = 0; a < 3; a++) {
            float rest = p[i][a] - roundf(p[i][a]);
            assert_true(fabsf(rest - (-0.5f + (float)(2 * at[a] + 1) / 6)) < 1e-5f);
        }
        assert_true((roundf(p[i][0]) == 3 || roundf(p[i][0]) == 7) && roundf(p[i][1]) == 4 && roundf(p[i][2]) == 5);
        assert_true(i % 2 == 0 || roundf(p[i][0]) != roundf(p[i - 1][0]));
    }
    free(p);
    gls_seeds_destroy(seeds);
    gls_image_destroy(roi);
}

static void test_weights(void **state)
{
    gls_image *weights = empty_image(1);
    gls_seeds *seeds, *again;
    int count[3] = {0};
    (void)state;
    weights->data[voxel(2, 2, 2)] = 1;
    weights->data[voxel(9, 2, 2)] = 3;
    weights->data[voxel(2, 15, 19)] = 0.5f;
    assert_int_equal(gls_seeds_create_weighted(weights, "w", &grid, COUNT, 8, &seeds), GLS_OK);
    assert_int_equal(gls_seeds_create_weighted(weights, "w", &grid, COUNT, 8, &again), GLS_OK);
    float(*p)[3] = points_of(seeds);
    for (int i = 0; i < COUNT; i++) {
        const int at[3] = {(int)roundf(p[i][0]), (int)roundf(p[i][1]), (int)roundf(p[i][2])};
        int k = at[0] == 9 ? 1 : at[1] == 15 ? 2 : 0;
        assert_true(weights->data[voxel(at[0], at[1], at[2])] > 0);
        count[k]++;
    }
    const double share[3] = {1 / 4.5, 3 / 4.5, 0.5 / 4.5};
    for (int k = 0; k < 3; k++)
        assert_true(fabs(count[k] - COUNT * share[k]) < 5 * sqrt(COUNT * share[k] * (1 - share[k])));
    free(p);
    assert_independent(seeds, again);
    weights->data[0] = -1;
    assert_int_equal(gls_seeds_create_weighted(weights, "w", &grid, 10, 8, &seeds), GLS_ERR_INPUT);
    weights->data[0] = NAN;
    assert_int_equal(gls_seeds_create_weighted(weights, "w", &grid, 10, 8, &seeds), GLS_ERR_INPUT);
    gls_image_destroy(weights);
    weights = empty_image(1);
    assert_int_equal(gls_seeds_create_weighted(weights, "w", &grid, 10, 8, &seeds), GLS_ERR_INPUT);
    gls_image_destroy(weights);
}

/* A ball of white matter in grey matter, its border soft. */
static gls_tissue *make_ball(void)
{
    gls_image *image = empty_image(GLS_TISSUE_TYPES);
    gls_tissue *tissue = NULL;
    size_t n = gls_grid_voxels(&grid);
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                double r = sqrt((x - 9.5) * (x - 9.5) + (y - 9.5) * (y - 9.5) + (z - 9.5) * (z - 9.5)),
                       white = fmin(fmax((7 - r) / 2 + 0.5, 0), 1);
                image->data[GLS_TISSUE_WM * n + voxel(x, y, z)] = (float)white;
                image->data[GLS_TISSUE_CGM * n + voxel(x, y, z)] = (float)(1 - white);
            }
    assert_int_equal(gls_tissue_create(&grid, image, "ball", GLS_TISSUE_RULE_ACT, GLS_PRECISION_HALF, &tissue), GLS_OK);
    gls_image_destroy(image);
    return tissue;
}

/* Seeds of a mask come in turn, COUNT / V or one more in each of its V voxels; drawn by weight, one by one, as many as
 * chance gives: the variance of Poisson's law, with a bound of five standard errors. */
static void test_turns(void **state)
{
    (void)state;
    gls_image *mask = NULL;
    double variance[2] = {0};
    enum { V = 400 };
    assert_int_equal(gls_image_create(&grid, 1, &mask), GLS_OK);
    for (size_t v = 0; v < V; v++) mask->data[v] = 1;
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        gls_seeds *seeds = NULL;
        size_t in[V] = {0};
        gls_status status = one_by_one ? gls_seeds_create_weighted(mask, "mask", &grid, COUNT, 8, &seeds)
                                       : gls_seeds_create_random(mask, NULL, COUNT, 8, &seeds);
        assert_int_equal(status, GLS_OK);
        float(*p)[3] = points_of(seeds);
        for (size_t i = 0; i < COUNT; i++) {
            const size_t v = (size_t)(floor(p[i][0] + 0.5) + N * floor(p[i][1] + 0.5));
            assert_true(v < V && fabs(p[i][2]) <= 0.5);
            in[v]++;
        }
        for (size_t v = 0; v < V; v++) variance[one_by_one] += pow((double)in[v] - (double)COUNT / V, 2) / V;
        free(p);
        gls_seeds_destroy(seeds);
    }
    assert_true(variance[0] == 0);
    const double poisson = (double)COUNT / V;
    assert_true(fabs(variance[1] - poisson) < 5 * poisson * sqrt(2.0 / V));
    gls_image_destroy(mask);
}

static void test_interface(void **state)
{
    enum { SEEDS = 2000 };
    gls_tissue *tissue = make_ball();
    gls_image *weights = NULL;
    gls_seeds *seeds, *again;
    int found = 0, upper = 0;
    (void)state;
    assert_int_equal(gls_tissue_interface(tissue, &weights), GLS_OK);
    assert_int_equal(gls_seeds_create_interface(tissue, weights, "auto", SEEDS, 4, &seeds), GLS_OK);
    assert_int_equal(gls_seeds_create_interface(tissue, weights, "auto", SEEDS, 4, &again), GLS_OK);
    float(*p)[3] = points_of(seeds);
    for (int i = 0; i < SEEDS; i++) {
        const double v[3] = {p[i][0], p[i][1], p[i][2]};
        double box[3], value[GLS_TISSUE_TYPES], from_centre = 0;
        gls_affine_apply((const double(*)[4])tissue->exact, v, box);
        if (!gls_tissue_blend(tissue, box, value, NULL)) continue;
        double f = value[GLS_TISSUE_CGM] + value[GLS_TISSUE_SGM] - value[GLS_TISSUE_WM];
        assert_true(f >= -0.001 && f < GLS_TISSUE_ACCURACY + 0.001);
        for (int a = 0; a < 3; a++) from_centre += (v[a] - 9.5) * (v[a] - 9.5);
        assert_true(fabs(sqrt(from_centre) - 7) < 0.3);
        upper += v[2] > 9.5;
        found++;
    }
    assert_int_equal(found, SEEDS);
    assert_true(abs(upper - SEEDS / 2) < 5 * sqrt(SEEDS / 4.0));
    free(p);
    assert_independent(seeds, again);
    gls_image_destroy(weights);
    gls_tissue_destroy(tissue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sphere), cmocka_unit_test(test_grid),
                                       cmocka_unit_test(test_weights), cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_interface)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
