/* The order in which streamlines are tracked, and the amount of work of one dispatch. Neither changes the result. */
#ifndef GLS_TRACK_ENGINE_SCHEDULE_H
#define GLS_TRACK_ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "track/shader/layout.h"

/* --- Order of the streamlines of a round. */

/* A streamline of a round and the key by which the round is sorted. */
typedef struct gls_order_entry {
    uint32_t key, line;
} gls_order_entry;

/* --- Amount of work of a dispatch, from the times of earlier dispatches, so that it takes well below a second. Drivers
 * reset a device that does not answer for a few seconds, and a run can only be cancelled between dispatches. */

/* Pace of one kind of dispatch. All zero: no times are known yet. */
typedef struct gls_pace {
    uint32_t limit;          /* largest number of items of the next dispatch; 0: unknown */
    uint32_t first;          /* items of the first dispatch; 0: gls_pace_rule.first */
    uint32_t least;          /* smallest limit: fewer items take as long; 0: gls_pace_rule.least */
    double wanted;           /* wanted duration of a dispatch, s; 0: gls_pace_rule.wanted */
    uint32_t most;           /* items of the largest dispatch so far */
    double seconds_per_item; /* time for each item in the largest dispatch so far, s; smaller ones say little */
    double longest;          /* duration of the longest dispatch so far, s */
} gls_pace;

#endif
