/* The guide without regions or tissue: ends a half-streamline where the stop map falls to the threshold. All guides use
 * this stop map. */
#include "track/guide/threshold_stop.h"
#include "image/grid.h"
#include "track/guide/guide.h"

#include <math.h>
#include <stdlib.h>

#include "image/region_set.h"
#include "util/status.h"

/* Plans one texture, the stop map in single precision, and no memory of half-streamlines. */
static gls_status plan(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       gls_guide_plan *plan)
{
    (void)params;
    (void)limits;
    plan->n_textures = 1;
    plan->bytes = sizeof(float) * gls_grid_voxels(&input->stop_map->grid);
    return GLS_OK;
}

/* Creates the texture of the stop map. Values that are not finite become 0, so that they end streamlines at any
 * threshold >= 0. */
static gls_status create(gls_guide *guide, gls_device *device, const gls_track_input *input)
{
    const gls_image *map = input->stop_map;
    size_t n = gls_grid_voxels(&map->grid);
    uint32_t size[3] = {(uint32_t)map->grid.dim[0], (uint32_t)map->grid.dim[1], (uint32_t)map->grid.dim[2]},
             origin[3] = {0, 0, 0};
    float *finite = malloc(n * sizeof *finite);
    if (!finite) return gls_fail(GLS_ERR_MEMORY, "out of memory for the stop map");
    for (size_t i = 0; i < n; i++) finite[i] = isfinite(map->data[i]) ? map->data[i] : 0.0f;
    gls_status status = gls_texture_create(device, GLS_TEXTURE_R32F, size, "stop map", &guide->texture[0]);
    if (!status) status = gls_texture_write(guide->texture[0], origin, size, finite);
    free(finite);
    return status;
}

/* Whether the mask regions are images on the grid of the stop map, so that a voxel lies wholly inside or outside them.
 */
static bool masks_fit(const gls_regions *regions, const gls_grid *grid)
{
    for (size_t i = 0; i < gls_regions_count(regions); i++) {
        const gls_region_info info = gls_regions_get(regions, i);
        if (info.role != GLS_REGION_MASK) continue;
        if (info.voxels == 0 || !gls_grid_same(&regions->group[regions->region[i].index].grid, grid)) return false;
    }
    return true;
}

bool gls_stop_map_is_open(const gls_track_params *params, const gls_track_input *input)
{
    const gls_image *map = input->stop_map;
    const uint32_t mask = input->regions ? gls_regions_bits(input->regions, GLS_REGION_MASK) : 0;
    const size_t nx = (size_t)map->grid.dim[0], ny = (size_t)map->grid.dim[1], n = gls_grid_voxels(&map->grid);
    if (mask && !masks_fit(input->regions, &map->grid)) return false;
    for (size_t i = 0; i < n; i++) {
        const float value = map->data[i], at[3] = {(float)(i % nx), (float)(i / nx % ny), (float)(i / nx / ny)};
        if (value < 0) return false;
        /* The factor is a little above 8, because the weights of the texture unit are coarse. */
        if (isfinite(value) && value > 8.2 * params->stop_threshold) continue;
        if (!mask || (gls_regions_at(input->regions, at) & mask) != 0) return false;
    }
    return true;
}

void gls_stop_map_uniforms(const gls_track_params *params, gls_track_uniforms *u)
{
    u->stop_threshold = (float)params->stop_threshold;
}

const gls_guide_kind gls_guide_threshold = {
    .name = "threshold",
    .shader = "guide/threshold.glsl",
    .by_voxel = true,
    .plan = plan,
    .create = create,
    .uniforms = gls_stop_map_uniforms,
};
