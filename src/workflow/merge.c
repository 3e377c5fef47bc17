/* Shards and their sidecars in, the tractogram of the whole run and its sidecar out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tractogram/writers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "workflow/merge_maps.h"
#include "workflow/merge_sidecar.h"
#include "workflow/monitor.h"
#include "workflow/output.h"
#include "workflow/sidecar.h"

typedef struct merge_run {
    const gls_merge_options *options;
    const gls_monitor *monitor;
    size_t n;
    gls_merge_shard *shard; /* in the order of the options */
    char *sidecar;          /* NULL: none */
    gls_merge_result result;
    gls_warnings warnings;
} merge_run;

gls_merge_options gls_merge_options_default(void)
{
    return (gls_merge_options){.size = sizeof(gls_merge_options)};
}

static gls_status set_sidecar(merge_run *run)
{
    const gls_merge_options *o = run->options;
    if (o->sidecar && strcmp(o->sidecar, "none") == 0) return GLS_OK;
    run->sidecar = o->sidecar ? strdup(o->sidecar) : gls_sidecar_name(o->output);
    if (!run->sidecar) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (strcmp(run->sidecar, o->output) == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--sidecar: %s is the tractogram itself", run->sidecar);
    return o->sidecar ? GLS_OK : gls_sidecar_check_free(run->sidecar);
}

/* Places that can be written and hold none of the shards and their sidecars, as far as those are known. */
static gls_status check_places(const merge_run *run)
{
    const gls_merge_options *o = run->options;
    const char *const others[] = {o->output};
    gls_inputs inputs = {0};
    gls_status status = GLS_OK;
    for (size_t i = 0; i < run->n && !status; i++) {
        status = gls_inputs_add(&inputs, run->shard[i].path);
        if (!status) status = gls_inputs_add(&inputs, run->shard[i].sidecar);
    }
    if (!status) status = gls_place_check(o->output, o->force, &inputs, NULL, 0);
    if (!status && run->sidecar) status = gls_place_check(run->sidecar, o->force, &inputs, others, 1);
    gls_inputs_finish(&inputs);
    return status;
}

static gls_status check_output(merge_run *run)
{
    const gls_merge_options *o = run->options;
    gls_tractogram_format format;
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    for (size_t i = 0; !status && i < run->n; i++) status = gls_tractogram_format_parse(run->shard[i].path, &format);
    if (!status) status = set_sidecar(run);
    return status ? status : check_places(run);
}

/* Sidecars tell more clearly than the shards themselves what does not fit. */
static gls_status read_sidecars(merge_run *run)
{
    bool warned = false;
    for (size_t i = 0; i < run->n; i++) {
        gls_status status = gls_merge_shard_read(&run->shard[i]);
        if (!status && i > 0) status = gls_merge_shard_compare(&run->shard[0], &run->shard[i], &warned);
        if (status) return status;
    }
    return check_places(run);
}

static bool step(void *user, uint64_t done, uint64_t total)
{
    return gls_monitor_step(user, &(gls_progress){.phase = GLS_PHASE_MERGE, .done = done, .total = total});
}

static gls_status write_tractogram(merge_run *run, gls_output_group *group)
{
    const gls_merge_options *o = run->options;
    gls_status status = gls_tractogram_merge_grouped(o->shards, run->n, o->output, o->force, group, step,
                                                     (void *)run->monitor, &run->result);
    if (status == GLS_ERR_CANCELLED) gls_fail(status, "interrupted: %s was not written", o->output);
    return status;
}

static gls_status write_sidecar(merge_run *run, gls_output *sidecar, const gls_output *tractogram)
{
    const gls_merge_options *o = run->options;
    char *text = NULL;
    gls_status status = gls_merge_sidecar_text(run->shard, run->n, o, &run->warnings, &run->result, tractogram, &text);
    if (!status) status = gls_sidecar_finish(sidecar, run->sidecar, text);
    free(text);
    return status;
}

/* Both files or neither. */
static gls_status write_results(merge_run *run)
{
    gls_output_group group = {0};
    gls_output sidecar = GLS_OUTPUT_NONE;
    gls_monitor_begin(run->monitor, GLS_PHASE_MERGE);
    gls_status status = run->sidecar ? gls_output_create(run->sidecar, run->options->force, &sidecar) : GLS_OK;
    sidecar.group = &group;
    if (!status) status = write_tractogram(run, &group);
    if (!status && run->sidecar) status = write_sidecar(run, &sidecar, &group.output[0]);
    if (!status) status = gls_output_group_commit(&group);
    gls_output_discard(&sidecar);
    gls_output_group_discard(&group);
    gls_monitor_end(run->monitor, GLS_PHASE_MERGE);
    return status;
}

/* Maps have no sidecars of their own. */
static gls_status merge_maps(const gls_merge_options *o, const gls_monitor *monitor, gls_merge_result *result,
                             char *sidecar, size_t size)
{
    gls_output_group group = {0};
    gls_inputs inputs = {0};
    gls_status status = gls_inputs_add_all(&inputs, o->shards, o->n_shards);
    if (!status) status = gls_place_check(o->output, o->force, &inputs, NULL, 0);
    gls_inputs_finish(&inputs);
    gls_monitor_begin(monitor, GLS_PHASE_MERGE);
    if (!status) status = gls_maps_merge(o->shards, o->n_shards, o->output, o->force, &group);
    if (!status && gls_monitor_cancelled(monitor, GLS_PHASE_MERGE))
        status = gls_fail(GLS_ERR_CANCELLED, "interrupted: %s was not written", o->output);
    if (!status) status = gls_output_group_commit(&group);
    gls_output_group_discard(&group);
    gls_monitor_end(monitor, GLS_PHASE_MERGE);
    if (!status && result) *result = (gls_merge_result){.streamlines = 0};
    if (!status && sidecar && size > 0) *sidecar = '\0';
    return status;
}

gls_status gls_merge_files(const gls_merge_options *o, const gls_monitor *monitor, gls_merge_result *result,
                           char *sidecar, size_t sidecar_size)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o && o->shards && o->n_shards > 0 && o->output);
    if (gls_is_map_name(o->output)) return merge_maps(o, monitor, result, sidecar, sidecar_size);
    merge_run run = {.options = o, .monitor = monitor, .n = o->n_shards};
    run.shard = calloc(run.n, sizeof *run.shard);
    if (!run.shard) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < run.n; i++) run.shard[i].path = o->shards[i];
    gls_warnings_begin(&run.warnings);
    gls_status status = check_output(&run);
    if (!status && run.sidecar) status = read_sidecars(&run);
    if (!status) status = write_results(&run);
    if (!status && result) *result = run.result;
    if (!status && sidecar) snprintf(sidecar, sidecar_size, "%s", run.sidecar ? run.sidecar : "");
    if (!status && o->fail_if_empty && run.result.streamlines == 0)
        status = gls_fail(GLS_ERR_EMPTY, "%s: no streamline, and --fail-if-empty was given", o->output);
    gls_warnings_end(&run.warnings);
    for (size_t i = 0; i < run.n; i++) gls_merge_shard_finish(&run.shard[i]);
    free(run.shard);
    free(run.sidecar);
    return status;
}
