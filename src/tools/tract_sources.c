/* Several tractograms as one stream: compares their headers, passes on the same columns for each, and adds a group for
 * each file if asked. */
#include <glslines/tractogram.h>

#include "record/tract_run.h"
#include "tools/streamline_weights.h"
#include "tools/tract_sources.h"
#include "tracts/profile_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/numbers.h"
#include "util/status.h"

/* largest difference, along each axis of the world, of grids that count as equal */
#define SAME_PLACE 1e-4 /* mm */

/* Compares two grids where both files have one. The first voxel, and the way through the grid along each of its axes,
 * may differ by SAME_PLACE. */
static gls_status compare_grids(const char *path, const gls_tractogram_info *a, const char *other,
                                const gls_tractogram_info *b)
{
    if (!a->has_grid || !b->has_grid) return GLS_OK;
    bool same = memcmp(a->grid.dim, b->grid.dim, sizeof a->grid.dim) == 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            /* the first three columns are steps from voxel to voxel: compare where they lead at the last voxel */
            double reach = c == 3 ? 1 : a->grid.dim[c];
            same = same && fabs(a->grid.affine[r][c] - b->grid.affine[r][c]) * reach <= SAME_PLACE;
        }
    return same ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: its grid is not that of %s", other, path);
}

/* Requires the same columns in both lists, in any order. */
static gls_status compare_columns(const char *kind, const char *path, const gls_column *a, size_t n_a,
                                  const char *other, const gls_column *b, size_t n_b)
{
    for (size_t k = 0; k < n_a; k++) {
        const gls_column *c = gls_column_find(b, n_b, a[k].name);
        if (!c || c->type != a[k].type || c->components != a[k].components)
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: has no %s \"%s\" of %u x %s, but %s has one; --fields common keeps only what all files have",
                other, kind, a[k].name, a[k].components, gls_type_name(a[k].type), path);
    }
    for (size_t k = 0; k < n_b; k++)
        if (!gls_column_find(a, n_a, b[k].name))
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: has the %s \"%s\", but %s has none of this name; --fields common keeps only what all files have",
                other, kind, b[k].name, path);
    return GLS_OK;
}

/* Whether the list has a column of the same name, type and number of components. */
static bool has_column(const gls_column *list, size_t n, const gls_column *like)
{
    const gls_column *c = gls_column_find(list, n, like->name);
    return c && c->type == like->type && c->components == like->components;
}

/* Removes from the kept columns of a kind (0: dps, 1: dpv, 2: groups) those that the columns `other` of a file lack. */
static void keep_common(gls_tract_sources *s, int kind, const gls_column *other, size_t n)
{
    size_t kept = 0;
    for (size_t k = 0; k < s->n_kept[kind]; k++)
        if (has_column(other, n, &s->kept[kind][k])) s->kept[kind][kept++] = s->kept[kind][k];
    s->n_kept[kind] = kept;
}

/* Starts with the columns and groups of file `lead`. The lists are copies, since keep_common() shortens them; names
 * belong to its reader. */
static gls_status note_columns(gls_tract_sources *s)
{
    const gls_tractogram_info *info = gls_tractogram_reader_info(s->leader);
    const gls_column *const lists[] = {info->dps, info->dpv, info->group};
    const size_t n[] = {info->n_dps, info->n_dpv, info->n_groups};
    for (int kind = 0; kind < 3; kind++) {
        free(s->kept[kind]);
        s->kept[kind] = calloc(n[kind] + 1, sizeof *s->kept[kind]);
        if (!s->kept[kind]) return gls_fail(GLS_ERR_MEMORY, "out of memory for columns");
        if (n[kind] > 0) memcpy(s->kept[kind], lists[kind], n[kind] * sizeof *s->kept[kind]);
        s->n_kept[kind] = n[kind];
    }
    return GLS_OK;
}

/* Joins a number that TCK headers state: the common value, NaN where files differ, 0 where none states it. */
static void join_number(const gls_tractogram_info *info, const char *key, double *joined)
{
    double value;
    for (size_t k = 0; k < info->n_header; k++)
        if (strcmp(info->header[k].key, key) == 0 && gls_parse_double(info->header[k].value, &value) && value > 0)
            *joined = *joined == 0 || *joined == value ? value : NAN;
}

