/* The interface of grey and white matter (Smith et al. 2012; rules as in MRtrix3): finds it near a seed, crops
 * streamlines at it, and makes its image. */
#ifndef GLS_IMAGE_TISSUE_INTERFACE_H
#define GLS_IMAGE_TISSUE_INTERFACE_H

#include <glslines/tissue.h>

/* Whether grey minus white matter increases at the point along a direction of unit length in mm, given along the voxel
 * axes. */
bool gls_tissue_rises(const gls_tissue *tissue, const float point[3], const float direction[3]);
/* Crops a streamline that ends in cortical grey matter at the interface with white matter. before, from, last: its last
 * three points, in voxel coordinates of the streamlines. Moves `last` to the interface between `from` and `last`;
 * returns false if `last` stays. */
bool gls_tissue_crop(const gls_tissue *tissue, const double before[3], const double from[3], double last[3]);
/* Moves a point, in world mm, to the interface, just inside grey matter. Returns false, and leaves the point, if no
 * interface is near or ACT starts no streamlines there. */
bool gls_tissue_find_interface(const gls_tissue *tissue, double world[3]);

#endif
