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

static void count(const gls_outcome *o, gls_track_stats *stats)
{
    gls_track_result *r = &stats->result;
    r->directions++;
    r->retries += o->retries;
    for (int h = 0; h < 2; h++) r->ends[o->end[h]]++;
    r->verdicts[o->verdict]++;
    for (uint32_t met = o->met_counts ? o->met : 0; met; met &= met - 1) r->met[__builtin_ctz(met)]++;
    if (o->verdict != GLS_VERDICT_KEPT) return;
    r->truncated += o->truncated;
    gls_track_stats_add(stats, o->points - 1, o->parts);
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

uint64_t gls_tally_count(const gls_tally *t, uint64_t limit, gls_track_stats *stats)
{
    gls_track_result *r = &stats->result;
    const gls_outcome *o = t->outcome;
    uint64_t kept = 0;
    for (size_t seed = 0; seed < t->n_seeds; seed++) {
        uint32_t lines = t->lines[seed];
        r->seeds++;
        r->seeds_rejected += lines == GLS_SEED_REJECTED;
        r->seeds_without_direction += lines == 0;
        for (uint32_t k = 0; lines != GLS_SEED_REJECTED && k < lines; k++, o++) {
            count(o, stats);
            kept += o->verdict == GLS_VERDICT_KEPT;
            if (kept == limit) return kept;
        }
    }
    return kept;
}
