/* Any bytes as a response, of one fibre population or of a tissue: an error or a response, never a crash. */
#include <glslines/csd.h>
#include <glslines/msmt.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_response response;
    gls_tissue_response *tissue = NULL;
    int fd = fuzz_file(data, bytes, path);
    for (int order = 2; order <= 8; order += 6) fuzz_ok(gls_response_read(path, order, NULL, 1000, &response));
    if (fuzz_ok(gls_tissue_response_read(path, &tissue))) gls_tissue_response_destroy(tissue);
    close(fd);
    return 0;
}
