/* Numbers of the groups of a tractogram, such as bundles, for the table of a report. */
#ifndef GLS_RENDER_REPORT_GROUPS_H
#define GLS_RENDER_REPORT_GROUPS_H

#include <cJSON.h>

#include <glslines/tractogram.h>

#include "util/text.h"

typedef struct gls_report_groups gls_report_groups;

/* Begins for the groups of a tractogram. grid: on which volumes are measured; NULL: they are not. *groups is NULL where
 * there is no group, or more than 256. */
gls_status gls_report_groups_create(const gls_tractogram_info *info, const gls_grid *grid, gls_report_groups **groups);
/* The sink that takes the streamlines; ending it does nothing. */
gls_sink gls_report_groups_sink(gls_report_groups *groups);
/* Ends after the last streamline. */
gls_status gls_report_groups_complete(gls_report_groups *groups);
/* Appends the heads of the columns, and the cells of a group, to a table of HTML. groups NULL: nothing. */
void gls_report_groups_append_head(const gls_report_groups *groups, gls_text *out);
void gls_report_groups_append_cells(const gls_report_groups *groups, const char *name, gls_text *out);
/* Appends the table of `glslines recognize`, if the outputs in the sidecar of the tractogram name one that is there. */
void gls_report_groups_append_recognized(const char *sidecar_path, const cJSON *outputs, gls_text *out);
/* Frees `groups`, which may be NULL. */
void gls_report_groups_destroy(gls_report_groups *groups);

#endif
