/* Any bytes as the directions of ODF amplitudes: an error or vectors, never a crash. */
#include <glslines/odf.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    double(*direction)[3] = NULL;
    size_t n = 0;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_odf_directions_read(path, &direction, &n))) {
        if (n == 0) abort();
        for (size_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++)
                if (direction[i][c] != direction[i][c]) abort();
        gls_free(direction);
    }
    close(fd);
    return 0;
}
