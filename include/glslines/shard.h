/* Shards: parts of one run that several processes or machines track, each into a file of its own. */
#ifndef GLSLINES_SHARD_H
#define GLSLINES_SHARD_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLS_MAX_SHARDS 4096

/* Which part of which run. */
typedef struct gls_shard {
    uint32_t index, count; /* part index of count; 1 <= index <= count <= GLS_MAX_SHARDS */
    uint64_t first_seed;   /* its seeds are first_seed .. first_seed + n_seeds - 1 of the run */
    uint64_t n_seeds;      /* may be 0: more shards than seeds */
    uint64_t total_seeds;  /* of the run */
    uint64_t
        parameters; /* two hashes that the caller makes, equal in all shards of a run: of everything that was chosen, */
    uint64_t inputs; /* and of the data; files in which one differs are not joined. 0: not used */
} gls_shard;

/* The part index of count of total_seeds seeds, hashes 0. Parts lie one behind the other in the order of seeds, and the
 * first total_seeds % count of them have one seed more than the others. GLS_ERR_ARGUMENT if index or count are out of
 * range. */
GLS_API gls_status gls_shard_init(uint32_t index, uint32_t count, uint64_t total_seeds, gls_shard *shard);

#ifdef __cplusplus
}
#endif
#endif
