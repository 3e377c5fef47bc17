/* Sidecars of shards: whether they are of one run, and the sidecar that this run would have had. */
#ifndef GLS_WORKFLOW_MERGE_SIDECAR_H
#define GLS_WORKFLOW_MERGE_SIDECAR_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "util/status.h"
#include "util/output_file.h"

/* A shard and its sidecar. */
typedef struct gls_merge_shard {
    const char *path;
    char *sidecar; /* path */
    cJSON *root;   /* its contents */
} gls_merge_shard;

/* Reads the sidecar of a shard, which lies beside it under its name with .json; a shard of another size than its
 * sidecar tells was cut or changed. */
gls_status gls_merge_shard_read(gls_merge_shard *shard);
void gls_merge_shard_finish(gls_merge_shard *shard);
/* Whether b is of the same run as a: the message of a failure names the first thing that differs. Devices that differ
 * are warned of, once: *warned is false before the first call. */
gls_status gls_merge_shard_compare(const gls_merge_shard *a, const gls_merge_shard *b, bool *warned);
/* Contents of the sidecar of the whole run, from malloc. output: the tractogram, complete. Puts the shards in the order
 * of their parts. */
gls_status gls_merge_sidecar_text(gls_merge_shard *shards, size_t n, const gls_merge_options *options,
                                  const gls_warnings *warnings, const gls_merge_result *result,
                                  const gls_output *output, char **text);

#endif
