#include "track/volume.h"

#include <math.h>

#include "util/status.h"

/* Drivers refuse or swap larger single textures: llvmpipe ends at 1 GiB. */
#define MAX_TEXTURE_BYTES ((uint64_t)1 << 30)

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Columns of at most `rows` tiles, as even as can be: they may have room for a few tiles more than n. */
static void lay_out(uint64_t n, uint64_t rows, uint64_t *n_columns, uint64_t *per_column)
{
    *n_columns = (n + rows - 1) / rows;
    *per_column = (n + *n_columns - 1) / *n_columns;
}

gls_status gls_volume_plan_make(const gls_grid *grid, uint32_t n_tiles, gls_texture_format format, const gls_device_info *limits, gls_volume_plan *plan)
{
    uint32_t limit = limits->max_texture_3d;
    for (int a = 0; a < 3; a++)
        if ((uint32_t)grid->dim[a] > limit)
            return gls_fail(GLS_ERR_UNSUPPORTED, "a grid of %d x %d x %d voxels is larger than the device's 3D textures (%u)", grid->dim[0], grid->dim[1], grid->dim[2], limit);
    uint64_t texel = format == GLS_TEXTURE_RGBA16F ? 8 : format == GLS_TEXTURE_RGBA32F ? 16 : 4;
    uint64_t tile_bytes = gls_grid_voxels(grid) * texel;
    uint64_t rows = limit / (uint32_t)grid->dim[2], columns = limit / (uint32_t)grid->dim[0];
    uint64_t most = MAX_TEXTURE_BYTES / tile_bytes > 0 ? MAX_TEXTURE_BYTES / tile_bytes : 1, capacity = min_u64(rows * columns, most), n_columns, per_column;
    lay_out(capacity, rows, &n_columns, &per_column);
    while (n_columns * per_column > most) lay_out(--capacity, rows, &n_columns, &per_column);
    uint64_t per_texture = min_u64(capacity, n_tiles), n_textures = (n_tiles + per_texture - 1) / per_texture;
    /* one unit belongs to the stop map */
    uint64_t units = min_u64(GLS_VOLUME_MAX_TEXTURES, limits->max_texture_units > 0 ? limits->max_texture_units - 1 : 0);
    if (n_textures > units)
        return gls_fail(GLS_ERR_UNSUPPORTED, "a volume of %u channels on %d x %d x %d voxels needs %llu textures, the device offers %llu", 4 * n_tiles, grid->dim[0], grid->dim[1],
                        grid->dim[2], (unsigned long long)n_textures, (unsigned long long)units);
    per_texture = (n_tiles + n_textures - 1) / n_textures; /* even shares */
    lay_out(per_texture, rows, &n_columns, &per_column);
    *plan = (gls_volume_plan){
        .n_tiles = n_tiles,
        .n_textures = (uint32_t)n_textures,
        .tiles_per_texture = (uint32_t)per_texture,
        .per_column = (uint32_t)per_column,
        .texture_size = {(uint32_t)(n_columns * (uint64_t)grid->dim[0]), (uint32_t)grid->dim[1], (uint32_t)(per_column * (uint64_t)grid->dim[2])},
        .format = format,
        .bytes = n_textures * n_columns * per_column * tile_bytes,
    };
    return GLS_OK;
}

gls_status gls_volume_create(gls_device *device, const gls_volume_plan *plan, const char *label, gls_volume *volume)
{
    *volume = (gls_volume){.plan = *plan};
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
    *volume = (gls_volume){0};
}

float gls_volume_scale(float largest, float maximum)
{
    return largest > 0 ? exp2f(floorf(log2f(maximum / largest))) : 1;
}

gls_status gls_volume_write_slice(gls_volume *volume, const gls_grid *grid, uint32_t z, const float *rows, float *texels)
{
    const gls_volume_plan *plan = &volume->plan;
    size_t n = (size_t)grid->dim[0] * (size_t)grid->dim[1];
    uint32_t size[3] = {(uint32_t)grid->dim[0], (uint32_t)grid->dim[1], 1};
    gls_status status = GLS_OK;
#pragma omp parallel for schedule(static)
    for (uint32_t tile = 0; tile < plan->n_tiles; tile++) {
        const float *row = rows + 4 * tile * n;
        float *out = texels + 4 * tile * n;
        for (size_t v = 0; v < n; v++)
            for (size_t c = 0; c < 4; c++) out[4 * v + c] = row[c * n + v];
    }
    for (uint32_t tile = 0; tile < plan->n_tiles && status == GLS_OK; tile++) {
        uint32_t local = tile % plan->tiles_per_texture;
        uint32_t origin[3] = {local / plan->per_column * (uint32_t)grid->dim[0], 0, local % plan->per_column * (uint32_t)grid->dim[2] + z};
        status = gls_texture_write(volume->texture[tile / plan->tiles_per_texture], origin, size, texels + 4 * tile * n);
    }
    return status;
}
