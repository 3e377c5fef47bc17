/* Order statistics by successive histograms over the bits of doubles. */

#include <stdlib.h>
#include <string.h>

#include "tracts/ranks.h"
#include "tracts/shape_parts.h"
#include "util/maths.h"
#include "util/status.h"

/* Doubles >= 0 have the same order as their bits. The first pass divides the bit patterns between those of 2^-16 and
 * 2^16 into RANGES equal parts, so that the width of a part is at most 1/4096 of its values; the first and the last
 * part also take all values beyond. */
#define RANGES ((size_t)1 << 17)
#define LOWEST ((uint64_t)(1023 - 16) << 52)
#define FIRST_SHIFT 40

/* The values whose bits are in from .. until - 1. */
typedef struct range {
    /* bit patterns, in the order of the values */
    uint64_t from, until;
    uint64_t below, n; /* number of values below the range, and in it */
    int shift;         /* each part has 2^shift bit patterns */
    uint64_t *part;    /* number of values in each part; NULL: the values are kept */
    double *kept;
    /* number of values in `kept` */
    size_t n_kept;
    /* true: the value of the rank is known; `from` is its bit pattern */
    bool found;
} range;

struct gls_ranks {
    /* largest number of values to keep, in the first pass and then for each range */
    size_t limit;
    uint64_t n, seen; /* number of values in the first pass, and in the current pass so far */
    bool first_pass, sorted;
    /* allocated and used elements of `kept` */
    size_t capacity, n_kept;
    double *kept;   /* all values, up to the limit */
    uint64_t *part; /* histogram of the first pass, beyond the limit */
    size_t n_ranges;
    /* one range for each rank that is wanted */
    range range[GLS_MAX_RANKS];
};

/* Returns the error for all failed allocations of this file. */
static gls_status out_of_memory(void)
{
    return gls_fail(GLS_ERR_MEMORY, "out of memory for the lengths of streamlines");
}

gls_status gls_ranks_create(size_t limit, gls_ranks **ranks)
{
    gls_ranks *r = calloc(1, sizeof *r);
    if (!r) return out_of_memory();
    r->limit = limit;
    r->first_pass = true;
    *ranks = r;
    return GLS_OK;
}

void gls_ranks_destroy(gls_ranks *r)
{
    if (!r) return;
    for (size_t k = 0; k < GLS_MAX_RANKS; k++) {
        free(r->range[k].part);
        free(r->range[k].kept);
    }
    free(r->kept);
    free(r->part);
    free(r);
}

