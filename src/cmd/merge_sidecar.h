/* Sidecars of shards: whether they are of one run, and the sidecar that this run would have had. */
#ifndef GLS_CMD_MERGE_SIDECAR_H
#define GLS_CMD_MERGE_SIDECAR_H

#include <cJSON.h>

#include <glslines/merge.h>

#include "cmd/options.h"

/* A shard and its sidecar. */
typedef struct merge_shard {
    const char *path;
    char *sidecar; /* path */
    cJSON *root;   /* its contents */
} merge_shard;

/* What the command line of `glslines merge` says. */
typedef struct merge_options {
    cmd_common common;
    const char *output, *sidecar;
    bool force, fail_if_empty;
} merge_options;

/* Reads the sidecar of a shard, which lies beside it under its name with .json; a shard of another size than its
 * sidecar tells was cut or changed. All functions return an exit code, the message printed. */
int merge_sidecar_read(merge_shard *shard);
void merge_sidecar_finish(merge_shard *shard);
/* Whether b is of the same run as a: the message of a failure names the first thing that differs. Devices that differ
 * are warned of, once: *warned is false before the first call. */
int merge_sidecar_compare(const merge_shard *a, const merge_shard *b, bool *warned);
/* Contents of the sidecar of the whole run, from malloc. shards are in the order of their parts, their sidecars are
 * used up. */
int merge_sidecar_text(merge_shard *shards, size_t n, const merge_options *options, const cmd_arguments *arguments,
                       const gls_merge_result *result, uint64_t output_bytes, char **text);

#endif
