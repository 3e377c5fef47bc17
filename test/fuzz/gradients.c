/* Any bytes as b-values and, after the first NUL, b-vectors: an error or a table, never a crash. */
#include <glslines/gradients.h>

#include "file.h"
#include "grid.h"
#include <string.h>

/* A table that is valid along the voxel axes is valid in every frame. */
static void read_frames(const char *bval, const char *bvec, gls_gradients_options options, size_t volumes)
{
    static const gls_bvec_frame frames[] = {GLS_BVEC_FSL, GLS_BVEC_WORLD};
    const gls_grid grid = fuzz_grid_sheared();
    for (int i = 0; i < 2; i++) {
        gls_gradients *table = NULL;
        options.frame = frames[i];
        if (!fuzz_ok(gls_gradients_read(bval, bvec, &options, &grid, volumes, &table))) abort();
        gls_gradients_destroy(table);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char bval[64], bvec[64];
    const uint8_t *end = bytes ? memchr(data, 0, bytes) : NULL;
    size_t n = end ? (size_t)(end - data) : bytes, rest = end ? bytes - n - 1 : 0;
    int first = fuzz_file(data, n, bval), second = fuzz_file(data + bytes - rest, rest, bvec);
    for (size_t volumes = 1; volumes <= 6; volumes++) {
        gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
        gls_gradients *table = NULL;
        if (!fuzz_ok(gls_gradients_read(bval, bvec, &options, NULL, volumes, &table))) continue;
        if (table->n != volumes || table->n_b0 == 0) abort();
        gls_gradients_destroy(table);
        read_frames(bval, bvec, options, volumes);
    }
    close(first);
    close(second);
    return 0;
}
