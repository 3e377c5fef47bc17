/* Sidecars of shards: checks that they belong to one run, and makes the sidecar of the whole run. */
#ifndef GLS_RUN_MERGE_SIDECAR_H
#define GLS_RUN_MERGE_SIDECAR_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/merge.h>
#include <glslines/workflow.h>

#include "util/output_file.h"
#include "util/status.h"

/* A shard and its sidecar. */
typedef struct gls_merge_shard {
    /* path of the shard */
    const char *path;
    char *sidecar; /* path of the sidecar */
    cJSON *root;   /* contents of the sidecar */
} gls_merge_shard;

/* Reads the sidecar of a shard x.trx: x.trx.json if it exists, else x.json. GLS_ERR_INPUT: there is none, or it is
 * not that of a shard, or it records another size, number of streamlines or index than this shard has. */
gls_status gls_merge_shard_read(gls_merge_shard *shard);
/* Frees the sidecar. path is borrowed. */
void gls_merge_shard_finish(gls_merge_shard *shard);
/* Returns GLS_ERR_INPUT if b is not a shard of the same run as a; the message names the first difference. Warns once if
 * devices differ. *warned: false before the first call. */
gls_status gls_merge_shard_compare(const gls_merge_shard *a, const gls_merge_shard *b, bool *warned);
/* Fills in *sidecar: the sidecar of the whole run. output: the complete merged tractogram. Sorts shards by index. */
gls_status gls_merge_sidecar(gls_merge_shard *shards, size_t n, const gls_merge_options *options,
                             const gls_warnings *warnings, const gls_merge_result *result, const gls_output *output,
                             cJSON **sidecar);

#endif
