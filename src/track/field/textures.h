/* Fields as 3D textures: tiles of channels side by side along x, strips of the grid one behind the other along z, see
 * gls_field_plan in field.h. */
#ifndef GLS_TRACK_FIELD_TEXTURES_H
#define GLS_TRACK_FIELD_TEXTURES_H

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/image.h>

#include "track/field/field.h"

/* Destroys the textures and buffers and sets the field to 0. A field that is 0 is accepted. */
void gls_field_finish(gls_field *field);
/* Fills n fields of any kinds. *failed: index of the field that failed; unchanged if the host failed. */
gls_status gls_field_fill(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                          size_t *failed);
/* Returns the largest power of two that scales `largest` to at most `maximum`; 1 if largest <= 0. A power of two leaves
 * all digits of values as they are. */
float gls_field_scale(float largest, float maximum);
extern const gls_field_kind gls_field_textures;
/* Makes the plan for n_channels in `format` (four channels or one) and at most n_units texture units.
 * GLS_ERR_UNSUPPORTED if the field does not fit. */
gls_status gls_textures_plan(const gls_grid *grid, uint32_t n_channels, gls_texture_format format,
                             const gls_device_info *limits, uint32_t n_units, gls_field_plan *plan);

#endif
