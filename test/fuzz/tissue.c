/* Any bytes as an image of five tissues: an error or fractions between 0 and 1, never a crash. */
#include <glslines/tissue.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_image *image = NULL, *edge = NULL;
    gls_tissue *tissue = NULL;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_image_read(path, GLS_IMAGE_4D, &image)) && gls_grid_voxels(&image->grid) <= 1 << 15 &&
        fuzz_ok(gls_tissue_create(&image->grid, image, "5tt", GLS_TISSUE_RULE_ACT, GLS_PRECISION_FLOAT, &tissue))) {
        float value[GLS_TISSUE_TYPES];
        for (int k = -4; k < 40; k++) {
            const float point[3] = {0.3f * (float)k, 0.2f * (float)k, 0.1f * (float)k};
            gls_tissue_at(tissue, point, value);
            for (int t = 0; t < GLS_TISSUE_TYPES; t++)
                if (!(value[t] >= -0.01f && value[t] <= 1.01f)) abort();
        }
        if (fuzz_ok(gls_tissue_interface(tissue, &edge))) gls_image_destroy(edge);
        gls_tissue_destroy(tissue);
    }
    gls_image_destroy(image);
    close(fd);
    return 0;
}
