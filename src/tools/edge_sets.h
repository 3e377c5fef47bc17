/* Sorts the streamlines of a connectome into sets: those of each edge, of each node, or all that are wanted. */
#ifndef GLS_TOOLS_EDGE_SETS_H
#define GLS_TOOLS_EDGE_SETS_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

#include "image/label_ranges.h"
#include "tools/edges.h"

typedef enum gls_edge_set_kind {
    GLS_SETS_EDGES, /* a set for each pair of labels */
    GLS_SETS_NODES, /* a set for each label, of the streamlines that have it */
    GLS_SETS_ONE    /* one set of all that are wanted */
} gls_edge_set_kind;

/* A choice of edges and their streamlines, see the options of `glslines edges`. */
typedef struct gls_edge_choice {
    gls_edge_set_kind kind;
    gls_label_ranges nodes; /* empty: all labels from 1 on */
    bool exclusive, keep_self, keep_unassigned;
    uint64_t min_count; /* sets of fewer streamlines are left out */
} gls_edge_choice;

/* Reasons for which a streamline belongs to no set. */
typedef enum gls_edge_reason {
    GLS_EDGE_UNASSIGNED, /* an end is in no region */
    GLS_EDGE_SELF,       /* both ends are in the same region, and keep_self is not set */
    GLS_EDGE_OUTSIDE,    /* no end is in a region of `nodes` */
    GLS_EDGE_NOT_ALL,    /* exclusive: not all ends are in regions of `nodes` */
    GLS_EDGE_N_REASONS
} gls_edge_reason;

/* Largest number of sets that can be groups of a file. */
#define GLS_MAX_EDGES 65535

/* Sets of streamlines, in ascending order of their labels. All zero is empty. */
typedef struct gls_edge_sets {
    size_t n;
    int32_t (*label)[2]; /* both labels of an edge, the smaller first; a label twice for a node; 0 for GLS_SETS_ONE */
    char **name;         /* such as "3-7" or "3" */
    uint64_t rows;       /* number of streamlines */
    uint64_t *first;     /* rows + 1 elements: where the sets of each streamline begin in of[] */
    uint32_t *of;
    uint64_t left[GLS_EDGE_N_REASONS]; /* number of streamlines in no set, by the reason */
} gls_edge_sets;

/* Sorts the streamlines of `lists`. Where each has two labels, one whose labels are equal belongs to the node and to
 * the edge with itself, with keep_self. Else a streamline of several labels belongs to each pair of them, with
 * keep_self also to each label with itself, as in the matrix of --assign all. Call gls_edge_sets_finish() also after a
 * failure. */
gls_status gls_edge_sets_make(const gls_tract_lists *lists, const gls_edge_choice *choice, gls_edge_sets *sets);
/* Puts a filter in front of *sink that adds a group for each set. The sets must outlive it. path: for messages. The
 * filter fails with GLS_ERR_INPUT if the number of streamlines differs. */
gls_status gls_edge_sets_groups(const gls_edge_sets *sets, const char *path, gls_sink *sink);
/* Frees everything. */
void gls_edge_sets_finish(gls_edge_sets *sets);

#endif
