/* Calls of density maps and connectomes that only the sinks of runs use. */
#ifndef GLS_TRACTS_SINK_PARTS_H
#define GLS_TRACTS_SINK_PARTS_H

#include <glslines/connectome.h>
#include <glslines/density.h>

#include "track/engine/visited.h"
#include "util/output_file.h"

/* --- Maps of density of what a device has counted while it tracked. */

/* Whether such a map can be made of counts in this grid. */
bool gls_density_takes_visited(const gls_density *density, const gls_grid *grid);
/* Of streamlines that are appended while *visited is not NULL the counts there are taken, and only those that are left
 * to the host are looked at. The map is the same. */
void gls_density_use_visited(gls_density *density, const gls_visited **visited);

/* --- Results written as part of a group, unless that is NULL; an existing file is an error unless overwrite. */

gls_status gls_density_write_grouped(const gls_density *density, const char *path, bool overwrite,
                                     gls_output_group *group);
/* Whether the matrix looks at more of a streamline than its ends: for regions on the way, or lengths. */
bool gls_connectome_needs_points(const gls_connectome *connectome);
/* names: of rows and columns, gls_connectome_size() of them; NULL: no header. missing: stands for what is not a number.
 */
gls_status gls_connectome_write_grouped(const gls_connectome *connectome, const char *path, bool overwrite,
                                        gls_output_group *group, const char *const *names, const char *missing);

#endif
