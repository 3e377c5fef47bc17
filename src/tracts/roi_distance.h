/* How far a streamline passes from a region: what decides between bundles that want the same streamline. */
#ifndef GLS_TRACTS_ROI_DISTANCE_H
#define GLS_TRACTS_ROI_DISTANCE_H

#include "image/region_set.h"

/* Of one region, as it was before it was widened. */
typedef struct gls_roi_distance {
    double centre[3];     /* world mm: mean of the centres of its voxels, or the sphere's centre */
    double widened;       /* by so many mm */
    double radius;        /* of a sphere; negative: it is none */
    double inverse[3][4]; /* world mm to voxels */
    int low[3], size[3];  /* box of the voxels of the widened region */
    float *mm;            /* from each of them to the region, centre to centre; NULL: it is a sphere or not widened */
} gls_roi_distance;

/* area: not widened yet. To be finished whatever comes. */
gls_status gls_roi_distance_init(gls_roi_distance *distance, const gls_region_area *area, double mm);
void gls_roi_distance_finish(gls_roi_distance *distance);
/* mm from the region of a line of n >= 1 points that meets the widened one: the least of the voxels through which it
 * passes; 0 if it meets the region itself. */
double gls_roi_distance_of_line(const gls_roi_distance *distance, const float (*point)[3], size_t n);
/* mm between the line and the region's centre, at the nearest place. */
double gls_roi_distance_of_centre(const gls_roi_distance *distance, const float (*point)[3], size_t n);

#endif
