/* Any bytes as a transform: HDF5, or an affine map in each format: an error or a map of points, never a crash. */
#include "transform/itk_files.h"

#include <string.h>

#include "file.h"

static volatile double sink;

/* Uses what was read, and frees it. */
static void use(gls_status status, gls_transform *t)
{
    if (fuzz_ok(status) && t->n == 0) abort();
    for (size_t i = 0; i < t->n; i++)
        for (int r = 0; r < 3; r++) sink = t->step[i].field ? (double)t->step[i].field->data[r] : t->step[i].map[r][3];
    gls_transform_finish(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const formats[] = {"", "mrtrix", "itk", "afni", "lta"};
    char path[64];
    int fd = fuzz_file(data, bytes, path);
    gls_transform t = {.n = 0};
    gls_transform_source source = {.path = path};
    use(gls_itk_read_composite(&source, &t), &t);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        strcpy(source.format, formats[i]);
        use(gls_transform_read_affine(&source, &t), &t);
    }
    close(fd);
    return 0;
}
