/* Parts of connectomes: the regions of an image of labels, and the assignment of streamlines to them. */
#ifndef GLS_TRACTS_CONNECTOME_PARTS_H
#define GLS_TRACTS_CONNECTOME_PARTS_H

#include <glslines/connectome.h>

#include "tracts/visits.h"

/* --- The regions. They are numbered from 1. */

/* The regions of an image of labels, numbered from 1 in the order of labels. */
typedef struct gls_nodes {
    /* grid of the image of labels */
    gls_grid grid;
    /* number of regions */
    size_t n;
    int32_t *voxel;      /* for each voxel the number of its region, from 1; 0: none */
    int32_t *label;      /* label[i]: label of region i + 1 */
    uint64_t *volume;    /* volume[r]: number of voxels of region r */
    double (*centre)[3]; /* centre[r]: sum of the voxel coordinates of region r */
} gls_nodes;

/* Finds the regions by raw_labels and rows of the options. name: for messages. GLS_ERR_INPUT: a value is not a label.
 * Call gls_nodes_finish() even after a failure. */
gls_status gls_nodes_init(gls_nodes *nodes, const gls_labels *labels, const char *name,
                          const gls_connectome_options *o);
/* Frees the arrays. */
void gls_nodes_finish(gls_nodes *nodes);

/* --- Assignment of streamlines to regions. */

typedef struct gls_assigner gls_assigner;

/* Creates an assigner by the options. node: for each voxel of the grid the number of its region, 0: none; borrowed
 * until the assigner is destroyed. */
gls_status gls_assigner_create(const gls_grid *grid, const int32_t *node, const gls_connectome_options *options,
                               gls_assigner **assigner);
/* Frees `assigner`, which may be NULL. */
void gls_assigner_destroy(gls_assigner *assigner);
/* Finds the numbers of the regions of the first and the last of n >= 1 points; 0: none. Safe from several threads. Not
 * for GLS_ASSIGN_ALL. */
void gls_assign_ends(gls_assigner *assigner, const float (*point)[3], size_t n, int32_t pair[2]);

/* Regions of one streamline. Each thread needs its own. All zero: empty. */
typedef struct gls_assign_scratch {
    /* voxels of the current streamline */
    gls_visits visits;
    /* n regions found, in node[0 .. n - 1] */
    size_t n, capacity;
    /* numbers of the regions, ascending */
    int32_t *node;
    bool failed; /* memory ran out */
} gls_assign_scratch;
/* For GLS_ASSIGN_ALL: stores all regions that the streamline meets, ascending, in scratch->node. */
void gls_assign_all(const gls_assigner *assigner, gls_assign_scratch *scratch, const float (*point)[3], size_t n);
/* Frees the arrays. */
void gls_assign_scratch_finish(gls_assign_scratch *scratch);

#endif
