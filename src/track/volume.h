/* A grid of voxels with many channels as tiled 3D textures. */
#ifndef GLS_TRACK_VOLUME_H
#define GLS_TRACK_VOLUME_H

#include <glslines/device.h>
#include <glslines/image.h>

#define GLS_VOLUME_MAX_TEXTURES 15

/* Where the tiles of four channels each lie; a pure function of the grid, the number of tiles and the device's limits. Tile t of a texture starts at texel
 * (t / per_column * dim[0], 0, t % per_column * dim[2]). */
typedef struct gls_volume_plan {
    uint32_t n_tiles;
    uint32_t n_textures;
    uint32_t tiles_per_texture; /* the last texture may hold fewer */
    uint32_t per_column;
    uint32_t texture_size[3];
    gls_texture_format format;
    uint64_t bytes;
} gls_volume_plan;

typedef struct gls_volume {
    gls_device *device;
    gls_volume_plan plan;
    gls_texture *texture[GLS_VOLUME_MAX_TEXTURES];
} gls_volume;

/* GLS_ERR_UNSUPPORTED with the numbers where even all textures cannot hold the volume. */
gls_status gls_volume_plan_make(const gls_grid *grid, uint32_t n_tiles, gls_texture_format format, const gls_device_info *limits, gls_volume_plan *plan);
gls_status gls_volume_create(gls_device *device, const gls_volume_plan *plan, const char *label, gls_volume *volume);
void gls_volume_finish(gls_volume *volume);
/* The power of two that brings largest to at most maximum: values keep their digits, whatever else an image holds. 1 for largest <= 0. */
float gls_volume_scale(float largest, float maximum);
/* Writes slice z of all tiles from one row of voxels (x fastest) for each of the 4 n_tiles channels, into volumes of the same grid and number of tiles, each on a device of its
 * own. texels: room for as many values as rows. *failed tells which volume a failure is of. */
gls_status gls_volume_write_slice(gls_volume *const *volumes, size_t n_volumes, const gls_grid *grid, uint32_t z, const float *rows, float *texels, size_t *failed);

#endif
