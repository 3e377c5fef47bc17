/* Any bytes as a shard of each format: an error, or a file of the same streamlines, never a crash. */
#include <glslines/merge.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const suffixes[] = {"trx", "trk", "tck"};
    char folder[] = "/tmp/glslines_fuzz_XXXXXX", target[64], path[64], output[64];
    const char *paths[] = {path};
    int fd = memfd_create("shard", 0);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || !mkdtemp(folder)) abort();
    snprintf(target, sizeof target, "/proc/self/fd/%d", fd);
    for (int f = 0; f < 3; f++) {
        gls_shard_file file;
        gls_merge_result result;
        snprintf(path, sizeof path, "%s/in.%s", folder, suffixes[f]);
        snprintf(output, sizeof output, "%s/out.%s", folder, suffixes[f]);
        if (symlink(target, path) != 0) abort();
        gls_status head = gls_shard_file_read(path, &file),
                   merged = gls_tractogram_merge(paths, 1, output, GLS_EXISTING_KEEP, NULL, NULL, &result);
        if (head != GLS_OK && merged == GLS_OK) abort();
        if (merged == GLS_OK && result.streamlines != file.n_streamlines) abort();
        if ((access(output, F_OK) == 0) != (merged == GLS_OK)) abort();
        unlink(output);
        unlink(path);
    }
    rmdir(folder);
    close(fd);
    return 0;
}
