/* Fields: the values that kernels read at positions in a grid of voxels, on a device, as 3D textures or as buffers. */
#ifndef GLS_TRACK_FIELD_FIELD_H
#define GLS_TRACK_FIELD_FIELD_H

#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/sphere.h>

#include "track/shader/kernel_inputs.h"
#include "util/text.h"

/* --- A field is a grid of voxels on a device, with one or more channels in each voxel. Each kind of field has its
 * functions in a gls_field_kind. */

/* Largest number of textures, and of buffers, over which a field may be divided. */
#define GLS_FIELD_MAX_TEXTURES 15
#define GLS_FIELD_MAX_BUFFERS 4
/* Binding of a field's first storage buffer. */
#define GLS_FIELD_FIRST_BINDING 4

typedef struct gls_field_kind gls_field_kind;

/* Where the channels of a field lie. gls_cells_plan() and the other plan functions below compute it from their
 * arguments alone and touch no device. */
typedef struct gls_field_plan {
    const gls_field_kind *kind;
    uint32_t n_channels; /* channels of a voxel, including padding */
    uint32_t n_parts;    /* number of textures or buffers */
    uint64_t bytes;
    union {
        /* 3D textures of tiles. A tile has four channels of all voxels, or one channel in formats of one channel. The
         * grid is cut along x into strips. Each strip after the first begins with the last plane of the strip before,
         * so that a sample needs only one strip. Voxel (x, y, z) of strip s in tile t of its texture is texel (t *
         * strip_width + x - s * strip_step, y, s * dim[2] + z): the tiles of a row of voxels lie side by side, which
         * suits caches. */
        struct {
            uint32_t n_tiles, tile_channels; /* tile_channels: channels of a tile, 4 or 1 */
            uint32_t tiles_per;              /* tiles in a texture; the last texture may hold fewer */
            uint32_t n_strips, strip_width, strip_step;
            uint32_t rounding; /* positions of samples are rounded to multiples of 1 / rounding voxel */
            uint32_t size[3];
            gls_texture_format format;
        } textures;
        /* Buffers with all channels of a voxel together. With 2 or 8 corners each value is stored together with the
         * values of 1 or 7 next voxels in the same channel. */
        struct {
            bool floats;      /* texels have single precision */
            uint32_t corners; /* number of values that are stored side by side: 1, 2 or 8 */
            /* number of layers of voxels in each buffer, and in the last one; a copy of the next buffer's first layer,
             * as single values have it, does not count */
            uint32_t layers, last_layers;
        } cells;
    };
} gls_field_plan;

/* A field on one device: textures or buffers, as the plan says; unused elements are NULL. */
typedef struct gls_field {
    gls_device *device;
    gls_field_plan plan;
    gls_texture *texture[GLS_FIELD_MAX_TEXTURES];
    gls_buffer *buffer[GLS_FIELD_MAX_BUFFERS];
} gls_field;

enum { GLS_FIELD_BLOCK = 64 };

/* Computes the channels of voxels first .. first + count - 1 of the grid (x fastest), count <= GLS_FIELD_BLOCK:
 * rows[c * GLS_FIELD_BLOCK + i] is channel c of voxel first + i. Called from many threads, each with its own scratch.
 * rows and scratch are 64-byte aligned. */
typedef void (*gls_field_block)(const void *user, size_t first, size_t count, float *rows, float *scratch);

/* Where the values of a field come from: block() computes them for a block of voxels, and may be called by several
 * threads at once, each with scratch memory of its own. */
typedef struct gls_field_source {
    gls_field_block block;
    const void *user;
    size_t n_scratch;         /* number of floats of scratch */
    const uint32_t *index_of; /* cells: index of each channel among a voxel's values; else not used */
} gls_field_source;

struct gls_field_kind {
    const char *name;
    const char *shader; /* file of the shader library that fills the slot <field>, see glsl/slots.txt */
    /* Creates the textures or buffers of field->plan, without values. */
    gls_status (*create)(gls_field *field, const char *label);
    /* Fills n fields of this kind with the same values. All have the same grid and channels; each is on its own device.
     * *failed: index of the field that failed; unchanged if the host failed. */
    gls_status (*fill)(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                       size_t *failed);
    /* Returns the argument `smaller` of gls_cells_plan() for a plan that takes less memory but makes kernels slower; 0:
     * there is no such plan. NULL: fields of this kind have only one plan. */
    int (*shrink)(const gls_field_plan *plan);
    /* Adds the definitions that the shader needs. */
    void (*define)(const gls_field_plan *plan, gls_define_list *defines);
};

#endif
