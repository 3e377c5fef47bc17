/* Creates an engine in three steps, and retries with a smaller field or smaller batches where the device is short of
 * memory. The steps are apart, so that the fields of several devices can be filled at once with values that the CPU
 * computes once. A kernel is compiled from its file with the definitions of model, mapping and guide, and with a few of
 * its own, which load() adds and removes again. */
#include "track/engine/engine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device_cache.h"
#include "gpu/fetch.h"
#include "gpu/objects.h"
#include "gpu/open_device.h"
#include "image/grid.h"
#include "track/engine/model_plan.h"
#include "track/field/field.h"
#include "track/field/textures.h"
#include "track/guide/guide.h"
#include "track/guide/threshold_stop.h"
#include "track/shader/kernel_inputs.h"
#include "util/clock.h"
#include "util/status.h"

/* Largest number of kernels that a plan needs for all passes. */
#define MAX_WANTED 4

/* Copies the vertices of the sphere in single precision, so that the host computes with the values of the kernels.
 * GLS_ERR_MEMORY: out of memory. */
static gls_status copy_vertices(gls_engine *t, const gls_sphere *sphere)
{
    t->vertex = malloc(sphere->n * sizeof *t->vertex);
    if (!t->vertex) return gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    for (size_t v = 0; v < sphere->n; v++)
        for (int a = 0; a < 3; a++) t->vertex[v][a] = (float)sphere->vertex[v][a];
    t->n_vertices = (uint32_t)sphere->n;
    t->antipodal = sphere->antipodal;
    return GLS_OK;
}

void gls_engine_use_buffer_set(gls_engine *t, unsigned set)
{
    t->buffer = t->buffer_set[set % GLS_TRACK_BUFFER_SETS].buffer;
    t->fetch = t->buffer_set[set % GLS_TRACK_BUFFER_SETS].fetch;
}

/* Creates as many copies of each buffer and fetch as the plan wants, and spreads them over all buffer sets. */
static gls_status create_buffers(gls_engine *t)
{
    static const struct {
        gls_buffer_kind kind;
        const char *label;
    } wanted[GLS_TRACK_BUFFERS] = {
        [GLS_TRACK_UNIFORMS] = {GLS_BUFFER_UNIFORM, "parameters"},
        [GLS_TRACK_INITIAL_UNIFORMS] = {GLS_BUFFER_UNIFORM, "parameters of pass 1"},
        [GLS_TRACK_GATHER_UNIFORMS] = {GLS_BUFFER_UNIFORM, "gather parameters"},
        [GLS_TRACK_SEEDS] = {GLS_BUFFER_STORAGE, "seeds"},
        [GLS_TRACK_DIRECTIONS] = {GLS_BUFFER_STORAGE, "initial directions"},
        [GLS_TRACK_WORK] = {GLS_BUFFER_STORAGE, "work"},
        [GLS_TRACK_LINES] = {GLS_BUFFER_STORAGE, "streamlines"},
        [GLS_TRACK_PLACED] = {GLS_BUFFER_STORAGE, "placed"},
        [GLS_TRACK_POOL] = {GLS_BUFFER_STORAGE, "pool of points"},
        [GLS_TRACK_STATE] = {GLS_BUFFER_STORAGE, "state"},
        [GLS_TRACK_OUTPUT] = {GLS_BUFFER_STORAGE, "output points"},
    };
    uint64_t bytes[GLS_TRACK_BUFFERS];
    gls_track_buffer_bytes(&t->params, &t->plan, bytes);
    gls_engine_use_buffer_set(t, 0);
    /* Set k of each buffer is copy k modulo the number of copies; only the copies themselves are created. */
    for (int i = 0; i < GLS_TRACK_BUFFERS; i++) {
        const unsigned n = gls_track_buffer_copies(&t->plan, (gls_track_buffer)i);
        assert(n > 0);
        for (unsigned k = 0; k < GLS_TRACK_BUFFER_SETS; k++) {
            gls_buffer **slot = &t->buffer_set[k].buffer[i];
            gls_status status = GLS_OK;
            if (k < n)
                status = gls_buffer_create(t->device, wanted[i].kind, bytes[i], wanted[i].label, slot);
            else
                *slot = t->buffer_set[k % n].buffer[i];
            if (status) return status;
        }
    }
    uint64_t fetched[GLS_TRACK_FETCHES];
    gls_track_fetch_bytes(&t->params, &t->plan, fetched);
    for (int i = 0; i < GLS_TRACK_FETCHES; i++) {
        const unsigned n = gls_track_fetch_copies(&t->plan, (gls_track_fetch)i);
        assert(n > 0);
        for (unsigned k = 0; k < GLS_TRACK_BUFFER_SETS; k++) {
            gls_fetch **slot = &t->buffer_set[k].fetch[i];
            gls_status status = GLS_OK;
            if (k < n)
                status = gls_fetch_create(t->device, fetched[i], slot);
            else
                *slot = t->buffer_set[k % n].fetch[i];
            if (status) return status;
        }
    }
    return GLS_OK;
}

