/* Filters that keep some streamlines unchanged: by length, by number of points, by random choice, by a list, and by
 * validity. */
#include <glslines/filters.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/filter_parts.h"
#include "util/status.h"

#define LENGTH_SLACK 1e-4 /* tolerance of length limits, mm */

/* A filter that keeps or drops whole streamlines. Streamlines are judged in their order, on one thread, because most
 * rules depend on their position in the stream. */
typedef struct selection selection;
struct selection {
    /* collects streamlines for the next sink; owned */
    gls_builder builder;
    /* the caller's counters, or `own` */
    gls_filter_counts *counts, own;
    /* whether streamline i of the block stays */
    bool (*keeps)(selection *selection, const gls_streamlines *s, size_t i);
    double min, max; /* limits of the length, mm */
    /* numbers of points; then the rule of keeps_every(): the first `skip` are left out, then every one in `every`
     * stays, up to `number`; keeps_spread(): `number` of `total` */
    uint64_t min_points, max_points, skip, every, number, total;
    /* keeps_random(): streamlines whose key is at most `largest` stay */
    uint64_t seed, largest;
    /* keeps_by_set(): borrowed */
    gls_line_set *set;
    /* which streamlines stay: members, others or new ones */
    gls_line_set_keep keep;
    /* keeps_listed(): a value for each streamline, 0 means that it is dropped; borrowed */
    const float *listed;
    /* number of values in `listed` */
    uint64_t rows;
    bool finite; /* all points of the block are finite */
    /* allocated elements of `kept` */
    size_t capacity;
    /* decision for each streamline of the block */
    uint8_t *kept;
};

/* Keeps streamlines of min to max mm, with slack for rounding. */
static bool keeps_length(selection *f, const gls_streamlines *s, size_t i)
{
    double length = gls_builder_length(s, i);
    return length >= f->min - LENGTH_SLACK && length <= f->max + LENGTH_SLACK;
}

/* Keeps streamlines of min_points to max_points points. */
static bool keeps_vertices(selection *f, const gls_streamlines *s, size_t i)
{
    uint64_t n = s->offset[i + 1] - s->offset[i];
    return n >= f->min_points && n <= f->max_points;
}

/* Keeps each `every`-th streamline after the first `skip`, at most `number`. */
static bool keeps_every(selection *f, const gls_streamlines *s, size_t i)
{
    (void)s;
    (void)i;
    uint64_t at = f->counts->taken - 1; /* position of this streamline in the stream */
    return at >= f->skip && (at - f->skip) % f->every == 0 && f->counts->kept < f->number;
}

/* Keeps `number` streamlines spread evenly over `total`: the share that is due grows by number / total with each, and
 * one stays wherever it passes a whole number. */
static bool keeps_spread(selection *f, const gls_streamlines *s, size_t i)
{
    (void)s;
    (void)i;
    uint64_t at = f->counts->taken - 1;
    return f->number >= f->total || at == 0 || at * f->number / f->total != (at - 1) * f->number / f->total;
}

/* Keeps streamlines that have points, all of them finite. */
static bool keeps_valid(selection *f, const gls_streamlines *s, size_t i)
{
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1] && !f->finite; p++)
        for (int r = 0; r < 3; r++)
            if (!isfinite(s->point[p][r])) return false;
    return s->offset[i + 1] > s->offset[i];
}

/* The n smallest keys of all streamlines are a random sample; gls_random_largest() finds the largest of them. */
static bool keeps_random(selection *f, const gls_streamlines *s, size_t i)
{
    (void)s;
    (void)i;
    return gls_random_key(f->seed, f->counts->taken - 1) <= f->largest;
}

/* Keeps members of the set, others, or those that are new, which join the set. */
static bool keeps_by_set(selection *f, const gls_streamlines *s, size_t i)
{
    bool known = gls_line_set_has(f->set, s, i, f->keep == GLS_KEEP_NEW);
    return known == (f->keep == GLS_KEEP_MEMBERS);
}

/* Keeps streamlines whose value in the list is not 0; those beyond the list are dropped. */
static bool keeps_listed(selection *f, const gls_streamlines *s, size_t i)
{
    (void)s;
    (void)i;
    uint64_t at = f->counts->taken - 1;
    return at < f->rows && f->listed[at] != 0;
}

/* Whether all coordinates of the block are finite: the largest exponent says so in one vectorised loop. */
static bool all_finite(const gls_streamlines *s)
{
    const uint32_t exponent = 0x7f800000;
    uint32_t largest = 0, bits;
    const float *x = s->point[0];
    for (uint64_t k = 0; k < 3 * s->offset[s->n]; k++) {
        memcpy(&bits, &x[k], sizeof bits);
        bits &= exponent;
        largest = bits > largest ? bits : largest;
    }
    return largest < exponent;
}

