/* Sets of voxels: erosion, dilation, components. A set is one byte a voxel, 0 or 1, x fastest. */
#ifndef GLS_DWI_MORPHOLOGY_H
#define GLS_DWI_MORPHOLOGY_H

#include <glslines/image.h>

/* All by the 6 neighbours; what lies outside the grid is not in the set, so erosion takes voxels at its border. times
 * >= 0 passes. */
gls_status gls_morphology_erode(const int32_t dim[3], uint8_t *set, int times);
gls_status gls_morphology_dilate(const int32_t dim[3], uint8_t *set, int times);
/* Keeps the largest component; of several as large the one that comes first. */
gls_status gls_morphology_largest(const int32_t dim[3], uint8_t *set);
/* Keeps voxels with a majority in their 3 x 3 x 3 neighbourhood, of those inside the grid. */
gls_status gls_morphology_median(const int32_t dim[3], uint8_t *set);
/* Adds what the complement's largest component does not reach. */
gls_status gls_morphology_fill(const int32_t dim[3], uint8_t *set);
size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set);

#endif
