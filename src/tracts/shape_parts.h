/* Lengths and shape of a bundle, in one pass over its streamlines, or two if there are too many for exact quartiles. */
#ifndef GLS_TRACTS_SHAPE_PARTS_H
#define GLS_TRACTS_SHAPE_PARTS_H

#include <stdint.h>

#include <glslines/image.h>
#include <glslines/streamlines.h>

/* Lengths in mm. Without streamlines that have points, everything but `empty` is 0. */
typedef struct gls_lengths {
    uint64_t n, points, empty;         /* empty: streamlines without points, which nothing else counts */
    double weight;                     /* sum of weights; without weights n */
    double mean, sd;                   /* weighted; sd as tckstats: divisor (n - 1) / n times the sum of weights */
    double min, q25, median, q75, max; /* not weighted; quartiles as numpy's, see util/maths.h */
    double step;                       /* median step, to 1 part in 4,000 */
} gls_lengths;

/* Shape of a bundle on a grid (Yeh 2020). NaN where a value is undefined. */
typedef struct gls_shape {
    double volume;   /* volume of the voxels that streamlines pass, mm3 */
    double span;     /* mean distance between the ends, mm */
    double curl;     /* mean length / span */
    double diameter; /* 2 sqrt(volume / (pi mean length)), mm */
    /* mean length / diameter */
    double elongation;
    double surface_area; /* mm2: faces of voxels of the bundle towards other voxels or the edge of the grid */
    double irregularity; /* surface / (pi diameter mean length) */
    double area[2], radius[2],
        end_irregularity[2]; /* for the start region and the end region: area, mm2; radius, mm; pi radius^2 / area */
    double mean_curvature;   /* 1 / mm, at points about 1 mm apart */
} gls_shape;

/* Number of values of gls_shape in tables. */
#define GLS_SHAPE_VALUES 14

typedef struct gls_bundle_stats gls_bundle_stats;

/* --- Exact order statistics of any number of values in bounded memory, for quartiles of the lengths of streamlines. Up
 * to a limit all values are kept. With more, a first pass counts the values in each of 131,072 ranges, which shows the
 * range of each wanted rank; a second pass keeps the values of these ranges, or divides a range again if it holds too
 * many. */

#define GLS_MAX_RANKS 6 /* largest number of ranks in a call */

#endif
