/* Merges the shards of a run. */
#ifndef GLS_TRACTOGRAM_MERGE_SHARDS_H
#define GLS_TRACTOGRAM_MERGE_SHARDS_H

#include <glslines/common.h>
#include <glslines/merge.h>

#include "util/output_file.h"

/* Like gls_tractogram_merge(), but the output joins a group of outputs unless group is NULL. */
gls_status gls_tractogram_merge_grouped(const char *const *paths, size_t n, const char *output, bool overwrite,
                                        gls_output_group *group, gls_merge_progress progress, void *user,
                                        gls_merge_result *result);

#endif
