/* Finds the voxels that a streamline visits, by each gls_density_mapping. */
#ifndef GLS_TRACTS_VISITS_H
#define GLS_TRACTS_VISITS_H

#include <glslines/density.h>

#include "tracts/visits_parts.h"

/* Finds the visits of n >= 1 points. With GLS_DENSITY_ENDS a voxel with both ends occurs twice. */
void gls_visits_find(gls_visits *visits, const gls_visit_grid *grid, const gls_density_options *options,
                     const float (*point)[3], size_t n);

/* Finds the voxel that holds a point, as GLS_DENSITY_PRECISE does. Returns false outside the grid. */
bool gls_visit_voxel(const gls_visit_grid *grid, const float point[3], uint64_t *voxel);

#endif
