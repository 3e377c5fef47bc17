/* What became of the streamlines of some seeds, one by one, in the order of seeds: counted when they are committed, or
 * where a number of streamlines is wanted, when it is known which of them are. */
#ifndef GLS_TRACK_ENGINE_TALLY_H
#define GLS_TRACK_ENGINE_TALLY_H

#include "track/engine/stats.h"

typedef struct gls_outcome {
    uint32_t backward, forward; /* points that are kept of each half, without the seed */
    uint32_t parts;             /* of steps, of both; once ends are cropped, pieces of parts */
    uint32_t points;            /* that are stored, the seed included */
    uint32_t met;               /* bits of regions */
    uint16_t retries;           /* how often it was tracked again */
    uint8_t verdict;            /* gls_verdict */
    uint8_t end[2];             /* gls_end of the backward and the forward half */
    bool truncated;
    bool met_counts; /* it was not rejected for what has nothing to do with regions */
} gls_outcome;

/* In place of a number of streamlines: the seed was rejected. */
#define GLS_SEED_REJECTED UINT32_MAX

typedef struct gls_tally {
    size_t n_seeds, n_outcomes;
    uint32_t *lines;      /* streamlines of each seed */
    gls_outcome *outcome; /* of all of them */
    size_t seed_capacity, outcome_capacity;
} gls_tally;
/* Room for so many seeds and streamlines; empties it. */
gls_status gls_tally_reserve(gls_tally *tally, size_t n_seeds, size_t n_outcomes);
gls_status gls_tally_copy(gls_tally *tally, const gls_tally *from);
void gls_tally_finish(gls_tally *tally);
/* Whether one that was read from a file can be counted into stats, and gls_tally_count() would return n. */
bool gls_tally_is_valid(const gls_tally *tally, uint64_t limit, uint64_t n, const gls_track_stats *stats);
/* Adds to stats, up to and with the streamline that is kept as the limit-th; returns how many were kept. */
uint64_t gls_tally_count(const gls_tally *tally, uint64_t limit, gls_track_stats *stats);

#endif
