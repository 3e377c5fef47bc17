#include "track/engine/stats.h"

#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"

static gls_status make(gls_track_histogram *h, uint64_t most)
{
    *h = (gls_track_histogram){.n_bins = (size_t)most + 1};
    h->bin = calloc(h->n_bins, sizeof *h->bin);
    return h->bin ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the histogram of lengths");
}

void gls_track_histogram_note(gls_track_histogram *h, uint64_t sum, size_t most)
{
    if (most >= h->n_used) h->n_used = most + 1;
    h->sum += (double)sum;
}

static void empty(gls_track_histogram *h)
{
    memset(h->bin, 0, h->n_used * sizeof *h->bin);
    h->n_used = 0;
    h->sum = 0;
}

static void join(gls_track_histogram *h, const gls_track_histogram *from)
{
    for (size_t i = 0; i < from->n_used; i++) h->bin[i] += from->bin[i];
    if (from->n_used > h->n_used) h->n_used = from->n_used;
    h->sum += from->sum;
}

/* The value of the streamline of rank i. */
static size_t ranked(const gls_track_histogram *h, uint64_t i)
{
    return gls_histogram_bin(h->bin, h->n_bins, i);
}

static double median(const gls_track_histogram *h, uint64_t n)
{
    return gls_histogram_median(h->bin, h->n_bins, n);
}

gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps, uint32_t parts)
{
    *stats = (gls_track_stats){.each = parts};
    gls_status status = make(&stats->steps, max_steps);
    return status == GLS_OK ? make(&stats->parts, (uint64_t)max_steps * parts) : status;
}

void gls_track_stats_drop(gls_track_stats *stats)
{
    const gls_track_result r = stats->result;
    empty(&stats->steps);
    empty(&stats->parts);
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
    join(&stats->steps, &from->steps);
    join(&stats->parts, &from->parts);
    to->seeds += r->seeds;
    to->seeds_without_direction += r->seeds_without_direction;
    to->seeds_rejected += r->seeds_rejected;
    to->directions += r->directions;
    to->retries += r->retries;
    to->streamlines += r->streamlines;
    to->points += r->points;
    for (int v = 0; v < GLS_VERDICT_COUNT; v++) to->verdicts[v] += r->verdicts[v];
    for (int bit = 0; bit < GLS_REGION_MAX_BITS; bit++) to->met[bit] += r->met[bit];
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

/* Streamlines whose value is above most. */
static uint64_t count_above(const gls_track_histogram *h, double most)
{
    uint64_t n = 0;
    for (size_t bin = most < 0 ? 0 : (size_t)most + 1; bin < h->n_used; bin++) n += h->bin[bin];
    return n;
}

void gls_track_stats_complete(gls_track_stats *stats, double step_size)
{
    gls_track_result *r = &stats->result;
    uint64_t n = r->streamlines;
    if (n == 0) return;
    double part = step_size / stats->each;
    r->mean_length = stats->parts.sum / (double)n * part;
    r->median_length = median(&stats->parts, n) * part;
    r->max_length = (double)ranked(&stats->parts, n - 1) * part;
    r->min_length = (double)ranked(&stats->parts, 0) * part;
    r->long_streamlines = count_above(&stats->parts, GLS_LONG_STREAMLINE / part * (1 + 1e-9));
    r->mean_points = stats->steps.sum / (double)n + 1;
    r->median_points = median(&stats->steps, n) + 1;
    r->max_points = ranked(&stats->steps, n - 1) + 1;
}

void gls_track_stats_finish(gls_track_stats *stats)
{
    free(stats->steps.bin);
    free(stats->parts.bin);
    stats->steps.bin = stats->parts.bin = NULL;
}