/* With a model in single precision, do not halve batches below this many seeds: half precision then saves more. */
#define SMALLEST_FLOAT_BATCH 64u

/* Destroys all buffers and fetches. A copy that stands in several sets is destroyed once. */
static void destroy_buffers(gls_engine *t)
{
    for (int i = 0; i < GLS_TRACK_BUFFERS; i++)
        for (unsigned k = 0; k < gls_track_buffer_copies(&t->plan, (gls_track_buffer)i); k++)
            gls_buffer_destroy(t->buffer_set[k].buffer[i]);
    for (int i = 0; i < GLS_TRACK_FETCHES; i++)
        for (unsigned k = 0; k < gls_track_fetch_copies(&t->plan, (gls_track_fetch)i); k++)
            gls_fetch_destroy(t->buffer_set[k].fetch[i]);
    memset(t->buffer_set, 0, sizeof t->buffer_set);
}

/* Creates all buffers. Halves the batch and tries again while the device is short of memory. */
static gls_status fit_buffers(gls_engine *t, const gls_track_input *input)
{
    uint32_t wanted = t->plan.batch_seeds;
    for (;;) {
        gls_status status = create_buffers(t);
        if (!status) status = gls_device_synchronize(t->device);
        /* Return after success, after another failure, or if the batch is too small to halve. Else make the plan again
         * with half of the seeds. */
        uint32_t batch = t->plan.batch_seeds / 2;
        if (!status && t->halvings > 0)
            gls_log(GLS_LOG_WARNING, "%s: out of memory: batches now have %u instead of %u seeds",
                    gls_device_kept_info(t->device)->renderer, t->plan.batch_seeds, wanted);
        if (!gls_status_is_memory(status) ||
            batch < (t->params.precision == GLS_PRECISION_FLOAT ? SMALLEST_FLOAT_BATCH : 1))
            return status;
        destroy_buffers(t);
        t->params.batch_seeds = batch;
        const gls_mapping_kind *mapping = t->plan.mapping; /* of the kernels that are announced */
        gls_status planned = gls_track_plan_make(&t->params, gls_device_kept_info(t->device), input, &t->plan);
        if (planned) return planned;
        t->plan.mapping = mapping;
        t->halvings++;
    }
}

/* Definitions that all direction getters need: of the grid, the sphere, the loop of a half-streamline. */
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
    if (plan->getter->by_voxel)
        gls_define_float(d, "REMAINDER_UNIT", (double)plan->remainder_unit, "unit of the remainders of positions");
    for (int a = 0; a < 3; a++) {
        gls_define_float(d, axis[a], grid->dim[a], "voxels");
        gls_define_int(d, axis_n[a], grid->dim[a], "voxels");
    }
}

/* Definitions that depend on the mapping and on the device. */
static void define_mapping(gls_define_list *d, const gls_track_plan *plan, const gls_device_info *limits)
{
    gls_define_file(d, "lanes", plan->subgroup_parts > 1 ? "base/lanes_part.glsl" : plan->mapping->shader,
                    plan->mapping->name);
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
    bool is_initial, measured; /* is_initial: initial.comp, which runs all of pass 1; measured: pass 1 starts from the
                                  measured signal, not from a bootstrap sample */
    gls_kernel **kernel;
} wanted;

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

/* The step of load() for a kernel. */
typedef enum load_step { ASK_IF_NEW, ANNOUNCE, LOAD } load_step;

/* Announces or loads one kernel, or asks whether this machine never saw it, and stores the answer in *is_new. Adds the
 * definitions of this kernel to those of the model, and removes them afterwards. */
