/* Any bytes as the sidecar of a shard: an error or a run to compare with, never a crash. */
#include "workflow/merge_sidecar.h"
#include "workflow/sidecar.h"

#include "file.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char folder[] = "/tmp/glslines_fuzz_XXXXXX", target[64], shard[64], json[64];
    int fd = fuzz_file(data, bytes, target);
    if (!mkdtemp(folder)) abort();
    snprintf(shard, sizeof shard, "%s/a.tck", folder);
    snprintf(json, sizeof json, "%s/a.json", folder);
    FILE *file = fopen(shard, "w");
    if (!file || fclose(file) != 0 || symlink(target, json) != 0) abort();
    gls_merge_shard one = {.path = shard};
    bool warned = false;
    if (fuzz_ok(gls_merge_shard_read(&one)) && !fuzz_ok(gls_merge_shard_compare(&one, &one, &warned)))
        warned = true; /* a sidecar may lack what is compared */
    gls_merge_shard_finish(&one);
    char *name = gls_sidecar_name(shard);
    if (!name) abort();
    free(name);
    unlink(json);
    unlink(shard);
    rmdir(folder);
    close(fd);
    return 0;
}
