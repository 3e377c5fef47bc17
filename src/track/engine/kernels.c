#include "track/engine/kernels.h"

#include "util/status.h"

/* The grid, the sphere, and what the loop of a half needs: the same for all direction getters. */
static void define_common(gls_define_list *d, const gls_engine *t, const gls_sphere *sphere)
{
    static const char *const grid[] = {"GRID_X", "GRID_Y", "GRID_Z"}, *const grid_n[] = {"GRID_NX", "GRID_NY",
                                                                                         "GRID_NZ"};
    gls_define_int(d, "MAX_DIRECTIONS", t->params.max_directions_per_seed, "max_directions_per_seed");
    gls_define_int(d, "ANGULAR_WEIGHT", t->params.angular_weight > 0, "angular_weight is above 0");
    gls_define_int(d, "FRAMED", t->plan.getter->framed, "a half carries a frame instead of a vertex");
    gls_define_int(d, "SUBSTEPS", t->plan.substeps, "turns for each stored point");
    gls_define_int(d, "N_VERTICES", (int64_t)sphere->n, "of the sphere");
    gls_define_int(d, "ODF_CHANNELS", (int64_t)(sphere->n + 3) / 4 * 4, "vertices in whole tiles");
    gls_define_int(d, "ANTIPODAL", sphere->antipodal, "a vertex stands for both senses");
    gls_define_int(d, "MAX_CANDIDATES", sphere->n < 384 ? (int64_t)(sphere->n + 2) / 3 : 128,
                   "local maxima are no neighbours: a third of the vertices at most");
    for (int a = 0; a < 3; a++) {
        gls_define_float(d, grid[a], t->grid.dim[a], "voxels");
        gls_define_int(d, grid_n[a], t->grid.dim[a], "voxels");
    }
}

static void define_mapping(gls_define_list *d, const gls_track_plan *plan, const gls_device_info *limits)
{
    gls_define_file(d, "lanes", plan->mapping->shader, plan->mapping->name);
    if (!plan->mapping->looped) return;
    gls_define_int(d, "SUBGROUP_ARITHMETIC", (limits->subgroup_features & GLS_SUBGROUP_ARITHMETIC) != 0,
                   "the driver has sums and maxima over a subgroup");
    gls_define_int(d, "LANES_IN_STEP", plan->lanes_in_step, "lanes need no barrier to meet again");
    if (plan->group.slots == plan->group.size / plan->lanes)
        gls_define_int(d, "LANES", plan->lanes, "the compiler does not choose the width itself");
}

/* One kernel; measured: pass 1 begins with the measured signal instead of a sample of it. */
static gls_status load(gls_engine *t, const char *file, const gls_group_plan *group, bool measured, gls_kernel **kernel)
{
    gls_define_list *d = &t->model_plan.defines;
    size_t n = d->n;
    /* rows of source for every vertex are the fastest for one invocation, but take long to compile: not where an ODF
     * and its peaks are needed but once a seed */
    bool looped = t->plan.mapping->looped || kernel == &t->initial;
    gls_define_loops(d, "odf", t->model_plan.odf, looped);
    gls_define_loops(d, "peaks", "odf/peaks", looped);
    gls_define_int(d, "SLOTS", group->slots, "streamlines of a work group at most");
    gls_define_int(d, "GROUP_SIZE", group->size, "invocations of a work group");
    gls_define_int(d, "HAVE_MEASURED", measured, "pass 1 begins with the measured signal");
    if (d->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the kernels");
    gls_status status = gls_kernel_load(t->device, file, d->define, d->n, kernel);
    gls_define_cut(d, n);
    return status;
}

gls_status gls_kernels_load(gls_engine *t, const gls_track_input *input)
{
    bool measured = t->params.boot_start == GLS_BOOT_START_FIT;
    const gls_group_plan *group = &t->plan.group;
    gls_define_list *d = &t->model_plan.defines;
    define_mapping(d, &t->plan, gls_device_get_info(t->device));
    define_common(d, t, t->plan.getter->sphere(input));
    gls_guide_define(&t->plan.guide, &t->params, input, d);
    gls_status status = load(t, "kernel/gather.comp", group, false, &t->gather);
    if (t->plan.split) {
        if (status == GLS_OK) status = load(t, "kernel/sample.comp", group, false, &t->sample);
        if (status == GLS_OK && measured) status = load(t, "kernel/sample.comp", group, true, &t->first_sample);
        if (status == GLS_OK) status = load(t, "kernel/turn.comp", group, false, &t->turn);
    } else {
        if (status == GLS_OK) status = load(t, "kernel/initial.comp", group, measured, &t->initial);
        if (status == GLS_OK && t->plan.staged) status = load(t, "kernel/step.comp", group, false, &t->step);
        if (status == GLS_OK && !t->plan.staged)
            status = load(t, "kernel/track.comp", &t->plan.track_group, false, &t->track);
    }
    return status;
}

void gls_kernels_destroy(gls_engine *t)
{
    gls_kernel *kernels[] = {t->initial, t->track, t->step, t->sample, t->first_sample, t->turn, t->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) gls_kernel_destroy(kernels[i]);
}
