/* Creates an engine in three steps, and retries with a smaller field or smaller batches where the device is short of
 * memory. The steps are apart, so that the fields of several devices can be filled at once with values that the CPU
 * computes once. */
#include "track/engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/objects.h"
#include "image/formats.h"
#include "util/clock.h"
#include "util/status.h"

/* Copies the vertices of the sphere in single precision, so that the host computes with the values of the kernels.
 * GLS_ERR_MEMORY. */
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

/* Destroys each copy once, and forgets all sets. */
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
        /* Succeeded, failed for another reason, or too small already: done. Else make the plan again with half of the
         * seeds. */
        uint32_t batch = t->plan.batch_seeds / 2;
        if (!status && t->halvings > 0)
            gls_log(GLS_LOG_WARNING, "%s: out of memory: batches of %u instead of %u seeds",
                    gls_device_kept_info(t->device)->renderer, t->plan.batch_seeds, wanted);
        if (!gls_status_is_memory(status) ||
            batch < (t->params.precision == GLS_PRECISION_FLOAT ? SMALLEST_FLOAT_BATCH : 1))
            return status;
        destroy_buffers(t);
        t->params.batch_seeds = batch;
        gls_status planned = gls_track_plan_make(&t->params, gls_device_kept_info(t->device), input, &t->plan);
        if (planned) return planned;
        t->halvings++;
    }
}

/* Plans the model, and creates its field and its buffer without the field's values. */
static gls_status create_model(gls_engine *t, const gls_track_input *input)
{
    gls_status status =
        gls_model_plan_make(gls_device_kept_info(t->device), &t->params, &t->plan, input, &t->model_plan);
    return !status ? gls_model_create(t->device, &t->model_plan, &t->model) : status;
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
    if (!status) status = fit_model(t, input);
    if (!status) status = gls_guide_create(device, &t->plan.guide, params, input, &t->guide);
    if (!status) status = gls_kernels_announce(device, params, &t->plan, input, &t->model_plan);
    gls_device_release(device);
    if (!status) {
        const gls_getter *getter = t->plan.getter;
        t->iteration_cost = getter->iteration_cost ? getter->iteration_cost(params, input) : 1;
        status = copy_vertices(t, getter->sphere(input));
    }
    /* Failed: the engine frees what was made so far. */
    t->seconds_upload = gls_clock_seconds() - start;
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
    /* One device is held throughout. Several share this thread, so each write holds the device that it goes to. */
    if (n == 1) gls_device_hold(engines[0]->device);
    gls_status status = engines[0]->plan.getter->fill(model, n, &engines[0]->params, input, failed);
    if (n == 1) gls_device_release(engines[0]->device);
    for (size_t i = 0; i < n; i++) engines[i]->seconds_upload += gls_clock_seconds() - start;
    return status;
}

gls_status gls_engine_complete(gls_engine *t, const gls_track_input *input)
{
    gls_device_hold(t->device);
    double start = gls_clock_seconds();
    gls_status status = fit_buffers(t, input);
    t->seconds_upload += gls_clock_seconds() - start;
    start = gls_clock_seconds();
    if (!status) status = gls_kernels_load(t->device, &t->params, &t->plan, &t->model_plan, &t->kernels);
    t->seconds_compile = gls_clock_seconds() - start;
    gls_device_release(t->device);
    gls_model_plan_finish(&t->model_plan);
    if (status) return status;
    /* The definitions and tables of the plan are free now; the sizes go to the log. */
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
    gls_kernels_destroy(&t->kernels);
    destroy_buffers(t);
    gls_guide_finish(&t->guide);
    gls_model_finish(&t->model);
    gls_device_release(t->device);
    gls_model_plan_finish(&t->model_plan);
    if (t->owns_device) gls_device_close(t->device);
    free(t->vertex);
    free(t);
}
