/* A filter that adds groups. */

#include <glslines/streamlines.h>
#include <glslines/type.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/filter_groups.h"
#include "util/status.h"

#define ROOM ((size_t)16 << 20) /* largest table of memberships, bytes, unless 64 streamlines need more */

gls_status gls_line_labels_require(const char *path, uint64_t rows, uint64_t n, bool complete)
{
    if (n > rows && !complete)
        return gls_fail(GLS_ERR_INPUT, "%s: has labels of only %" PRIu64 " streamlines, but the tractogram has more",
                        path, rows);
    if (n != rows && complete)
        return gls_fail(GLS_ERR_INPUT, "%s: has labels of %" PRIu64 " streamlines, but the tractogram has %" PRIu64,
                        path, rows, n);
    return GLS_OK;
}

/* State of the filter. */
typedef struct marker {
    /* the groups, and that of each streamline */
    gls_line_groups groups;
    /* the sink behind the filter; owned */
    gls_sink next;
    /* index of the next streamline, over all batches */
    uint64_t at;
    size_t lines;       /* largest number of streamlines that are passed on at a time */
    uint8_t *member;    /* n_edges x lines: 1 if the streamline is a member of the group */
    uint64_t *offset;   /* offsets of the points of the streamlines that are passed on */
    gls_column *column; /* all columns that are passed on */
    /* number of columns for which `column` has memory */
    size_t n_columns;
} marker;

static void discard(void *user)
{
    marker *m = user;
    gls_sink_abort(&m->next);
    free(m->member);
    free(m->offset);
    free(m->column);
    free(m);
}

/* Sets to[0 .. n - 1] to the columns from[0 .. n - 1] without the rows before `first`. Returns to + n. */
static gls_column *shift(gls_column *to, const gls_column *from, size_t n, uint64_t first)
{
    for (size_t k = 0; k < n; k++) {
        to[k] = from[k];
        to[k].data = (const char *)from[k].data + first * gls_column_row_bytes(&from[k]);
    }
    return to + n;
}

/* Passes on streamlines first .. first + n - 1 of the batch. */
static gls_status send(marker *m, const gls_streamlines *in, size_t first, size_t n)
{
    const uint64_t start = in->offset[first];
    gls_streamlines out = *in;
    out.n = n;
    out.point = in->point + start;
    for (size_t i = 0; i <= n; i++) m->offset[i] = in->offset[first + i] - start;
    out.offset = m->offset;
    memset(m->member, 0, m->groups.n * m->lines);
    for (size_t i = 0; i < n; i++, m->at++) {
        gls_status status = gls_line_labels_require(m->groups.path, m->groups.rows, m->at + 1, false);
        if (status) return status;
        const uint64_t *list = m->groups.first, until = list ? list[m->at + 1] : m->at + 1;
        for (uint64_t k = list ? list[m->at] : m->at; k < until; k++)
            if (m->groups.index[k] < m->groups.n) m->member[m->groups.index[k] * m->lines + i] = 1;
    }
    gls_column *column = m->column;
    out.dps = column;
    column = shift(column, in->dps, in->n_dps, first);
    out.dpv = column;
    column = shift(column, in->dpv, in->n_dpv, start);
    out.group = column;
    column = shift(column, in->group, in->n_groups, first);
    for (size_t k = 0; k < m->groups.n; k++)
        column[k] = (gls_column){m->groups.name[k], GLS_TYPE_BOOL, 1, m->member + k * m->lines};
    out.n_groups += m->groups.n;
    return gls_sink_append(&m->next, &out);
}

/* Passes on a batch in pieces, since membership has a byte for each streamline and group. */
static gls_status append(void *user, const gls_streamlines *in)
{
    marker *m = user;
    const size_t n = in->n_dps + in->n_dpv + in->n_groups + m->groups.n;
    if (!m->column || n > m->n_columns) {
        gls_column *column = realloc(m->column, (n + 1) * sizeof *column);
        if (!column) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
        m->column = column;
        m->n_columns = n;
    }
    gls_status status = GLS_OK;
    for (size_t first = 0; first < in->n && !status; first += m->lines)
        status = send(m, in, first, in->n - first < m->lines ? in->n - first : m->lines);
    return status;
}

/* Requires labels for exactly as many streamlines as have passed. */
static gls_status finish(void *user)
{
    marker *m = user;
    gls_status status = gls_line_labels_require(m->groups.path, m->groups.rows, m->at, true);
    if (!status) status = gls_sink_finish(&m->next);
    discard(m);
    return status;
}

gls_status gls_filter_groups_create(const gls_line_groups *groups, const gls_sink *next, gls_sink *filter)
{
    marker *m = calloc(1, sizeof *m);
    if (!m) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    const size_t lines = ROOM / (groups->n + 1);
    /* choose the number of streamlines of a piece: as many as ROOM allows, within limits */
    m->lines = lines < 64 ? 64 : lines > 16384 ? 16384 : lines;
    m->groups = *groups;
    m->member = malloc(m->lines * groups->n + 1);
    m->offset = malloc((m->lines + 1) * sizeof *m->offset);
    if (!m->member || !m->offset) {
        discard(m);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    }
    m->next = *next;
    *filter = (gls_sink){append, finish, discard, m};
    return GLS_OK;
}
