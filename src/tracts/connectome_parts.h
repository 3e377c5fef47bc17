/* Labelled regions, and which of them streamlines connect. */
#ifndef GLS_TRACTS_CONNECTOME_PARTS_H
#define GLS_TRACTS_CONNECTOME_PARTS_H

#include <glslines/connectome.h>

#include "tracts/visits.h"

/* --- The regions of an image of labels. */

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

/* --- Which labelled regions the ends of streamlines belong to. */

typedef struct gls_assigner gls_assigner;

/* node: for each voxel of the grid its region from 1, 0: none; borrowed. */
gls_status gls_assigner_create(const gls_grid *grid, const int32_t *node, const gls_connectome_options *options,
                               gls_assigner **assigner);
/* Accepts NULL. */
void gls_assigner_destroy(gls_assigner *assigner);
/* The regions of both ends of n >= 1 points, 0: none. Any number of threads. Not for GLS_ASSIGN_ALL. */
void gls_assign_ends(gls_assigner *assigner, const float (*point)[3], size_t n, int32_t pair[2]);

/* Room for the regions of one streamline; one for each thread. */
typedef struct gls_assign_scratch {
    gls_visits visits;
    size_t n, capacity;
    int32_t *node;
    bool failed; /* out of memory */
} gls_assign_scratch;
/* GLS_ASSIGN_ALL: all regions that the streamline meets, ascending. */
void gls_assign_all(const gls_assigner *assigner, gls_assign_scratch *scratch, const float (*point)[3], size_t n);
void gls_assign_scratch_finish(gls_assign_scratch *scratch);

#endif
