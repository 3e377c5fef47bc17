/* Regions of interest that select streamlines. */
#ifndef GLS_TRACTS_ROIS_H
#define GLS_TRACTS_ROIS_H

#include <glslines/select.h>

#include "image/region_set.h"

/* --- How far a streamline passes from a region: what decides between bundles that want the same streamline. */

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

/* --- Regions as streamlines of files meet them: any number, on any grids, in double precision, with the lines between
 * points cut exactly at voxel faces. */

typedef struct gls_rois gls_rois;

gls_status gls_rois_create(gls_roi_test test, gls_rois **rois);
void gls_rois_destroy(gls_rois *rois);
/* Regions that are added from now on can tell how far streamlines are from them: 4 bytes for each voxel of the box of a
 * region that is widened. */
void gls_rois_keep_distances(gls_rois *rois);
const gls_roi_distance *gls_rois_distance(const gls_rois *rois, size_t index);
/* Adds a region, widened by mm; option names it in messages. *index counts regions from 0; the same text and width
 * give the same one. */
gls_status gls_rois_add(gls_rois *rois, const char *option, const char *text, double mm, size_t *index);
/* Widens an area by mm and adds it under this name. */
gls_status gls_rois_add_area(gls_rois *rois, gls_region_area *area, const char *name, double mm, size_t *index);
/* As gls_rois_add(), but .trx, .trk, .tck and .vtk are tractograms: the voxels of the grid (NULL: of their own) that
 * their streamlines pass through. */
gls_status gls_rois_add_any(gls_rois *rois, const char *option, const char *text, const gls_grid *grid, double mm,
                            size_t *index);
/* Adds the two largest blobs (voxels that share faces, edges or corners) of an image, widened by mm; the first one lies
 * further left, back or down along the axis that parts them most. GLS_ERR_INPUT: there is only one. */
gls_status gls_rois_add_ends(gls_rois *rois, const char *text, double mm, size_t index[2]);
size_t gls_rois_count(const gls_rois *rois);
/* The text of a region, and the box around it in world mm. */
const char *gls_rois_text(const gls_rois *rois, size_t index);
void gls_rois_box(const gls_rois *rois, size_t index, double low[3], double high[3]);
/* Whether values between 0 and 1 were taken for inside. */
bool gls_rois_is_graded(const gls_rois *rois, size_t index);
/* Whether a point, world mm, lies in a region. */
bool gls_rois_has(const gls_rois *rois, size_t index, const float point[3]);

/* Where a stretch of a streamline lies: in the regions of a set, from `at` mm (with tests of points: from point
 * number `at`) until the next of the same place. */
typedef struct gls_roi_event {
    double at;
    uint32_t place, set;
} gls_roi_event;

/* Room for what one streamline meets; one for each thread. */
typedef struct gls_roi_hits {
    size_t n, capacity;
    gls_roi_event *event; /* by place, then by at */
    double length;        /* where the streamline ends, in the unit of `at` */
    uint8_t *met;         /* for each region: 1 where it is met */
    bool failed;          /* out of memory */
} gls_roi_hits;

/* n >= 1 points. */
void gls_rois_find(const gls_rois *rois, gls_roi_hits *hits, const float (*point)[3], size_t n);
void gls_roi_hits_finish(gls_roi_hits *hits);
/* Where the region is met first; INFINITY: nowhere. Where it is left last; -INFINITY. */
double gls_rois_first(const gls_rois *rois, const gls_roi_hits *hits, size_t index);
double gls_rois_last(const gls_rois *rois, const gls_roi_hits *hits, size_t index);
/* Which share of the streamline lies in the region. */
double gls_rois_share(const gls_rois *rois, const gls_roi_hits *hits, size_t index);
/* Whether the regions are met in this order: from the start, or, backwards, from the end. Going back is allowed to the
 * last one only; where several lie in one place, the first of the list counts. As tckedit -include_ordered. */
bool gls_rois_ordered(const gls_rois *rois, const gls_roi_hits *hits, const size_t *index, size_t n, bool backwards);

#endif
