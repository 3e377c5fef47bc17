/* A tractogram's header and summary as JSON. */
#ifndef GLS_WORKFLOW_TRACTS_INFO_JSON_H
#define GLS_WORKFLOW_TRACTS_INFO_JSON_H

#include <glslines/summary.h>
#include <glslines/tractogram.h>

struct cJSON;

/* Whether half of the steps differ by a thousandth at most: they do not once points are left out. */
bool gls_tract_is_regular(const gls_spread *step);

/* summary: NULL where streamlines were not read. */
struct cJSON *gls_tract_info_json(const char *path, const gls_tractogram_info *info, const gls_summary_result *summary);

#endif
