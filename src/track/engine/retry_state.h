/* What is kept of streamlines that may be tracked more than once, until all of a round are decided. */
#ifndef GLS_TRACK_ENGINE_RETRY_STATE_H
#define GLS_TRACK_ENGINE_RETRY_STATE_H

#include "track/engine/tally.h"
#include "track/shader/layout.h"

typedef struct gls_retry {
    gls_line_record line;
    gls_outcome outcome; /* of the last time */
    uint64_t first;      /* of its points in found */
} gls_retry;

typedef struct gls_retries {
    gls_retry *retry;
    uint32_t *pending; /* those that are not decided */
    uint32_t n, n_pending, capacity;
    uint32_t limit;    /* of a pass, after one in which none came to its end */
    float (*found)[3]; /* points of those that are kept, in the order in which they were found */
    uint64_t n_found, found_capacity;
} gls_retries;
void gls_retries_finish(gls_retries *retries);

#endif
