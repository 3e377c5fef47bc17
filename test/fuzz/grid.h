/* Grids for readers that need to know where something lies. */
#ifndef GLS_FUZZ_GRID_H
#define GLS_FUZZ_GRID_H

#include <glslines/image.h>

#include <stdlib.h>

static inline gls_grid fuzz_grid_of(const double affine[3][4])
{
    gls_grid grid;
    if (gls_grid_init(&grid, (const int32_t[3]){10, 9, 8}, affine) != GLS_OK) abort();
    return grid;
}

/* 10 x 9 x 8 voxels of 2 mm, the first axis to the left. */
static inline gls_grid fuzz_grid(void)
{
    static const double affine[3][4] = {{-2, 0, 0, 9}, {0, 2, 0, -9}, {0, 0, 2, -9}};
    return fuzz_grid_of(affine);
}

/* A grid of the same size, turned and sheared. */
static inline gls_grid fuzz_grid_sheared(void)
{
    static const double affine[3][4] = {{-2, 0.3, 0, 9}, {0, 2, 0.1, -9}, {0.5, 0, 2.5, -9}};
    return fuzz_grid_of(affine);
}

#endif
