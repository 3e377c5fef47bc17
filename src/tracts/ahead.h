/* The region ahead of the end of a streamline: the forward search of tck2connectome. */
#ifndef GLS_TRACTS_AHEAD_H
#define GLS_TRACTS_AHEAD_H

#include <glslines/image.h>

/* node: the region of each voxel from 1, 0: none. The voxels within 45 degrees of the streamline's direction at its end
 * are taken in the order of cost, which is the distance of the centre times 1 + angle / 45 degrees, and at most `reach`
 * mm; the first with a region gives it. Of voxels of equal cost only one is looked at, as in MRtrix3 3.0.3. backwards:
 * ahead of the last point, else of the first. 0: none. */
int32_t gls_look_ahead(const gls_grid *grid, const double world_to_voxel[3][4], const int32_t *node, double reach,
                       const float (*point)[3], size_t n, bool backwards);

#endif
