/* A grid of voxels with many channels as tiled 3D textures: a tile holds four channels, or one in formats of one
 * channel. */
#ifndef GLS_TRACK_FIELD_VOLUME_H
#define GLS_TRACK_FIELD_VOLUME_H

#include <glslines/device.h>
#include <glslines/image.h>

#define GLS_VOLUME_MAX_TEXTURES 15
#define GLS_CELL_BUFFERS 4

/* Where the tiles lie; a pure function of the grid, the number of channels and the device's limits. The grid is cut
 * along x into strips, each of which begins with the last plane of the one before, so that a sample needs one strip
 * alone. Voxel (x, y, z) of strip s, in tile t of its texture, is texel (t * strip_width + x - s * strip_step, y, s *
 * dim[2] + z): all tiles of a place lie side by side, for the sake of caches. */
typedef struct gls_volume_plan {
    uint32_t n_tiles, tile_channels;
    uint32_t n_textures;
    uint32_t tiles_per_texture; /* the last texture may hold fewer */
    uint32_t n_strips, strip_width, strip_step;
    uint32_t texture_size[3];
    gls_texture_format format;
    uint64_t bytes;
    /* buffers instead, see cells.h: no textures, a tile for each direction */
    uint32_t cell_corners;                                  /* 2 or 8; 0: textures */
    uint32_t n_cell_buffers, cell_layers, last_cell_layers; /* layers of voxels in each buffer, and in the last */
} gls_volume_plan;

typedef struct gls_volume {
    gls_device *device;
    gls_volume_plan plan;
    gls_texture *texture[GLS_VOLUME_MAX_TEXTURES];
    gls_buffer *cells[GLS_CELL_BUFFERS];
} gls_volume;

/* GLS_ERR_UNSUPPORTED with the numbers where even all textures cannot hold the volume. */
gls_status gls_volume_plan_make(const gls_grid *grid, uint32_t n_channels, gls_texture_format format,
                                const gls_device_info *limits, gls_volume_plan *plan);
gls_status gls_volume_create(gls_device *device, const gls_volume_plan *plan, const char *label, gls_volume *volume);
void gls_volume_finish(gls_volume *volume);
/* The power of two that brings largest to at most maximum: values keep their digits, whatever else an image holds. 1
 * for largest <= 0. */
float gls_volume_scale(float largest, float maximum);

enum { GLS_VOLUME_BLOCK = 64 };
/* Gives the channels of voxels first .. first + count - 1 of the grid (x fastest), of which there are GLS_VOLUME_BLOCK
 * at most: rows[c * GLS_VOLUME_BLOCK + i] for each channel c of all tiles. Called from many threads; scratch is the
 * caller's own. Both are 64-byte aligned. */
typedef void (*gls_volume_block)(const void *user, size_t first, size_t count, float *rows, float *scratch);
/* Fills all tiles of volumes of the same grid, channels and format, each on a device of its own: on all cores, in one
 * pass over the grid. n_scratch: floats that block() asks for. *failed tells which volume a failure is of, and stays as
 * it was for one of the host. */
gls_status gls_volume_fill(gls_volume *const *volumes, size_t n, const gls_grid *grid, gls_volume_block block,
                           const void *user, size_t n_scratch, size_t *failed);

#endif
