/* Any bytes as a shard of each format: an error, or a file of the same streamlines, never a crash. */
#include <glslines/merge.h>

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const names[][2] = {{"in.trx", "out.trx"}, {"in.trk", "out.trk"}, {"in.tck", "out.tck"}};
    fuzz_folder folder = fuzz_folder_make();
    for (int f = 0; f < 3; f++) {
        gls_shard_file file;
        gls_merge_result result;
        const char *path = fuzz_folder_put(&folder, names[f][0], data, bytes),
                   *output = fuzz_folder_name(&folder, names[f][1]);
        gls_status head = gls_shard_file_read(path, &file),
                   merged = gls_tractogram_merge(&path, 1, output, GLS_EXISTING_KEEP, NULL, NULL, &result);
        if (head != GLS_OK && merged == GLS_OK) abort();
        if (merged == GLS_OK && result.streamlines != file.n_streamlines) abort();
        if ((access(output, F_OK) == 0) != (merged == GLS_OK)) abort();
    }
    fuzz_folder_remove(&folder);
    return 0;
}
