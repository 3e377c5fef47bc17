/* Filters that keep some streamlines unchanged: by length, number of points, position in the stream, random choice, a
 * list, validity, or a set of streamlines as hashes of their rounded points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/status.h"

/* Random key of the streamline at this position of a stream; depends on seed and position only. */
static uint64_t random_key(uint64_t seed, uint64_t position)
{
    const uint32_t counter[4] = {(uint32_t)position, (uint32_t)(position >> 32), 0, GLS_PHILOX_SHUFFLE};
    uint32_t word[4];
    gls_philox(counter, seed, word);
    return (uint64_t)word[1] << 32 | word[0];
}

/* Restores the heap, whose largest key is on top, below entry i. */
static void sink_down(uint64_t *heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[i] >= heap[child]) return;
        uint64_t keep = heap[i];
        heap[i] = heap[child];
        heap[child] = keep;
    }
}

gls_status gls_random_largest(uint64_t seed, uint64_t total, uint64_t n, uint64_t *largest)
{
    GLS_REQUIRE(n >= 1 && largest);
    *largest = UINT64_MAX;
    if (n >= total) return GLS_OK;
    uint64_t *heap = n <= SIZE_MAX / sizeof *heap ? malloc((size_t)n * sizeof *heap) : NULL;
    if (!heap) return gls_fail(GLS_ERR_MEMORY, "out of memory for random numbers");
    for (size_t i = 0; i < n; i++) heap[i] = random_key(seed, i);
    for (size_t i = (size_t)n / 2; i-- > 0;) sink_down(heap, (size_t)n, i);
    for (uint64_t i = n; i < total; i++) {
        uint64_t key = random_key(seed, i);
        if (key >= heap[0]) continue;
        heap[0] = key;
        sink_down(heap, (size_t)n, 0);
    }
    *largest = heap[0];
    free(heap);
    return GLS_OK;
}

struct gls_line_set {
    double scale; /* coordinates are multiplied by it, then rounded to whole numbers */
    /* either_way: a streamline and its reverse are the same; failed: memory ran out, and streamlines may be missing */
    bool either_way, failed;
    size_t n, slots; /* n: streamlines in the set; slots: size of the hash table, a power of two */
    uint64_t *slot;  /* hashes; 0: a free slot */
    size_t capacity; /* number of points for which `point` has memory */
    int64_t (*point)[3];
};

gls_status gls_line_set_create(int decimals, gls_line_sense sense, gls_line_set **set)
{
    GLS_REQUIRE(decimals >= 0 && decimals <= 6 && set);
    GLS_REQUIRE_ENUMERATOR(sense, GLS_LINES_EITHER_WAY);
    gls_line_set *s = calloc(1, sizeof *s);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory for a set of streamlines");
    s->scale = pow(10, decimals);
    s->either_way = sense == GLS_LINES_EITHER_WAY;
    *set = s;
    return GLS_OK;
}

void gls_line_set_destroy(gls_line_set *s)
{
    if (!s) return;
    free(s->slot);
    free(s->point);
    free(s);
}

/* Returns GLS_ERR_MEMORY if memory ran out for the set at some time. */
static gls_status line_set_status(const gls_line_set *s)
{
    return s->failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for a set of %zu streamlines", s->n) : GLS_OK;
}

/* Hash of the rounded points of streamline i, in their order or, with backwards, in reverse. Never 0. */
static uint64_t hash_of(gls_line_set *set, const gls_streamlines *s, size_t i, bool backwards)
{
    const uint64_t first = s->offset[i], n = s->offset[i + 1] - first;
    for (uint64_t k = 0; k < n; k++) {
        const float *p = s->point[first + (backwards ? n - 1 - k : k)];
        for (int r = 0; r < 3; r++) set->point[k][r] = isfinite(p[r]) ? llrint(p[r] * set->scale) : INT64_MIN;
    }
    uint64_t hash = gls_hash(set->point, (size_t)n * sizeof *set->point);
    return hash ? hash : 1;
}

/* Slot of a hash, or the free slot where it belongs. At most half of the slots are taken, so there is always a free
 * one. */
static size_t slot_of(const gls_line_set *s, uint64_t hash)
{
    size_t at = (size_t)hash & (s->slots - 1);
    while (s->slot[at] && s->slot[at] != hash) at = (at + 1) & (s->slots - 1);
    return at;
}

/* Doubles the hash table; the first one has 4096 slots. If memory runs out: sets s->failed, leaves the table as it was,
 * and returns false. */
