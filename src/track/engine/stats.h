/* Counts and lengths of a run in constant memory: every step is as long as any other, and so is every part of a step,
 * so histograms of their counts are exact. */
#ifndef GLS_TRACK_ENGINE_STATS_H
#define GLS_TRACK_ENGINE_STATS_H

#include <glslines/track.h>

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

#endif
