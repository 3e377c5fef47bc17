/* Images of labels of another space, brought to the space of streamlines. */
#ifndef GLS_TRANSFORM_BRING_H
#define GLS_TRANSFORM_BRING_H

#include <glslines/labels.h>

#include "transform/transform.h"

/* Replaces *labels, which lie in the moving space of the transform, by labels in its fixed space. A chain of affine
 * maps moves the grid, and no label changes. A chain that begins with a field gives the grid of the field, cut into
 * voxels no longer than those of the labels, by at most 4 along each axis; each voxel gets the label of the nearest
 * voxel, and 0 where the chain has no place. GLS_ERR_INPUT: a field comes later in the chain, so that no grid of the
 * fixed space is known, or no label comes over. name: file of the labels, for messages. */
gls_status gls_labels_bring(gls_labels **labels, const gls_transform *transform, const char *name);

#endif
