/* Outcomes of streamlines: counts them into the statistics of a run, computes lengths from histograms, and names ends
 * and verdicts. No function locks: the caller owns the outcomes and the statistics. */
#include "track/engine/outcomes.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

gls_status gls_outcomes_reserve(gls_outcomes *t, size_t n_seeds, size_t n_outcomes)
{
    t->n_seeds = t->n_outcomes = 0;
    if (n_seeds > t->seed_capacity) {
        free(t->lines);
        t->lines = malloc(n_seeds * sizeof *t->lines);
        t->seed_capacity = t->lines ? n_seeds : 0;
    }
    if (n_outcomes > t->outcome_capacity) {
        free(t->outcome);
        t->outcome = malloc(n_outcomes * sizeof *t->outcome);
        t->outcome_capacity = t->outcome ? n_outcomes : 0;
    }
    if (t->seed_capacity >= n_seeds && t->outcome_capacity >= n_outcomes) return GLS_OK;
    return gls_fail(GLS_ERR_MEMORY, "out of memory for counts of %zu streamlines", n_outcomes);
}

void gls_outcomes_finish(gls_outcomes *t)
{
    free(t->lines);
    free(t->outcome);
    *t = (gls_outcomes){0};
}

bool gls_outcomes_are_valid(const gls_outcomes *t, uint64_t limit, uint64_t n, const gls_track_stats *stats)
{
    uint64_t lines = 0, kept = 0;
    /* The numbers of lines of the seeds must add up to the number of outcomes. */
    for (size_t seed = 0; seed < t->n_seeds; seed++) lines += t->lines[seed] == GLS_SEED_REJECTED ? 0 : t->lines[seed];
    if (lines != t->n_outcomes) return false;
    for (size_t i = 0; i < t->n_outcomes; i++) {
        const gls_outcome *o = &t->outcome[i];
        if (o->verdict >= GLS_VERDICT_COUNT || o->end[0] >= GLS_END_COUNT || o->end[1] >= GLS_END_COUNT) return false;
        if (o->verdict != GLS_VERDICT_KEPT) continue;
        /* Points and parts of kept streamlines are indices of bins. */
        kept++;
        if (o->points == 0 || o->points - 1 >= stats->steps.n_bins || o->parts >= stats->parts.n_bins) return false;
    }
    return (kept < limit ? kept : limit) == n;
}

/* Sums of one pass over the outcomes. A local struct stays in registers; the tracker waits for this loop. */
typedef struct sums {
    uint64_t lines, kept, retries, truncated, steps, parts;
    gls_particle_counts filter;
    uint32_t max_steps, max_parts;
    uint64_t verdict[GLS_VERDICT_COUNT], end[2][GLS_END_COUNT];
} sums;

/* Counts a streamline with the outcome *o in *s and in the histograms of *stats. */
static inline void count(const gls_outcome *o, gls_track_stats *stats, sums *s)
{
    s->lines++;
    s->retries += o->retries;
    s->filter.streamlines += o->filter_runs > 0;
    s->filter.runs += o->filter_runs;
    s->filter.lost += o->filter_lost;
    s->filter.exhausted += o->filter_ends;
    for (int h = 0; h < 2; h++) s->end[h][o->end[h]]++;
    s->verdict[o->verdict]++;
    for (uint32_t met = o->met_counts ? o->met : 0; met; met &= met - 1) stats->result.met[__builtin_ctz(met)]++;
    if (o->verdict != GLS_VERDICT_KEPT) return;
    uint32_t steps = o->points - 1;
    s->kept++;
    s->truncated += o->truncated;
    stats->steps.bin[steps]++;
    stats->parts.bin[o->parts]++;
    s->steps += steps;
    s->parts += o->parts;
    if (steps > s->max_steps) s->max_steps = steps;
    if (o->parts > s->max_parts) s->max_parts = o->parts;
}

/* Call after values were counted in bins: adds `sum` to the sum of values; `most` is the largest value. */
static void track_histogram_note(gls_track_histogram *h, uint64_t sum, size_t most)
{
    if (most >= h->n_used) h->n_used = most + 1;
    h->sum += (double)sum;
}

/* Adds the counts of particle filtering. */
static void add_filter(gls_particle_counts *to, const gls_particle_counts *from)
{
    to->streamlines += from->streamlines;
    to->runs += from->runs;
    to->lost += from->lost;
    to->exhausted += from->exhausted;
}

