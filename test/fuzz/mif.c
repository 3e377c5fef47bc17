/* Any bytes as an image of MRtrix with its gradient table: an error or a whole image, never a crash. */
#include "file.h"

#include <glslines/image.h>
#include <string.h>

#include "image/mif.h"
#include "image/mif_header.h"
#include "util/text.h"

static volatile float sink;

/* Whether the header says that all data are in the file itself. Another name could be that of a device, or of a pipe
 * among the descriptors. */
static bool names_itself(const uint8_t *data, size_t bytes)
{
    static const char own[] = "file: . ";
    for (size_t at = 0; at + 4 <= bytes; at++)
        if (gls_case_compare_n((const char *)data + at, "file", 4) == 0 &&
            (bytes - at < sizeof own - 1 || memcmp(data + at, own, sizeof own - 1) != 0))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_image *image;
    gls_mif_header header;
    bool rounded;
    size_t n_fields;
    if (!names_itself(data, bytes)) return 0;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_mif_read_header(path, &header))) gls_mif_header_finish(&header);
    if (fuzz_ok(gls_mif_read(path, GLS_IMAGE_ANY, false, &n_fields, &image, &rounded))) {
        for (size_t i = 0; i < gls_grid_voxels(&image->grid) * image->n_volumes; i++) sink = image->data[i];
        gls_image_destroy(image);
    }
    close(fd);
    return 0;
}
