/* Shards: parts of one run that several processes or machines track, each into its own file. */
#ifndef GLSLINES_SHARD_H
#define GLSLINES_SHARD_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of shards of a run. */
#define GLS_MAX_SHARDS 4096

/* Part `index` of the `count` parts of a run. */
typedef struct gls_shard {
    uint32_t index, count; /* part index of count; 1 <= index <= count <= GLS_MAX_SHARDS */
    uint64_t first_seed;   /* the shard has the seeds first_seed .. first_seed + n_seeds - 1 of the run */
    uint64_t n_seeds;      /* may be 0: more shards than seeds */
    uint64_t total_seeds;  /* number of seeds of the run */
    uint64_t parameters;   /* hash of all parameters, set by the caller; shards are merged only if they have the same
                              hash */
    uint64_t inputs;       /* hash of the data, set by the caller; shards are merged only if they have the same hash */
    uint64_t select; /* number of streamlines after which the run ends; each shard tracks this number at most, and the
                        merge keeps the first streamlines. 0: no limit */
} gls_shard;

/* Describes part `index` of `count` of total_seeds seeds, with hashes 0. Parts follow each other in the order of seeds;
 * the first total_seeds % count parts have one seed more than the other parts. GLS_ERR_ARGUMENT: index or count is out
 * of range. */
GLS_API gls_status gls_shard_init(uint32_t index, uint32_t count, uint64_t total_seeds, gls_shard *shard);

#ifdef __cplusplus
}
#endif
#endif
