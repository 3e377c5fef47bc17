/* Any bytes as a response, of one fibre population, a row for each shell, or of a tissue: an error or a response, never
 * a crash. */
#include <glslines/csd.h>
#include <glslines/msmt.h>

#include "file.h"

/* Shells of 0, 1000 and 2000 s/mm2. */
static gls_gradients *make_gradients(void)
{
    static const double bval[] = {0, 1000, 1000, 2000}, bvec[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0.6, 0.8}};
    const gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_gradients *gradients = NULL;
    if (gls_gradients_create(bval, bvec, 4, &options, NULL, &gradients) != GLS_OK) abort();
    return gradients;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_response response;
    gls_tissue_response *tissue = NULL;
    gls_gradients *gradients = make_gradients();
    int fd = fuzz_file(data, bytes, path);
    for (int order = 2; order <= 8; order += 6) {
        fuzz_ok(gls_response_read(path, order, NULL, 1000, &response));
        fuzz_ok(gls_response_read(path, order, gradients, 2000, &response));
    }
    if (fuzz_ok(gls_tissue_response_read(path, &tissue))) gls_tissue_response_destroy(tissue);
    gls_gradients_destroy(gradients);
    close(fd);
    return 0;
}
