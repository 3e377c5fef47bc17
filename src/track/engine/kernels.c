/* Definitions, shader slots and loading of the tracker's kernels, and the getter's model on the device. A kernel is its
 * file, the definitions of model, mapping and guide, and a few of its own, which load() adds and removes again. */
#include "track/engine/engine.h"

#include "gpu/objects.h"
#include "util/status.h"

/* Definitions that do not depend on the direction getter: the grid, the sphere, the loop of a half-streamline. */
static void define_common(gls_define_list *d, const gls_track_params *params, const gls_track_plan *plan,
                          const gls_grid *grid, const gls_sphere *sphere)
{
    static const char *const axis[] = {"GRID_X", "GRID_Y", "GRID_Z"};
    static const char *const axis_n[] = {"GRID_NX", "GRID_NY", "GRID_NZ"};
    gls_define_int(d, "MAX_DIRECTIONS", params->max_directions_per_seed, "option max_directions_per_seed");
    gls_define_int(d, "ANGULAR_WEIGHT", params->angular_weight > 0, "option angular_weight is above 0");
    gls_define_int(d, "CUTOFF", params->fod_cutoff > 0, "option fod_cutoff is above 0");
    gls_define_int(d, "SEED_CUTOFF", gls_track_seed_cutoff(params) > 0, "option seed_cutoff or fod_cutoff is above 0");
    gls_define_int(d, "FRAMED", plan->getter->framed, "a half-streamline carries a frame instead of a vertex");
    gls_define_int(d, "SUBSTEPS", plan->substeps, "steps for each stored point");
    gls_define_int(d, "REPORTS_LATE", plan->packs_on_host, "results are written behind the loop of turns");
    gls_define_int(d, "VOXEL_RUNS", plan->voxel_runs, "all steps in a voxel are computed and stored together");
    gls_define_int(d, "LOOP_CHECK", params->loop_check, "half-streamlines end where they turn back");
    gls_define_int(d, "STEP_PARTS", plan->parts, "positions that are tested along a step");
    gls_define_int(d, "OWN_STEPS", plan->getter->parts != NULL, "the getter computes the positions along a step");
    gls_define_int(d, "OWN_START", plan->getter->own_start, "initial directions are packed vectors, not vertices");
    gls_define_int(d, "N_VERTICES", (int64_t)sphere->n, "vertices of the sphere");
    gls_define_int(d, "ODF_CHANNELS", (int64_t)(sphere->n + 3) / 4 * 4,
                   "number of vertices, rounded up to whole tiles of four");
    gls_define_int(d, "ANTIPODAL", sphere->antipodal, "a vertex stands for both senses of its direction");
    gls_define_int(d, "MAX_CANDIDATES", sphere->n < 384 ? (int64_t)(sphere->n + 2) / 3 : 128,
                   "no two local maxima are neighbours, so a third of the vertices is enough");
    gls_define_float(d, "LOOP_MIRROR", gls_grid_determinant(grid) > 0 ? grid->dim[0] - 1 : -1,
                     "largest x of the grid where FSL mirrors x, else -1");
    for (int a = 0; a < 3; a++) {
        gls_define_float(d, axis[a], grid->dim[a], "voxels");
        gls_define_int(d, axis_n[a], grid->dim[a], "voxels");
    }
}

/* Definitions that depend on how invocations are assigned to streamlines. */
static void define_mapping(gls_define_list *d, const gls_track_plan *plan, const gls_device_info *limits)
{
    gls_define_file(d, "lanes", plan->mapping->shader, plan->mapping->name);
    if (plan->mapping->extension) gls_define_int(d, GLS_DEFINE_SUBGROUPS, 1, "the mapping needs KHR_shader_subgroup");
    gls_define_int(d, "GATHER_RUN", gls_gather_run(limits),
                   "points that an invocation packs; neighbours pack neighbouring points on a GPU");
    gls_define_int(d, "LANES_IN_STEP", plan->lanes_in_step, "lanes of a streamline run in step and need no barrier");
    gls_define_file(d, "quads",
                    limits->max_storage_bindings > 4 ? "kernel/quads_whole.glsl" : "kernel/quads_words.glsl",
                    "the number of storage buffers decides if the work buffer has a second view");
    if (!plan->mapping->looped) return;
    gls_define_int(d, "SUBGROUP_ARITHMETIC", (limits->subgroup_features & GLS_SUBGROUP_ARITHMETIC) != 0,
                   "the driver has sums and maxima over a subgroup");
    if (gls_lanes_fixed(plan))
        gls_define_int(d, "LANES", plan->lanes, "lanes of a streamline, which the compiler does not choose");
}

/* A kernel that the plan needs. */
typedef struct wanted {
    const char *file;
    const gls_group_plan *group;
    bool is_initial, measured; /* is_initial: a kernel of pass 1; measured: pass 1 starts from the measured signal, not
                                  from a bootstrap sample */
    gls_kernel **kernel;
} wanted;

/* Largest number of kernels that a plan needs for both passes. */
#define MAX_WANTED 4

