/* Outcomes: what became of each seed and streamline, and the counts and lengths of a whole run. */
#ifndef GLS_TRACK_ENGINE_OUTCOMES_H
#define GLS_TRACK_ENGINE_OUTCOMES_H

#include <glslines/track.h>

/* --- Counts and lengths of a run, in constant memory. All parts of steps have the same length, so the histogram of
 * their numbers gives exact lengths. */

/* Histogram: number of streamlines for each whole number from 0 to n_bins - 1. sum: sum of these numbers over
 * streamlines. */
typedef struct gls_track_histogram {
    uint64_t *bin;
    size_t n_bins, n_used; /* bins from n_used on are 0 */
    double sum;
} gls_track_histogram;

/* Counts of a run or of a part of one; they add up in any order. Lengths follow from the histograms. */
typedef struct gls_track_stats {
    gls_track_result result;
    uint32_t each;                    /* number of parts of a step, times gls_refine_pieces() */
    gls_track_histogram steps, parts; /* histograms over kept streamlines: points - 1, and parts, of gls_outcome */
} gls_track_stats;
/* Sets all counts to 0 and allocates the histograms. max_steps: largest number of steps of a streamline. parts: see
 * gls_track_stats.each. GLS_ERR_MEMORY: out of memory. */
gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps, uint32_t parts);
/* Adds the counts and times of `from` to `stats`, and sets those of `from` to 0. */
void gls_track_stats_move(gls_track_stats *stats, gls_track_stats *from);
/* Sets the counts to 0; keeps the times. */
void gls_track_stats_drop(gls_track_stats *stats);
/* Frees the histograms. */
void gls_track_stats_finish(gls_track_stats *stats);

/* --- The outcomes of the streamlines of some seeds, in the order of seeds. Usually they are counted when the batch
 * commits; with a wanted number of streamlines or a journal the writer thread counts them. */

/* The outcome of tracking one streamline, kept or rejected. */
typedef struct gls_outcome {
    uint32_t backward, forward; /* points of each half-streamline before any are thinned out, without the seed */
    uint32_t parts;             /* parts of steps of both half-streamlines; after cropping, pieces of parts */
    uint32_t points;            /* points of the streamline, without those that were thinned out */
    uint32_t met;               /* bits of the regions that the streamline met, as in gls_regions_at() */
    uint16_t retries;           /* how often the streamline was tracked again */
    uint16_t filter_runs;       /* runs of the particle filter in both half-streamlines */
    uint16_t filter_lost;       /* runs of the particle filter after which all weights were 0 */
    uint8_t verdict;            /* a gls_verdict */
    uint8_t end[2];             /* gls_end of the backward and of the forward half-streamline */
    uint8_t filter_ends;        /* half-streamlines that came to a bad end after their last run of the filter */
    bool truncated;
    bool met_counts; /* true: the regions in `met` are counted, because the verdict is neither single_point nor
                        too_short */
} gls_outcome;

/* Stands in place of a number of streamlines if the guide rejected the seed. */
#define GLS_SEED_REJECTED UINT32_MAX

/* Outcomes of successive seeds and of all their streamlines, seed by seed. */
typedef struct gls_outcomes {
    size_t n_seeds, n_outcomes;
    uint32_t *lines;      /* number of streamlines of each seed, or GLS_SEED_REJECTED */
    gls_outcome *outcome; /* one for each streamline */
    size_t seed_capacity, outcome_capacity;
} gls_outcomes;
/* Allocates memory for so many seeds and streamlines, and empties the outcomes. GLS_ERR_MEMORY: out of memory. */
gls_status gls_outcomes_reserve(gls_outcomes *outcomes, size_t n_seeds, size_t n_outcomes);
/* Frees the arrays and empties the outcomes. */
void gls_outcomes_finish(gls_outcomes *outcomes);
/* Whether outcomes that were read from a file can be counted into stats: verdicts and ends are known values, lengths
 * fit the histograms, and gls_outcomes_count() would return n. */
bool gls_outcomes_are_valid(const gls_outcomes *outcomes, uint64_t limit, uint64_t n, const gls_track_stats *stats);
/* Adds outcomes to stats until `limit` kept streamlines are counted. Returns the number of kept streamlines that it
 * counted. */
uint64_t gls_outcomes_count(const gls_outcomes *outcomes, uint64_t limit, gls_track_stats *stats);

#endif
