/* Of which run a map is: a map says nothing of that, but the sidecar of its shard names it. */
#ifndef GLS_WORKFLOW_MAP_RUN_H
#define GLS_WORKFLOW_MAP_RUN_H

#include <stdbool.h>

/* What tells the run of a map from others, as far as a sidecar that lies beside it tells. */
typedef struct gls_map_run {
    bool known;
    char parameters[17], inputs[17], others[17]; /* hashes; "": none */
} gls_map_run;

/* The run of the map of a shard, whose index is counted from 1. */
gls_map_run gls_map_run_find(const char *map, unsigned index, unsigned count);
/* What differs, or NULL. */
const char *gls_map_run_difference(const gls_map_run *a, const gls_map_run *b);

#endif
