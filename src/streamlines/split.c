/* A sink that hands each streamline to the sinks of its sets. One builder makes the blocks of all sinks in turn, so
 * that memory does not grow with their number. */
#include "streamlines/split.h"

#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "streamlines/filter_groups.h"
#include "util/allocation.h"
#include "util/status.h"

typedef struct splitter {
    gls_line_sets sets;
    uint32_t begin;
    size_t n; /* number of sinks */
    gls_sink *sink;
    gls_builder builder; /* its `next` is one of the sinks, borrowed, or empty */
    uint64_t at;         /* index of the next streamline */
    size_t *end;         /* n + 1 elements: of each sink the end of its streamlines in member[] */
    size_t *member;      /* streamlines of a block, those of each sink side by side */
    size_t capacity;
} splitter;

static void discard(void *user)
{
    splitter *s = user;
    for (size_t k = 0; k < s->n; k++) gls_sink_abort(&s->sink[k]);
    s->builder.next = (gls_sink){0};
    gls_builder_finish(&s->builder);
    free(s->sink);
    free(s->end);
    free(s->member);
    free(s);
}

/* Lists the streamlines of a block that each sink gets. */
static gls_status list_members(splitter *s, size_t n)
{
    const uint64_t *first = s->sets.first + s->at;
    memset(s->end, 0, (s->n + 1) * sizeof *s->end);
    for (uint64_t k = first[0]; k < first[n]; k++)
        if (s->sets.set[k] - s->begin < s->n) s->end[s->sets.set[k] - s->begin + 1]++;
    for (size_t k = 0; k < s->n; k++) s->end[k + 1] += s->end[k];
    if (!gls_list_grow(&s->member, s->end[s->n] + 1, &s->capacity, sizeof *s->member)) return gls_no_memory();
    /* end[k] is the begin of sink k until its streamlines are listed */
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = first[i]; k < first[i + 1]; k++)
            if (s->sets.set[k] - s->begin < s->n) s->member[s->end[s->sets.set[k] - s->begin]++] = i;
    return GLS_OK;
}

/* Hands listed streamlines of a block to one sink. */
static gls_status hand_on(splitter *s, const gls_streamlines *in, const gls_sink *sink, size_t from, size_t until)
{
    s->builder.next = *sink;
    gls_status status = gls_builder_begin(&s->builder, in);
    for (size_t k = from; k < until && !status; k++) {
        const size_t i = s->member[k];
        const uint64_t points = in->offset[i + 1] - in->offset[i];
        uint64_t to;
        status = gls_builder_add(&s->builder, i, points, &to);
        if (!status) gls_builder_copy(&s->builder, to, in->offset[i], points);
    }
    if (!status) status = gls_builder_flush(&s->builder);
    s->builder.next = (gls_sink){0};
    return status;
}

static gls_status append(void *user, const gls_streamlines *in)
{
    splitter *s = user;
    gls_status status = gls_line_labels_require(s->sets.path, s->sets.rows, s->at + in->n, false);
    if (!status) status = list_members(s, in->n);
    for (size_t k = 0, from = 0; k < s->n && !status; k++) {
        if (s->end[k] > from) status = hand_on(s, in, &s->sink[k], from, s->end[k]);
        from = s->end[k];
    }
    s->at += in->n;
    return status;
}

static gls_status finish(void *user)
{
    splitter *s = user;
    gls_status status = gls_line_labels_require(s->sets.path, s->sets.rows, s->at, true);
    for (size_t k = 0; k < s->n && !status; k++) status = gls_sink_finish(&s->sink[k]);
    discard(s);
    return status;
}

gls_status gls_split_create(const gls_line_sets *sets, uint32_t begin, const gls_sink *sinks, size_t n, gls_sink *split)
{
    splitter *s = calloc(1, sizeof *s);
    if (!s) return gls_no_memory();
    *s = (splitter){.sets = *sets, .begin = begin};
    s->sink = malloc((n + 1) * sizeof *s->sink);
    s->end = malloc((n + 1) * sizeof *s->end);
    if (!s->sink || !s->end) {
        discard(s);
        return gls_no_memory();
    }
    if (n > 0) memcpy(s->sink, sinks, n * sizeof *sinks);
    s->n = n;
    *split = (gls_sink){append, finish, discard, s};
    return GLS_OK;
}
