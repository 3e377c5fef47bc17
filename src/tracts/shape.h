/* Lengths and shape of a bundle, in one pass over its streamlines, or two if there are too many for exact quartiles. */
#ifndef GLS_TRACTS_SHAPE_H
#define GLS_TRACTS_SHAPE_H

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
        end_irregularity[2]; /* of the start region and the end region: area, mm2; radius, mm; pi radius^2 / area */
    double mean_curvature;   /* 1 / mm, at points about 1 mm apart */
} gls_shape;
/* Number of values of gls_shape in tables. */
#define GLS_SHAPE_VALUES 14

typedef struct gls_bundle_stats gls_bundle_stats;

/* Creates statistics without streamlines. grid: grid on which the shape is computed; NULL: no shape. kept: number of
 * lengths to keep; with more streamlines than this, quartiles need a second pass, see gls_ranks; 0: no quartiles.
 * Memory: 48 bytes for each kept length, up to 8 MB, and 3 bits for each voxel. */
gls_status gls_bundle_stats_create(const gls_grid *grid, size_t kept, gls_bundle_stats **stats);
/* Frees `stats`, which may be NULL. */
void gls_bundle_stats_destroy(gls_bundle_stats *stats);
/* Adds a streamline of n >= 0 points. */
gls_status gls_bundle_stats_add(gls_bundle_stats *stats, const float (*point)[3], size_t n, double weight);
/* Ends a pass. *again: add the lengths of all streamlines with points once more by gls_bundle_stats_add_again(), then
 * call this again. */
gls_status gls_bundle_stats_end_pass(gls_bundle_stats *stats, bool *again);
/* For passes after the first: adds the length of a streamline, mm, as gls_line_length() gives it. */
gls_status gls_bundle_stats_add_again(gls_bundle_stats *stats, double length);
/* Statistics of all lengths. Call it after the last pass. */
gls_lengths gls_bundle_stats_lengths(const gls_bundle_stats *stats);
/* Shape of the bundle. Call it after the first pass; needs a grid. */
gls_shape gls_bundle_stats_shape(gls_bundle_stats *stats);
/* Lengths of all streamlines with points, ascending, *n of them; NULL if they were not kept. Owned by `stats`. */
const double *gls_bundle_stats_sorted(gls_bundle_stats *stats, size_t *n);

/* --- Exact order statistics of any number of values in bounded memory, for quartiles of the lengths of streamlines. Up
 * to a limit all values are kept. With more, a first pass counts the values in each of 131,072 ranges, which shows the
 * range of each wanted rank; a second pass keeps the values of these ranges, or divides a range again if it holds too
 * many. */

#define GLS_MAX_RANKS 6 /* largest number of ranks in a call */

typedef struct gls_ranks gls_ranks;

/* Creates ranks without values. limit: number of values to keep. Memory: 8 bytes times kept values times wanted ranks,
 * and 1 MB for each rank. GLS_ERR_MEMORY: out of memory. */
gls_status gls_ranks_create(size_t limit, gls_ranks **ranks);
/* Frees `ranks`, which may be NULL. */
void gls_ranks_destroy(gls_ranks *ranks);
/* Adds a value >= 0, not NaN. Every pass must add the same values, in any order. */
gls_status gls_ranks_add(gls_ranks *ranks, double value);
/* Ends a pass over n values. rank: wanted ranks, from 0 in ascending order, below n; the same in each call. *again:
 * another pass is needed. GLS_ERR_INPUT if other values came than in the first pass. */
gls_status gls_ranks_end_pass(gls_ranks *ranks, const uint64_t *rank, size_t n_ranks, bool *again);
/* The value of rank[k], once no further pass is needed. */
double gls_ranks_get(const gls_ranks *ranks, size_t k);
/* All values in ascending order if they were kept, *n of them; NULL if there were too many, or none. Owned by `ranks`.
 */
const double *gls_ranks_sorted(gls_ranks *ranks, size_t *n);

#endif
