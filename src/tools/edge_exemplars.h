/* Exemplars of the edges of a connectome: collects the mean of the streamlines of each edge, then makes a line for it.
 */
#ifndef GLS_TOOLS_EDGE_EXEMPLARS_H
#define GLS_TOOLS_EDGE_EXEMPLARS_H

#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include "tools/edge_sets.h"
#include "tools/edges.h"
#include "tracts/label_nodes.h"

/* Exemplars of edges. All zero is empty. */
typedef struct gls_edge_exemplars {
    const gls_tract_lists *lists; /* labels of the streamlines that are read; borrowed, as sets */
    const gls_edge_sets *sets;    /* edges of these streamlines */
    gls_nodes nodes;              /* regions of the image of labels, with their centres */
    const char *weights;          /* column of weights; NULL: 1 */
    double step;                  /* distance of the points of a line, mm */
    size_t n_points;              /* points of a mean */
    double (*sum)[3];             /* for each edge its weighted sum, n_points points */
    double *weight;               /* for each edge the sum of weights, and the number of streamlines */
    uint64_t *count;
    uint64_t at; /* number of streamlines that were read */
    /* the lines: points, offsets, their columns, and their labels, by which they are sorted into sets */
    float (*point)[3];
    uint64_t *offset;
    int32_t (*edge)[2];
    double *line_weight;
    uint64_t *line_count;
    size_t n, capacity, point_capacity, edge_capacity, weight_capacity, count_capacity;
    gls_column column[3];
} gls_edge_exemplars;

/* Reads the image of labels. step: 0: that of the header of the tractogram, else 1 mm. weights: name of a column.
 * info: header of the tractogram, of which max_dist and the step give the number of points of a mean, as in
 * connectome2tck. Call gls_edge_exemplars_finish() also after a failure. */
gls_status gls_edge_exemplars_init(gls_edge_exemplars *exemplars, const gls_tract_lists *lists,
                                   const gls_edge_sets *sets, const char *labels, double step, const char *weights,
                                   const gls_tractogram_info *info);
/* The sink that collects the means. Finishing or aborting it does nothing. */
gls_sink gls_edge_exemplars_sink(gls_edge_exemplars *exemplars);
/* Makes the lines, in ascending order of their labels. all: also a straight line for each other pair of regions that
 * the choice wants. *lines: borrowed. lists: gets the labels of each line. */
gls_status gls_edge_exemplars_lines(gls_edge_exemplars *exemplars, const gls_edge_choice *choice, bool all,
                                    gls_streamlines *lines, gls_tract_lists *lists);
/* Frees everything. */
void gls_edge_exemplars_finish(gls_edge_exemplars *exemplars);

#endif
