/* Maps of density of what a device has counted while it tracked. */
#ifndef GLS_TRACTS_VISITED_H
#define GLS_TRACTS_VISITED_H

#include <glslines/density.h>

#include "track/engine/visited.h"

/* Whether such a map can be made of counts in this grid. */
bool gls_density_takes_visited(const gls_density *density, const gls_grid *grid);
/* Of streamlines that are appended while *visited is not NULL the counts there are taken, and only those that are left
 * to the host are looked at. The map is the same. */
void gls_density_use_visited(gls_density *density, const gls_visited **visited);

#endif