static gls_status load(gls_device *device, const gls_track_plan *plan, gls_model_plan *model, const wanted *w,
                       load_step step, bool *is_new)
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
    if (step == ASK_IF_NEW)
        *is_new = gls_kernel_is_new(device, w->file, d->define, d->n);
    else if (step == ANNOUNCE)
        gls_kernel_announce(device, w->file, d->define, d->n);
    else
        status = gls_kernel_load(device, w->file, d->define, d->n, w->kernel);
    gls_define_cut(d, n);
    return status;
}

/* Creates the guide on a device. input->regions and input->tissue must outlive it. Call finish_guide() even after a
 * failure. */
static gls_status create_guide(gls_device *device, const gls_guide_plan *plan, const gls_track_params *params,
                               const gls_track_input *input, gls_guide *guide)
{
    *guide = (gls_guide){.plan = *plan,
                         .regions = gls_regions_count(input->regions) > 0 ? input->regions : NULL,
                         .tissue = input->tissue,
                         .params = *params};
    return plan->kind->create(guide, device, input);
}

/* Destroys the textures of a guide, which may be all zero. */
static void finish_guide(gls_guide *guide)
{
    for (uint32_t i = 0; i < GLS_GUIDE_MAX_TEXTURES; i++) gls_texture_destroy(guide->texture[i]);
    *guide = (gls_guide){0};
}

/* Adds the guide's definitions, among them the file of its shader. */
static void define_guide(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                         gls_define_list *defines)
{
    gls_define_int(defines, "GUIDE_TEXTURES", plan->n_textures, "the guide's texture units, which precede the field's");
    gls_define_int(defines, "GUIDE_WORDS", plan->n_words, "words of the guide's memory of a half-streamline");
    gls_define_int(defines, "GUIDE_AMPLITUDE", plan->amplitude, "the guide asks for an amplitude at each point");
    gls_define_int(defines, "TAKES_BACK", plan->backtracks,
                   "half-streamlines that ended badly are shortened and go on");
    gls_define_int(defines, "BACKTRACK", plan->backtracks && plan->particles == 0,
                   "half-streamlines that ended badly go on by backtracking, not by a particle filter");
    gls_define_int(defines, "PARTICLES", plan->particles, "number of particles of the filter; 0: no filter");
    if (plan->particles > 0) {
        gls_define_int(defines, "FILTER_BACK", plan->filter_back, "steps before the bad end at which particles begin");
        gls_define_int(defines, "FILTER_FRONT", plan->filter_front, "steps that particles may go beyond the bad end");
        gls_define_int(defines, "FILTER_BLOCKS", plan->filter_blocks,
                       "blocks of the pool for the particles of a half-streamline");
        gls_define_int(defines, "FILTER_TRIALS", params->pft_trials,
                       "largest number of runs of the filter for a half-streamline");
    }
    gls_define_int(defines, "STOP_OPEN", plan->kind->by_voxel && gls_stop_map_is_open(params, input),
                   "the stop map ends no half-streamline inside the mask");
    gls_define_int(defines, "GUIDE_BACKTRACK", plan->backtrack,
                   "first word of the memory of backtracking or filtering");
    gls_define_int(defines, "BLOCK_SIZE", plan->block_words, "words of the record of a block of the pool");
    gls_define_file(defines, "guide", plan->kind->shader, plan->kind->name);
    if (plan->kind->define) plan->kind->define(plan, params, input, defines);
}

/* Adds the definitions that all kernels share to those of the model. */
static void define_all(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                       const gls_track_input *input, gls_model_plan *model)
{
    define_mapping(&model->defines, plan, gls_device_kept_info(device));
    define_common(&model->defines, params, plan, &input->stop_map->grid, plan->getter->sphere(input));
    define_guide(&plan->guide, params, input, &model->defines);
}

/* With more seeds than this, written-out source saves more time than its compilation takes. */
#define FEW_SEEDS 4000u

/* Takes loops in place of written-out source where a software renderer tracks few seeds and has never been asked for
 * the written-out kernels on this machine. They are noted as asked for: the next run takes and keeps them. */