/* Joins the step size and the downsampling of TCK files, on which tckedit's limits of length depend. */
static void join_headers(gls_tract_sources *s, const gls_tractogram_info *info)
{
    s->has_group_data |= info->n_dpg > 0;
    if (info->format != GLS_FORMAT_TCK) return;
    join_number(info, "step_size", &s->step_size);
    join_number(info, "downsample_factor", &s->downsample_factor);
}

/* Requires the column of weights in file `lead` and in file i, whose streamlines need it, with the same type. */
static gls_status compare_weights(const gls_tract_sources *s, size_t i, const gls_tractogram_info *b)
{
    const gls_tractogram_info *a = gls_tractogram_reader_info(s->leader);
    gls_status status = gls_tract_column_check(a, s->path[s->lead], s->weights);
    if (!status) status = gls_tract_column_check(b, s->path[i], s->weights);
    const gls_column *c = s->weights ? gls_column_find(b->dps, b->n_dps, s->weights) : NULL;
    if (status || !c || has_column(a->dps, a->n_dps, c)) return status;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the column \"%s\" has another type in %s: --weights needs the same type in all files",
                    s->path[i], s->weights, s->path[s->lead]);
}

/* Compares the grid of file i with that of the first file, and its columns with those of file `lead`, unless file i has
 * no streamlines. Fails if they differ; with common, drops the columns that file i lacks instead. */
static gls_status compare(gls_tract_sources *s, size_t i, bool common)
{
    static const char *const kinds[] = {"dps", "dpv", "group"};
    const gls_tractogram_info *a = gls_tract_sources_info(s), *b;
    gls_tractogram_reader *reader = NULL;
    /* only headers are read here; each file is opened again for its streamlines */
    gls_status status = gls_tract_open(s->run, s->path[i], s->allow_invalid, &reader);
    if (status) return status;
    b = gls_tractogram_reader_info(reader);
    join_headers(s, b);
    status = compare_grids(s->path[0], a, s->path[i], b);
    /* a file without streamlines states no columns: the first file with streamlines decides which are passed on */
    const bool empty = gls_tract_is_empty(b);
    if (!status && !empty && gls_tract_is_empty(gls_tract_sources_lead(s))) {
        s->leader = reader;
        s->lead = i;
        status = note_columns(s);
    }
    if (!status) status = compare_weights(s, i, b);
    const gls_column *const lists[] = {b->dps, b->dpv, b->group};
    const size_t n[] = {b->n_dps, b->n_dpv, b->n_groups};
    for (int kind = 0; kind < 3 && !status && !empty; kind++) {
        if (common)
            keep_common(s, kind, lists[kind], n[kind]);
        else
            status = compare_columns(kinds[kind], s->path[s->lead], s->kept[kind], s->n_kept[kind], s->path[i],
                                     lists[kind], n[kind]);
    }
    if (reader != s->leader) gls_tractogram_reader_close(reader);
    return status;
}

/* Names the group of each file: the name of the file up to its first dot. GLS_ERR_ARGUMENT: two files give one name. */
static gls_status name_groups(gls_tract_sources *s)
{
    s->stem = calloc(s->n + 1, sizeof *s->stem);
    for (size_t i = 0; i < s->n && s->stem; i++) {
        s->stem[i] = gls_profile_column(s->path[i]);
        if (!s->stem[i]) return gls_no_memory();
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->stem[k], s->stem[i]) == 0)
                return gls_fail(GLS_ERR_ARGUMENT,
                                "--group-by-file: %s and %s give the same group, %s: rename one of the files",
                                s->path[k], s->path[i], s->stem[i]);
    }
    return s->stem ? GLS_OK : gls_no_memory();
}

gls_status gls_tract_sources_open(gls_tract_sources *s, const gls_tract_run *run, const char *const *path, size_t n,
                                  bool allow_invalid, bool common, bool by_file, const char *weights)
{
    *s = (gls_tract_sources){
        .run = run, .path = path, .n = n, .allow_invalid = allow_invalid, .by_file = by_file, .weights = weights};
    gls_status status = gls_tract_open(run, path[0], allow_invalid, &s->first);
    s->leader = s->first;
    if (!status) join_headers(s, gls_tract_sources_info(s));
    if (!status) status = note_columns(s);
    for (size_t i = 1; i < n && !status; i++) status = compare(s, i, common);
    return status || !by_file ? status : name_groups(s);
}

