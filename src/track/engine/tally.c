#include "track/engine/tally.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

gls_status gls_tally_reserve(gls_tally *t, size_t n_seeds, size_t n_outcomes)
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

gls_status gls_tally_copy(gls_tally *t, const gls_tally *from)
{
    gls_status status = gls_tally_reserve(t, from->n_seeds, from->n_outcomes);
    if (status != GLS_OK) return status;
    if (from->n_seeds) memcpy(t->lines, from->lines, from->n_seeds * sizeof *t->lines);
    if (from->n_outcomes) memcpy(t->outcome, from->outcome, from->n_outcomes * sizeof *t->outcome);
    t->n_seeds = from->n_seeds;
    t->n_outcomes = from->n_outcomes;
    return GLS_OK;
}

void gls_tally_finish(gls_tally *t)
{
    free(t->lines);
    free(t->outcome);
    *t = (gls_tally){0};
}

bool gls_tally_is_valid(const gls_tally *t, uint64_t limit, uint64_t n, const gls_track_stats *stats)
{
    uint64_t lines = 0, kept = 0;
    for (size_t seed = 0; seed < t->n_seeds; seed++) lines += t->lines[seed] == GLS_SEED_REJECTED ? 0 : t->lines[seed];
    if (lines != t->n_outcomes) return false;
    for (size_t i = 0; i < t->n_outcomes; i++) {
        const gls_outcome *o = &t->outcome[i];
        if (o->verdict >= GLS_VERDICT_COUNT || o->end[0] >= GLS_END_COUNT || o->end[1] >= GLS_END_COUNT) return false;
        if (o->verdict != GLS_VERDICT_KEPT) continue;
        kept++;
        if (o->points == 0 || o->points - 1 >= stats->steps.n_bins || o->parts >= stats->parts.n_bins) return false;
    }
    return (kept < limit ? kept : limit) == n;
}

/* Sums of a pass over the outcomes, which stay in registers: the tracker waits while they are counted. */
typedef struct sums {
    uint64_t lines, kept, retries, truncated, steps, parts;
    uint32_t most_steps, most_parts;
    uint64_t verdict[GLS_VERDICT_COUNT], end[2][GLS_END_COUNT];
} sums;

static inline void count(const gls_outcome *o, gls_track_stats *stats, sums *s)
{
    s->lines++;
    s->retries += o->retries;
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
    if (steps > s->most_steps) s->most_steps = steps;
    if (o->parts > s->most_parts) s->most_parts = o->parts;
}

static void add_sums(gls_track_stats *stats, const sums *s)
{
    gls_track_result *r = &stats->result;
    r->directions += s->lines;
    r->retries += s->retries;
    r->truncated += s->truncated;
    for (int e = 0; e < GLS_END_COUNT; e++) r->ends[e] += s->end[0][e] + s->end[1][e];
    for (int v = 0; v < GLS_VERDICT_COUNT; v++) r->verdicts[v] += s->verdict[v];
    if (s->kept == 0) return;
    r->streamlines += s->kept;
    r->points += s->steps + s->kept;
    gls_track_histogram_note(&stats->steps, s->steps, s->most_steps);
    gls_track_histogram_note(&stats->parts, s->parts, s->most_parts);
}

uint64_t gls_tally_count(const gls_tally *t, uint64_t limit, gls_track_stats *stats)
{
    const gls_outcome *o = t->outcome;
    uint64_t rejected = 0, without = 0;
    size_t seed = 0;
    sums s = {0};
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
