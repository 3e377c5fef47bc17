/* Numbers the labels of an image as regions of a connectome, and measures their volumes and centres. */
#ifndef GLS_TRACTS_LABEL_NODES_H
#define GLS_TRACTS_LABEL_NODES_H

#include <glslines/common.h>
#include <glslines/connectome.h>
#include <glslines/image.h>
#include <glslines/labels.h>

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

#endif
