#include "workflow/tracts/concat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "util/status.h"

#define SAME_PLACE 1e-4 /* mm */

static gls_status compare_grids(const char *path, const gls_tractogram_info *a, const char *other,
                                const gls_tractogram_info *b)
{
    if (!a->has_grid || !b->has_grid) return GLS_OK;
    bool same = memcmp(a->grid.dim, b->grid.dim, sizeof a->grid.dim) == 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            double reach = c == 3 ? 1 : a->grid.dim[c];
            same = same && fabs(a->grid.affine[r][c] - b->grid.affine[r][c]) * reach <= SAME_PLACE;
        }
    return same ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: its grid is not that of %s", other, path);
}

static gls_status compare_columns(const char *kind, const char *path, const gls_column *a, size_t n_a,
                                  const char *other, const gls_column *b, size_t n_b)
{
    for (size_t k = 0; k < n_a; k++) {
        const gls_column *c = gls_column_find(b, n_b, a[k].name);
        if (!c || c->type != a[k].type || c->components != a[k].components)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: has no %s \"%s\" of %u x %s, which %s has; --fields common keeps shared ones", other,
                            kind, a[k].name, a[k].components, gls_type_name(a[k].type), path);
    }
    for (size_t k = 0; k < n_b; k++)
        if (!gls_column_find(a, n_a, b[k].name))
            return gls_fail(GLS_ERR_INPUT, "%s: has the %s \"%s\", which %s has not; --fields common keeps shared ones",
                            other, kind, b[k].name, path);
    return GLS_OK;
}

static bool has_column(const gls_column *list, size_t n, const gls_column *like)
{
    const gls_column *c = gls_column_find(list, n, like->name);
    return c && c->type == like->type && c->components == like->components;
}

/* Takes out of the common names those that another file does not have. */
static void keep_common(gls_tract_sources *s, const gls_tractogram_info *a, const gls_tractogram_info *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_common; i++) {
        const char *name = s->common[i];
        const gls_column *dps = gls_column_find(a->dps, a->n_dps, name), *dpv = gls_column_find(a->dpv, a->n_dpv, name),
                         *group = gls_column_find(a->group, a->n_groups, name);
        bool shared = (!dps || has_column(b->dps, b->n_dps, dps)) && (!dpv || has_column(b->dpv, b->n_dpv, dpv)) &&
                      (!group || gls_column_find(b->group, b->n_groups, name));
        if (shared)
            s->common[kept++] = s->common[i];
        else
            free(s->common[i]);
    }
    s->n_common = kept;
}

static gls_status note_names(gls_tract_sources *s)
{
    const gls_tractogram_info *info = gls_tract_sources_info(s);
    const gls_column *const lists[] = {info->dps, info->dpv, info->group};
    const size_t n[] = {info->n_dps, info->n_dpv, info->n_groups};
    s->common = calloc(n[0] + n[1] + n[2] + 1, sizeof *s->common);
    for (int l = 0; l < 3 && s->common; l++)
        for (size_t k = 0; k < n[l]; k++) {
            s->common[s->n_common] = strdup(lists[l][k].name);
            if (!s->common[s->n_common++]) return gls_fail(GLS_ERR_MEMORY, "out of memory");
        }
    return s->common ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
}

static gls_status compare(gls_tract_sources *s, size_t i, bool common)
{
    const gls_tractogram_info *a = gls_tract_sources_info(s), *b;
    gls_tractogram_reader *reader = NULL;
    gls_status status = gls_tract_open(s->job, s->path[i], s->allow_invalid, &reader);
    if (status) return status;
    b = gls_tractogram_reader_info(reader);
    status = compare_grids(s->path[0], a, s->path[i], b);
    if (common && !status) keep_common(s, a, b);
    if (!common && !status) status = compare_columns("dps", s->path[0], a->dps, a->n_dps, s->path[i], b->dps, b->n_dps);
    if (!common && !status) status = compare_columns("dpv", s->path[0], a->dpv, a->n_dpv, s->path[i], b->dpv, b->n_dpv);
    if (!common && !status)
        status = compare_columns("group", s->path[0], a->group, a->n_groups, s->path[i], b->group, b->n_groups);
    gls_tractogram_reader_close(reader);
    return status;
}

