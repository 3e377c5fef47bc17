/* A small series whose fibres bend in one band, for tests of what a device does to a run. Include after gpu.h. */
#ifndef GLS_TEST_BAND_H
#define GLS_TEST_BAND_H

#include "collect.h"
#include "series.h"

static gls_device *device;
static series phantom;
static gls_qball *qball;
static gls_seeds *seeds;
static collection expected;

static inline int bend(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    double x = p[0] / grid->dim[0] - 0.5, y = p[1] / grid->dim[1] - 0.5;
    direction[0][0] = 1, direction[0][1] = x, direction[0][2] = 0.2 * y;
    unit3(direction[0]);
    *stop = 0.9 - y * y;
    return 1;
}

/* Makes the series, its model, and n seeds in it. */
static inline void create_band(size_t n_seeds)
{
    static const int dim[3] = {9, 7, 5};
    double(*points)[3] = malloc(n_seeds * sizeof *points);
    uint64_t seed = 5;
    assert_non_null(points);
    series_create(&phantom, dim, voxel_space, bend, 2000, 20, "small", 6);
    qball = series_qball(&phantom, GLS_QBALL_OPDT, 4);
    for (size_t i = 0; i < n_seeds; i++)
        for (int a = 0; a < 3; a++) points[i][a] = random_uniform(&seed, 0, dim[a] - 1);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, n_seeds, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    free(points);
}

static inline int tear_down(void **state)
{
    (void)state;
    collection_finish(&expected);
    gls_seeds_destroy(seeds);
    gls_qball_destroy(qball);
    series_destroy(&phantom);
    return 0;
}

#endif
