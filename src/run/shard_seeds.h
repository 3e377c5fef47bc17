/* The part of a run that one process tracks: which part, from options or from a launcher, and its seeds. */
#ifndef GLS_RUN_SHARD_SEEDS_H
#define GLS_RUN_SHARD_SEEDS_H

#include <glslines/common.h>
#include <glslines/seeds.h>
#include <glslines/shard.h>

/* Sets index and count of the shard. text: "3/8", or "auto": from the variables of Slurm, Open MPI or PMI. */
gls_status gls_shard_choose(const char *text, gls_shard *shard);
/* Restricts the seeds to the part of this shard. select: number of streamlines of --select. Does nothing if the shard's
 * count is 0. */
gls_status gls_shard_restrict(gls_shard *shard, gls_seeds *seeds, uint64_t select);

#endif