/* The bits of a value >= 0; they have the order of the values. */
static uint64_t bits_of(double value)
{
    uint64_t bits;
    if (!(value > 0)) value = 0; /* removes the sign of -0 */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Returns the value of a bit pattern. */
static double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Index of the part of the first pass in which a value lies. */
static size_t first_part(double value)
{
    const uint64_t bits = bits_of(value);
    const uint64_t part = bits > LOWEST ? (bits - LOWEST) >> FIRST_SHIFT : 0;
    return part < RANGES ? (size_t)part : RANGES - 1;
}

/* Adds a value in the first pass: keeps it, or beyond the limit counts it in its part. */
static gls_status add_first(gls_ranks *r, double value)
{
    if (!r->part && r->n_kept == r->capacity && r->capacity < r->limit) {
        size_t capacity = r->capacity ? 2 * r->capacity : 1024;
        if (capacity > r->limit) capacity = r->limit;
        double *kept = realloc(r->kept, capacity * sizeof *kept);
        if (!kept) return out_of_memory();
        r->kept = kept;
        r->capacity = capacity;
    }
    if (!r->part && r->n_kept < r->capacity) {
        r->kept[r->n_kept++] = value;
        r->sorted = false;
        return GLS_OK;
    }
    /* at the first value beyond the limit, count the kept values, too, and free them */
    if (!r->part) {
        r->part = calloc(RANGES, sizeof *r->part);
        if (!r->part) return out_of_memory();
        for (size_t i = 0; i < r->n_kept; i++) r->part[first_part(r->kept[i])]++;
        free(r->kept);
        r->kept = NULL;
        r->n_kept = 0;
    }
    r->part[first_part(value)]++;
    return GLS_OK;
}

gls_status gls_ranks_add(gls_ranks *r, double value)
{
    const uint64_t bits = bits_of(value);
    r->seen++;
    if (r->first_pass) return add_first(r, value);
    for (size_t k = 0; k < r->n_ranges; k++) {
        range *g = &r->range[k];
        if (g->found || bits < g->from || bits >= g->until) continue;
        if (g->part)
            g->part[(bits - g->from) >> g->shift]++;
        else if (g->n_kept < g->n)
            g->kept[g->n_kept++] = value;
        else
            g->n_kept = SIZE_MAX; /* more values than before: the input changed */
    }
    return GLS_OK;
}

/* Narrows a range to the part that holds the rank. part: number of values in each part. is_first: this is the first
 * pass, whose first and last part also count all values below and above, so that their outer bounds stay open.
 * GLS_ERR_INPUT: fewer values were counted than the rank needs. */
static gls_status narrow(range *g, const uint64_t *part, uint64_t rank, bool is_first)
{
    uint64_t below = g->below;
    size_t p = 0;
    while (p + 1 < RANGES && below + part[p] <= rank) below += part[p++];
    if (rank < below || rank - below >= part[p])
        return gls_fail(GLS_ERR_INPUT, "the streamlines differ from those of an earlier pass: did the file change?");
    const uint64_t from = g->from + ((uint64_t)p << g->shift), width = UINT64_C(1) << g->shift;
    if (!is_first || p > 0) g->from = from;
    if ((!is_first || p + 1 < RANGES) && width < g->until - from) g->until = from + width;
    g->below = below;
    g->n = part[p];
    return GLS_OK;
}

/* Prepares a range for the next pass. */
static gls_status prepare(range *g, size_t limit)
{
    /* one bit pattern left: the value is known */
    if (g->until - g->from == 1) {
        g->found = true;
        return GLS_OK;
    }
    /* few enough: the next pass keeps the values of the range */
    if (g->n <= limit) {
        free(g->part);
        g->part = NULL;
        g->kept = malloc((size_t)g->n * sizeof *g->kept);
        return g->kept ? GLS_OK : out_of_memory();
    }
    /* too many: the next pass divides the range into at most RANGES parts */
    g->shift = 0;
    while ((g->until - g->from - 1) >> g->shift >= RANGES) g->shift++;
    free(g->part);
    g->part = calloc(RANGES, sizeof *g->part);
    return g->part ? GLS_OK : out_of_memory();
}

/* Uses what a pass counted or kept: narrows the range of bit patterns in which the value of rank `rank` lies, or finds
 * the value. */
static gls_status look(gls_ranks *r, range *g, uint64_t rank)
{
    gls_status status = GLS_OK;
    if (g->found) return GLS_OK;
    if (r->first_pass) {
        *g = (range){.from = LOWEST, .until = UINT64_MAX, .shift = FIRST_SHIFT};
        status = narrow(g, r->part, rank, true);
        if (!status && g->from == LOWEST) g->from = 0;
    } else if (g->part) {
        status = narrow(g, g->part, rank, false);
    } else if (g->n_kept != g->n) {
        return gls_fail(GLS_ERR_INPUT, "the streamlines differ from those of an earlier pass: did the file change?");
    } else {
        gls_sort(g->kept, g->n_kept);
        g->from = bits_of(g->kept[rank - g->below]);
        g->found = true;
        return GLS_OK;
    }
    return status ? status : prepare(g, r->limit);
}

gls_status gls_ranks_end_pass(gls_ranks *r, const uint64_t *rank, size_t n_ranks, bool *again)
{
    gls_status status = GLS_OK;
    *again = false;
    GLS_REQUIRE(n_ranks <= GLS_MAX_RANKS && (r->first_pass || n_ranks == r->n_ranges));
    /* the first pass counts the values; each further pass must meet as many */
    if (r->first_pass) r->n = r->seen;
    if (r->seen != r->n)
        return gls_fail(GLS_ERR_INPUT, "the streamlines differ from those of an earlier pass: did the file change?");
    r->n_ranges = n_ranks;
    size_t n;
    const double *sorted = gls_ranks_sorted(r, &n);
    for (size_t k = 0; k < n_ranks && !status; k++) {
        GLS_REQUIRE(rank[k] < r->n);
        /* where all values were kept, the rank gives the value; else the histogram narrows the range */
        if (sorted)
            r->range[k] = (range){.from = bits_of(sorted[rank[k]]), .found = true};
        else
            status = look(r, &r->range[k], rank[k]);
        *again |= !r->range[k].found;
    }
    free(r->part);
    r->part = NULL;
    r->first_pass = false;
    r->seen = 0;
    return status;
}

double gls_ranks_get(const gls_ranks *r, size_t k)
{
    return value_of(r->range[k].from);
}

const double *gls_ranks_sorted(gls_ranks *r, size_t *n)
{
    *n = r->n_kept;
    if (r->part || !r->kept) return NULL;
    if (!r->sorted) gls_sort(r->kept, r->n_kept);
    r->sorted = true;
    return r->kept;
}
