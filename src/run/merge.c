/* `glslines merge`: joins the shards of a run. Writes the tractogram of the whole run with its sidecar, or adds up
 * maps. */
#include <glslines/workflow.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/run.h"
#include "record/sidecar.h"
#include "run/merge_sidecar.h"
#include "sinks/merge_maps.h"
#include "tractogram/merge_shards.h"
#include "util/clock.h"
#include "util/json_text.h"

/* State of `glslines merge`. */
typedef struct merge_run {
    const gls_merge_options *options;
    const gls_monitor *monitor;
    gls_run run;
    size_t n;
    gls_merge_shard *shard; /* in the order of the arguments until write_sidecar() sorts them */
    gls_merge_result result;
} merge_run;

gls_merge_options gls_merge_options_default(void)
{
    return (gls_merge_options){.size = sizeof(gls_merge_options)};
}

/* Names the sidecar and adds it to the outputs. */
static gls_status name_sidecar(merge_run *run)
{
    const gls_merge_options *o = run->options;
    if (o->sidecar && strcmp(o->sidecar, "none") == 0) return GLS_OK;
    char *name = o->sidecar ? strdup(o->sidecar) : gls_sidecar_name(o->output);
    gls_status status = !name ? gls_no_memory() : o->sidecar ? GLS_OK : gls_sidecar_check_free(name);
    if (!status) status = gls_run_writes(&run->run, name);
    run->run.sidecar = name;
    return status;
}

/* Names the inputs and the outputs of the merge. Merged maps get no sidecar. */
static gls_status name_files(merge_run *run)
{
    const gls_merge_options *o = run->options;
    const bool maps = gls_map_is_name(o->output);
    gls_tractogram_format format;
    gls_status status = maps ? GLS_OK : gls_tractogram_format_parse(o->output, &format);
    for (size_t i = 0; !status && !maps && i < run->n; i++)
        status = gls_tractogram_format_parse(run->shard[i].path, &format);
    if (!status) status = gls_run_reads_all(&run->run, o->shards, o->n_shards);
    if (!status) status = gls_run_writes(&run->run, o->output);
    return status || maps ? status : name_sidecar(run);
}

/* Reads and compares the sidecars of the shards. This comes before the shards are read, because a difference between
 * sidecars gives a clearer message. */
static gls_status read_sidecars(merge_run *run)
{
    bool warned = false;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < run->n && !status; i++) {
        status = gls_merge_shard_read(&run->shard[i]);
        if (!status && i > 0) status = gls_merge_shard_compare(&run->shard[0], &run->shard[i], &warned);
    }
    for (size_t i = 0; i < run->n && !status; i++) status = gls_run_reads(&run->run, run->shard[i].sidecar);
    return status;
}

/* Callback of gls_tractogram_merge_grouped(): reports bytes to the monitor. */
static bool step(void *user, uint64_t done, uint64_t total)
{
    return gls_monitor_step(user, &(gls_progress){.phase = GLS_PHASE_MERGE, .done = done, .total = total});
}

/* Writes the sidecar of the whole run. */
static gls_status write_sidecar(merge_run *run)
{
    cJSON *root;
    gls_status status = gls_merge_sidecar(run->shard, run->n, run->options, &run->run.warnings, &run->result,
                                          &run->run.group.output[0], &root);
    if (!status) status = gls_json_write(root, run->run.sidecar, run->options->force, &run->run.group, "\n");
    cJSON_Delete(root);
    return status;
}

/* Merges and writes all files or none. */
static gls_status write_results(merge_run *run)
{
    const gls_merge_options *o = run->options;
    gls_output_group *group = &run->run.group;
    gls_monitor_begin(run->monitor, GLS_PHASE_MERGE);
    gls_status status = gls_map_is_name(o->output)
                            ? gls_maps_merge(o->shards, o->n_shards, o->output, o->force, group)
                            : gls_tractogram_merge_grouped(o->shards, run->n, o->output, o->force, group, step,
                                                           (void *)run->monitor, &run->result);
    if (!status && gls_monitor_cancelled(run->monitor, GLS_PHASE_MERGE)) status = GLS_ERR_CANCELLED;
    if (status == GLS_ERR_CANCELLED) gls_error_set("interrupted: %s was not written", o->output);
    if (!status && run->run.sidecar) status = write_sidecar(run);
    if (!status) status = gls_run_commit(&run->run, NULL);
    gls_monitor_end(run->monitor, GLS_PHASE_MERGE);
    return status;
}

gls_status gls_merge_files(const gls_merge_options *o, const gls_monitor *monitor, gls_merge_result *result,
                           char *sidecar, size_t sidecar_size)
{
    GLS_REQUIRE_SIZE(o);
    GLS_REQUIRE(o && o->shards && o->n_shards > 0 && o->output);
    merge_run run = {.options = o, .monitor = monitor, .n = o->n_shards};
    run.shard = calloc(run.n, sizeof *run.shard);
    if (!run.shard) return gls_no_memory();
    for (size_t i = 0; i < run.n; i++) run.shard[i].path = o->shards[i];
    gls_run_begin(&run.run, o->force);
    gls_status status = name_files(&run);
    if (!status && run.run.sidecar) status = read_sidecars(&run);
    if (!status) status = write_results(&run);
    if (!status && result) *result = run.result;
    if (!status && sidecar) snprintf(sidecar, sidecar_size, "%s", run.run.sidecar ? run.run.sidecar : "");
    if (!status && o->fail_if_empty && !gls_map_is_name(o->output) && run.result.streamlines == 0)
        status = gls_fail(GLS_ERR_EMPTY, "%s: was written, but has no streamline (--fail-if-empty)", o->output);
    for (size_t i = 0; i < run.n; i++) gls_merge_shard_finish(&run.shard[i]);
    free(run.shard);
    gls_run_end(&run.run);
    return status;
}
