/* Any bytes as an image file, plain or gzip: an error or a whole image, never a crash. */
#include <glslines/image.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static volatile float sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_image *image;
    int fd = memfd_create("image.nii", 0);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (gls_image_read(path, GLS_IMAGE_ANY, &image) == GLS_OK) {
        /* touch every value, so that a sanitizer sees those that were never set */
        for (size_t i = 0; i < gls_grid_voxels(&image->grid) * image->n_volumes; i++) sink = image->data[i];
        gls_image_destroy(image);
    } else if (gls_last_error()[0] == '\0') {
        abort();
    }
    close(fd);
    return 0;
}
