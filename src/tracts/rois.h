/* Regions for streamlines from files: which regions a streamline meets, where, and how close it passes. */
#ifndef GLS_TRACTS_ROIS_H
#define GLS_TRACTS_ROIS_H

#include <glslines/select.h>

#include "image/region_store_parts.h"
#include "transform/transform.h"

/* --- A set of regions on any grids, in double precision. The straight lines between points are cut exactly at the
 * faces of voxels. */

typedef struct gls_rois gls_rois;

/* Creates a set without regions. test: whether segments or only points are tested. space: transform from the space of
 * streamlines to that of the images of regions, which gls_rois_add() and gls_rois_add_ends() bring; borrowed. NULL:
 * both are the same. GLS_ERR_MEMORY: out of memory. */
gls_status gls_rois_create(gls_roi_test test, const gls_transform *space, gls_rois **rois);
/* Whether images of regions are brought from another space. */
bool gls_rois_move(const gls_rois *rois);
/* Frees `rois`, which may be NULL. */
void gls_rois_destroy(gls_rois *rois);
/* Regions added after this call keep what gls_rois_distance() needs: 4 bytes for each voxel of the box of a widened
 * region. */
void gls_rois_keep_distances(gls_rois *rois);
/* Distance from a region added after gls_rois_keep_distances(), see gls_roi_distance_measure(). */
double gls_rois_distance(const gls_rois *rois, size_t index, const float (*point)[3], size_t n, double *from_centre);
/* Adds a region, widened by mm. option: name of the option, for messages. *index: index of the region, from 0; a region
 * with the same text and width is added only once. */
gls_status gls_rois_add(gls_rois *rois, const char *option, const char *text, double mm, size_t *index);
/* Widens the area by mm and adds it as a region with this text. Modifies the area, which the caller must still finish.
 */
gls_status gls_rois_add_area(gls_rois *rois, gls_region_area *area, const char *name, double mm, size_t *index);
/* Adds the two largest blobs of an image (voxels that share faces, edges or corners), widened by mm. The first is the
 * blob farther left, back or down on the axis along which the blobs lie farthest apart. GLS_ERR_INPUT if there is only
 * one blob. */
gls_status gls_rois_add_ends(gls_rois *rois, const char *text, double mm, size_t index[2]);
/* Text of the first region whose box lies outside the box low .. high, world mm; NULL: none. Owned by `rois`. */
const char *gls_rois_find_far(const gls_rois *rois, const double low[3], const double high[3]);
/* Text of the first region whose image had values between 0 and 1, which count as inside; NULL: none. Owned by `rois`.
 */
const char *gls_rois_find_graded(const gls_rois *rois);
/* Box of a region, world mm. */
void gls_rois_box(const gls_rois *rois, size_t index, double low[3], double high[3]);
/* Whether a point, world mm, lies in a region. */
bool gls_rois_has(const gls_rois *rois, size_t index, const float point[3]);

/* A position at which a streamline enters or leaves regions of one layer (the regions of one grid, or a sphere): from
 * `at` on it lies in the regions of the set with index `set`, until the next event of the same layer. at: mm from the
 * start of the streamline; if only points are tested, the index of a point. */
typedef struct gls_roi_event {
    double at;
    uint32_t layer, set;
} gls_roi_event;

/* The regions that one streamline meets. Each thread needs its own list. All zero is an empty list. */
typedef struct gls_roi_hits {
    /* number of events of the streamline, and of events for which memory is allocated */
    size_t n, capacity;
    gls_roi_event *event; /* events, ordered by layer, then by `at` */
    double length;        /* end of the streamline, in the unit of `at` */
    uint8_t *met;         /* for each region: 1 if the streamline meets it */
    bool failed;          /* memory ran out */
} gls_roi_hits;

/* Finds the regions that a streamline of n >= 1 points meets, and fills in *hits. */
void gls_rois_find(const gls_rois *rois, gls_roi_hits *hits, const float (*point)[3], size_t n);
/* Frees the arrays. */
void gls_roi_hits_finish(gls_roi_hits *hits);
/* Position, in the unit of gls_roi_event.at, where the streamline first meets the region; INFINITY: nowhere. */
double gls_rois_first(const gls_rois *rois, const gls_roi_hits *hits, size_t index);
/* Position where the streamline last leaves the region, or its end if it ends inside; -INFINITY: it never meets the
 * region. */
double gls_rois_last(const gls_rois *rois, const gls_roi_hits *hits, size_t index);
/* Share of the streamline that lies in the region, 0 .. 1; for length 0: 1 if the streamline meets the region. */
double gls_rois_share(const gls_rois *rois, const gls_roi_hits *hits, size_t index);
/* Whether the streamline meets the regions in this order, from its start or, backwards, from its end. Of the listed
 * regions it may meet again only the one that it met last. Where regions overlap, only the one that is first in the
 * list counts. This is the rule of tckedit -include_ordered. Returns false, too, if memory runs out. */
bool gls_rois_ordered(const gls_rois *rois, const gls_roi_hits *hits, const size_t *index, size_t n, bool backwards);

#endif
