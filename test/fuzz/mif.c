/* Any bytes as an image of MRtrix with its gradient table: an error or a whole image, never a crash. */
#include "file.h"

#include <string.h>

#include "image/mif.h"

static volatile float sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_image *image;
    gls_mif_header header;
    /* a name of another file could be that of a device */
    if (memmem(data, bytes, "file:", 5) && !memmem(data, bytes, "file: .", 7)) return 0;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_mif_read_header(path, &header))) gls_mif_header_finish(&header);
    if (fuzz_ok(gls_mif_read(path, GLS_IMAGE_ANY, &image))) {
        for (size_t i = 0; i < gls_grid_voxels(&image->grid) * image->n_volumes; i++) sink = image->data[i];
        gls_image_destroy(image);
    }
    close(fd);
    return 0;
}
