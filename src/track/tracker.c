/* Creates a tracker: an engine for each device. After a failure it tries another mapping, half precision or fewer
 * devices. The functions for gls_device_team_run() run on the thread of each device; a single device has the caller's
 * thread. */
#include "track/tracker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/device_team.h"
#include "gpu/open_device.h"
#include "track/engine/rehearse.h"
#include "track/engine/track_plan.h"
#include "track/getter/getters.h"
#include "util/clock.h"
#include "util/status.h"

/* Opens a context in place of the lost one. After a reset the driver may need a moment, so this tries three times. */
static gls_status open_again(const gls_device *lost, gls_device **device)
{
    gls_status status = GLS_ERR_DEVICE;
    for (int attempt = 0; attempt < 3 && status; attempt++) {
        if (attempt > 0) nanosleep(&(struct timespec){0, 400000000}, NULL);
        status = gls_device_reopen(lost, device);
    }
    return status;
}

gls_status gls_tracker_renew(gls_tracker *t, size_t i, bool lost, uint64_t batch)
{
    gls_track_params params = t->params;
    gls_device *device = t->engine[i] ? t->engine[i]->device : t->device[i];
    gls_status status = GLS_OK;
    bool owns = t->engine[i] && t->engine[i]->owns_device;
    params.batch_seeds = batch;
    params.mapping = t->mapping[i];
    /* If the engine itself had opened the device: the device is closed with the engine if its context is lost, and
     * otherwise stays open for the new engine. */
    if (t->engine[i]) t->engine[i]->owns_device = owns && lost;
    gls_engine_destroy(t->engine[i]);
    t->engine[i] = NULL;
    if (lost) {
        status = open_again(t->device[i], &device);
        owns = !status;
    }
    if (!status) status = gls_engine_create(device, &params, &t->input, &t->engine[i]);
    if (!status)
        t->engine[i]->owns_device = owns;
    else if (owns)
        gls_device_close(device);
    return status;
}

/* Returns the mapping to try if the kernels of `mapping` do not compile, which is not the first that was tried unless
 * it equals `first`; GLS_MAPPING_AUTO: none is left. */
static gls_mapping next_mapping(gls_mapping first, gls_mapping mapping, const gls_device_info *limits)
{
    if (mapping == GLS_MAPPING_SUBGROUP) return GLS_MAPPING_GROUP;
    if (limits->software) return GLS_MAPPING_AUTO;
    if (mapping == GLS_MAPPING_SINGLE) return first == mapping ? GLS_MAPPING_GROUP : GLS_MAPPING_AUTO;
    return first == GLS_MAPPING_SINGLE ? GLS_MAPPING_AUTO : GLS_MAPPING_SINGLE;
}

/* Makes engine i with one other mapping after another until the driver compiles its kernels.
 * GLS_ERR_DEVICE: no mapping is left, or the user chose the mapping. */
static gls_status try_mappings(gls_tracker *t, size_t i)
{
    const gls_device_info *info = gls_device_kept_info(t->device[i]);
    gls_status status = GLS_ERR_DEVICE;
    const gls_mapping meant = gls_mapping_meant(gls_getter_of(&t->params), info),
                      first = t->mapping[i] == GLS_MAPPING_AUTO ? meant : t->mapping[i];
    while (status == GLS_ERR_DEVICE && t->params.mapping == GLS_MAPPING_AUTO) {
        gls_mapping failed = t->mapping[i] == GLS_MAPPING_AUTO ? first : t->mapping[i];
        gls_mapping next = next_mapping(first, failed, info);
        if (next == GLS_MAPPING_AUTO) break;
        gls_log(GLS_LOG_WARNING, "%s: %s: the mapping '%s' is used instead of '%s'", info->renderer, gls_last_error(),
                gls_mapping_name(next), gls_mapping_name(failed));
        t->mapping[i] = next;
        status = gls_tracker_renew(t, i, false, t->params.batch_seeds);
    }
    return status;
}

/* Handles a failure of device i while its engine is made: retries, or goes on without the device. Returns the failure
 * if the tracker cannot do without the device. */
static gls_status handle_failure(gls_tracker *t, size_t i, gls_status status)
{
    size_t n_others = 0;
    gls_engine_destroy(t->engine[i]);
    t->engine[i] = NULL;
    /* A lost device gets a new context. If the driver does not compile the kernels, another mapping follows. A shortage
     * of memory in single precision is left to the caller, which changes all engines to half precision. */
    for (unsigned losses = 0; status == GLS_ERR_LOST && losses < GLS_MAX_LOSSES; losses++) {
        gls_log(GLS_LOG_WARNING, "%s: %s: trying again on a new context", gls_device_kept_info(t->device[i])->renderer,
                gls_last_error());
        status = gls_tracker_renew(t, i, true, t->params.batch_seeds);
    }
    if (status == GLS_ERR_DEVICE) status = try_mappings(t, i);
    if (!status || (gls_status_is_memory(status) && t->params.precision == GLS_PRECISION_FLOAT)) return status;
    bool device_failed = status == GLS_ERR_LOST || gls_status_is_memory(status) || status == GLS_ERR_DEVICE ||
                         status == GLS_ERR_UNSUPPORTED;
    /* No cure: go on with the other devices, if there are any. */
    for (size_t k = 0; k < t->n; k++) n_others += !t->failed[k] && k != i;
    t->failed[i] = true;
    if (!device_failed || n_others == 0) return status;
    gls_log(GLS_LOG_WARNING, "%s: %s: the other devices do its work", gls_device_kept_info(t->device[i])->renderer,
            gls_last_error());
    return GLS_OK;
}

