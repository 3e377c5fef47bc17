/* Pairs of labels that streamlines join, from a file of assignments: for selecting them, and as groups. */
#ifndef GLS_WORKFLOW_TRACTS_EDGES_H
#define GLS_WORKFLOW_TRACTS_EDGES_H

#include "workflow/tracts/job.h"

#define GLS_MAX_EDGES 65535

typedef struct gls_tract_edges {
    uint64_t n;         /* streamlines */
    int32_t (*pair)[2]; /* of each, the smaller label first; 0: none, or more than two */
    size_t n_edges;
    uint32_t *edge; /* of each streamline, n_edges: none */
    char **name;    /* of edges: "3-7" */
} gls_tract_edges;

/* A line of labels for each streamline; NULL path: nothing. Finish it after a failure, too. */
gls_status gls_tract_edges_read(gls_tract_edges *edges, const char *path);
/* Places of the streamlines that join one of these pairs "A,B", ascending, from malloc. */
gls_status gls_tract_edges_select(const gls_tract_edges *edges, const gls_strings *pairs, uint64_t **id, size_t *n);
/* Numbers and names the pairs of at least min_count streamlines, in ascending order. GLS_ERR_UNSUPPORTED: more than
 * GLS_MAX_EDGES. */
gls_status gls_tract_edges_number(gls_tract_edges *edges, uint64_t min_count);
/* Puts a filter in front of sink that adds a group for each pair; the edges have to outlive it. GLS_ERR_INPUT: more or
 * fewer streamlines than lines. */
gls_status gls_tract_edges_sink(const gls_tract_edges *edges, const char *path, gls_sink *sink);
void gls_tract_edges_finish(gls_tract_edges *edges);

#endif
