/* Any bytes as an image of labels: an error or a connectome, never a crash. */
#include <glslines/connectome.h>

#include "file.h"
#include "few_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_labels *labels = NULL;
    gls_connectome *connectome = NULL;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_labels_read(path, &labels)) &&
        fuzz_ok(gls_connectome_create(labels, "labels", NULL, &connectome))) {
        gls_sink sink = gls_connectome_sink(connectome);
        if (fuzz_ok(fuzz_append_lines(&sink)) && fuzz_ok(gls_sink_finish(&sink)) &&
            gls_connectome_get_counts(connectome).streamlines != 3)
            abort();
        gls_sink_abort(&sink);
        gls_connectome_destroy(connectome);
    }
    gls_labels_destroy(labels);
    close(fd);
    return 0;
}
