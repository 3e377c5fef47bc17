/* Fields as tiled 3D textures, sampled by the texture unit: for shaders that need all channels at one place. */
#ifndef GLS_TRACK_FIELD_TEXTURES_H
#define GLS_TRACK_FIELD_TEXTURES_H

#include "track/field/field.h"
#include "util/text.h"

extern const gls_field_kind gls_field_textures;

/* The plan for n_channels in a format of four channels or one, in n_units texture units at most. GLS_ERR_UNSUPPORTED
 * with the numbers where even all of them cannot hold the field. */
gls_status gls_textures_plan(const gls_grid *grid, uint32_t n_channels, gls_texture_format format,
                             const gls_device_info *limits, uint32_t n_units, gls_field_plan *plan);
/* TILES(texture, tiles in it, first channel) for every texture. */
void gls_textures_rows(gls_text *out, const gls_field_plan *plan);

#endif
