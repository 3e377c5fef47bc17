/* Fields of ODFs as storage buffers, in half precision, for getters that look up single directions (ptt). */
#ifndef GLS_TRACK_FIELD_CELLS_H
#define GLS_TRACK_FIELD_CELLS_H

#include <glslines/device.h>
#include <glslines/image.h>

#include "track/field/field.h"

extern const gls_field_kind gls_field_cells;
/* Makes the plan for n directions. smaller: 0, or what shrink() returned for the plan before. Single values are planned
 * only if `smaller` asks for them. Returns false if the device has no room; then use textures. */
bool gls_cells_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, int smaller, gls_field_plan *plan);
/* Like gls_cells_plan(), but plans the form of cells that takes the least memory: each value is stored alone, not
 * together with values of neighbouring voxels. Kernels read this form more slowly. It often takes half of the memory of
 * textures. */
bool gls_cells_plan_singles(const gls_grid *grid, size_t n, const gls_device_info *limits, gls_field_plan *plan);
extern const gls_field_kind gls_field_texels;
/* Makes the plan for n channels, rounded up to whole texels, in half precision or as floats. Returns false if the
 * device's largest buffer of texels is too small. */
bool gls_texels_plan(const gls_grid *grid, size_t n, bool floats, const gls_device_info *limits, gls_field_plan *plan);

#endif
