/* Shards and their sidecars in, the tractogram of the whole run and its sidecar out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/output.h"
#include "util/status.h"
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
    return GLS_OK;
}

/* No output may take the place of an input, not even with force. */
static gls_status check_distinct(const merge_run *run, const char *output)
{
    struct stat out, in;
    if (!output || stat(output, &out) != 0) return GLS_OK;
    for (size_t i = 0; i < run->n; i++) {
        const char *files[] = {run->shard[i].path, run->shard[i].sidecar};
        for (int k = 0; k < 2; k++)
            if (files[k] && stat(files[k], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
                return gls_fail(GLS_ERR_ARGUMENT, "%s: is a shard to be merged, or the sidecar of one", output);
    }
    return GLS_OK;
}

static gls_status check_output(merge_run *run)
{
    const gls_merge_options *o = run->options;
    gls_tractogram_format format;
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    for (size_t i = 0; !status && i < run->n; i++) status = gls_tractogram_format_parse(run->shard[i].path, &format);
    if (!status) status = set_sidecar(run);
    if (!status) status = check_distinct(run, o->output);
    if (!status) status = gls_place_check(o->output, o->force);
    return status || !run->sidecar ? status : gls_place_check(run->sidecar, o->force);
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
    return check_distinct(run, run->sidecar);
}

static bool step(void *user, uint64_t done, uint64_t total)
{
    return gls_monitor_step(user, &(gls_progress){.phase = GLS_PHASE_MERGE, .done = done, .total = total});
}

static gls_status write_tractogram(merge_run *run)
{
    const gls_merge_options *o = run->options;
    gls_status status =
        gls_tractogram_merge(o->shards, run->n, o->output, o->force, step, (void *)run->monitor, &run->result);
    if (status == GLS_ERR_CANCELLED) gls_fail(status, "interrupted: %s was not written", o->output);
    return status;
}

static gls_status write_sidecar(merge_run *run, gls_output *sidecar)
{
    const gls_merge_options *o = run->options;
    struct stat info;
    char *text = NULL, error[1024];
    uint64_t bytes = stat(o->output, &info) == 0 ? (uint64_t)info.st_size : 0;
    gls_status status = gls_merge_sidecar_text(run->shard, run->n, o, &run->warnings, &run->result, bytes, &text);
    if (status) {
        /* all or nothing, unless it took the place of an older file */
        if (!o->force) remove(o->output);
        return status;
    }
    status = gls_sidecar_finish(sidecar, run->sidecar, text);
    free(text);
    if (!status) return GLS_OK;
    snprintf(error, sizeof error, "%s", gls_last_error());
    return gls_fail(status, "%s (%s is complete)", error, o->output);
}

static gls_status write_results(merge_run *run)
{
    gls_output sidecar = GLS_OUTPUT_NONE;
    gls_monitor_begin(run->monitor, GLS_PHASE_MERGE);
    gls_status status = run->sidecar ? gls_output_create(run->sidecar, true, &sidecar) : GLS_OK;
    if (!status) status = write_tractogram(run);
    if (!status && run->sidecar) status = write_sidecar(run, &sidecar);
    gls_output_discard(&sidecar);
    gls_monitor_end(run->monitor, GLS_PHASE_MERGE);
    return status;
}

gls_status gls_merge_files(const gls_merge_options *o, const gls_monitor *monitor, gls_merge_result *result,
                           char *sidecar, size_t sidecar_size)
{
    GLS_REQUIRE(o && o->size == sizeof *o && o->shards && o->n_shards > 0 && o->output);
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
