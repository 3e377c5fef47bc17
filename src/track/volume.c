#include "track/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/cells.h"
#include "util/half.h"
#include "util/status.h"

/* Drivers refuse or swap larger single textures: llvmpipe ends at 1 GiB. */
#define MAX_TEXTURE_BYTES ((uint64_t)1 << 30)

typedef struct layout {
    uint64_t per_column, size_x, size_z;
} layout;

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

static bool is_half(gls_texture_format format)
{
    return format == GLS_TEXTURE_R16F || format == GLS_TEXTURE_RGBA16F;
}

static uint64_t texel_bytes(gls_texture_format format)
{
    return format == GLS_TEXTURE_RGBA32F ? 16 : format == GLS_TEXTURE_RGBA16F ? 8 : format == GLS_TEXTURE_R32F ? 4 : 2;
}

/* The smallest texture of at least n tiles; exact: with powers of two as sides along x and z. */
static bool lay_out(const gls_grid *grid, uint64_t n, uint64_t limit, bool exact, layout *best)
{
    uint64_t x = (uint64_t)grid->dim[0], z = (uint64_t)grid->dim[2], smallest = UINT64_MAX;
    for (uint64_t columns = 1; columns <= n && columns * x <= limit; columns++) {
        uint64_t rows = (n + columns - 1) / columns, size_x = columns * x, size_z = rows * z;
        if (exact) {
            size_x = power_of_two(size_x);
            size_z = power_of_two(size_z);
        }
        if (size_x > limit || size_z > limit || size_x * size_z >= smallest) continue;
        smallest = size_x * size_z;
        *best = (layout){rows, size_x, size_z};
    }
    return smallest != UINT64_MAX;
}

/* The fewest textures that hold the volume. */
static bool plan_textures(const gls_grid *grid, uint64_t n_tiles, uint64_t texel, uint64_t limit, uint64_t units, bool exact, gls_volume_plan *plan)
{
    for (uint64_t n_textures = 1; n_textures <= units; n_textures++) {
        uint64_t per_texture = (n_tiles + n_textures - 1) / n_textures;
        layout l;
        if (per_texture * (n_textures - 1) >= n_tiles || !lay_out(grid, per_texture, limit, exact, &l)) continue;
        uint64_t bytes = l.size_x * (uint64_t)grid->dim[1] * l.size_z * texel;
        if (bytes > MAX_TEXTURE_BYTES && (per_texture > 1 || exact)) continue;
        plan->n_textures = (uint32_t)n_textures;
        plan->tiles_per_texture = (uint32_t)per_texture;
        plan->per_column = (uint32_t)l.per_column;
        plan->texture_size[0] = (uint32_t)l.size_x;
        plan->texture_size[1] = (uint32_t)grid->dim[1];
        plan->texture_size[2] = (uint32_t)l.size_z;
        plan->bytes = n_textures * bytes;
        return true;
    }
    return false;
}

gls_status gls_volume_plan_make(const gls_grid *grid, uint32_t n_channels, gls_texture_format format, const gls_device_info *limits, gls_volume_plan *plan)
{
    uint64_t limit = limits->max_texture_3d, units = limits->max_texture_units > 0 ? limits->max_texture_units - 1 : 0; /* one unit belongs to the stop map */
    for (int a = 0; a < 3; a++)
        if ((uint64_t)grid->dim[a] > limit)
            return gls_fail(GLS_ERR_UNSUPPORTED, "a grid of %d x %d x %d voxels is larger than the device's 3D textures (%u)", grid->dim[0], grid->dim[1], grid->dim[2],
                            limits->max_texture_3d);
    if (units > GLS_VOLUME_MAX_TEXTURES) units = GLS_VOLUME_MAX_TEXTURES;
    bool single = format == GLS_TEXTURE_R16F || format == GLS_TEXTURE_R32F;
    uint32_t tile_channels = single ? 1 : 4, n_tiles = (n_channels + tile_channels - 1) / tile_channels;
    uint64_t texel = texel_bytes(format);
    gls_volume_plan made = {.n_tiles = n_tiles, .tile_channels = tile_channels, .format = format};
    /* with powers of two texture coordinates are exact, and a sample is the same wherever its tile lies; a volume that only fits without them is taken so */
    if (plan_textures(grid, n_tiles, texel, limit, units, true, &made) || plan_textures(grid, n_tiles, texel, limit, units, false, &made)) {
        *plan = made;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_UNSUPPORTED, "a volume of %u channels on %d x %d x %d voxels does not fit the %llu textures of %u texels a side that the device offers", n_channels,
                    grid->dim[0], grid->dim[1], grid->dim[2], (unsigned long long)units, limits->max_texture_3d);
}

gls_status gls_volume_create(gls_device *device, const gls_volume_plan *plan, const char *label, gls_volume *volume)
{
    *volume = (gls_volume){.device = device, .plan = *plan};
    if (plan->cell_corners > 0) return gls_cells_create(device, plan, label, volume);
    for (uint32_t i = 0; i < plan->n_textures; i++) {
        gls_status status = gls_texture_create(device, plan->format, plan->texture_size, label, &volume->texture[i]);
        if (status != GLS_OK) {
            gls_volume_finish(volume);
            return status;
        }
    }
    return GLS_OK;
}

