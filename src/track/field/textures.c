/* Fields as 3D textures: tiles of channels side by side along x, strips of the grid one behind the other along z, see
 * gls_field_plan in field.h. The shader is glsl/base/textures.glsl, which samples with the texture unit. Fills and
 * frees fields of any kind, and chooses the scale of their values. */
#include "track/field/textures.h"
#include "track/field/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"

/* Bytes of the largest texture, unless a single tile is larger. Some drivers refuse larger textures or swap them out;
 * llvmpipe's limit is 1 GiB. */
#define MAX_TEXTURE_BYTES ((uint64_t)1 << 30)
/* Positions of samples are rounded to multiples of 1 / ROUNDING voxel: floats hold them exactly up to 16384 texels. */
#define ROUNDING 1024
/* Smallest width of a strip, texels. With narrower strips the planes that are stored twice would take a third of the
 * memory, or more. */
#define MIN_STRIP 4

/* Smallest power of two that is not below n. */
static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

/* Whether texels of this format are half floats. */
static bool is_half(gls_texture_format format)
{
    return format == GLS_TEXTURE_R16F || format == GLS_TEXTURE_RGBA16F;
}

/* Bytes of a texel. */
static uint64_t texel_bytes(gls_texture_format format)
{
    return format == GLS_TEXTURE_RGBA32F ? 16 : format == GLS_TEXTURE_RGBA16F ? 8 : format == GLS_TEXTURE_R32F ? 4 : 2;
}

/* Chooses the smallest texture for n tiles, and of several such textures the one with the narrowest strips. exact:
 * sides along x and z are powers of two. Returns the bytes of the texture; 0: none is within the limit. */
static uint64_t lay_out(const gls_grid *grid, uint64_t n, uint64_t texel, uint64_t limit, bool exact,
                        gls_field_plan *plan)
{
    uint64_t x = (uint64_t)grid->dim[0], y = (uint64_t)grid->dim[1], z = (uint64_t)grid->dim[2], smallest = 0;
    for (uint64_t width = x < MIN_STRIP ? x : MIN_STRIP; width <= x && width * n <= limit; width++) {
        /* A strip of `width` texels begins with the last plane of the strip before, so strips advance by width - 1
         * voxels. */
        uint64_t step = width < x ? width - 1 : x, strips = width < x ? (x - 2) / step + 1 : 1;
        uint64_t size_x = width * n, size_z = strips * z;
        if (exact) {
            size_x = power_of_two(size_x);
            size_z = power_of_two(size_z);
        }
        uint64_t bytes = size_x * y * size_z * texel;
        if (size_x > limit || size_z > limit || (smallest > 0 && bytes >= smallest)) continue;
        smallest = bytes;
        plan->textures.n_strips = (uint32_t)strips;
        plan->textures.strip_width = (uint32_t)width;
        plan->textures.strip_step = (uint32_t)step;
        plan->textures.size[0] = (uint32_t)size_x;
        plan->textures.size[1] = (uint32_t)y;
        plan->textures.size[2] = (uint32_t)size_z;
    }
    return smallest;
}

/* Chooses the fewest textures that hold the field. exact: see lay_out(). Returns false if `units` are too few. */
static bool plan_textures(const gls_grid *grid, uint64_t texel, uint64_t limit, uint64_t units, bool exact,
                          gls_field_plan *plan)
{
    uint64_t n_tiles = plan->textures.n_tiles;
    for (uint64_t n_textures = 1; n_textures <= units; n_textures++) {
        uint64_t per_texture = (n_tiles + n_textures - 1) / n_textures;
        if (per_texture * (n_textures - 1) >= n_tiles) continue;
        uint64_t bytes = lay_out(grid, per_texture, texel, limit, exact, plan);
        if (bytes == 0 || (bytes > MAX_TEXTURE_BYTES && (per_texture > 1 || exact))) continue;
        plan->n_parts = (uint32_t)n_textures;
        plan->textures.tiles_per = (uint32_t)per_texture;
        plan->bytes = n_textures * bytes;
        return true;
    }
    return false;
}

/* Number of tiles in a texture; the last texture may hold fewer. */
static uint32_t tiles_of(const gls_field_plan *plan, uint32_t texture)
{
    uint32_t left = plan->textures.n_tiles - texture * plan->textures.tiles_per;
    return left < plan->textures.tiles_per ? left : plan->textures.tiles_per;
}

