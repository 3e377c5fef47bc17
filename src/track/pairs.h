/* A buffer of ODFs for lookups one direction at a time; see glsl/pairs.glsl. */
#ifndef GLS_TRACK_PAIRS_H
#define GLS_TRACK_PAIRS_H

#include <glslines/device.h>
#include <glslines/sphere.h>

#include "track/volume.h"

/* The plan of a volume of pairs for n directions; false where the device has no room for them and textures have to do. */
bool gls_pairs_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, gls_volume_plan *plan);
/* slot[v]: the place of vertex v among a voxel's directions, so that near ones lie near each other. False if memory ran out. */
bool gls_pairs_order(const gls_sphere *sphere, uint32_t *slot);
/* Fills buffers of the same grid and n directions, each on a device of its own, with what block() gives (as for gls_volume_fill()). */
gls_status gls_pairs_fill(gls_buffer *const *buffers, size_t n_buffers, const gls_grid *grid, size_t n, const uint32_t *slot, gls_volume_block block, const void *user,
                          size_t n_scratch, size_t *failed);

#endif
