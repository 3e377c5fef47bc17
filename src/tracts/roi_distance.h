/* Distances from a region: of voxels, to widen the region; and of streamlines, by a map of the distances of voxels, or
 * to the centre of a sphere. */
#ifndef GLS_TRACTS_ROI_DISTANCE_H
#define GLS_TRACTS_ROI_DISTANCE_H

#include <glslines/common.h>

#include "image/region_store_parts.h"

/* Computes the squared distance, mm2, of the centre of each voxel of the grid from the nearest centre of a voxel with
 * `inside`; infinite if there is none. *square: from malloc. */
gls_status gls_voxel_distances(const gls_grid *grid, const uint8_t *inside, double **square);
/* Widens a region: adds each voxel whose centre is at most `mm` from the centre of a voxel of the region; adds `mm` to
 * the radius of a sphere. */
gls_status gls_region_area_widen(gls_region_area *area, double mm);

/* Distances from one region as it was before widening. */
typedef struct gls_roi_distance {
    double centre[3];     /* world, mm: mean of the centres of the region's voxels, or the centre of the sphere */
    double widened;       /* mm by which the region was widened */
    double radius;        /* radius of the sphere, mm; negative: the region is not a sphere */
    double inverse[3][4]; /* world mm to voxels */
    int low[3], size[3];  /* lowest voxel and size of the box of the widened region, in voxels */
    float *mm; /* for each voxel of the box, its distance to the region, centre to centre, mm; NULL: a sphere, or not
                  widened */
} gls_roi_distance;

/* Prepares the distances from a region that will be widened by mm. area: the region before widening. Call
 * gls_roi_distance_finish() even after a failure. */
gls_status gls_roi_distance_init(gls_roi_distance *distance, const gls_region_area *area, double mm);
/* Frees the distances. */
void gls_roi_distance_finish(gls_roi_distance *distance);
/* Distance, mm, of a line of n >= 1 points that meets the widened region: the smallest `mm` of the voxels that the line
 * passes; 0 if it meets the region itself. For a sphere: the distance from its surface. *from_centre: smallest
 * distance, mm, between the line and the region's centre. */
double gls_roi_distance_measure(const gls_roi_distance *distance, const float (*point)[3], size_t n,
                                double *from_centre);

#endif