gls_status gls_textures_plan(const gls_grid *grid, uint32_t n_channels, gls_texture_format format,
                             const gls_device_info *limits, uint32_t n_units, gls_field_plan *plan)
{
    uint64_t limit = limits->max_texture_3d, units = n_units;
    for (int a = 0; a < 3; a++)
        if ((uint64_t)grid->dim[a] > limit)
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "a grid of %d x %d x %d voxels is larger than the device's 3D textures (%u along each "
                            "axis): crop the images",
                            grid->dim[0], grid->dim[1], grid->dim[2], limits->max_texture_3d);
    if (units > GLS_FIELD_MAX_TEXTURES) units = GLS_FIELD_MAX_TEXTURES;
    bool single = format == GLS_TEXTURE_R16F || format == GLS_TEXTURE_R32F;
    uint32_t tile_channels = single ? 1 : 4, n_tiles = (n_channels + tile_channels - 1) / tile_channels;
    uint64_t texel = texel_bytes(format);
    gls_field_plan made = {.kind = &gls_field_textures, .n_channels = n_tiles * tile_channels};
    made.textures.rounding = ROUNDING;
    made.textures.n_tiles = n_tiles;
    made.textures.tile_channels = tile_channels;
    made.textures.format = format;
    /* prefer powers of two: texture coordinates are then exact, and a sample does not depend on where its tile lies */
    if (plan_textures(grid, texel, limit, units, true, &made) ||
        plan_textures(grid, texel, limit, units, false, &made)) {
        *plan = made;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_UNSUPPORTED,
                    "%u values in each of %d x %d x %d voxels do not fit the %llu textures of at most %u texels a side "
                    "that the device offers: crop the images",
                    n_channels, grid->dim[0], grid->dim[1], grid->dim[2], (unsigned long long)units,
                    limits->max_texture_3d);
}

/* Creates the textures of a field, without values. Textures of a failed call are freed by gls_field_finish(). */
static gls_status create(gls_field *field, const char *label)
{
    gls_status status = GLS_OK;
    for (uint32_t i = 0; i < field->plan.n_parts && !status; i++)
        status = gls_texture_create(field->device, field->plan.textures.format, field->plan.textures.size, label,
                                    &field->texture[i]);
    return status;
}

/* Appends TILES(texture, tiles in it, first channel) for every texture. */
static void textures_rows(gls_text *out, const gls_field_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_parts; i++)
        gls_text_printf(out, "TILES(%u, %u, %u)\n", i, tiles_of(plan, i),
                        plan->textures.tile_channels * i * plan->textures.tiles_per);
}

/* Appends TILE(texture, tile, first channel) for every tile. */
static void append_tiles(gls_text *out, const gls_field_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_parts; i++)
        for (uint32_t t = 0; t < tiles_of(plan, i); t++)
            gls_text_printf(out, "TILE(%u, %u, %u)\n", i, t,
                            plan->textures.tile_channels * (i * plan->textures.tiles_per + t));
}

/* Adds definitions of sizes, and the calls of TILES and TILE by which shaders read all tiles. */
static void define(const gls_field_plan *plan, gls_define_list *d)
{
    static const char *const scale[] = {"VOLUME_SCALE_X", "VOLUME_SCALE_Y", "VOLUME_SCALE_Z"};
    gls_text text = {0};
    gls_define_int(d, "TILE_CHANNELS", plan->textures.tile_channels, "channels of a texel");
    gls_define_int(d, "VOLUME_TEXTURES", plan->n_parts, "textures that hold the field");
    gls_define_int(d, "VOLUME_STRIPS", plan->textures.n_strips, "strips along x into which the grid is cut");
    gls_define_float(d, "VOLUME_STRIP_STEP", plan->textures.strip_step, "voxels from the start of a strip to the next");
    gls_define_float(d, "VOLUME_STRIP_WIDTH", plan->textures.strip_width, "width of a strip, texels");
    gls_define_float(d, "VOLUME_ROUNDING", plan->textures.rounding,
                     "number of positions along a side of a voxel to which samples are rounded");
    for (int a = 0; a < 3; a++)
        gls_define_float(d, scale[a], 1.0 / plan->textures.size[a], "one over a texture's side");
    textures_rows(&text, plan);
    gls_define_slot(d, "tile_loops", gls_text_take(&text), "a call for each texture");
    append_tiles(&text, plan);
    gls_define_slot(d, "tile_rows", gls_text_take(&text), "a call for each tile");
}

/* --- Filling. */

/* Largest number of voxels that are computed and uploaded at a time, in whole slices of the grid; but at least one
 * slice. */
#define SLAB_VOXELS 65536u

/* A slab: some slices of the grid, packed for upload. */
typedef struct slab_work {
    const gls_field_plan *plan;
    size_t nx, slice;  /* voxels of a row and of a slice */
    size_t texel_size; /* bytes */
    char *texels; /* texels in the order of upload: for each texture and strip the rows of the slab's slices, each with
                   * all tiles side by side */
    const gls_field_source *source;
} slab_work;

