/* Sorts the streamlines of a connectome into sets: those of each edge, of each node, or all that are wanted. */
#include "tools/edge_sets.h"

#include <stdlib.h>
#include <string.h>

#include "streamlines/filter_groups.h"
#include "util/allocation.h"
#include "util/status.h"
#include "util/text.h"

/* --- The keys of a streamline: two labels in one number, the smaller one in the upper half. */

typedef struct sorter {
    const gls_edge_choice *choice;
    bool unassigned; /* 0 is a label like others */
    bool pairs;      /* each streamline has two labels */
    uint64_t *key;   /* keys of all streamlines so far */
    size_t n, capacity;
    int32_t *label; /* labels of a streamline, ascending */
    size_t n_labels, label_capacity;
    uint64_t *left; /* numbers of streamlines without a key, by the reason */
    bool failed;    /* memory ran out */
} sorter;

static void add_key(sorter *s, int32_t a, int32_t b)
{
    if (!gls_list_reserve(&s->key, s->n, &s->capacity, 4096, sizeof *s->key))
        s->failed = true;
    else
        s->key[s->n++] = (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

static int by_label(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Whether --nodes, if it is given, has the label. */
static bool is_wanted(const sorter *s, int32_t label)
{
    return s->choice->nodes.n == 0 || gls_label_ranges_have(&s->choice->nodes, label);
}

/* Sorts the labels of a streamline and keeps each once. Returns false if memory runs out. */
static bool take_labels(sorter *s, const int32_t *label, size_t n)
{
    if (!gls_list_grow(&s->label, n + 1, &s->label_capacity, sizeof *s->label)) {
        s->failed = true;
        return false;
    }
    if (n > 0) memcpy(s->label, label, n * sizeof *label);
    qsort(s->label, n, sizeof *s->label, by_label);
    s->n_labels = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || s->label[i] != s->label[s->n_labels - 1]) s->label[s->n_labels++] = s->label[i];
    return true;
}

/* Finds why a streamline has no key. first: index of its first label that is a region. */
static gls_edge_reason find_reason(const sorter *s, size_t first)
{
    size_t wanted = 0;
    for (size_t i = first; i < s->n_labels; i++) wanted += is_wanted(s, s->label[i]);
    if (first == s->n_labels) return GLS_EDGE_UNASSIGNED;
    if (s->choice->exclusive && wanted < s->n_labels) return GLS_EDGE_NOT_ALL;
    if (wanted == 0) return GLS_EDGE_OUTSIDE;
    return first > 0 ? GLS_EDGE_UNASSIGNED : GLS_EDGE_SELF;
}

/* Adds the keys of a streamline. */
static void add_keys(sorter *s, size_t first)
{
    const gls_edge_choice *c = s->choice;
    const int32_t *label = s->label;
    const bool self = s->pairs && s->n_labels == 1;
    if (self && !c->keep_self) return;
    for (size_t i = 0; i < s->n_labels && c->exclusive; i++)
        if (!is_wanted(s, label[i])) return;
    for (size_t i = first; i < s->n_labels; i++) {
        const bool wanted = is_wanted(s, label[i]);
        if (c->kind == GLS_SETS_ONE && wanted) {
            add_key(s, 0, 0);
            return;
        }
        if (c->kind == GLS_SETS_NODES && wanted) add_key(s, label[i], label[i]);
        if (c->kind != GLS_SETS_EDGES) continue;
        if (wanted && (self || (c->keep_self && !s->pairs && s->n_labels > 1))) add_key(s, label[i], label[i]);
        for (size_t k = i + 1; k < s->n_labels; k++)
            if (wanted || is_wanted(s, label[k])) add_key(s, label[i], label[k]);
    }
}

/* Adds the keys of a streamline, or counts why it has none. */
static void add_streamline(sorter *s, const int32_t *given, size_t n)
{
    const size_t before = s->n;
    if (!take_labels(s, given, n)) return;
    const size_t first = s->n_labels > 0 && s->label[0] == 0 && !s->unassigned ? 1 : 0;
    add_keys(s, first);
    if (s->n == before) s->left[find_reason(s, first)]++;
}

/* --- The sets. */

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Keeps each key once that at least min_count streamlines have. Returns the number of keys. */
static size_t count_keys(uint64_t *key, size_t n, uint64_t min_count)
{
    size_t kept = 0;
    qsort(key, n, sizeof *key, by_key);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && key[next] == key[i];) next++;
        if (next - i >= min_count) key[kept++] = key[i];
    }
    return kept;
}

