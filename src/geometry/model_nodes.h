/* Nodes along a model bundle, to which the points of bundles of many subjects are assigned. */
#ifndef GLS_GEOMETRY_MODEL_NODES_H
#define GLS_GEOMETRY_MODEL_NODES_H

#include <glslines/clusters.h>

#include "geometry/atlas.h"

/* Largest number of nodes of a model. */
#define GLS_MODEL_NODES GLS_CLUSTER_MAX_POINTS

/* Numbers of streamlines from which nodes were made. */
typedef struct gls_model_nodes {
    uint64_t streamlines; /* of the model */
    uint64_t used;        /* of its largest cluster, whose centroid the nodes are */
} gls_model_nodes;

/* Finds n nodes along a model, world mm: the centroid of the largest of its clusters of 85 mm, as BUAN (Chandio et al.
 * 2020) takes the centroid of all. NaN: the model has no streamlines. reading: how it is read. */
gls_status gls_model_nodes_find(const gls_atlas_bundle *model, const gls_tractogram_read_options *reading, uint32_t n,
                                double (*node)[3], gls_model_nodes *info);

#endif
