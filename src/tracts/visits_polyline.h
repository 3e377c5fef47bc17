/* Voxels that the straight lines between points pass. */
#ifndef GLS_TRACTS_VISITS_POLYLINE_H
#define GLS_TRACTS_VISITS_POLYLINE_H

#include "tracts/visits_parts.h"

/* Finds the visits for GLS_DENSITY_SEGMENT and GLS_DENSITY_LENGTH. measured: compute mm. */
void gls_visits_polyline(gls_visits *visits, const gls_visit_grid *grid, bool measured, const float (*point)[3],
                         size_t n);

#endif
