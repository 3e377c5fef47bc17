/* Any bytes as the sidecar of a tractogram that is gone: an error, or a report on the run and its references, never a
 * crash. */
#include <glslines/report.h>

#include "folder.h"
#include "render/cite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_folder folder = fuzz_folder_make();
    const char *sidecar = fuzz_folder_put(&folder, "a.json", data, bytes);
    gls_report_options options = gls_report_options_default();
    gls_report_result result;
    char *text = NULL;
    options.output = fuzz_folder_name(&folder, "a.html");
    options.mqc = fuzz_folder_name(&folder, "mqc");
    options.versions = fuzz_folder_name(&folder, "versions.yml");
    bool written = fuzz_ok(gls_report_files(sidecar, &options, NULL, &result));
    if ((access(options.output, F_OK) == 0) != written || (access(options.versions, F_OK) == 0) != written) abort();
    for (gls_cite_format format = GLS_CITE_TEXT; written && format <= GLS_CITE_CFF; format++) {
        text = NULL; /* a report is also written of other commands, which have nothing to cite */
        if (fuzz_ok(gls_cite(sidecar, format, &text)) != (text && *text)) abort();
        free(text);
    }
    fuzz_folder_remove(&folder);
    return 0;
}