static gls_status shorten_source(gls_engine *t, const gls_track_input *input)
{
    gls_kernels none;
    wanted list[MAX_WANTED];
    gls_track_plan *plan = &t->plan;
    gls_model_plan model = {0};
    bool is_new = false;
    if (!gls_device_kept_info(t->device)->software || !plan->getter->long_source || plan->mapping->looped ||
        input->n_seeds == 0 || input->n_seeds > FEW_SEEDS)
        return GLS_OK;
    gls_status status = gls_model_plan_make(gls_device_kept_info(t->device), &t->params, plan, input, &model);
    if (!status) define_all(t->device, &t->params, plan, input, &model);
    size_t n = list_kernels(&t->params, plan, &none, list);
    if (!status) status = load(t->device, plan, &model, &list[n - 1], ASK_IF_NEW, &is_new);
    gls_model_plan_finish(&model);
    if (!is_new) return status;
    plan->mapping = &gls_mapping_single_looped;
    gls_log(GLS_LOG_DEBUG, "%s: kernels with loops, which compile faster, for a first run of few seeds",
            plan->getter->name);
    return status;
}

/* Adds the definitions that all kernels share to those of the model, and announces the kernels to the driver, which may
 * compile them on its own threads. */
static gls_status kernels_announce(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                                   const gls_track_input *input, gls_model_plan *model)
{
    gls_kernels none;
    wanted list[MAX_WANTED];
    define_all(device, params, plan, input, model); /* kept in the plan for kernels_load() */
    size_t n = list_kernels(params, plan, &none, list);
    gls_status status = GLS_OK;
    /* begin with the last kernels of the list, which take longest to compile */
    while (n-- > 0 && !status) status = load(device, plan, model, &list[n], ANNOUNCE, NULL);
    return status;
}

/* Loads the announced kernels that the plan needs. Call kernels_destroy() even after a failure. */
static gls_status kernels_load(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                               gls_model_plan *model, gls_kernels *k)
{
    wanted list[MAX_WANTED];
    size_t n = list_kernels(params, plan, k, list);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) status = load(device, plan, model, &list[i], LOAD, NULL);
    return status;
}

/* Destroys the kernels that are loaded. */
static void kernels_destroy(gls_kernels *k)
{
    gls_kernel *kernels[] = {k->initial, k->track, k->step, k->sample, k->first_sample, k->turn, k->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) gls_kernel_destroy(kernels[i]);
    *k = (gls_kernels){0};
}

/* Frees field and buffer of a model, which may be all zero. */
static void finish_model(gls_model *model)
{
    gls_field_finish(&model->field);
    gls_buffer_destroy(model->buffer);
    *model = (gls_model){0};
}

/* Creates the field of a plan, without values. label: for debuggers. A failure leaves nothing to free. */
static gls_status create_field(gls_device *device, const gls_field_plan *plan, const char *label, gls_field *field)
{
    *field = (gls_field){.device = device, .plan = *plan};
    gls_status status = plan->kind->create(field, label);
    if (status) gls_field_finish(field);
    return status;
}

/* Plans the model, and creates its field, without values, and its buffer; frees the tables of the plan. */
static gls_status create_model(gls_engine *t, const gls_track_input *input)
{
    gls_model *model = &t->model;
    gls_model_plan *plan = &t->model_plan;
    gls_status status = gls_model_plan_make(gls_device_kept_info(t->device), &t->params, &t->plan, input, plan);
    if (status) return status;
    model->uniform = plan->tables.uniform;
    status = gls_tables_upload(&plan->tables, t->device, &model->buffer);
    if (!status) status = create_field(t->device, &plan->field, "model volume", &model->field);
    if (status) finish_model(model);
    return status;
}

/* Creates the model. A field may be large only for speed: where memory is short a smaller one gives the same result. */
static gls_status fit_model(gls_engine *t, const gls_track_input *input)
{
    for (;;) {
        gls_status status = create_model(t, input);
        const gls_field_plan *field = &t->model_plan.field;
        int smaller =
            gls_status_is_memory(status) && field->kind && field->kind->shrink ? field->kind->shrink(field) : 0;
        if (smaller == 0) return status;
        gls_log(GLS_LOG_WARNING, "%s: out of memory: the ODFs are kept in less than %.1f MiB",
                gls_device_kept_info(t->device)->renderer, (double)field->bytes / 1048576.0);
        gls_model_plan_finish(&t->model_plan);
        t->plan.smaller_field = smaller;
    }
}

