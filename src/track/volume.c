#include "track/volume.h"

#include <math.h>

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

gls_status gls_volume_plan_make(const gls_grid *grid, uint32_t n_tiles, gls_texture_format format, const gls_device_info *limits, gls_volume_plan *plan)
{
    uint64_t limit = limits->max_texture_3d, units = limits->max_texture_units > 0 ? limits->max_texture_units - 1 : 0; /* one unit belongs to the stop map */
    for (int a = 0; a < 3; a++)
        if ((uint64_t)grid->dim[a] > limit)
            return gls_fail(GLS_ERR_UNSUPPORTED, "a grid of %d x %d x %d voxels is larger than the device's 3D textures (%u)", grid->dim[0], grid->dim[1], grid->dim[2],
                            limits->max_texture_3d);
    if (units > GLS_VOLUME_MAX_TEXTURES) units = GLS_VOLUME_MAX_TEXTURES;
    uint64_t texel = format == GLS_TEXTURE_RGBA16F ? 8 : format == GLS_TEXTURE_RGBA32F ? 16 : 4;
    gls_volume_plan made = {.n_tiles = n_tiles, .format = format};
    /* with powers of two texture coordinates are exact, and a sample is the same wherever its tile lies; a volume that only fits without them is taken so */
    if (plan_textures(grid, n_tiles, texel, limit, units, true, &made) || plan_textures(grid, n_tiles, texel, limit, units, false, &made)) {
        *plan = made;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_UNSUPPORTED, "a volume of %u channels on %d x %d x %d voxels does not fit the %llu textures of %u texels a side that the device offers", 4 * n_tiles,
                    grid->dim[0], grid->dim[1], grid->dim[2], (unsigned long long)units, limits->max_texture_3d);
}

gls_status gls_volume_create(gls_device *device, const gls_volume_plan *plan, const char *label, gls_volume *volume)
{
    *volume = (gls_volume){.device = device, .plan = *plan};
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

/* One tile after the other: its four channels side by side in each texel. */
static void interleave(const float *rows, size_t n_voxels, uint32_t n_tiles, float *texels)
{
#pragma omp parallel for schedule(static)
    for (uint32_t tile = 0; tile < n_tiles; tile++) {
        const float *row = rows + 4 * tile * n_voxels;
        float *out = texels + 4 * tile * n_voxels;
        for (size_t v = 0; v < n_voxels; v++)
            for (size_t c = 0; c < 4; c++) out[4 * v + c] = row[c * n_voxels + v];
    }
}

static gls_status write_tiles(gls_volume *volume, const gls_grid *grid, uint32_t z, const float *texels)
{
    const gls_volume_plan *plan = &volume->plan;
    size_t n = (size_t)grid->dim[0] * (size_t)grid->dim[1];
    uint32_t size[3] = {(uint32_t)grid->dim[0], (uint32_t)grid->dim[1], 1};
    gls_status status = GLS_OK;
    gls_device_hold(volume->device);
    for (uint32_t tile = 0; tile < plan->n_tiles && status == GLS_OK; tile++) {
        uint32_t local = tile % plan->tiles_per_texture;
        uint32_t origin[3] = {local / plan->per_column * (uint32_t)grid->dim[0], 0, local % plan->per_column * (uint32_t)grid->dim[2] + z};
        status = gls_texture_write(volume->texture[tile / plan->tiles_per_texture], origin, size, texels + 4 * tile * n);
    }
    gls_device_release(volume->device);
    return status;
}

gls_status gls_volume_write_slice(gls_volume *const *volumes, size_t n_volumes, const gls_grid *grid, uint32_t z, const float *rows, float *texels, size_t *failed)
{
    gls_status status = GLS_OK;
    interleave(rows, (size_t)grid->dim[0] * (size_t)grid->dim[1], volumes[0]->plan.n_tiles, texels);
    for (size_t i = 0; i < n_volumes && status == GLS_OK; i++) {
        status = write_tiles(volumes[i], grid, z, texels);
        if (status != GLS_OK) *failed = i;
    }
    return status;
}