/* The file's name without folder and suffix, and without what a group's name cannot have. */
static gls_status name_groups(gls_tract_sources *s)
{
    s->stem = calloc(s->n + 1, sizeof *s->stem);
    for (size_t i = 0; i < s->n && s->stem; i++) {
        const char *slash = strrchr(s->path[i], '/'), *name = slash ? slash + 1 : s->path[i];
        s->stem[i] = strndup(name, strcspn(name, "."));
        if (!s->stem[i]) return gls_fail(GLS_ERR_MEMORY, "out of memory");
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->stem[k], s->stem[i]) == 0)
                return gls_fail(GLS_ERR_ARGUMENT, "--group-by-file: %s and %s give the same group, %s", s->path[k],
                                s->path[i], s->stem[i]);
    }
    return s->stem ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
}

gls_status gls_tract_sources_open(gls_tract_sources *s, const gls_tract_job *job, const char *const *path, size_t n,
                                  bool allow_invalid, bool common, bool by_file)
{
    *s = (gls_tract_sources){.job = job, .path = path, .n = n, .allow_invalid = allow_invalid, .by_file = by_file};
    gls_status status = gls_tract_open(job, path[0], allow_invalid, &s->first);
    if (!status && common) status = note_names(s);
    for (size_t i = 1; i < n && !status; i++) status = compare(s, i, common);
    return status || !by_file ? status : name_groups(s);
}

const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *s)
{
    return gls_tractogram_reader_info(s->first);
}

/* Adds a group for each file. */
typedef struct marker {
    const gls_tract_sources *sources;
    const gls_sink *next;
    size_t file, capacity, n_columns;
    uint8_t *ones, *zeros;
    gls_column *column;
} marker;

static gls_status mark(void *user, const gls_streamlines *in)
{
    marker *m = user;
    gls_streamlines out = *in;
    if (in->n > m->capacity || !m->column) {
        free(m->ones);
        free(m->zeros);
        free(m->column);
        m->capacity = in->n;
        m->ones = malloc(in->n + 1);
        m->zeros = calloc(in->n + 1, 1);
        m->column = malloc((in->n_groups + m->sources->n) * sizeof *m->column);
        if (!m->ones || !m->zeros || !m->column) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
        memset(m->ones, 1, in->n + 1);
    }
    for (size_t k = 0; k < in->n_groups; k++) m->column[k] = in->group[k];
    for (size_t k = 0; k < m->sources->n; k++)
        m->column[in->n_groups + k] =
            (gls_column){m->sources->stem[k], GLS_TYPE_BOOL, 1, k == m->file ? m->ones : m->zeros};
    out.group = m->column;
    out.n_groups = in->n_groups + m->sources->n;
    return gls_sink_append(m->next, &out);
}

static gls_status send(gls_tract_sources *s, size_t i, const gls_sink *sink, marker *m)
{
    gls_tractogram_reader *reader = NULL;
    gls_status status = gls_tract_open(s->job, s->path[i], s->allow_invalid, &reader);
    m->file = i;
    m->next = sink;
    gls_sink marking = {.append = mark, .user = m}, chosen = s->by_file ? marking : *sink, filter = {0};
    if (!status && s->common) {
        const gls_sink borrowed = {.append = chosen.append, .user = chosen.user};
        status = gls_filter_columns_create((const char *const *)s->common, s->n_common, &borrowed, &filter);
        chosen = filter;
    }
    if (!status) status = gls_tract_append(s->job, reader, &chosen);
    gls_sink_abort(&filter);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_tract_sources_pump(gls_tract_sources *s, gls_sink *sink, gls_status status)
{
    marker m = {.sources = s};
    for (size_t i = 0; i < s->n && !status; i++) status = send(s, i, sink, &m);
    free(m.ones);
    free(m.zeros);
    free(m.column);
    if (!status) return gls_sink_finish(sink);
    gls_sink_abort(sink);
    return status;
}

void gls_tract_sources_close(gls_tract_sources *s)
{
    gls_tractogram_reader_close(s->first);
    for (size_t i = 0; i < s->n_common; i++) free(s->common[i]);
    for (size_t i = 0; s->stem && i < s->n; i++) free(s->stem[i]);
    free(s->common);
    free(s->stem);
    *s = (gls_tract_sources){.n = 0};
}
