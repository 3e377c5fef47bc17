/* Any bytes as a list of seeds, in voxels and in world mm: an error or seeds inside the grid, never a crash. */
#include <glslines/seeds.h>

#include "file.h"
#include "grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    const gls_grid grid = fuzz_grid();
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
