/* Any bytes as an image file, plain or gzip: an error or a whole image, never a crash. */
#include <glslines/image.h>

#include "file.h"

static volatile float sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_image *image;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_image_read(path, GLS_IMAGE_ANY, &image))) {
        /* touch every value, so that a sanitizer sees those that were never set */
        for (size_t i = 0; i < gls_grid_voxels(&image->grid) * image->n_volumes; i++) sink = image->data[i];
        gls_image_destroy(image);
    }
    close(fd);
    return 0;
}