/* Adds the sums of one pass over outcomes to the statistics. */
static void add_sums(gls_track_stats *stats, const sums *s)
{
    gls_track_result *r = &stats->result;
    r->directions += s->lines;
    r->retries += s->retries;
    add_filter(&r->filter, &s->filter);
    r->truncated += s->truncated;
    for (int e = 0; e < GLS_END_COUNT; e++) r->ends[e] += s->end[0][e] + s->end[1][e];
    for (int v = 0; v < GLS_VERDICT_COUNT; v++) r->verdicts[v] += s->verdict[v];
    if (s->kept == 0) return;
    r->streamlines += s->kept;
    r->points += s->steps + s->kept;
    track_histogram_note(&stats->steps, s->steps, s->max_steps);
    track_histogram_note(&stats->parts, s->parts, s->max_parts);
}

uint64_t gls_outcomes_count(const gls_outcomes *t, uint64_t limit, gls_track_stats *stats)
{
    const gls_outcome *o = t->outcome;
    uint64_t rejected = 0, without = 0;
    size_t seed = 0;
    sums s = {0};
    /* Walk over seeds and their streamlines, until the wanted number of kept streamlines is reached. The seed in which
     * that happens is counted, its further streamlines are not. */
    while (seed < t->n_seeds && s.kept < limit) {
        uint32_t lines = t->lines[seed++];
        rejected += lines == GLS_SEED_REJECTED;
        without += lines == 0;
        if (lines == GLS_SEED_REJECTED) continue;
        for (const gls_outcome *end = o + lines; o < end && s.kept < limit; o++) count(o, stats, &s);
    }
    add_sums(stats, &s);
    stats->result.seeds += seed;
    stats->result.seeds_rejected += rejected;
    stats->result.seeds_without_direction += without;
    return s.kept;
}

/* Makes an empty histogram for the values 0 .. most. GLS_ERR_MEMORY: out of memory. */
static gls_status make(gls_track_histogram *h, uint64_t most)
{
    *h = (gls_track_histogram){.n_bins = (size_t)most + 1};
    h->bin = calloc(h->n_bins, sizeof *h->bin);
    return h->bin ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the histogram of lengths");
}

/* Sets all bins and the sum to 0. */
static void empty(gls_track_histogram *h)
{
    memset(h->bin, 0, h->n_used * sizeof *h->bin);
    h->n_used = 0;
    h->sum = 0;
}

/* Adds the bins of `from`, which must not have more bins than h. */
static void join(gls_track_histogram *h, const gls_track_histogram *from)
{
    for (size_t i = 0; i < from->n_used; i++) h->bin[i] += from->bin[i];
    if (from->n_used > h->n_used) h->n_used = from->n_used;
    h->sum += from->sum;
}

gls_status gls_track_stats_init(gls_track_stats *stats, uint32_t max_steps, uint32_t parts)
{
    *stats = (gls_track_stats){.each = parts};
    gls_status status = make(&stats->steps, max_steps);
    return !status ? make(&stats->parts, (uint64_t)max_steps * parts) : status;
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

/* Times and counts are sums, so the parts of a run may be joined in any order. */
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
    add_filter(&to->filter, &r->filter);
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

void gls_track_stats_finish(gls_track_stats *stats)
{
    free(stats->steps.bin);
    free(stats->parts.bin);
    stats->steps.bin = stats->parts.bin = NULL;
}

/* --- Names of ends and verdicts, from the lists that the kernels share. */

const char *gls_end_name(gls_end end)
{
    static const char *const names[GLS_END_COUNT] = {
#define GLS_END_ROW(symbol, value, name, keeps) [value] = #name,
#include <glslines/ends.def>
#undef GLS_END_ROW
    };
    return (unsigned)end < GLS_END_COUNT ? names[end] : "unknown";
}

const char *gls_verdict_name(gls_verdict verdict)
{
    static const char *const names[GLS_VERDICT_COUNT] = {
#define GLS_VERDICT_ROW(symbol, value, name, ...) [value] = #name,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
    };
    return (unsigned)verdict < GLS_VERDICT_COUNT ? names[verdict] : "unknown";
}

const char *gls_verdict_words(gls_verdict verdict)
{
    static const char *const words[GLS_VERDICT_COUNT] = {
#define GLS_VERDICT_ROW(symbol, value, name, first, words) [value] = #words,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
    };
    return (unsigned)verdict < GLS_VERDICT_COUNT ? words[verdict] : "unknown";
}
