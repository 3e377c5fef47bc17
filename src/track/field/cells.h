/* Fields of ODFs as buffers, for shaders that look up one direction at a time: for each voxel and direction the value
 * there and those of neighbours; see glsl/odf/cells.glsl. */
#ifndef GLS_TRACK_FIELD_CELLS_H
#define GLS_TRACK_FIELD_CELLS_H

#include <glslines/sphere.h>

#include "track/field/field.h"

extern const gls_field_kind gls_field_cells;

/* The plan for n directions, smaller: 0, or what shrink() said; false where the device has no room for them and
 * textures have to do. */
bool gls_cells_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, int smaller, gls_field_plan *plan);
/* The same with the least memory: slower than pairs, but often half of what textures take. */
bool gls_cells_plan_singles(const gls_grid *grid, size_t n, const gls_device_info *limits, gls_field_plan *plan);
/* place[v]: that of vertex v among a voxel's directions, so that near ones lie near each other. False if memory ran
 * out. */
bool gls_cells_order(const gls_sphere *sphere, uint32_t *place);

#endif
