/* Any bytes as the directions of a sphere: an error or a triangulated sphere, never a crash. */
#include <glslines/sphere.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_sphere *sphere = NULL;
    if (bytes > 4096) return 0; /* the hull takes long for many directions */
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_sphere_read(path, &sphere))) {
        if (sphere->n == 0) abort();
        gls_sphere_destroy(sphere);
    }
    close(fd);
    return 0;
}
