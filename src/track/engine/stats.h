/* Counts and lengths of a run in constant memory: every step is as long as any other, so a histogram of step counts is
 * exact. */
#ifndef GLS_TRACK_ENGINE_STATS_H
#define GLS_TRACK_ENGINE_STATS_H

#include <glslines/track.h>

typedef struct gls_track_stats {
    gls_track_result result;
    uint64_t *histogram;   /* kept streamlines by number of steps, 0 .. 2 max_steps */
    size_t n_bins, n_used; /* in use: those from n_used on are 0 */
    double sum_steps;
} gls_track_stats;
gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps);
void gls_track_stats_add(gls_track_stats *stats, uint32_t steps);
/* Adds from to stats, and empties it. */
void gls_track_stats_move(gls_track_stats *stats, gls_track_stats *from);
/* Forgets the counts; times stay. */
void gls_track_stats_drop(gls_track_stats *stats);
/* Means, medians and extremes from the histogram. */
void gls_track_stats_complete(gls_track_stats *stats, double step_size);
void gls_track_stats_finish(gls_track_stats *stats);

#endif