/* Lists the kernels of a plan and where in *k each is stored. Returns their number. */
static size_t list_kernels(const gls_track_params *params, const gls_track_plan *plan, gls_kernels *k,
                           wanted list[MAX_WANTED])
{
    const gls_group_plan *group = &plan->group;
    bool measured = params->boot_start == GLS_BOOT_START_FIT;
    size_t n = 0;
    if (!plan->packs_on_host) list[n++] = (wanted){"kernel/gather.comp", group, false, false, &k->gather};
    if (plan->split) {
        list[n++] = (wanted){"kernel/sample.comp", group, false, false, &k->sample};
        if (measured) list[n++] = (wanted){"kernel/sample.comp", group, false, true, &k->first_sample};
        list[n++] = (wanted){"kernel/turn.comp", group, false, false, &k->turn};
    } else {
        list[n++] = (wanted){"kernel/initial.comp", group, true, measured, &k->initial};
        list[n++] = plan->staged ? (wanted){"kernel/step.comp", group, false, false, &k->step}
                                 : (wanted){"kernel/track.comp", &plan->track_group, false, false, &k->track};
    }
    return n;
}

/* Announces or loads one kernel with the model's definitions and its own, which are removed afterwards. */
static gls_status load(gls_device *device, const gls_track_plan *plan, gls_model_plan *model, const wanted *w,
                       bool announced)
{
    gls_define_list *d = &model->defines;
    size_t n = d->n;
    /* source written out for every vertex runs fastest on one invocation but compiles slowly: use loops in kernels that
     * need the ODF and its peaks only once for each seed */
    bool looped = plan->mapping->looped || w->is_initial || model->looped;
    gls_status status = GLS_OK;
    if (model->odf) gls_define_loops(d, "odf", model->odf, looped);
    gls_define_loops(d, "peaks", "odf/peaks", looped);
    gls_define_int(d, "WRITTEN_OUT", !looped, "source is written out for one invocation");
    gls_define_int(d, "SLOTS", w->group->slots, "largest number of streamlines in a work group");
    gls_define_int(d, "GROUP_SIZE", w->group->size, "invocations of a work group");
    gls_define_int(d, "HAVE_MEASURED", w->measured, "pass 1 begins with the measured signal");
    if (d->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the kernels");
    if (announced)
        gls_kernel_announce(device, w->file, d->define, d->n);
    else
        status = gls_kernel_load(device, w->file, d->define, d->n, w->kernel);
    gls_define_cut(d, n);
    return status;
}

gls_status gls_kernels_announce(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                                const gls_track_input *input, gls_model_plan *model)
{
    gls_kernels none;
    wanted list[MAX_WANTED];
    /* Definitions of all kernels: kept in the plan for gls_kernels_load(). */
    define_mapping(&model->defines, plan, gls_device_kept_info(device));
    define_common(&model->defines, params, plan, &input->stop_map->grid, plan->getter->sphere(input));
    gls_guide_define(&plan->guide, params, input, &model->defines);
    size_t n = list_kernels(params, plan, &none, list);
    gls_status status = GLS_OK;
    /* begin with the last, which take longest to compile */
    while (n-- > 0 && !status) status = load(device, plan, model, &list[n], true);
    return status;
}

gls_status gls_kernels_load(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                            gls_model_plan *model, gls_kernels *k)
{
    wanted list[MAX_WANTED];
    size_t n = list_kernels(params, plan, k, list);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) status = load(device, plan, model, &list[i], false);
    return status;
}

void gls_kernels_destroy(gls_kernels *k)
{
    gls_kernel *kernels[] = {k->initial, k->track, k->step, k->sample, k->first_sample, k->turn, k->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) gls_kernel_destroy(kernels[i]);
    *k = (gls_kernels){0};
}

gls_status gls_model_plan_make(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_model_plan *model)
{
    const gls_model_request request = {
        .limits = limits,
        .params = params,
        .input = input,
        .n_units =
            limits->max_texture_units > plan->guide.n_textures ? limits->max_texture_units - plan->guide.n_textures : 0,
        .lanes = plan->lanes,
        .lanes_fixed = gls_lanes_fixed(plan),
        .looped = plan->mapping->looped,
        .smaller_field = plan->smaller_field,
        .tables_shared = plan->tables_shared,
    };
    gls_define_list *d = &model->defines;
    gls_tables *tables = &model->tables;
    *model = (gls_model_plan){0};
    /* The getter plans the field and makes the tables. What follows is the same for all getters. */
    gls_status status = plan->getter->plan(&request, model);
    if (status) return status;
    /* llvmpipe reads a storage block lane by lane, but a uniform block at once */
    gls_tables_fill_block(tables);
    tables->uniform =
        limits->software && plan->lanes == 1 && tables->n * sizeof *tables->word <= limits->max_uniform_bytes;
    gls_define_int(d, "MODEL_UNIFORM", tables->uniform, "CPU renderers read uniform blocks faster");
    gls_define_int(d, "MODEL_BLOCKS", (int64_t)tables->n / 4, "size of the model buffer, in blocks of four words");
    gls_define_file(d, "getter", plan->getter->shader, plan->getter->name);
    gls_define_file(d, "initial_directions", plan->getter->initial, plan->getter->name);
    gls_define_file(d, "field", model->field.kind->shader, model->field.kind->name);
    model->field.kind->define(&model->field, d);
    return GLS_OK;
}

void gls_model_plan_finish(gls_model_plan *plan)
{
    gls_tables_finish(&plan->tables);
    gls_define_finish(&plan->defines);
    *plan = (gls_model_plan){0};
}

gls_status gls_model_create(gls_device *device, gls_model_plan *plan, gls_model *model)
{
    model->uniform = plan->tables.uniform;
    gls_status status = gls_tables_upload(&plan->tables, device, &model->buffer);
    if (!status) status = gls_field_create(device, &plan->field, "model volume", &model->field);
    if (status) gls_model_finish(model);
    return status;
}

void gls_model_finish(gls_model *model)
{
    gls_field_finish(&model->field);
    gls_buffer_destroy(model->buffer);
    *model = (gls_model){0};
}
