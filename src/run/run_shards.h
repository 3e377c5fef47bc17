/* Shards: the part of a run that one process tracks, and how the results of all parts are merged. */
#ifndef GLS_RUN_RUN_SHARDS_H
#define GLS_RUN_RUN_SHARDS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "run/job_inputs.h"
#include "util/output_file.h"
#include "util/status.h"

/* --- Which part of the run. */

/* Sets index and count of the shard. text: "3/8", or "auto": from the variables of Slurm, Open MPI or PMI. */
gls_status gls_shard_choose(const char *text, gls_shard *shard);

/* Restricts the seeds to the part of this shard. select: number of streamlines of --select. Does nothing if the shard's
 * count is 0. */
gls_status gls_shard_restrict(gls_shard *shard, gls_seeds *seeds, uint64_t select);

/* --- Merging sidecars: check that shards belong to one run, and make the sidecar of that run. */

/* A shard and its sidecar. */
typedef struct gls_merge_shard {
    /* path of the shard */
    const char *path;
    char *sidecar; /* path of the sidecar */
    cJSON *root;   /* contents of the sidecar */
} gls_merge_shard;

/* Reads the sidecar that lies beside a shard: for x.trx x.trx.json, else x.json. GLS_ERR_INPUT: there is none, or it
 * records another size, count of streamlines or index than the shard has: the shard was cut, changed or renamed. */
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
