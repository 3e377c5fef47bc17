/* Lengths and shape of a bundle: one pass over its streamlines; of many of them another one for quartiles. */
#ifndef GLS_TRACTS_SHAPE_H
#define GLS_TRACTS_SHAPE_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

/* Lengths in mm; without streamlines all are 0. */
typedef struct gls_lengths {
    uint64_t n, points, empty;         /* empty: without points, which count nowhere else */
    double weight;                     /* sum of weights; n without */
    double mean, sd;                   /* weighted; sd as tckstats: divisor (n - 1) / n times the sum of weights */
    double min, q25, median, q75, max; /* without weights; quartiles as numpy's, see util/maths.h */
    double step;                       /* median of the steps, to 1 part in 4,000 */
} gls_lengths;

/* Of a bundle on a grid, after Yeh 2020; NaN where there is nothing. */
typedef struct gls_shape {
    double volume;   /* mm3 of the voxels through which lines pass */
    double span;     /* mean distance of the ends, mm */
    double curl;     /* mean length / span */
    double diameter; /* 2 sqrt(volume / (pi mean length)), mm */
    double elongation;
    double surface_area;                            /* of faces between the bundle's voxels and others, mm2 */
    double irregularity;                            /* surface / (pi diameter mean length) */
    double area[2], radius[2], end_irregularity[2]; /* start and end: mm2, mm */
    double mean_curvature;                          /* 1 / mm, at points 1 mm apart */
} gls_shape;
#define GLS_SHAPE_VALUES 14

typedef struct gls_bundle_stats gls_bundle_stats;

/* grid NULL: no shape. kept: how many lengths are kept; with more, a second pass is needed for quartiles, see
 * tracts/ranks.h; 0: no quartiles are wanted. Memory: 48 bytes for each that is kept, 4 MB, and 3 bits a voxel. */
gls_status gls_bundle_stats_create(const gls_grid *grid, size_t kept, gls_bundle_stats **stats);
void gls_bundle_stats_destroy(gls_bundle_stats *stats);
/* Adds n points, n >= 0. */
gls_status gls_bundle_stats_add(gls_bundle_stats *stats, const float (*point)[3], size_t n, double weight);
/* Ends a pass. *again: all streamlines with points have to come to gls_bundle_stats_add_again(), and then here. */
gls_status gls_bundle_stats_end_pass(gls_bundle_stats *stats, bool *again);
gls_status gls_bundle_stats_add_again(gls_bundle_stats *stats, double length);
gls_lengths gls_bundle_stats_lengths(const gls_bundle_stats *stats);
gls_shape gls_bundle_stats_shape(gls_bundle_stats *stats);
/* Lengths of all streamlines with points, in ascending order; NULL: they were not kept, or there are none. */
const double *gls_bundle_stats_sorted(gls_bundle_stats *stats, size_t *n);

#endif
