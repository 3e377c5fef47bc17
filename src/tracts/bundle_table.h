/* Reads the rules of bundles from tables and from scilpy's JSON. */
#ifndef GLS_TRACTS_BUNDLE_TABLE_H
#define GLS_TRACTS_BUNDLE_TABLE_H

#include <glslines/common.h>
#include <glslines/image.h>

#include "tracts/bundle_parts.h"

/* Reads rules from a table or a JSON file. folder: the folder of the files that the rules name; NULL: their names are
 * paths. grid: grid on which regions are made from tractograms; NULL: each tractogram's own grid. chooses: regions keep
 * the distances by which a streamline is given to the nearest of its bundles. space: as for gls_rois_create(). Call
 * gls_bundle_rules_finish() after success; a failure leaves nothing to free. */
gls_status gls_bundle_rules_read(const char *path, const char *folder, const gls_grid *grid, bool chooses,
                                 const gls_transform *space, gls_bundle_rules *rules);
/* Frees all rules and regions. */
void gls_bundle_rules_finish(gls_bundle_rules *rules);

/* A row that becomes a rule. */
typedef struct gls_bundle_row {
    const char *path, *where; /* names for messages: the file, and "line 3" or "bundle NAME" */
    const char *folder;       /* folder of the files that the row names; NULL: the names are paths */
    const gls_grid *grid;     /* grid of regions that are made from tractograms; NULL: the grid of each tractogram */
    char *cell[GLS_CELLS];    /* text of each cell of the row; NULL: empty */
} gls_bundle_row;

/* Adds a bundle from a row, whose cells may be modified. row NULL: a bundle without a name and without any test. */
gls_status gls_bundle_rules_add(gls_bundle_rules *rules, const gls_bundle_row *row);

#endif
