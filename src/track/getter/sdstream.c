/* Direction getter sdstream: climbs from the last direction to a peak of the FOD (Tournier et al. 2012). The shader is
 * glsl/getter/sdstream.glsl. */
#include "track/getter/odf_field.h"
#include "util/option.h"

/* Plans the field of coefficients, and adds the seed direction to the tables if one is given. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model)
{
    gls_table_start(&model->tables, &model->defines, &request->input->stop_map->grid, request->params->seed_direction);
    return gls_sh_field_plan(request, model);
}

/* Number of iterations of a dispatch; each iteration climbs in up to 50 steps. */
static uint32_t iterations(const gls_track_params *params)
{
    (void)params;
    return 16;
}

const gls_getter gls_getter_sdstream = {
    .name = "sdstream",
    .shader = "getter/sdstream.glsl",
    .initial = "getter/sdstream.glsl",
    .framed = true,
    .own_start = true,
    .towards = true,
    .own_end = true,
    .one_lane = true,
    .ordered = true,
    .deterministic = true,
    .has = GLS_GETTER_HAS_FOD,
    .cutoff = 0.1,
    .act_cutoff = 0.05,
    .check = gls_sh_field_check,
    .sphere = gls_odf_field_sphere,
    .iterations = iterations,
    .plan = plan,
    .fill = gls_sh_field_fill,
};
