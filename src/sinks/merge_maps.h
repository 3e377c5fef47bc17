/* Adds up maps and matrices of shards, after checks that they are all parts of one map of one run. */
#ifndef GLS_SINKS_MERGE_MAPS_H
#define GLS_SINKS_MERGE_MAPS_H

#include <glslines/common.h>

#include "util/output_file.h"

/* Whether the name is one of a map or a matrix: that of an image that is written, .csv or .tsv. */
bool gls_map_is_name(const char *path);
/* Adds up maps of all shards of one run. The names must say which part each one is (x_shard-1of3.csv). The sum is byte
 * for byte the map of the whole run. GLS_ERR_INPUT: a part is missing, occurs twice, or does not fit the others. */
gls_status gls_maps_merge(const char *const *paths, size_t n, const char *output, bool force, gls_output_group *group);

#endif
