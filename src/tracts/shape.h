/* Lengths and shape of a bundle, in one pass over its streamlines, or two if there are too many for exact quartiles. */
#ifndef GLS_TRACTS_SHAPE_H
#define GLS_TRACTS_SHAPE_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#include "tracts/shape_parts.h"

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

#endif
