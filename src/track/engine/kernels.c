#include "track/engine/kernels.h"

#include "util/status.h"

/* The grid, the sphere, and what the loop of a half needs: the same for all direction getters. */
static void define_common(gls_define_list *d, const gls_track_params *params, const gls_track_plan *plan,
                          const gls_grid *grid, const gls_sphere *sphere)
{
    static const char *const axis[] = {"GRID_X", "GRID_Y", "GRID_Z"};
    static const char *const axis_n[] = {"GRID_NX", "GRID_NY", "GRID_NZ"};
    gls_define_int(d, "MAX_DIRECTIONS", params->max_directions_per_seed, "max_directions_per_seed");
    gls_define_int(d, "ANGULAR_WEIGHT", params->angular_weight > 0, "angular_weight is above 0");
    gls_define_int(d, "CUTOFF", params->fod_cutoff > 0, "fod_cutoff is given");
    gls_define_int(d, "SEED_CUTOFF", gls_track_seed_cutoff(params) > 0, "so is seed_cutoff, or cutoff");
    gls_define_int(d, "FRAMED", plan->getter->framed, "a half carries a frame instead of a vertex");
    gls_define_int(d, "SUBSTEPS", plan->substeps, "turns for each stored point");
    gls_define_int(d, "STEP_PARTS", plan->parts, "places that a step leads over");
    gls_define_int(d, "OWN_STEPS", plan->getter->parts != NULL, "steps lead over places that the getter knows");
    gls_define_int(d, "OWN_START", plan->getter->own_start, "initial directions are no vertices");
    gls_define_int(d, "N_VERTICES", (int64_t)sphere->n, "of the sphere");
    gls_define_int(d, "ODF_CHANNELS", (int64_t)(sphere->n + 3) / 4 * 4, "vertices in whole tiles");
    gls_define_int(d, "ANTIPODAL", sphere->antipodal, "a vertex stands for both senses");
    gls_define_int(d, "MAX_CANDIDATES", sphere->n < 384 ? (int64_t)(sphere->n + 2) / 3 : 128,
                   "local maxima are no neighbours: a third of the vertices at most");
    for (int a = 0; a < 3; a++) {
        gls_define_float(d, axis[a], grid->dim[a], "voxels");
        gls_define_int(d, axis_n[a], grid->dim[a], "voxels");
    }
}

static void define_mapping(gls_define_list *d, const gls_track_plan *plan, const gls_device_info *limits)
{
    gls_define_file(d, "lanes", plan->mapping->shader, plan->mapping->name);
    if (plan->mapping->extension) gls_define_int(d, GLS_DEFINE_SUBGROUPS, 1, "the mapping needs KHR_shader_subgroup");
    if (!plan->mapping->looped) return;
    gls_define_int(d, "SUBGROUP_ARITHMETIC", (limits->subgroup_features & GLS_SUBGROUP_ARITHMETIC) != 0,
                   "the driver has sums and maxima over a subgroup");
    gls_define_int(d, "LANES_IN_STEP", plan->lanes_in_step, "lanes need no barrier to meet again");
    if (gls_lanes_fixed(plan)) gls_define_int(d, "LANES", plan->lanes, "the compiler does not choose the width itself");
}

/* What all kernels of an engine are made from. */
typedef struct loading {
    gls_device *device;
    const gls_track_plan *plan;
    gls_model_plan *model;
} loading;

/* One kernel. is_initial: it does pass 1; measured: that begins with the measured signal instead of a sample of it. */
static gls_status load(const loading *l, const char *file, const gls_group_plan *group, bool is_initial, bool measured,
                       gls_kernel **kernel)
{
    gls_define_list *d = &l->model->defines;
    size_t n = d->n;
    /* rows of source for every vertex are the fastest for one invocation, but take long to compile: not where an ODF
     * and its peaks are needed but once a seed */
    bool looped = l->plan->mapping->looped || is_initial;
    if (l->model->odf) gls_define_loops(d, "odf", l->model->odf, looped);
    gls_define_loops(d, "peaks", "odf/peaks", looped);
    gls_define_int(d, "SLOTS", group->slots, "streamlines of a work group at most");
    gls_define_int(d, "GROUP_SIZE", group->size, "invocations of a work group");
    gls_define_int(d, "HAVE_MEASURED", measured, "pass 1 begins with the measured signal");
    if (d->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the kernels");
    gls_status status = gls_kernel_load(l->device, file, d->define, d->n, kernel);
    gls_define_cut(d, n);
    return status;
}

gls_status gls_kernels_load(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                            const gls_track_input *input, gls_model_plan *model, gls_kernels *k)
{
    const loading l = {device, plan, model};
    const gls_group_plan *group = &plan->group;
    bool measured = params->boot_start == GLS_BOOT_START_FIT;
    define_mapping(&model->defines, plan, gls_device_get_info(device));
    define_common(&model->defines, params, plan, &input->stop_map->grid, plan->getter->sphere(input));
    gls_guide_define(&plan->guide, params, input, &model->defines);
    gls_status status = load(&l, "kernel/gather.comp", group, false, false, &k->gather);
    if (status != GLS_OK) return status;
    if (plan->split) {
        status = load(&l, "kernel/sample.comp", group, false, false, &k->sample);
        if (status == GLS_OK && measured) status = load(&l, "kernel/sample.comp", group, false, true, &k->first_sample);
        return status == GLS_OK ? load(&l, "kernel/turn.comp", group, false, false, &k->turn) : status;
    }
    status = load(&l, "kernel/initial.comp", group, true, measured, &k->initial);
    if (status != GLS_OK) return status;
    return plan->staged ? load(&l, "kernel/step.comp", group, false, false, &k->step)
                        : load(&l, "kernel/track.comp", &plan->track_group, false, false, &k->track);
}

void gls_kernels_destroy(gls_kernels *k)
{
    gls_kernel *kernels[] = {k->initial, k->track, k->step, k->sample, k->first_sample, k->turn, k->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) gls_kernel_destroy(kernels[i]);
    *k = (gls_kernels){0};
}