/* Names the sets by their sorted keys. */
static gls_status name_sets(gls_edge_sets *sets, const uint64_t *key, size_t n, gls_edge_set_kind kind)
{
    sets->label = calloc(n + 1, sizeof *sets->label);
    sets->name = calloc(n + 1, sizeof *sets->name);
    if (!sets->label || !sets->name) return gls_no_memory();
    for (; sets->n < n; sets->n++) {
        int32_t *label = sets->label[sets->n];
        label[0] = (int32_t)(key[sets->n] >> 32);
        label[1] = (int32_t)(key[sets->n] & UINT32_MAX);
        const bool both = kind == GLS_SETS_EDGES;
        if (gls_asprintf(&sets->name[sets->n], both ? "%d-%d" : "%d", label[0], label[1]) < 0) return gls_no_memory();
    }
    return GLS_OK;
}

/* Notes the sets of each streamline. own: the keys in the order of streamlines, sets->first says where those of each
 * begin; key: the n keys of the sets. */
static gls_status note_sets(gls_edge_sets *sets, const uint64_t *own, const uint64_t *key, size_t n)
{
    uint64_t kept = 0;
    sets->of = malloc((sets->first[sets->rows] + 1) * sizeof *sets->of);
    if (!sets->of) return gls_no_memory();
    for (uint64_t i = 0, from = 0; i < sets->rows; i++) {
        const uint64_t until = sets->first[i + 1];
        for (uint64_t k = from; k < until; k++) {
            const uint64_t *found = n > 0 ? bsearch(&own[k], key, n, sizeof *key, by_key) : NULL;
            if (found) sets->of[kept++] = (uint32_t)(found - key);
        }
        from = until;
        sets->first[i + 1] = kept;
    }
    return GLS_OK;
}

gls_status gls_edge_sets_make(const gls_tract_lists *l, const gls_edge_choice *choice, gls_edge_sets *sets)
{
    sorter s = {.choice = choice, .pairs = true, .left = sets->left};
    uint64_t *key = NULL;
    size_t n = 0;
    *sets = (gls_edge_sets){.rows = l->n};
    s.unassigned = choice->keep_unassigned || gls_label_ranges_have(&choice->nodes, 0);
    sets->first = calloc(l->n + 1, sizeof *sets->first);
    gls_status status = sets->first ? GLS_OK : gls_no_memory();
    for (uint64_t i = 0; i < l->n && s.pairs; i++) s.pairs = l->first[i + 1] - l->first[i] == 2;
    for (uint64_t i = 0; i < l->n && !status; i++) {
        add_streamline(&s, l->label + l->first[i], (size_t)(l->first[i + 1] - l->first[i]));
        sets->first[i + 1] = s.n;
        if (s.failed) status = gls_no_memory();
    }
    if (!status && !(key = malloc((s.n + 1) * sizeof *key))) status = gls_no_memory();
    if (!status && s.n > 0) {
        memcpy(key, s.key, s.n * sizeof *key);
        n = count_keys(key, s.n, choice->min_count);
    }
    if (!status) status = name_sets(sets, key, n, choice->kind);
    if (!status) status = note_sets(sets, s.key, key, n);
    free(key);
    free(s.key);
    free(s.label);
    return status;
}

gls_status gls_edge_sets_groups(const gls_edge_sets *sets, const char *path, gls_sink *sink)
{
    const gls_line_groups groups = {(const char *const *)sets->name, sets->n, sets->of, sets->rows, path, sets->first};
    const gls_sink next = *sink;
    return gls_filter_groups_create(&groups, &next, sink);
}

void gls_edge_sets_finish(gls_edge_sets *sets)
{
    for (size_t k = 0; sets->name && k < sets->n; k++) free(sets->name[k]);
    free(sets->name);
    free(sets->label);
    free(sets->first);
    free(sets->of);
    *sets = (gls_edge_sets){.n = 0};
}
