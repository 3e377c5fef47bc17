/* Buffers of ODFs for lookups one direction at a time: for each voxel and direction the value there and those of
 * neighbours; see glsl/cells.glsl. */
#ifndef GLS_TRACK_FIELD_CELLS_H
#define GLS_TRACK_FIELD_CELLS_H

#include <glslines/device.h>
#include <glslines/sphere.h>

#include "track/field/volume.h"

/* The plan of such buffers for n directions, small: no whole cells; false where the device has no room for them and
 * textures have to do. */
bool gls_cells_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, bool small, gls_volume_plan *plan);
gls_status gls_cells_create(gls_device *device, const gls_volume_plan *plan, const char *label, gls_volume *volume);
/* slot[v]: the place of vertex v among a voxel's directions, so that near ones lie near each other. False if memory ran
 * out. */
bool gls_cells_order(const gls_sphere *sphere, uint32_t *slot);
/* Fills buffers of the same grid and n directions, each on a device of its own, with what block() gives (as for
 * gls_volume_fill()). */
gls_status gls_cells_fill(gls_volume *const *volumes, size_t n_volumes, const gls_grid *grid, size_t n,
                          const uint32_t *slot, gls_volume_block block, const void *user, size_t n_scratch,
                          size_t *failed);

#endif