/* Decides for each streamline of the block whether it stays; *n_kept: how many do. */
static gls_status choose(selection *f, const gls_streamlines *s, size_t *n_kept)
{
    if (s->n > f->capacity) {
        uint8_t *kept = realloc(f->kept, s->n);
        if (!kept) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
        f->kept = kept;
        f->capacity = s->n;
    }
    *n_kept = 0;
    /* only keeps_valid() asks for the test of the whole block, which is faster than one a streamline */
    f->finite = f->keeps == keeps_valid && all_finite(s);
    for (size_t i = 0; i < s->n; i++) {
        f->counts->taken++;
        f->kept[i] = f->keeps(f, s, i);
        f->counts->kept += f->kept[i];
        *n_kept += f->kept[i];
    }
    return f->set ? gls_line_set_status(f->set) : GLS_OK;
}

/* Passes a block on as it is if all stay, else copies those that do. */
static gls_status append(void *user, const gls_streamlines *s)
{
    selection *f = user;
    size_t n_kept = 0;
    gls_status status = choose(f, s, &n_kept);
    if (status || n_kept == 0) return status;
    if (n_kept == s->n) return gls_sink_append(&f->builder.next, s);
    status = gls_builder_begin(&f->builder, s);
    for (size_t i = 0; i < s->n && !status; i++) {
        uint64_t to, n = s->offset[i + 1] - s->offset[i];
        if (!f->kept[i]) continue;
        status = gls_builder_add(&f->builder, i, n, &to);
        if (!status) gls_builder_copy(&f->builder, to, s->offset[i], n);
    }
    return !status ? gls_builder_flush(&f->builder) : status;
}

/* Function `abort` of the filter, and its clean-up. */
static void discard(void *user)
{
    selection *f = user;
    gls_sink_abort(&f->builder.next);
    gls_builder_finish(&f->builder);
    free(f->kept);
    free(f);
}

/* Function `finish` of the filter. */
static gls_status finish(void *user)
{
    selection *f = user;
    gls_status status = gls_sink_finish(&f->builder.next);
    discard(f);
    return status;
}

/* Creates a filter with the values of `like`. counts: the caller's, or NULL, where nobody reads them. */
static gls_status create(const selection *like, gls_filter_counts *counts, const gls_sink *next, gls_sink *filter)
{
    selection *f = malloc(sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    *f = *like;
    f->counts = counts ? counts : &f->own;
    *f->counts = (gls_filter_counts){0};
    gls_builder_init(&f->builder, next);
    *filter = (gls_sink){append, finish, discard, f};
    return GLS_OK;
}

gls_status gls_filter_length_create(double min, double max, gls_filter_counts *counts, const gls_sink *next,
                                    gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(min >= 0 && max >= min);
    return create(&(selection){.keeps = keeps_length, .min = min, .max = max}, counts, next, filter);
}

gls_status gls_filter_vertices_create(uint64_t min, uint64_t max, gls_filter_counts *counts, const gls_sink *next,
                                      gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(max >= min);
    return create(&(selection){.keeps = keeps_vertices, .min_points = min, .max_points = max}, counts, next, filter);
}

gls_status gls_filter_every_create(uint64_t skip, uint64_t every, uint64_t number, gls_filter_counts *counts,
                                   const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(every >= 1);
    return create(&(selection){.keeps = keeps_every, .skip = skip, .every = every, .number = number}, counts, next,
                  filter);
}

gls_status gls_filter_spread_create(uint64_t number, uint64_t total, gls_filter_counts *counts, const gls_sink *next,
                                    gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(number >= 1 && number <= UINT32_MAX && total <= UINT32_MAX);
    return create(&(selection){.keeps = keeps_spread, .number = number, .total = total}, counts, next, filter);
}

gls_status gls_filter_valid_create(gls_filter_counts *counts, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    return create(&(selection){.keeps = keeps_valid}, counts, next, filter);
}

gls_status gls_filter_random_create(uint64_t seed, uint64_t largest, gls_filter_counts *counts, const gls_sink *next,
                                    gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    return create(&(selection){.keeps = keeps_random, .seed = seed, .largest = largest}, counts, next, filter);
}

gls_status gls_filter_set_create(gls_line_set *set, gls_line_set_keep keep, gls_filter_counts *counts,
                                 const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(set && (unsigned)keep <= GLS_KEEP_NEW && next && next->append && filter);
    return create(&(selection){.keeps = keeps_by_set, .set = set, .keep = keep}, counts, next, filter);
}

gls_status gls_filter_listed_create(const float *keep, uint64_t rows, gls_filter_counts *counts, const gls_sink *next,
                                    gls_sink *filter)
{
    GLS_REQUIRE((keep || rows == 0) && next && next->append && filter);
    return create(&(selection){.keeps = keeps_listed, .listed = keep, .rows = rows}, counts, next, filter);
}