/* Address of the first texel of a strip in a slab of n_rows rows. */
static char *strip_texels(const slab_work *w, size_t n_rows, uint32_t texture, size_t strip)
{
    const gls_field_plan *p = w->plan;
    size_t row =
        (size_t)texture * p->textures.tiles_per * p->textures.n_strips * n_rows + strip * n_rows * tiles_of(p, texture);
    return w->texels + row * p->textures.strip_width * w->texel_size;
}

/* Where the voxels of a block go in the slab. A voxel in the plane that two strips share has two targets. */
typedef struct block_targets {
    size_t n;
    struct {
        uint32_t voxel, strip, row, x;
    } target[2 * GLS_FIELD_BLOCK];
} block_targets;

/* Lists where each of `count` voxels from position `at` of the slab goes. */
static void find_targets(const slab_work *w, size_t at, size_t count, block_targets *b)
{
    const gls_field_plan *p = w->plan;
    b->n = 0;
    for (size_t v = 0; v < count; v++) {
        uint32_t x = (uint32_t)((at + v) % w->nx), row = (uint32_t)((at + v) / w->nx),
                 strip = x / p->textures.strip_step;
        /* A voxel goes to the strip in whose steps it lies (none for the last plane of the last strip), and, if it lies
         * in the first plane of that strip, also to the strip before, which ends with this plane. */
        if (strip < p->textures.n_strips) {
            b->target[b->n].voxel = (uint32_t)v, b->target[b->n].strip = strip, b->target[b->n].row = row;
            b->target[b->n++].x = x - strip * p->textures.strip_step;
        }
        if (strip > 0 && x == strip * p->textures.strip_step) {
            b->target[b->n].voxel = (uint32_t)v, b->target[b->n].strip = strip - 1, b->target[b->n].row = row;
            b->target[b->n++].x = p->textures.strip_step;
        }
    }
}

/* Copies the texels of a tile to their targets in the slab. Inline, so that the compiler knows `size`, the bytes of a
 * texel. */
static inline void scatter(const slab_work *w, const block_targets *b, size_t n_rows, uint32_t tile, const char *texel,
                           size_t size)
{
    const gls_field_plan *p = w->plan;
    uint32_t texture = tile / p->textures.tiles_per, local = tile % p->textures.tiles_per,
             n_tiles = tiles_of(p, texture);
    char *strips = strip_texels(w, n_rows, texture, 0);
    for (size_t i = 0; i < b->n; i++) {
        size_t row = b->target[i].strip * n_rows + b->target[i].row;
        memcpy(strips + ((row * n_tiles + local) * p->textures.strip_width + b->target[i].x) * size,
               texel + b->target[i].voxel * size, size);
    }
}

/* Stores one block of voxels: the channels of each tile side by side, in the texture's format. */
static void store_block(const slab_work *w, const float *rows, size_t at, size_t count, size_t n_rows)
{
    float quad[4 * GLS_FIELD_BLOCK];
    uint16_t half[4 * GLS_FIELD_BLOCK];
    block_targets targets;
    size_t channels = w->plan->textures.tile_channels;
    find_targets(w, at, count, &targets);
    /* For each tile: transpose its four channels to texels, unless there is one channel; convert them to half precision
     * if the texture has it; copy them to their targets in the slab. */
    for (uint32_t tile = 0; tile < w->plan->textures.n_tiles; tile++) {
        const float *row = rows + channels * tile * GLS_FIELD_BLOCK, *values = row;
        const char *texel = (const char *)values;
        if (channels > 1) {
            for (size_t v = 0; v < count; v++)
                for (size_t c = 0; c < 4; c++) quad[4 * v + c] = row[c * GLS_FIELD_BLOCK + v];
            values = quad;
            texel = (const char *)quad;
        }
        if (is_half(w->plan->textures.format)) {
            gls_half_convert(values, channels * count, half);
            texel = (const char *)half;
        }
        switch (w->texel_size) {
        case 2: scatter(w, &targets, n_rows, tile, texel, 2); break;
        case 4: scatter(w, &targets, n_rows, tile, texel, 4); break;
        case 8: scatter(w, &targets, n_rows, tile, texel, 8); break;
        default: scatter(w, &targets, n_rows, tile, texel, 16);
        }
    }
}

/* Computes slab_voxels voxels from `first` on, on all threads. Returns false if memory ran out. */
static bool fill_slab(const slab_work *w, size_t first, size_t slab_voxels)
{
    size_t n_values = (size_t)w->plan->textures.n_tiles * w->plan->textures.tile_channels * GLS_FIELD_BLOCK,
           n_scratch = (w->source->n_scratch + 15) / 16 * 16;
    long long n_blocks = (long long)((slab_voxels + GLS_FIELD_BLOCK - 1) / GLS_FIELD_BLOCK);
    bool ok = true;
#pragma omp parallel reduction(&& : ok)
    {
        float *rows = aligned_alloc(64, (n_values + n_scratch) * sizeof *rows);
        ok = rows != NULL;
#pragma omp for schedule(dynamic, 8)
        for (long long b = 0; b < n_blocks; b++) {
            size_t at = (size_t)b * GLS_FIELD_BLOCK,
                   count = slab_voxels - at < GLS_FIELD_BLOCK ? slab_voxels - at : GLS_FIELD_BLOCK;
            if (!rows) continue;
            w->source->block(w->source->user, first + at, count, rows, rows + n_values);
            store_block(w, rows, at, count, slab_voxels / w->nx);
        }
        free(rows);
    }
    return ok;
}

