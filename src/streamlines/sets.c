/* Random keys of streamlines, and sets of streamlines as hashes of their rounded points. */
#include "streamlines/filter_parts.h"

#include <math.h>
#include <stdlib.h>

#include "util/file.h"
#include "util/maths.h"
#include "util/status.h"

uint64_t gls_random_key(uint64_t seed, uint64_t place)
{
    const uint32_t counter[4] = {(uint32_t)place, (uint32_t)(place >> 32), 0, GLS_PHILOX_SHUFFLE};
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
    for (size_t i = 0; i < n; i++) heap[i] = gls_random_key(seed, i);
    for (size_t i = (size_t)n / 2; i-- > 0;) sink_down(heap, (size_t)n, i);
    for (uint64_t i = n; i < total; i++) {
        uint64_t key = gls_random_key(seed, i);
        if (key >= heap[0]) continue;
        heap[0] = key;
        sink_down(heap, (size_t)n, 0);
    }
    *largest = heap[0];
    free(heap);
    return GLS_OK;
}

struct gls_line_set {
    /* points are multiplied by 10^decimals and rounded */
    double scale;
    /* either_way: a streamline equals its reverse; failed: memory ran out */
    bool either_way, failed;
    size_t n, slots; /* n: streamlines in the set; slots: size of the hash table, a power of two */
    uint64_t *slot;  /* hashes; 0: a free slot */
    size_t capacity; /* allocated rounded points */
    /* rounded points of the streamline that is looked at */
    int64_t (*point)[3];
};

gls_status gls_line_set_create(int decimals, gls_line_sense sense, gls_line_set **set)
{
    GLS_REQUIRE(decimals >= 0 && decimals <= 6 && set);
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

gls_status gls_line_set_status(const gls_line_set *s)
{
    return s->failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for a set of %zu streamlines", s->n) : GLS_OK;
}

/* Hash of the rounded points of streamline i, in their order or, with backwards, in reverse. */
static uint64_t hash_of(gls_line_set *set, const gls_streamlines *s, size_t i, bool backwards)
{
    const uint64_t first = s->offset[i], n = s->offset[i + 1] - first;
    /* a coordinate that is not finite has a value that no rounding gives */
    for (uint64_t k = 0; k < n; k++) {
        const float *p = s->point[first + (backwards ? n - 1 - k : k)];
        for (int r = 0; r < 3; r++) set->point[k][r] = isfinite(p[r]) ? llrint(p[r] * set->scale) : INT64_MIN;
    }
    uint64_t hash = gls_hash(set->point, (size_t)n * sizeof *set->point);
    /* 0 marks a free slot */
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

/* Doubles the table; if memory runs out, it stays as it was and s->failed is set. */
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

bool gls_line_set_has(gls_line_set *set, const gls_streamlines *s, size_t i, bool add)
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
    /* the smaller of both hashes, whichever way the streamline runs */
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

/* Function `append` of the sink: adds the streamlines to the set. */
static gls_status append(void *user, const gls_streamlines *s)
{
    gls_line_set *set = user;
    for (size_t i = 0; i < s->n; i++) gls_line_set_has(set, s, i, true);
    return gls_line_set_status(set);
}

gls_sink gls_line_set_sink(gls_line_set *set)
{
    return (gls_sink){.append = append, .user = set};
}
