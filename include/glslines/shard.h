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
    uint64_t parameters; /* a hash by the caller of all that was chosen, equal in all shards of a run; 0: not checked */
    uint64_t inputs;     /* the same of the data. Shards in which one of the two differs are not joined */
    uint64_t select;     /* streamlines that the run ends with; a shard may end with as many of its own. 0: all */
} gls_shard;

/* The part index of count of total_seeds seeds, hashes 0. Parts follow one another in the order of seeds; the first
 * total_seeds % count parts have one seed more than the others. GLS_ERR_ARGUMENT if index or count are out of range. */
GLS_API gls_status gls_shard_init(uint32_t index, uint32_t count, uint64_t total_seeds, gls_shard *shard);

#ifdef __cplusplus
}
#endif
#endif
