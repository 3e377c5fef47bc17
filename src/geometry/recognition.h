/* What a recognition has found for single streamlines. */
#ifndef GLS_GEOMETRY_RECOGNITION_H
#define GLS_GEOMETRY_RECOGNITION_H

#include <glslines/recognition.h>

/* A streamline that is in a bundle. */
typedef struct gls_hit {
    uint32_t bundle, votes;
    double distance; /* mean over the models that vote for it, mm */
} gls_hit;

/* Whether gls_recognition_complete() was called. */
bool gls_recognition_is_complete(const gls_recognition *recognition);
/* Returns the bundles of streamline i, the nearest first. *n: their number. Call it after the recognition is complete.
 */
const gls_hit *gls_recognition_hits(const gls_recognition *recognition, uint64_t i, size_t *n);

#endif
