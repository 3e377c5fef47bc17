/* Fields: volumes of the input on a device, as textures or as cells. */
#ifndef GLS_TRACK_FIELD_FIELD_H
#define GLS_TRACK_FIELD_FIELD_H

#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/sphere.h>

#include "track/shader/kernel_inputs.h"
#include "util/text.h"

/* --- A field: a grid of voxels with many channels, as it lies on a device. Each kind of field is a row of functions:
 * textures.h, cells.h. */

#define GLS_FIELD_MAX_TEXTURES 15
#define GLS_FIELD_MAX_BUFFERS 4
/* The first storage block of a field. */
#define GLS_FIELD_FIRST_BINDING 4

typedef struct gls_field_kind gls_field_kind;

/* Where the channels lie; a pure function of the grid, the number of channels and the device's limits. */
typedef struct gls_field_plan {
    const gls_field_kind *kind;
    uint32_t n_channels; /* of a voxel, filling included */
    uint32_t n_parts;    /* textures or buffers that hold it */
    uint64_t bytes;
    union {
        /* 3D textures of tiles: four channels each, or one in formats of one channel. The grid is cut along x into
         * strips, each of which begins with the last plane of the one before, so that a sample needs one strip alone.
         * Voxel (x, y, z) of strip s, in tile t of its texture, is texel (t * strip_width + x - s * strip_step, y, s *
         * dim[2] + z): all tiles of a place lie side by side, for the sake of caches. */
        struct {
            uint32_t n_tiles, tile_channels;
            uint32_t tiles_per; /* texture; the last may hold fewer */
            uint32_t n_strips, strip_width, strip_step;
            uint32_t size[3];
            gls_texture_format format;
        } textures;
        /* Buffers in which all channels of a voxel lie together, each value beside those of its neighbours. */
        struct {
            uint32_t corners;             /* values that lie together: 1, 2 or 8 */
            uint32_t layers, last_layers; /* of voxels in each buffer, and in the last */
        } cells;
    };
} gls_field_plan;

typedef struct gls_field {
    gls_device *device;
    gls_field_plan plan;
    gls_texture *texture[GLS_FIELD_MAX_TEXTURES];
    gls_buffer *buffer[GLS_FIELD_MAX_BUFFERS];
} gls_field;

enum { GLS_FIELD_BLOCK = 64 };
/* Gives the channels of voxels first .. first + count - 1 of the grid (x fastest), of which there are GLS_FIELD_BLOCK
 * at most: rows[c * GLS_FIELD_BLOCK + i] for each channel c of the plan. Called from many threads; scratch is the
 * caller's own. Both are 64-byte aligned. */
typedef void (*gls_field_block)(const void *user, size_t first, size_t count, float *rows, float *scratch);
typedef struct gls_field_source {
    gls_field_block block;
    const void *user;
    size_t n_scratch;      /* floats */
    const uint32_t *place; /* of each channel among a voxel's, for cells; else not used */
} gls_field_source;

struct gls_field_kind {
    const char *name;
    const char *shader; /* fills the slot <field> */
    /* Makes the empty textures or buffers of field->plan. */
    gls_status (*create)(gls_field *field, const char *label);
    /* Fills fields of this kind, of the same grid and channels, each on a device of its own, in one pass over the grid.
     * *failed tells which field a failure is of, and stays as it was for one of the host. */
    gls_status (*fill)(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                       size_t *failed);
    /* What a plan has to be made with to take less memory, at the price of speed; 0: it cannot. NULL: never. */
    int (*shrink)(const gls_field_plan *plan);
    /* What the shader has to know. */
    void (*define)(const gls_field_plan *plan, gls_define_list *defines);
};

gls_status gls_field_create(gls_device *device, const gls_field_plan *plan, const char *label, gls_field *field);
void gls_field_finish(gls_field *field);
/* Fills fields of any kinds, kind by kind; *failed as above. */
gls_status gls_field_fill(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                          size_t *failed);
/* The arguments of a kernel: textures from unit first_unit on, buffers from GLS_FIELD_FIRST_BINDING on. Returns how
 * many were set. */
size_t gls_field_arguments(const gls_field *field, uint32_t first_unit, gls_arg *args);
/* The power of two that brings largest to at most maximum: values keep their digits, whatever else an image holds. 1
 * for largest <= 0. */
float gls_field_scale(float largest, float maximum);

/* --- Fields of ODFs as buffers, for shaders that look up one direction at a time: for each voxel and direction the
 * value there and those of neighbours; see glsl/odf/cells.glsl. */

extern const gls_field_kind gls_field_cells;

/* The plan for n directions, smaller: 0, or what shrink() said; false where the device has no room for them and
 * textures have to do. */
bool gls_cells_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, int smaller, gls_field_plan *plan);
/* The same with the least memory: slower than pairs, but often half of what textures take. */
bool gls_cells_plan_singles(const gls_grid *grid, size_t n, const gls_device_info *limits, gls_field_plan *plan);
/* place[v]: that of vertex v among a voxel's directions, so that near ones lie near each other. False if memory ran
 * out. */
bool gls_cells_order(const gls_sphere *sphere, uint32_t *place);

/* --- Fields as tiled 3D textures, sampled by the texture unit: for shaders that need all channels at one place. */

extern const gls_field_kind gls_field_textures;

/* The plan for n_channels in a format of four channels or one, in n_units texture units at most. GLS_ERR_UNSUPPORTED
 * with the numbers where even all of them cannot hold the field. */
gls_status gls_textures_plan(const gls_grid *grid, uint32_t n_channels, gls_texture_format format,
                             const gls_device_info *limits, uint32_t n_units, gls_field_plan *plan);
/* TILES(texture, tiles in it, first channel) for every texture. */
void gls_textures_rows(gls_text *out, const gls_field_plan *plan);

#endif
