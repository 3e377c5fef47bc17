/* Counts and lengths of a run in constant memory: every step is as long as any other, so a histogram of step counts is exact. */
#include "track/internal.h"

#include <stdlib.h>
#include <time.h>

#include "util/status.h"

double gls_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps)
{
    *stats = (gls_track_stats){.n_bins = (size_t)max_steps + 1};
    stats->histogram = calloc(stats->n_bins, sizeof *stats->histogram);
    return stats->histogram ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the histogram of lengths");
}

void gls_track_stats_add(gls_track_stats *stats, uint32_t steps)
{
    stats->histogram[steps]++;
    stats->sum_steps += steps;
    stats->result.streamlines++;
    stats->result.points += (uint64_t)steps + 1;
}

/* Steps of the streamline of rank i. */
static size_t ranked(const gls_track_stats *stats, uint64_t i)
{
    size_t bin = 0;
    for (uint64_t below = stats->histogram[0]; below <= i && bin + 1 < stats->n_bins; below += stats->histogram[bin]) bin++;
    return bin;
}

void gls_track_stats_complete(gls_track_stats *stats, double step_size)
{
    gls_track_result *r = &stats->result;
    uint64_t n = r->streamlines;
    if (n == 0) return;
    double median = 0.5 * (double)(ranked(stats, (n - 1) / 2) + ranked(stats, n / 2)), mean = stats->sum_steps / (double)n;
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
