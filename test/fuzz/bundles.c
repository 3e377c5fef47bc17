/* Any bytes as a table of bundles: an error or rules by which streamlines are told apart, never a crash. */
#include <glslines/bundles.h>

#include "file.h"
#include "few_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_bundles *bundles = NULL;
    gls_bundles_options options = gls_bundles_options_default();
    options.keep_nodes = true;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_bundles_read(path, &options, &bundles))) {
        gls_sink sink = gls_bundles_sink(bundles);
        if (fuzz_ok(fuzz_append_lines(&sink)) && fuzz_ok(gls_sink_finish(&sink)) &&
            fuzz_ok(gls_bundles_complete(bundles)))
            for (size_t i = 0; i < gls_bundles_count(bundles); i++)
                if (gls_bundles_get(bundles, i).count > 3) abort();
        gls_sink_abort(&sink);
        gls_bundles_destroy(bundles);
    }
    close(fd);
    return 0;
}
