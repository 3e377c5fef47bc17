/* How seeds and half-streamlines ended: counts of one batch, and their sums over a run. */
#ifndef GLS_TRACK_ENGINE_OUTCOMES_H
#define GLS_TRACK_ENGINE_OUTCOMES_H

#include <glslines/track.h>

/* --- Counts and lengths of a run in constant memory: every step is as long as any other, and so is every part of a
 * step, so histograms of their counts are exact. */

/* Streamlines by a number that each has. */
typedef struct gls_track_histogram {
    uint64_t *bin;
    size_t n_bins, n_used; /* in use: those from n_used on are 0 */
    double sum;
} gls_track_histogram;
/* After values were counted in their bins: their sum, and the largest. */
void gls_track_histogram_note(gls_track_histogram *histogram, uint64_t sum, size_t most);

typedef struct gls_track_stats {
    gls_track_result result;
    uint32_t each;                    /* parts of a step, or pieces of those */
    gls_track_histogram steps, parts; /* of kept streamlines: begun steps, and parts of them that were passed */
} gls_track_stats;
gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps, uint32_t parts);
/* Adds from to stats, and empties it. */
void gls_track_stats_move(gls_track_stats *stats, gls_track_stats *from);
/* Forgets the counts; times stay. */
void gls_track_stats_drop(gls_track_stats *stats);
/* Means, medians and extremes from the histograms. */
void gls_track_stats_complete(gls_track_stats *stats, double step_size);
void gls_track_stats_finish(gls_track_stats *stats);

/* --- What became of the streamlines of some seeds, one by one, in the order of seeds: counted when they are committed,
 * or where a number of streamlines is wanted, when it is known which of them are. */

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

typedef struct gls_outcomes {
    size_t n_seeds, n_outcomes;
    uint32_t *lines;      /* streamlines of each seed */
    gls_outcome *outcome; /* of all of them */
    size_t seed_capacity, outcome_capacity;
} gls_outcomes;
/* Room for so many seeds and streamlines; empties it. */
gls_status gls_outcomes_reserve(gls_outcomes *outcomes, size_t n_seeds, size_t n_outcomes);
gls_status gls_outcomes_copy(gls_outcomes *outcomes, const gls_outcomes *from);
void gls_outcomes_finish(gls_outcomes *outcomes);
/* Whether one that was read from a file can be counted into stats, and gls_outcomes_count() would return n. */
bool gls_outcomes_are_valid(const gls_outcomes *outcomes, uint64_t limit, uint64_t n, const gls_track_stats *stats);
/* Adds to stats, up to and with the streamline that is kept as the limit-th; returns how many were kept. */
uint64_t gls_outcomes_count(const gls_outcomes *outcomes, uint64_t limit, gls_track_stats *stats);

#endif
