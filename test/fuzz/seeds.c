/* Any bytes as a list of seeds, in voxels and in world mm: an error or seeds inside the grid, never a crash. */
#include <glslines/seeds.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const double affine[3][4] = {{-2, 0, 0, 9}, {0, 2, 0, -9}, {0, 0, 2, -9}};
    char path[64];
    gls_grid grid;
    if (gls_grid_init(&grid, (const int32_t[3]){10, 9, 8}, affine) != GLS_OK) abort();
    int fd = fuzz_file(data, bytes, path);
    for (int world = 0; world < 2; world++) {
        gls_seeds *seeds = NULL;
        if (!fuzz_ok(gls_seeds_read(path, (gls_seed_space)world, &grid, &seeds))) continue;
        if (gls_seeds_count(seeds) == 0) abort();
        gls_seeds_destroy(seeds);
    }
    close(fd);
    return 0;
}