void gls_volume_finish(gls_volume *volume)
{
    for (uint32_t i = 0; i < GLS_VOLUME_MAX_TEXTURES; i++) gls_texture_destroy(volume->texture[i]);
    for (uint32_t i = 0; i < GLS_CELL_BUFFERS; i++) gls_buffer_destroy(volume->cells[i]);
    *volume = (gls_volume){0};
}

float gls_volume_scale(float largest, float maximum)
{
    return largest > 0 ? exp2f(floorf(log2f(maximum / largest))) : 1;
}

/* --- filling ------------------------------------------------------------------------------------------------------------------------ */

#define SLAB_VOXELS 65536u

typedef struct slab_work {
    const gls_volume_plan *plan;
    size_t slice;      /* voxels of a slice */
    size_t texel_size; /* bytes */
    char *texels;      /* tile by tile, each of the slab's voxels */
    gls_volume_block block;
    const void *user;
    size_t n_scratch;
} slab_work;

/* One block of voxels: the channels of each tile side by side, in the texture's format. */
static void put_block(const slab_work *w, const float *rows, size_t at, size_t count, size_t slab_voxels)
{
    float quad[4 * GLS_VOLUME_BLOCK];
    size_t channels = w->plan->tile_channels;
    for (uint32_t tile = 0; tile < w->plan->n_tiles; tile++) {
        const float *row = rows + channels * tile * GLS_VOLUME_BLOCK, *values = row;
        char *out = w->texels + (tile * slab_voxels + at) * w->texel_size;
        if (channels > 1) {
            for (size_t v = 0; v < count; v++)
                for (size_t c = 0; c < 4; c++) quad[4 * v + c] = row[c * GLS_VOLUME_BLOCK + v];
            values = quad;
        }
        if (is_half(w->plan->format)) gls_half_convert(values, channels * count, (uint16_t *)(void *)out);
        else memcpy(out, values, channels * count * sizeof *values);
    }
}

static bool fill_slab(const slab_work *w, size_t first, size_t slab_voxels)
{
    size_t n_rows = (size_t)w->plan->n_tiles * w->plan->tile_channels * GLS_VOLUME_BLOCK, n_scratch = (w->n_scratch + 15) / 16 * 16;
    long long n_blocks = (long long)((slab_voxels + GLS_VOLUME_BLOCK - 1) / GLS_VOLUME_BLOCK);
    bool ok = true;
#pragma omp parallel reduction(&& : ok)
    {
        float *rows = aligned_alloc(64, (n_rows + n_scratch) * sizeof *rows);
        ok = rows != NULL;
#pragma omp for schedule(dynamic, 8)
        for (long long b = 0; b < n_blocks; b++) {
            size_t at = (size_t)b * GLS_VOLUME_BLOCK, count = slab_voxels - at < GLS_VOLUME_BLOCK ? slab_voxels - at : GLS_VOLUME_BLOCK;
            if (!rows) continue;
            w->block(w->user, first + at, count, rows, rows + n_rows);
            put_block(w, rows, at, count, slab_voxels);
        }
        free(rows);
    }
    return ok;
}

static gls_status upload_slab(gls_volume *volume, const gls_grid *grid, uint32_t z, uint32_t n_slices, const slab_work *w)
{
    const gls_volume_plan *plan = &volume->plan;
    uint32_t size[3] = {(uint32_t)grid->dim[0], (uint32_t)grid->dim[1], n_slices};
    gls_status status = GLS_OK;
    gls_device_hold(volume->device);
    for (uint32_t tile = 0; tile < plan->n_tiles && status == GLS_OK; tile++) {
        uint32_t local = tile % plan->tiles_per_texture;
        uint32_t origin[3] = {local / plan->per_column * (uint32_t)grid->dim[0], 0, local % plan->per_column * (uint32_t)grid->dim[2] + z};
        status = gls_texture_write_texels(volume->texture[tile / plan->tiles_per_texture], origin, size, w->texels + tile * w->slice * n_slices * w->texel_size);
    }
    gls_device_release(volume->device);
    return status;
}

gls_status gls_volume_fill(gls_volume *const *volumes, size_t n, const gls_grid *grid, gls_volume_block block, const void *user, size_t n_scratch, size_t *failed)
{
    const gls_volume_plan *plan = &volumes[0]->plan;
    slab_work w = {.plan = plan, .slice = (size_t)grid->dim[0] * (size_t)grid->dim[1], .block = block, .user = user, .n_scratch = n_scratch};
    uint32_t depth = (uint32_t)grid->dim[2], slices = (uint32_t)(SLAB_VOXELS / w.slice);
    if (slices < 1) slices = 1;
    if (slices > depth) slices = depth;
    w.texel_size = texel_bytes(plan->format);
    w.texels = malloc(plan->n_tiles * w.slice * slices * w.texel_size);
    gls_status status = w.texels ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a slab of the volume");
    for (uint32_t z = 0; z < depth && status == GLS_OK; z += slices) {
        uint32_t here = depth - z < slices ? depth - z : slices;
        if (!fill_slab(&w, z * w.slice, here * w.slice)) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a block of the volume");
        for (size_t i = 0; i < n && status == GLS_OK; i++) {
            status = upload_slab(volumes[i], grid, z, here, &w);
            if (status != GLS_OK) *failed = i;
        }
    }
    free(w.texels);
    return status;
}
