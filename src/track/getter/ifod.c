/* Direction getters ifod1 and ifod2: first and second order integration over FODs (Tournier et al. 2012 and 2010). The
 * shader is glsl/getter/ifod.glsl. */
#include "track/getter/ifod_grid.h"
#include "track/getter/odf_field.h"
#include "util/option.h"

#include <math.h>

/* Number of positions of an arc behind its start: one less than the samples, of which the first is the start. */
static int positions(const gls_track_params *params)
{
    return params->ifod_samples - 1;
}

/* Number of candidates examined in one iteration: so many that the iterations of a step, each an attempt to find a
 * direction, can be counted within FLAG_ATTEMPT. */
static int64_t looks(const gls_track_params *params, const gls_ifod_grid *grid, bool arcs)
{
    int64_t most = ((int64_t)grid->n + params->fod_trials) * (arcs ? positions(params) : 1);
    return (arcs ? 1 : 8) + most / FLAG_ATTEMPT;
}

/* Plans the field and the fixed candidates. arcs: ifod2. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model, bool arcs)
{
    const gls_track_params *params = request->params;
    const double *side = request->input->stop_map->grid.voxel_size;
    gls_define_list *d = &model->defines;
    gls_ifod_grid grid;
    gls_status status = gls_sh_field_plan(request, model);
    if (!status)
        status = gls_ifod_grid_make(params, request->input->odf->order, cbrt(side[0] * side[1] * side[2]),
                                    arcs ? positions(params) : 0, &grid);
    if (status) return status;
    gls_table_start(&model->tables, d, &request->input->stop_map->grid, params->seed_direction);
    gls_table_floats(&model->tables, d, "MODEL_GRID", grid.direction[0], 2 * grid.n);
    gls_define_int(d, "IFOD_ARCS", arcs, "steps are arcs (iFOD2)");
    gls_define_int(d, "IFOD_GRID", (int64_t)grid.n, "number of fixed candidates");
    gls_define_float(d, "IFOD_LN_RATIO", log(grid.ratio),
                     "logarithm of the largest ratio of any weight to the largest of the fixed candidates");
    gls_define_int(d, "IFOD_TRIALS", params->fod_trials, "option fod_trials");
    gls_define_int(d, "SEED_TRIES", params->seed_attempts, "option seed_attempts");
    gls_define_int(d, "IFOD_LOOPED", request->looped, "each lane examines a candidate");
    gls_define_int(d, "IFOD_LOOKS", request->looped ? 1 : looks(params, &grid, arcs),
                   "candidates examined in an iteration");
    gls_ifod_grid_finish(&grid);
    return GLS_OK;
}

static gls_status plan_ifod1(const gls_model_request *request, gls_model_plan *model)
{
    return plan(request, model, false);
}

static gls_status plan_ifod2(const gls_model_request *request, gls_model_plan *model)
{
    return plan(request, model, true);
}

static uint32_t parts(const gls_track_params *params)
{
    return (uint32_t)positions(params);
}

/* Number of iterations of a dispatch; each iteration examines a few candidates. */
static uint32_t iterations(const gls_track_params *params)
{
    (void)params;
    return 64;
}

/* Sets the uniforms of the getters: the step in mm and the exponent of FOD amplitudes. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)model;
    u->step_mm = (float)params->step_size;
    u->fod_power = (float)gls_ifod_power(params);
}

const gls_getter gls_getter_ifod1 = {
    .name = "ifod1",
    .shader = "getter/ifod.glsl",
    .initial = "getter/ifod.glsl",
    .framed = true,
    .own_start = true,
    .towards = true,
    .own_end = true,
    .ordered = true,
    .has = GLS_GETTER_HAS_FOD | GLS_GETTER_HAS(IFOD),
    .cutoff = 0.1,
    .act_cutoff = 0.05,
    .check = gls_sh_field_check,
    .sphere = gls_odf_field_sphere,
    .iterations = iterations,
    .uniforms = uniforms,
    .plan = plan_ifod1,
    .fill = gls_sh_field_fill,
};

const gls_getter gls_getter_ifod2 = {
    .name = "ifod2",
    .shader = "getter/ifod.glsl",
    .initial = "getter/ifod.glsl",
    .framed = true,
    .own_start = true,
    .towards = true,
    .own_end = true,
    .ordered = true,
    .has = GLS_GETTER_HAS_FOD | GLS_GETTER_HAS(IFOD) | GLS_GETTER_HAS(IFOD2),
    .cutoff = 0.1,
    .act_cutoff = 0.05,
    .check = gls_sh_field_check,
    .sphere = gls_odf_field_sphere,
    .parts = parts,
    .iterations = iterations,
    .uniforms = uniforms,
    .plan = plan_ifod2,
    .fill = gls_sh_field_fill,
};
