/* The input of a tracker: what every direction getter needs, and its own. */
#include "image/region_set.h"
#include "image/tissue_image.h"
#include "track/check.h"
#include "track/getter/getters.h"
#include "track/params.h"
#include "util/status.h"

gls_status gls_track_backtrack_check(const gls_track_params *params)
{
    if (gls_getter_of(params)->deterministic)
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack: a deterministic direction getter would go the same way again");
    if (params->dg == GLS_DG_PTT)
        return gls_fail(GLS_ERR_UNSUPPORTED, "--backtrack: parallel transport cannot be taken back");
    if (params->stop_at_all)
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack: not with --stop: what was met would be taken back");
    return GLS_OK;
}

gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->stop_map);
    GLS_REQUIRE(input->stop_map->n_volumes == 1);
    GLS_REQUIRE(!input->regions || input->regions->complete);
    if (input->regions) {
        gls_status status =
            gls_grid_require_equal(&input->regions->grid, "the regions", &input->stop_map->grid, "the stop map");
        if (status != GLS_OK) return status;
    }
    if (input->tissue) {
        gls_status status =
            gls_grid_require_equal(&input->tissue->grid, "the tissue", &input->stop_map->grid, "the stop map");
        if (status != GLS_OK) return status;
    }
    if (params->stop_at_all && !gls_regions_bits(input->regions, GLS_REGION_INCLUDE))
        return gls_fail(GLS_ERR_ARGUMENT, "stop_at_all: there are no include regions to be met");
    if (gls_regions_bits(input->regions, GLS_REGION_INCLUDE_ORDERED) && !params->seed_unidirectional)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "include-ordered: needs seed_unidirectional: without it a streamline has no first end");
    if (params->backtrack) {
        gls_status status = gls_track_backtrack_check(params);
        if (status == GLS_OK && (!input->tissue || input->tissue->rule != GLS_TISSUE_RULE_ACT))
            status = gls_fail(GLS_ERR_ARGUMENT, "backtrack: needs tissue, and its rule act");
        if (status != GLS_OK) return status;
    }
    return gls_getter_of(params)->check(params, input);
}

bool gls_getter_is_deterministic(gls_direction_getter dg)
{
    return gls_getter_of(&(gls_track_params){.dg = dg})->deterministic;
}
