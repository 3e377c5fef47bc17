/* Takes any bytes as the sidecars of two shards, the second behind the first NUL; '$' stands for the bytes of a shard.
 * Requires an error, or the sidecar of the whole run, never a crash. */
#include <glslines/merge.h>
#include <glslines/workflow.h>
#include <glslines/shard.h>
#include <glslines/tractogram.h>

#include "run/merge_sidecar.h"
#include "few_lines.h"
#include "folder.h"
#include "grid.h"
#include "record/sidecar.h"

#define STREAMLINES 3 /* for each shard, the bytes that fuzz_append_lines() writes */
#define POINTS 7
#define MAX_SHARD 4096

static struct {
    uint8_t data[MAX_SHARD];
    size_t bytes;
} shards[2];

/* Both parts of a run, kept in memory. */
static void make_shard(const char *path, uint32_t index)
{
    const gls_grid grid = fuzz_grid();
    gls_shard shard;
    gls_tractogram_writer *writer = NULL;
    gls_tractogram_options options = gls_tractogram_options_default();
    if (gls_shard_init(index, 2, 20, &shard)) abort();
    options.shard = &shard;
    if (gls_tractogram_writer_create(path, GLS_FORMAT_TCK, &grid, &options, &writer)) abort();
    gls_sink sink = gls_tractogram_writer_sink(writer);
    if (fuzz_append_lines(&sink) || gls_sink_finish(&sink)) abort();
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    shards[index - 1].bytes = fread(shards[index - 1].data, 1, MAX_SHARD, file);
    fclose(file);
    remove(path);
}

static void put_sidecar(const fuzz_folder *folder, const char *name, const uint8_t *data, size_t bytes, size_t size)
{
    FILE *file = fopen(fuzz_folder_name(folder, name), "wb");
    if (!file) abort();
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] == '$')
            fprintf(file, "%zu", size);
        else
            fputc(data[i], file);
    }
    if (fclose(file) != 0) abort();
}

/* Does with the sidecars what glslines merge does. */
static void join(gls_merge_shard shard[2])
{
    bool warned = false;
    cJSON *merged = NULL;
    gls_warnings none = {.n = 0};
    char *argv[] = {"glslines", "merge"};
    gls_merge_options options = gls_merge_options_default();
    gls_merge_result result = {.streamlines = 2 * STREAMLINES, .points = 2 * POINTS, .min_steps = 0, .max_steps = 3};
    options.output = "whole.tck";
    options.argc = 2;
    options.argv = argv;
    for (int i = 0; i < 2; i++)
        if (!fuzz_ok(gls_merge_shard_read(&shard[i]))) return;
    if (!fuzz_ok(gls_merge_shard_compare(&shard[0], &shard[1], &warned))) return;
    gls_output tractogram;
    if (gls_output_create("/tmp/glslines_fuzz_merged", true, &tractogram)) abort();
    for (result.last_part = 0; result.last_part <= 2; result.last_part++) {
        if (!fuzz_ok(gls_merge_sidecar(shard, 2, &options, &none, &result, &tractogram, &merged))) continue;
        char *text = cJSON_Print(merged);
        cJSON *read = cJSON_Parse(text);
        if (!cJSON_IsObject(read)) abort();
        cJSON_Delete(read);
        cJSON_Delete(merged);
        free(text);
    }
    gls_output_discard(&tractogram);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_folder folder = fuzz_folder_make();
    const uint8_t *end = bytes ? memchr(data, 0, bytes) : NULL;
    const size_t first = end ? (size_t)(end - data) : bytes;
    char *text = NULL;
    cJSON *root = NULL;
    for (uint32_t i = 0; i < 2 && shards[i].bytes == 0; i++) make_shard(fuzz_folder_name(&folder, "a.tck"), i + 1);
    gls_merge_shard shard[2] = {
        {.path = fuzz_folder_put(&folder, "a.tck", shards[0].data, shards[0].bytes)},
        {.path = fuzz_folder_put(&folder, "b.tck", shards[end ? 1 : 0].data, shards[end ? 1 : 0].bytes)}};
    put_sidecar(&folder, "a.json", data, first, shards[0].bytes);
    put_sidecar(&folder, "b.json", end ? end + 1 : data, end ? bytes - first - 1 : bytes, shards[end ? 1 : 0].bytes);
    join(shard);
    for (int i = 0; i < 2; i++) gls_merge_shard_finish(&shard[i]);
    fuzz_ok(gls_sidecar_read(fuzz_folder_name(&folder, "a.json"), &text, &root));
    cJSON_Delete(root);
    free(text);
    char *name = gls_sidecar_name(fuzz_folder_name(&folder, "a.tck"));
    if (!name) abort();
    free(name);
    fuzz_folder_remove(&folder);
    return 0;
}
