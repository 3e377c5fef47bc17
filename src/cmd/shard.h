/* --shard: which part of a run this process tracks. */
#ifndef GLS_CMD_SHARD_H
#define GLS_CMD_SHARD_H

#include <cJSON.h>

#include <glslines/shard.h>

#include "cmd/track_run.h"

/* "3/8", or "auto": from the variables that Slurm, Open MPI and PMI set. Sets index and count. All functions return an
 * exit code, the message printed. */
int cmd_shard_parse(const char *text, gls_shard *shard);
/* "dir/out.trx" -> "dir/out_shard-3of8.trx", from malloc; NULL without memory. */
char *cmd_shard_name(const char *path, const gls_shard *shard);

/* Sets index and count of the run's shard from --shard; 0 where the option was not given. */
int track_shard_init(track_run *run);
/* Once the input is read: the seeds of this part, and the hashes that tell its run from others. */
int track_shard_restrict(track_run *run);
/* Seeds of the whole run. */
uint64_t track_total_seeds(const track_run *run);

/* Removes parameters that may differ between shards of a run: names of files (their contents are compared), the device
 * and the size of batches. */
void cmd_shard_drop_free(cJSON *parameters);

#endif
