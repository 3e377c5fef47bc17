/* The regions of an image of labels. */
#ifndef GLS_TRACTS_NODES_H
#define GLS_TRACTS_NODES_H

#include <glslines/connectome.h>

typedef struct gls_nodes {
    gls_grid grid;
    size_t n;
    int32_t *voxel;      /* region of each voxel from 1, 0: none */
    int32_t *label;      /* of each region, from 0 */
    uint64_t *volume;    /* voxels of each, from 1 */
    double (*centre)[3]; /* of each, from 1: sum of voxel coordinates */
} gls_nodes;

/* Those labels that occur, ascending, or, raw, all from 1 to the largest. Finish it even after a failure. */
gls_status gls_nodes_init(gls_nodes *nodes, const gls_image *labels, const char *name, bool raw);
void gls_nodes_finish(gls_nodes *nodes);
/* mm3 of a voxel. */
double gls_nodes_voxel_volume(const gls_nodes *nodes);

#endif