const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *s)
{
    return gls_tractogram_reader_info(s->first);
}

const gls_tractogram_info *gls_tract_sources_lead(const gls_tract_sources *s)
{
    return gls_tractogram_reader_info(s->leader);
}

/* State of the filter that passes on the kept columns, in the same order for every file, and with --group-by-file adds
 * a group for each file. */
typedef struct marker {
    /* columns that stay, and the files */
    const gls_tract_sources *sources;
    /* the sink that receives the streamlines of all files, borrowed */
    const gls_sink *next;
    /* file: index of the current file; capacity: streamlines for which ones and zeros have room */
    size_t file, capacity;
    /* membership in a group, for a batch: 1 or 0 for each streamline */
    uint8_t *ones, *zeros;
    /* columns and groups that are passed on */
    gls_column *column;
} marker;

/* Allocates memory for the columns, and for groups of n streamlines. */
static gls_status reserve(marker *m, size_t n)
{
    const gls_tract_sources *s = m->sources;
    if (!m->column) m->column = calloc(s->n_kept[0] + s->n_kept[1] + s->n_kept[2] + s->n + 1, sizeof *m->column);
    if (!m->column) return gls_fail(GLS_ERR_MEMORY, "out of memory for columns");
    if (!s->by_file || (n <= m->capacity && m->ones)) return GLS_OK;
    free(m->ones);
    free(m->zeros);
    m->capacity = n;
    m->ones = malloc(n + 1);
    m->zeros = calloc(n + 1, 1);
    if (!m->ones || !m->zeros) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    memset(m->ones, 1, n + 1);
    return GLS_OK;
}

/* Copies the kept columns of `list` to *to, and moves *to behind the last copy. */
static gls_status keep(const marker *m, int kind, const gls_column *list, size_t n, gls_column **to)
{
    const gls_tract_sources *s = m->sources;
    for (size_t k = 0; k < s->n_kept[kind]; k++) {
        const gls_column *like = &s->kept[kind][k], *c = gls_column_find(list, n, like->name);
        if (!c || c->type != like->type || c->components != like->components)
            return gls_fail(GLS_ERR_INPUT, "%s: changed while it was read: run the command again", s->path[m->file]);
        *(*to)++ = *c;
    }
    return GLS_OK;
}

/* Passes on streamlines with the kept columns and, with --group-by-file, a group for each file. */
static gls_status mark(void *user, const gls_streamlines *in)
{
    marker *m = user;
    const gls_tract_sources *s = m->sources;
    gls_streamlines out = *in;
    gls_status status = reserve(m, in->n);
    gls_column *to = m->column;
    out.dps = to;
    if (!status) status = keep(m, 0, in->dps, in->n_dps, &to);
    out.dpv = to;
    if (!status) status = keep(m, 1, in->dpv, in->n_dpv, &to);
    out.group = to;
    if (!status) status = keep(m, 2, in->group, in->n_groups, &to);
    if (status) return status;
    /* one group for each file: streamlines of the current file are members of its group alone */
    for (size_t k = 0; k < s->n && s->by_file; k++)
        *to++ = (gls_column){s->stem[k], GLS_TYPE_BOOL, 1, k == m->file ? m->ones : m->zeros};
    out.n_dps = s->n_kept[0];
    out.n_dpv = s->n_kept[1];
    out.n_groups = s->n_kept[2] + (s->by_file ? s->n : 0);
    return gls_sink_append(m->next, &out);
}

/* Sends the streamlines of file i to the sink. */
static gls_status send(gls_tract_sources *s, size_t i, const gls_sink *sink, marker *m)
{
    gls_tractogram_reader *reader = NULL;
    gls_status status = gls_tract_open(s->run, s->path[i], s->allow_invalid, &reader);
    m->file = i;
    m->next = sink;
    if (!status) status = gls_tract_append(s->run, reader, &(gls_sink){.append = mark, .user = m});
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
    for (int kind = 0; kind < 3; kind++) free(s->kept[kind]);
    for (size_t i = 0; s->stem && i < s->n; i++) free(s->stem[i]);
    free(s->stem);
    if (s->leader != s->first) gls_tractogram_reader_close(s->leader);
    gls_tractogram_reader_close(s->first);
    *s = (gls_tract_sources){.n = 0};
}
