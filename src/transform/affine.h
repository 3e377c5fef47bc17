/* Affine maps as matrices, and lines of their files. */
#ifndef GLS_TRANSFORM_AFFINE_H
#define GLS_TRANSFORM_AFFINE_H

#include <glslines/image.h>

/* Map of voxels of a grid to FSL's coordinates: mm along the voxel axes, x mirrored where the grid is right-handed. */
void gls_transform_fsl_frame(const gls_grid *grid, double map[3][4]);
/* Sets out to the map that applies b first, then a. out may be a or b. */
void gls_transform_compose(const double a[3][4], const double b[3][4], double out[3][4]);

/* Exchanges RAS and LPS on both sides of a map. */
void gls_transform_exchange(double map[3][4]);

#define GLS_TRANSFORM_NUMBERS 16 /* largest number of parameters of a map */
/* Parses the numbers of a line, separated by blanks. Returns how many there are; -1: too many, or other words. */
int gls_transform_row(const char *line, double value[GLS_TRANSFORM_NUMBERS]);

#endif
