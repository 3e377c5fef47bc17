/* Filters that change the columns of streamlines and leave the streamlines as they are. */

#include <glslines/filters.h>
#include <glslines/streamlines.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/filter_columns.h"
#include "util/status.h"

/* State of a filter. One kind keeps some columns, the other adds a column. */
typedef struct columns {
    /* receives the streamlines; owned */
    gls_sink next;
    /* number of names in `name` */
    size_t n_names;
    char **name;       /* names of the columns that stay */
    gls_column added;  /* column that is added in front of the others */
    const char *path;  /* file of the added column, for messages */
    uint64_t rows, at; /* rows: number of rows of the added column; at: rows used so far; both 0 without a column */
    size_t capacity;
    gls_column *column; /* columns that are handed on */
} columns;

/* Whether a column is among those that stay. */
static bool stays(const columns *f, const gls_column *c)
{
    for (size_t i = 0; i < f->n_names; i++)
        if (strcmp(f->name[i], c->name) == 0) return true;
    return false;
}

/* Copies to the array `to`, in their order, the columns that stay. Returns their number. */
static size_t keep(const columns *f, const gls_column *from, size_t n, gls_column *to)
{
    size_t kept = 0;
    for (size_t k = 0; k < n; k++)
        if (stays(f, &from[k])) to[kept++] = from[k];
    return kept;
}

/* Allocates memory for the columns of a block and one more. */
static gls_status reserve(columns *f, const gls_streamlines *s)
{
    size_t n = s->n_dps + s->n_dpv + s->n_groups + 1;
    if (n <= f->capacity) return GLS_OK;
    gls_column *column = realloc(f->column, n * sizeof *column);
    if (!column) return gls_fail(GLS_ERR_MEMORY, "out of memory for columns");
    f->column = column;
    f->capacity = n;
    return GLS_OK;
}

/* Passes on only the columns and groups whose names are listed. */
static gls_status select_columns(void *user, const gls_streamlines *s)
{
    columns *f = user;
    gls_streamlines out = *s;
    gls_status status = reserve(f, s);
    if (status) return status;
    out.dps = f->column;
    out.n_dps = keep(f, s->dps, s->n_dps, f->column);
    out.dpv = out.dps + out.n_dps;
    out.n_dpv = keep(f, s->dpv, s->n_dpv, f->column + out.n_dps);
    out.group = out.dpv + out.n_dpv;
    out.n_groups = keep(f, s->group, s->n_groups, f->column + out.n_dps + out.n_dpv);
    return gls_sink_append(&f->next, &out);
}

/* Passes streamlines on with an added column, which replaces one of the same name. */
static gls_status add_column(void *user, const gls_streamlines *s)
{
    columns *f = user;
    gls_streamlines out = *s;
    gls_status status = reserve(f, s);
    if (status) return status;
    if (s->n > f->rows - f->at)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has %" PRIu64 " values, but there are more streamlines: give a value for each", f->path,
                        f->rows);
    f->column[0] = f->added;
    f->column[0].data = (const char *)f->added.data + f->at * gls_column_row_bytes(&f->added);
    out.dps = f->column;
    out.n_dps = 1;
    for (size_t k = 0; k < s->n_dps; k++)
        if (strcmp(s->dps[k].name, f->added.name) != 0) f->column[out.n_dps++] = s->dps[k];
    f->at += s->n;
    return gls_sink_append(&f->next, &out);
}

/* Function `abort` of the filter: also aborts the next sink. */
static void discard(void *user)
{
    columns *f = user;
    gls_sink_abort(&f->next);
    for (size_t i = 0; i < f->n_names; i++) free(f->name[i]);
    free(f->name);
    free(f->column);
    free(f);
}

/* Fails unless the added column has as many rows as streamlines have passed; `rows` and `at` are both 0 without such a
 * column. */
static gls_status finish(void *user)
{
    columns *f = user;
    gls_status status = GLS_OK;
    if (f->at != f->rows)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has %" PRIu64 " values, but there are %" PRIu64 " streamlines: give a value for each",
                          f->path, f->rows, f->at);
    if (!status) status = gls_sink_finish(&f->next);
    discard(f);
    return status;
}

gls_status gls_filter_columns_create(const char *const *names, size_t n, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE((names || n == 0) && next && next->append && filter);
    for (size_t i = 0; i < n; i++) GLS_REQUIRE(names[i]);
    columns *f = calloc(1, sizeof *f);
    if (f) f->name = calloc(n + 1, sizeof *f->name);
    if (!f || !f->name) goto fail;
    for (; f->n_names < n; f->n_names++) {
        f->name[f->n_names] = strdup(names[f->n_names]);
        if (!f->name[f->n_names]) goto fail;
    }
    f->next = *next;
    *filter = (gls_sink){select_columns, finish, discard, f};
    return GLS_OK;
fail:
    if (f) discard(f);
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
}

gls_status gls_filter_dps_create(const gls_column *column, uint64_t rows, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(column && column->name);
    return gls_filter_dps_create_from(column->name, column, rows, next, filter);
}

gls_status gls_filter_dps_create_from(const char *path, const gls_column *column, uint64_t rows, const gls_sink *next,
                                      gls_sink *filter)
{
    GLS_REQUIRE(path && column && column->name && (column->data || rows == 0) && next && next->append && filter);
    columns *f = calloc(1, sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    f->path = path;
    f->added = *column;
    f->rows = rows;
    f->next = *next;
    *filter = (gls_sink){add_column, finish, discard, f};
    return GLS_OK;
}
