/* Sets of voxels, one byte each, 1 in the set and else 0. Two voxels are neighbours if they share a face.
 * GLS_ERR_MEMORY: out of memory. */
#ifndef GLS_IMAGE_MORPHOLOGY_H
#define GLS_IMAGE_MORPHOLOGY_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Dilates a set, `times` >= 0 times: adds the neighbours of each of its voxels. */
gls_status gls_morphology_dilate(const int32_t dim[3], uint8_t *set, int times);
/* Erodes a set, `times` >= 0 times: removes voxels with a neighbour that is not in the set. A voxel at the border of
 * the grid is removed, because voxels outside the grid are not in the set. */
gls_status gls_morphology_erode(const int32_t dim[3], uint8_t *set, int times);
/* Adds all voxels whose centres are at most `mm` from the centre of a voxel of the set. */
gls_status gls_morphology_dilate_mm(const gls_grid *grid, uint8_t *set, double mm);
/* Removes all of a set but its largest component of voxels joined by faces; among equal ones the first stays. */
gls_status gls_morphology_keep_largest(const int32_t dim[3], uint8_t *set);
/* Adds every voxel outside the set that is not in the largest component of voxels outside the set. */
gls_status gls_morphology_fill_holes(const int32_t dim[3], uint8_t *set);
/* Number of voxels in the set. */
size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set);

#endif
