#include "track/engine/stats.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps)
{
    *stats = (gls_track_stats){.n_bins = (size_t)max_steps + 1};
    stats->histogram = calloc(stats->n_bins, sizeof *stats->histogram);
    return stats->histogram ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the histogram of lengths");
}

void gls_track_stats_add(gls_track_stats *stats, uint32_t steps)
{
    stats->histogram[steps]++;
    if (steps >= stats->n_used) stats->n_used = (size_t)steps + 1;
    stats->sum_steps += steps;
    stats->result.streamlines++;
    stats->result.points += (uint64_t)steps + 1;
}

void gls_track_stats_drop(gls_track_stats *stats)
{
    const gls_track_result r = stats->result;
    memset(stats->histogram, 0, stats->n_used * sizeof *stats->histogram);
    stats->n_used = 0;
    stats->sum_steps = 0;
    stats->result = (gls_track_result){.seconds_initial = r.seconds_initial,
                                       .seconds_scan = r.seconds_scan,
                                       .seconds_track = r.seconds_track,
                                       .seconds_gather = r.seconds_gather,
                                       .seconds_readback = r.seconds_readback,
                                       .seconds_sink = r.seconds_sink};
}

void gls_track_stats_move(gls_track_stats *stats, gls_track_stats *from)
{
    gls_track_result *to = &stats->result;
    const gls_track_result *r = &from->result;
    for (size_t i = 0; i < from->n_used; i++) stats->histogram[i] += from->histogram[i];
    if (from->n_used > stats->n_used) stats->n_used = from->n_used;
    stats->sum_steps += from->sum_steps;
    to->seeds += r->seeds;
    to->seeds_without_direction += r->seeds_without_direction;
    to->directions += r->directions;
    to->streamlines += r->streamlines;
    to->points += r->points;
    for (int v = 0; v < GLS_VERDICT_COUNT; v++) to->verdicts[v] += r->verdicts[v];
    to->truncated += r->truncated;
    for (int e = 0; e < GLS_END_COUNT; e++) to->ends[e] += r->ends[e];
    to->seconds_initial += r->seconds_initial;
    to->seconds_scan += r->seconds_scan;
    to->seconds_track += r->seconds_track;
    to->seconds_gather += r->seconds_gather;
    to->seconds_readback += r->seconds_readback;
    to->seconds_sink += r->seconds_sink;
    gls_track_stats_drop(from);
    from->result = (gls_track_result){0};
}

/* Steps of the streamline of rank i. */
static size_t ranked(const gls_track_stats *stats, uint64_t i)
{
    size_t bin = 0;
    for (uint64_t below = stats->histogram[0]; below <= i && bin + 1 < stats->n_bins; below += stats->histogram[bin])
        bin++;
    return bin;
}

void gls_track_stats_complete(gls_track_stats *stats, double step_size)
{
    gls_track_result *r = &stats->result;
    uint64_t n = r->streamlines;
    if (n == 0) return;
    double median = 0.5 * (double)(ranked(stats, (n - 1) / 2) + ranked(stats, n / 2)),
           mean = stats->sum_steps / (double)n;
    size_t longest = ranked(stats, n - 1), shortest = ranked(stats, 0);
    r->mean_length = mean * step_size;
    r->median_length = median * step_size;
    r->max_length = (double)longest * step_size;
    r->min_length = (double)shortest * step_size;
    r->mean_points = mean + 1;
    r->median_points = median + 1;
    r->max_points = longest + 1;
}

void gls_track_stats_finish(gls_track_stats *stats)
{
    free(stats->histogram);
    stats->histogram = NULL;
}