/* First step of engine i; called by gls_device_team_run(). */
static gls_status begin_engine(void *user, size_t i)
{
    gls_tracker *t = user;
    gls_track_params params = t->params;
    params.mapping = t->mapping[i];
    return t->failed[i] ? GLS_OK : gls_engine_begin(t->device[i], &params, &t->input, &t->engine[i]);
}

/* Last step of engine i, which compiles its kernels; called by gls_device_team_run(). */
static gls_status complete_engine(void *user, size_t i)
{
    gls_tracker *t = user;
    if (!t->engine[i] || t->engine[i]->complete) return GLS_OK;
    gls_status status = gls_engine_complete(t->engine[i], &t->input);
    if (!status) gls_engine_rehearse(t->engine[i]);
    return status;
}

/* Does a step for the engines of all devices at the same time, and handles the failures of devices. */
static gls_status on_all_engines(gls_tracker *t, gls_device_work step)
{
    gls_status status = GLS_OK;
    (void)gls_device_team_run(t->team, step, t);
    for (size_t i = 0; i < t->n && !status; i++) {
        status = gls_device_team_status(t->team, i);
        if (status) status = handle_failure(t, i, status);
    }
    return status;
}

/* Fills the fields of all engines in one pass. Drops or replaces an engine that fails, and makes another pass. */
static gls_status fill_engines(gls_tracker *t)
{
    for (;;) {
        gls_engine *engine[GLS_TRACKER_MAX_DEVICES];
        size_t index[GLS_TRACKER_MAX_DEVICES], n = 0, failed;
        for (size_t i = 0; i < t->n; i++) {
            if (!t->engine[i] || t->engine[i]->complete) continue;
            engine[n] = t->engine[i];
            index[n++] = i;
        }
        gls_status status = n > 0 ? gls_engine_fill(engine, n, &t->input, &failed) : GLS_OK;
        if (!status || failed == SIZE_MAX) return status;
        status = handle_failure(t, index[failed], status);
        if (status) return status;
    }
}

/* Makes an engine for each device that has not failed. All devices begin at the same time; then their fields are filled
 * together, because the CPU computes the values once for all; then all complete their engines at the same time. */
static gls_status create_engines(gls_tracker *t)
{
    gls_status status = on_all_engines(t, begin_engine);
    if (!status) status = fill_engines(t);
    return !status ? on_all_engines(t, complete_engine) : status;
}

/* Destroys all engines; the devices stay. */
static void destroy_engines(gls_tracker *t)
{
    for (size_t i = 0; i < t->n; i++) {
        gls_engine_destroy(t->engine[i]);
        t->engine[i] = NULL;
    }
}

gls_status gls_tracker_create_mapped(gls_device *const *devices, size_t n, const gls_track_params *params,
                                     const gls_track_input *input, const gls_mapping *mapping, gls_tracker **out)
{
    gls_tracker *t = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for the tracker");
    t->n = n;
    /* The devices stay open until the tracker is destroyed, also if the program closes them earlier. */
    for (size_t i = 0; i < n; i++) gls_device_keep(t->device[i] = devices[i]);
    t->params = *params;
    for (size_t i = 0; i < n; i++) t->mapping[i] = mapping[i];
    t->input = *input;
    gls_status status = gls_device_team_create(t->device, n, &t->team);
    if (!status) status = create_engines(t);
    if (gls_status_is_memory(status) && t->params.precision == GLS_PRECISION_FLOAT) {
        /* use half precision on every device, so that all give the same streamlines */
        gls_log(GLS_LOG_WARNING, "%s: the volumes are kept in half precision", gls_last_error());
        destroy_engines(t);
        t->params.precision = GLS_PRECISION_HALF;
        status = create_engines(t);
    }
    if (!status)
        *out = t;
    else
        gls_tracker_destroy(t);
    return status;
}

/* Makes the kernel of engine i that counts visited voxels; called by gls_device_team_run(). */
static gls_status create_visitor(void *user, size_t i)
{
    gls_engine *e = ((gls_tracker *)user)->engine[i];
    if (!e || !e->plan.in_flight) return GLS_OK;
    const double start = gls_clock_seconds();
    gls_device_hold(e->device);
    gls_visitor_create(&e->visitor, e->device, &e->grid, e->plan.batch_lines, true);
    gls_device_release(e->device);
    (void)gls_trace_phase("rehearse visits", start, 0);
    return GLS_OK;
}

void gls_tracker_expect_visits(gls_tracker *t)
{
    (void)gls_device_team_run(t->team, create_visitor, t);
}

void gls_tracker_destroy(gls_tracker *t)
{
    if (!t) return;
    destroy_engines(t);
    gls_device_team_destroy(t->team);
    for (size_t i = 0; i < t->n; i++) gls_device_let_go(t->device[i]);
    gls_result_store_finish(&t->results);
    free(t);
}

void gls_tracker_get_verdicts(const gls_tracker *t, uint64_t verdicts[GLS_VERDICT_COUNT])
{
    memcpy(verdicts, t->verdicts, sizeof t->verdicts);
}

size_t gls_tracker_devices(const gls_tracker *t)
{
    return t->n;
}

gls_track_share gls_tracker_get_share(const gls_tracker *t, size_t device)
{
    return device < t->n ? t->share[device] : (gls_track_share){0};
}

void gls_tracker_time_kernels(gls_tracker *t, bool on)
{
    for (size_t i = 0; i < t->n; i++) {
        if (!t->engine[i]) continue;
        t->engine[i]->timed = on;
        memset(t->engine[i]->kernel_seconds, 0, sizeof t->engine[i]->kernel_seconds);
    }
}

double gls_tracker_kernel_seconds(const gls_tracker *t, gls_engine_time time)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) sum += t->engine[i] ? t->engine[i]->kernel_seconds[time] : 0;
    return sum;
}
