/* Regions, for tracking and for filters of streamlines: reading a region, and looking up which regions a position lies
 * in. */
#ifndef GLS_IMAGE_REGION_STORE_H
#define GLS_IMAGE_REGION_STORE_H

#include <glslines/regions.h>

#include "image/region_store_parts.h"
#include "util/maths.h"

/* Makes an empty store. Call gls_region_store_finish() even after a failure, which is GLS_ERR_MEMORY. */
gls_status gls_region_store_init(gls_region_store *store, double slack);
/* Frees the layers and the sets. The store may be zeroed. */
void gls_region_store_finish(gls_region_store *store);
/* Whether two grids are equal. slack: see gls_region_store. */
bool gls_region_same_grid(const gls_grid *a, const gls_grid *b, double slack);
/* Index of the layer with this grid; n_layers: the store has none. */
size_t gls_region_store_find(const gls_region_store *store, const gls_grid *grid);
/* Adds an area as the region with index `region`. *layer: index of the layer that holds this region. Returns false if
 * memory ran out. */
bool gls_region_store_add(gls_region_store *store, const gls_region_area *area, uint32_t region, size_t *layer);
/* Index, in the store, of the set of all regions of this layer that contain a point, world mm; 0: the set without
 * regions. */
uint32_t gls_region_layer_at(const gls_region_layer *layer, const float point[3]);

#endif
