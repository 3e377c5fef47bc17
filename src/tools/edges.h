/* Pairs of labels that streamlines join, from a file of assignments: selects streamlines, and makes groups. */
#ifndef GLS_TOOLS_EDGES_H
#define GLS_TOOLS_EDGES_H

#include <glslines/common.h>
#include <glslines/params_fields.h>
#include <glslines/streamlines.h>

/* The pair of labels that each streamline of a file joins. */
typedef struct gls_tract_edges {
    uint64_t n;         /* number of streamlines */
    int32_t (*pair)[2]; /* labels of each streamline, the smaller first; 0 0: it has not exactly two labels, or one of
                           them is 0 */
    size_t n_edges;
    uint32_t *edge; /* index of each streamline's pair in name[]; n_edges: its pair has no name */
    char **name;    /* names of the n_edges numbered pairs, such as "3-7" */
} gls_tract_edges;

/* Reads a file with one line of labels for each streamline. path NULL: nothing. Call gls_tract_edges_finish() also
 * after a failure. */
gls_status gls_tract_edges_read(gls_tract_edges *edges, const char *path);
/* Sets *id to the indices, ascending, of the streamlines that join one of the pairs "A,B", and *n to their number. *id
 * comes from malloc. */
gls_status gls_tract_edges_select(const gls_tract_edges *edges, const gls_strings *pairs, uint64_t **id, size_t *n);
/* Numbers and names, in ascending order, the pairs with at least min_count streamlines. GLS_ERR_UNSUPPORTED: more than
 * GLS_MAX_EDGES. */
gls_status gls_tract_edges_number(gls_tract_edges *edges, uint64_t min_count);
/* Puts a filter that adds a group for each numbered pair in front of *sink. edges must outlive the sink. path: for
 * messages. The filter fails with GLS_ERR_INPUT if there are more or fewer streamlines than lines. */
gls_status gls_tract_edges_sink(const gls_tract_edges *edges, const char *path, gls_sink *sink);
/* Frees everything. */
void gls_tract_edges_finish(gls_tract_edges *edges);

#endif
