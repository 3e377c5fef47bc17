/* Maps of the parts of a run: images of counts, and matrices, which add up to those of the whole run. */
#ifndef GLS_WORKFLOW_MERGE_MAPS_H
#define GLS_WORKFLOW_MERGE_MAPS_H

#include <glslines/workflow.h>

#include "util/output_file.h"

/* Whether the name is that of such a map: .nii, .nii.gz, .csv, .tsv. */
bool gls_is_map_name(const char *path);
/* Adds up the files, whose names have to say that they are all parts of one run, x_shard-1of3.csv and so on; the sum
 * has the bytes of the map of the whole run. GLS_ERR_INPUT: a part is missing or there twice, or does not fit. */
gls_status gls_maps_merge(const char *const *paths, size_t n, const char *output, bool force, gls_output_group *group);

#endif