/* Uploads n_slices slices from slice z on to all textures of a field. */
static gls_status upload_slab(gls_field *field, const gls_grid *grid, uint32_t z, uint32_t n_slices, const slab_work *w)
{
    const gls_field_plan *plan = &field->plan;
    size_t n_rows = (size_t)grid->dim[1] * n_slices;
    gls_status status = GLS_OK;
    gls_device_hold(field->device);
    for (uint32_t texture = 0; texture < plan->n_parts; texture++) {
        uint32_t size[3] = {tiles_of(plan, texture) * plan->textures.strip_width, (uint32_t)grid->dim[1], n_slices};
        for (uint32_t strip = 0; strip < plan->textures.n_strips && !status; strip++) {
            uint32_t origin[3] = {0, 0, strip * (uint32_t)grid->dim[2] + z};
            status = gls_texture_write_texels(field->texture[texture], origin, size,
                                              strip_texels(w, n_rows, texture, strip));
        }
    }
    gls_device_release(field->device);
    return status;
}

/* Fills the fields of n devices with the same values, slab by slab along z. *failed: see gls_field_kind.fill. */
static gls_status fill(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                       size_t *failed)
{
    const gls_field_plan *plan = &fields[0]->plan;
    size_t nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    slab_work w = {
        .plan = plan, .nx = nx, .slice = nx * ny, .texel_size = texel_bytes(plan->textures.format), .source = source};
    uint32_t depth = (uint32_t)grid->dim[2], slices = (uint32_t)(SLAB_VOXELS / w.slice);
    if (slices < 1) slices = 1;
    if (slices > depth) slices = depth;
    /* zeros: texels of the last strip beyond the grid are never sampled but must be numbers */
    w.texels =
        calloc((size_t)plan->textures.n_tiles * plan->textures.n_strips * plan->textures.strip_width * ny * slices,
               w.texel_size);
    gls_status status = w.texels ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a slab of the volume");
    for (uint32_t z = 0; z < depth && !status; z += slices) {
        uint32_t here = depth - z < slices ? depth - z : slices;
        if (!fill_slab(&w, z * w.slice, here * w.slice))
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for a block of the volume");
        for (size_t i = 0; i < n && !status; i++) {
            status = upload_slab(fields[i], grid, z, here, &w);
            if (status) *failed = i;
        }
    }
    free(w.texels);
    return status;
}

const gls_field_kind gls_field_textures = {
    .name = "textures",
    .shader = "base/textures.glsl",
    .create = create,
    .fill = fill,
    .define = define,
};

/* --- Fields of any kind. */

void gls_field_finish(gls_field *field)
{
    for (uint32_t i = 0; i < GLS_FIELD_MAX_TEXTURES; i++) gls_texture_destroy(field->texture[i]);
    for (uint32_t i = 0; i < GLS_FIELD_MAX_BUFFERS; i++) gls_buffer_destroy(field->buffer[i]);
    *field = (gls_field){0};
}

gls_status gls_field_fill(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                          size_t *failed)
{
    gls_field **alike = malloc(n * sizeof *alike);
    size_t *index = malloc(n * sizeof *index), n_done = 0;
    gls_status status = alike && index ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the fields");
    /* Fields of one kind are filled together, so that the CPU computes each value once for all of them. */
    for (size_t first = 0; first < n && n_done < n && !status; first++) {
        const gls_field_kind *kind = fields[first]->plan.kind;
        bool before = false;
        size_t n_alike = 0, bad = SIZE_MAX;
        for (size_t i = 0; i < first; i++) before |= fields[i]->plan.kind == kind;
        for (size_t i = first; i < n && !before; i++) {
            if (fields[i]->plan.kind != kind) continue;
            alike[n_alike] = fields[i];
            index[n_alike++] = i;
        }
        if (n_alike > 0) status = kind->fill(alike, n_alike, grid, source, &bad);
        if (status && bad != SIZE_MAX) *failed = index[bad];
        n_done += n_alike;
    }
    free(alike);
    free(index);
    return status;
}

float gls_field_scale(float largest, float maximum)
{
    return largest > 0 ? exp2f(floorf(log2f(maximum / largest))) : 1;
}
