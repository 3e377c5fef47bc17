/* Directions in which a deconvolution must not be negative: from a file, given, or built in. */
#ifndef GLS_DWI_CSD_DIRECTIONS_H
#define GLS_DWI_CSD_DIRECTIONS_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Makes *direction, from malloc: the directions of the constraint along the voxel axes. given: unit vectors along the
 * scanner axes; NULL: the built-in ones. GLS_ERR_ARGUMENT: one is no unit vector. */
gls_status gls_msmt_directions(const gls_grid *grid, const double (*given)[3], size_t n_given, double (**direction)[3],
                               size_t *n);

#endif