static bool grow(gls_line_set *s)
{
    gls_line_set old = *s;
    s->slots = old.slots ? 2 * old.slots : 4096;
    s->slot = calloc(s->slots, sizeof *s->slot);
    if (!s->slot) {
        *s = old;
        s->failed = true;
        return false;
    }
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i]) s->slot[slot_of(s, old.slot[i])] = old.slot[i];
    free(old.slot);
    return true;
}

/* Whether streamline i is in the set. add: adds it to the set afterwards. */
static bool line_set_has(gls_line_set *set, const gls_streamlines *s, size_t i, bool add)
{
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    if (n > set->capacity || !set->point) {
        int64_t(*point)[3] = realloc(set->point, (n + 1) * sizeof *point);
        set->failed |= !point;
        if (!point) return false;
        set->point = point;
        set->capacity = n;
    }
    if (2 * (set->n + 1) > set->slots && !grow(set)) return false;
    uint64_t hash = hash_of(set, s, i, false);
    if (set->either_way) {
        uint64_t other = hash_of(set, s, i, true);
        hash = hash < other ? hash : other;
    }
    size_t at = slot_of(set, hash);
    bool known = set->slot[at] != 0;
    if (!known && add) {
        set->slot[at] = hash;
        set->n++;
    }
    return known;
}

/* Function `append` of the set's sink: makes streamlines members of the set. */
static gls_status add_lines(void *user, const gls_streamlines *s)
{
    gls_line_set *set = user;
    for (size_t i = 0; i < s->n; i++) line_set_has(set, s, i, true);
    return line_set_status(set);
}

gls_sink gls_line_set_sink(gls_line_set *set)
{
    return (gls_sink){.append = add_lines, .user = set};
}

/* --- The filters. */

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
    /* keeps_vertices(): streamlines of min_points to max_points stay. keeps_every(): the first `skip` are left out,
     * then the first of every `every` stays, up to `number` streamlines. keeps_spread(): `number` of `total` stay */
    uint64_t min_points, max_points, skip, every, number, total;
    /* keeps_random(): keys depend on `seed` and position; streamlines whose key is at most `largest` stay */
    uint64_t seed, largest;
    /* keeps_by_set(): the set, borrowed */
    gls_line_set *set;
    /* keeps_by_set(): which streamlines stay: members of the set, or others, or others that then become members */
    gls_line_set_keep keep;
    /* keeps_listed(): a value for each streamline, 0 means that it is dropped; borrowed */
    const float *listed;
    /* number of values in `listed` */
    uint64_t rows;
    bool finite; /* keeps_valid(): whether all points of the block are finite */
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

/* Keeps `number` streamlines spread evenly over `total`. The first one stays. The wanted number grows by number / total
 * with each streamline; a later streamline stays where the wanted number reaches the next whole number. */
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

/* Keeps streamlines whose key is at most `largest`. The n smallest keys of all streamlines are a random sample;
 * gls_random_largest() finds the largest of these. */
static bool keeps_random(selection *f, const gls_streamlines *s, size_t i)
{
    (void)s;
    (void)i;
    return random_key(f->seed, f->counts->taken - 1) <= f->largest;
}

/* Keeps members of the set, or streamlines that are no members; with GLS_KEEP_NEW the latter become members. */
static bool keeps_by_set(selection *f, const gls_streamlines *s, size_t i)
{
    bool known = line_set_has(f->set, s, i, f->keep == GLS_KEEP_NEW);
    return known == (f->keep == GLS_KEEP_MEMBERS);
}

/* Keeps streamlines whose value in the list is not 0; streamlines beyond the end of the list are dropped. */
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

/* Decides for each streamline of the block whether it stays; *n_kept: number of streamlines that stay. */
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
    return f->set ? line_set_status(f->set) : GLS_OK;
}

/* Passes a block on as it is if all its streamlines stay, else copies the streamlines that stay. */
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

static void discard(void *user)
{
    selection *f = user;
    gls_builder_finish(&f->builder);
    free(f->kept);
    free(f);
}

/* Creates a filter with the values of `like`. counts: the caller's, or NULL, where nobody reads them. */
static gls_status create(const selection *like, gls_filter_counts *counts, const gls_sink *next, gls_sink *filter)
{
    selection *f = malloc(sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    *f = *like;
    f->counts = counts ? counts : &f->own;
    *f->counts = (gls_filter_counts){0};
    *filter = gls_builder_sink(&f->builder, next, append, discard);
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
