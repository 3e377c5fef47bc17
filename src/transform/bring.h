/* Images of another space, brought to the space of streamlines. Each function does nothing if the transform is NULL or
 * has no step. A chain of affine maps moves the grid, and no value changes. A chain that begins with a field gives the
 * grid of the field, cut into voxels no longer than those of the image, by at most 4 along each axis; each voxel gets
 * its value by one look at the original, and 0 where the chain has no place. GLS_ERR_INPUT: a field comes later in the
 * chain, so that no grid of the fixed space is known, or nothing of the image comes over. name: file of the image, for
 * messages. */
#ifndef GLS_TRANSFORM_BRING_H
#define GLS_TRANSFORM_BRING_H

#include <glslines/labels.h>

#include "image/region_store_parts.h"
#include "transform/resample.h"

/* Replaces *labels, which lie in the moving space of the transform, by labels in its fixed space: those of the nearest
 * voxel. */
gls_status gls_labels_bring(gls_labels **labels, const gls_transform *transform, const char *name);
/* Brings a region, by the nearest voxel; spheres stay as they are. */
gls_status gls_region_area_bring(gls_region_area *area, const gls_transform *transform, const char *name);
/* Brings an image of values. fill: value where the transform has no place in it. */
gls_status gls_image_bring(gls_image **image, const gls_transform *transform, gls_resampling how, float fill,
                           const char *name);
/* Reads a mask and brings it to `grid`, by the nearest voxel; without a transform this is gls_image_read_mask(). */
gls_status gls_mask_bring(const gls_grid *grid, const char *name_of_grid, const char *path,
                          const gls_transform *transform, gls_image **mask);
/* Hash of the maps and fields of a chain; 0: it has no step. */
uint64_t gls_transform_hash(const gls_transform *transform);

#endif
