/* Affine maps as matrices. */
#ifndef GLS_TRANSFORM_AFFINE_H
#define GLS_TRANSFORM_AFFINE_H

#include <glslines/image.h>

/* Map of voxels of a grid to FSL's coordinates: mm along the voxel axes, x mirrored where the grid is right-handed. */
void gls_transform_fsl_frame(const gls_grid *grid, double map[3][4]);
/* Sets out to the map that applies b first, then a. out may be a or b. */
void gls_transform_compose(const double a[3][4], const double b[3][4], double out[3][4]);

#endif
