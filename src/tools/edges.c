/* Pairs of labels that streamlines join, from a file of assignments: selects streamlines, and makes groups. */
#include "tools/edges.h"
#include "streamlines/filter_groups.h"
#include "tools/tract_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* largest file of assignments, bytes */
#define MAX_BYTES ((size_t)1 << 33)

/* Reads the label at *at, and moves *at behind the label and the blanks and commas after it. */
static bool parse_label(char **at, int32_t *label)
{
    char *end;
    long value = strtol(*at, &end, 10);
    if (end == *at || value < 0 || value > INT32_MAX) return false;
    *label = (int32_t)value;
    *at = end + strspn(end, " ,\t\r");
    return true;
}

/* Parses the labels of a streamline. pair: its two labels, the smaller first; 0 0: there are not exactly two labels, or
 * one of them is 0. Returns false if the line is no list of labels. */
static bool parse_line(char *line, int32_t pair[2])
{
    int32_t label[3] = {0};
    int n = 0;
    for (char *at = line + strspn(line, " ,\t\r"); *at; n++)
        if (!parse_label(&at, &label[n < 2 ? n : 2])) return false;
    pair[0] = pair[1] = 0;
    /* a line of one label, or of three or more, is a list, too; an empty line is none */
    if (n != 2 || label[0] == 0 || label[1] == 0) return n > 0;
    pair[0] = label[0] < label[1] ? label[0] : label[1];
    pair[1] = label[0] < label[1] ? label[1] : label[0];
    return true;
}

gls_status gls_tract_edges_read(gls_tract_edges *e, const char *path)
{
    char *text = NULL;
    size_t size = 0, capacity = 0;
    *e = (gls_tract_edges){.n = 0};
    if (!path) return GLS_OK;
    gls_status status = gls_file_read_text(path, MAX_BYTES, &text, &size);
    for (char *rest = text, *line; !status && (line = strsep(&rest, "\n"));) {
        /* skip comments, and the empty line behind the last line end */
        if (*line == '#' || (!*line && !rest)) continue;
        if (e->n == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            int32_t(*pair)[2] = realloc(e->pair, capacity * sizeof *pair);
            if (!pair) {
                status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
                break;
            }
            e->pair = pair;
        }
        if (parse_line(line, e->pair[e->n]))
            e->n++;
        else
            status =
                gls_fail(GLS_ERR_INPUT, "%s: the line of streamline %" PRIu64 " (counted from 0) is no list of labels",
                         path, e->n);
    }
    free(text);
    return status;
}

gls_status gls_tract_edges_select(const gls_tract_edges *e, const gls_strings *pairs, uint64_t **id, size_t *n)
{
    int32_t wanted[GLS_MAX_STRINGS][2];
    for (int k = 0; k < pairs->n; k++) {
        char *at = (char *)pairs->value[k];
        if (!parse_label(&at, &wanted[k][0]) || !parse_label(&at, &wanted[k][1]) || *at || !wanted[k][0] ||
            !wanted[k][1])
            return gls_fail(GLS_ERR_ARGUMENT, "--connect %s: must be two labels above 0, as in 3,7", pairs->value[k]);
        /* store the labels in ascending order, as in the pairs of the file */
        if (wanted[k][0] > wanted[k][1]) {
            int32_t keep = wanted[k][0];
            wanted[k][0] = wanted[k][1];
            wanted[k][1] = keep;
        }
    }
    *id = malloc((e->n + 1) * sizeof **id);
    if (!*id) return gls_fail(GLS_ERR_MEMORY, "out of memory for streamlines");
    *n = 0;
    for (uint64_t i = 0; i < e->n; i++)
        for (int k = 0; k < pairs->n; k++)
            if (e->pair[i][0] == wanted[k][0] && e->pair[i][1] == wanted[k][1]) {
                (*id)[(*n)++] = i;
                break;
            }
    return GLS_OK;
}

/* Comparison for qsort() and bsearch(): by the first label, then by the second. */
static int by_pair(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    if (x[0] != y[0]) return (x[0] > y[0]) - (x[0] < y[0]);
    return (x[1] > y[1]) - (x[1] < y[1]);
}

gls_status gls_tract_edges_number(gls_tract_edges *e, uint64_t min_count)
{
    int32_t(*sorted)[2] = malloc((e->n + 1) * sizeof *sorted);
    size_t n = 0;
    e->edge = malloc((e->n + 1) * sizeof *e->edge);
    if (!sorted || !e->edge) {
        free(sorted);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    }
    if (e->n > 0) memcpy(sorted, e->pair, e->n * sizeof *sorted);
    /* sort, so that equal pairs become neighbours */
    qsort(sorted, e->n, sizeof *sorted, by_pair);
    for (uint64_t i = 0, next; i < e->n; i = next) {
        for (next = i + 1; next < e->n && by_pair(sorted[i], sorted[next]) == 0;) next++;
        if (sorted[i][0] > 0 && next - i >= min_count) memcpy(sorted[n++], sorted[i], sizeof *sorted);
    }
    e->name = n <= GLS_MAX_EDGES ? calloc(n + 1, sizeof *e->name) : NULL;
    gls_status status = n > GLS_MAX_EDGES ? gls_fail(GLS_ERR_UNSUPPORTED,
                                                     "--edges-to-groups: there are %zu pairs of labels, but at most %d "
                                                     "groups can be written: raise --min-count",
                                                     n, GLS_MAX_EDGES)
                        : e->name         ? GLS_OK
                                          : gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    for (; e->n_edges < n && !status; e->n_edges++)
        if (gls_asprintf(&e->name[e->n_edges], "%d-%d", sorted[e->n_edges][0], sorted[e->n_edges][1]) < 0)
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    for (uint64_t i = 0; i < e->n && !status; i++) {
        int32_t(*found)[2] = bsearch(e->pair[i], sorted, n, sizeof *sorted, by_pair);
        /* an index equal to the number of groups means no group */
        e->edge[i] = found ? (uint32_t)(found - sorted) : (uint32_t)n;
    }
    free(sorted);
    return status;
}

void gls_tract_edges_finish(gls_tract_edges *e)
{
    for (size_t k = 0; k < e->n_edges; k++) free(e->name[k]);
    free(e->name);
    free(e->edge);
    free(e->pair);
    *e = (gls_tract_edges){.n = 0};
}

gls_status gls_tract_edges_sink(const gls_tract_edges *edges, const char *path, gls_sink *sink)
{
    const gls_line_groups groups = {(const char *const *)edges->name, edges->n_edges, edges->edge, edges->n, path};
    const gls_sink next = *sink;
    return gls_filter_groups_create(&groups, &next, sink);
}