gls_status gls_engine_begin(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                            gls_engine **out)
{
    gls_engine *t = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for the tracker");
    t->device = device;
    t->params = *params;
    t->grid = input->stop_map->grid;
    t->has_direction = gls_grid_direction(&t->grid, t->params.seed_direction, t->seed_direction);
    /* Hold the device's context through all calls of this step. */
    gls_device_hold(device);
    double start = gls_clock_seconds();
    gls_status status = gls_track_plan_make(params, gls_device_kept_info(device), input, &t->plan);
    if (!status) status = shorten_source(t, input);
    if (!status) status = fit_model(t, input);
    if (!status) status = create_guide(device, &t->plan.guide, params, input, &t->guide);
    if (!status) status = kernels_announce(device, params, &t->plan, input, &t->model_plan);
    gls_device_release(device);
    if (!status) {
        const gls_getter *getter = t->plan.getter;
        t->iteration_cost = getter->iteration_cost ? getter->iteration_cost(params, input) : 1;
        status = copy_vertices(t, getter->sphere(input));
    }
    /* If a step failed, destroying the engine frees what was made so far. */
    t->seconds_upload = gls_trace_phase("begin engine", start, 0);
    if (!status)
        *out = t;
    else
        gls_engine_destroy(t);
    return status;
}

gls_status gls_engine_fill(gls_engine *const *engines, size_t n, const gls_track_input *input, size_t *failed)
{
    gls_model *model[GLS_TRACKER_MAX_DEVICES];
    double start = gls_clock_seconds();
    for (size_t i = 0; i < n; i++) model[i] = &engines[i]->model;
    *failed = SIZE_MAX;
    /* A single device is held throughout. Several devices share this thread, so each write holds the device that it
     * goes to. */
    if (n == 1) gls_device_hold(engines[0]->device);
    gls_status status = engines[0]->plan.getter->fill(model, n, &engines[0]->params, input, failed);
    if (n == 1) gls_device_release(engines[0]->device);
    const double seconds = gls_trace_phase("fill fields", start, 0);
    for (size_t i = 0; i < n; i++) engines[i]->seconds_upload += seconds;
    return status;
}

gls_status gls_engine_complete(gls_engine *t, const gls_track_input *input)
{
    gls_device_hold(t->device);
    double start = gls_clock_seconds();
    gls_status status = fit_buffers(t, input);
    t->seconds_upload += gls_trace_phase("make buffers", start, 0);
    start = gls_clock_seconds();
    if (!status) status = kernels_load(t->device, &t->params, &t->plan, &t->model_plan, &t->kernels);
    t->seconds_compile = gls_trace_phase("load kernels", start, 0);
    gls_device_release(t->device);
    gls_model_plan_finish(&t->model_plan);
    if (status) return status;
    /* The sizes go to the log. */
    t->complete = true;
    uint64_t bytes[GLS_TRACK_BUFFERS], buffer_bytes = gls_track_buffer_bytes(&t->params, &t->plan, bytes);
    const gls_field_plan *field = &t->model.field.plan;
    gls_log(GLS_LOG_DEBUG,
            "batches of %u seeds, %u streamlines, %u blocks of %u points; buffers %.1f MiB, field %.1f MiB in %u %s",
            t->plan.batch_seeds, t->plan.batch_lines, t->plan.pool_blocks, POOL_BLOCK, (double)buffer_bytes / 1048576.0,
            (double)field->bytes / 1048576.0, field->n_parts, field->kind->name);
    return GLS_OK;
}

gls_status gls_engine_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                             gls_engine **out)
{
    gls_engine *t = NULL;
    size_t failed;
    gls_status status = gls_engine_begin(device, params, input, &t);
    if (!status) status = gls_engine_fill(&t, 1, input, &failed);
    if (!status) status = gls_engine_complete(t, input);
    if (!status)
        *out = t;
    else
        gls_engine_destroy(t);
    return status;
}

gls_status gls_engine_run(gls_engine *t, gls_kernel *kernel, gls_engine_time time, uint32_t groups, const gls_arg *args,
                          size_t n_args)
{
    double seconds = 0;
    gls_status status = gls_kernel_run(kernel, (uint32_t[3]){groups, 1, 1}, args, n_args, t->timed ? &seconds : NULL);
    /* gls_kernel_run() waits for the kernel only where its time is asked for. */
    t->kernel_seconds[time] += seconds;
    return status;
}

void gls_engine_destroy(gls_engine *t)
{
    if (!t) return;
    gls_device_hold(t->device);
    gls_visitor_finish(&t->visitor);
    kernels_destroy(&t->kernels);
    destroy_buffers(t);
    finish_guide(&t->guide);
    finish_model(&t->model);
    gls_device_release(t->device);
    gls_model_plan_finish(&t->model_plan);
    if (t->owns_device) gls_device_close(t->device);
    free(t->vertex);
    free(t);
}
