/* A filter of streamlines that moves points of the moving space to the fixed space, by the inverse of a transform. */
#ifndef GLS_TRANSFORM_MOVE_POINTS_H
#define GLS_TRANSFORM_MOVE_POINTS_H

#include <glslines/streamlines.h>

#include "transform/transform.h"

/* Numbers that the filter has counted. */
typedef struct gls_move_counts {
    uint64_t streamlines, written, split, dropped, points, outside;
} gls_move_counts;

/* Makes the filter, which owns next afterwards; transform and counts are borrowed until it ends. Points without a place
 * in the fixed space cut a streamline in pieces of two points or more, or, without `cut`, end it. Points of the column
 * of seeds move, too. */
gls_status gls_filter_move_create(const gls_transform *transform, bool cut, gls_move_counts *counts,
                                  const gls_sink *next, gls_sink *filter);

#endif
