/* The library reads here which bundles a recognition has found for each streamline. */
#ifndef GLS_GEOMETRY_RECOGNITION_H
#define GLS_GEOMETRY_RECOGNITION_H

#include "geometry/recognition_parts.h"

/* Whether the models fit better mirrored. Call it after the recognition is complete. */
gls_mirror gls_recognition_mirror(const gls_recognition *recognition);
/* Whether gls_recognition_complete() was called. */
bool gls_recognition_is_complete(const gls_recognition *recognition);
/* Returns the bundles of streamline i, the nearest first. *n: their number. Call it after the recognition is complete.
 */
const gls_hit *gls_recognition_hits(const gls_recognition *recognition, uint64_t i, size_t *n);

/* The columns of a streamline. */
typedef struct gls_recognition_row {
    uint16_t bundle, votes;
    float distance, margin;
} gls_recognition_row;
/* Returns the columns of streamline i. Call it after the recognition is complete. */
gls_recognition_row gls_recognition_row_get(const gls_recognition *recognition, uint64_t i);

#endif
