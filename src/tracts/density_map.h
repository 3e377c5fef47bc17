/* Track density maps. */
#ifndef GLS_TRACTS_DENSITY_MAP_H
#define GLS_TRACTS_DENSITY_MAP_H

#include <glslines/density.h>
#include <glslines/image.h>

#include "track/engine/visited.h"

/* Whether the map can be made from counts in this grid. */
bool gls_density_takes_visited(const gls_density *density, const gls_grid *grid);
/* While *visited is not NULL, append() takes the counts of the appended streamlines from **visited if the map can use
 * them, and follows only streamlines that the device has left to the host. Otherwise it follows all streamlines, or
 * fails with GLS_ERR_UNSUPPORTED if their points are missing. The map is the same. */
void gls_density_use_visited(gls_density *density, const gls_visited **visited);

#endif
