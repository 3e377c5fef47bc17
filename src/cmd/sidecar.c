#include "cmd/sidecar.h"

#include <cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/message.h"
#include "cmd/sidecar_json.h"

struct cmd_sidecar {
    char *path, *temporary;
    FILE *file;
};

static void add_result(cJSON *root, const track_run *run)
{
    const gls_track_result *r = &run->result;
    cJSON *device = cJSON_AddObjectToObject(root, "device");
    cJSON_AddStringToObject(device, "renderer", run->device->renderer);
    cJSON_AddStringToObject(device, "vendor", run->device->vendor);
    cJSON_AddStringToObject(device, "version", run->device->version);
    cJSON_AddStringToObject(device, "node", run->device->node);
    cJSON_AddBoolToObject(device, "software", run->device->software);
    cJSON_AddStringToObject(device, "mapping", r->lanes > 1 || run->options->mapping == GLS_MAPPING_SUBGROUP ? "subgroup" : "single");
    json_uint(device, "lanes", r->lanes);

    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    json_uint(counts, "seeds", r->seeds);
    json_uint(counts, "seeds_without_direction", r->seeds_without_direction);
    json_uint(counts, "directions", r->directions);
    json_uint(counts, "streamlines", r->streamlines);
    json_uint(counts, "points", r->points);
    json_uint(counts, "truncated", r->truncated);
    cJSON *rejected = cJSON_AddObjectToObject(counts, "rejected");
    json_uint(rejected, "single_point", r->rejected_single_point);
    json_uint(rejected, "too_short", r->rejected_too_short);
    cJSON *ends = cJSON_AddObjectToObject(counts, "half_streamline_ends");
    for (int e = 0; e < GLS_END_COUNT; e++) json_uint(ends, gls_end_name((gls_end)e), r->ends[e]);

    cJSON *lengths = cJSON_AddObjectToObject(root, "lengths");
    json_double(lengths, "mean_mm", r->mean_length);
    json_double(lengths, "median_mm", r->median_length);
    json_double(lengths, "min_mm", r->min_length);
    json_double(lengths, "max_mm", r->max_length);
    json_double(lengths, "mean_points", r->mean_points);
    json_double(lengths, "median_points", r->median_points);
    json_uint(lengths, "max_points", r->max_points);

    const char *const *warning;
    size_t n_warnings = cmd_message_warnings(&warning);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < n_warnings; i++) cJSON_AddItemToArray(warnings, cJSON_CreateString(warning[i]));
}

/* To the microsecond: more digits of a time say nothing. */
static void add_seconds(cJSON *object, const char *key, double seconds)
{
    json_double(object, key, round(1e6 * seconds) / 1e6);
}

/* What differs between two runs that write the same tractogram: apart from the rest, so that the rest can be compared. */
static void add_run(cJSON *root, const track_run *run)
{
    const gls_track_result *r = &run->result;
    char date[64];
    struct tm utc;
    cJSON *block = cJSON_AddObjectToObject(root, "run");
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&run->started, &utc));
    cJSON_AddStringToObject(block, "started", date);
    json_uint(block, "batches", r->batches);
    json_uint(block, "batch_seeds", r->batch_seeds);

    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    add_seconds(seconds, "read", run->input.seconds_read);
    add_seconds(seconds, "fit", run->input.seconds_fit);
    add_seconds(seconds, "upload", run->seconds_upload);
    add_seconds(seconds, "track", run->seconds_track);
    add_seconds(seconds, "write", run->seconds_write);
    add_seconds(seconds, "total", run->seconds_total);
    cJSON *parts = cJSON_AddObjectToObject(seconds, "parts");
    add_seconds(parts, "compile", r->seconds_compile);
    add_seconds(parts, "initial", r->seconds_initial);
    add_seconds(parts, "scan", r->seconds_scan);
    add_seconds(parts, "track", r->seconds_track);
    add_seconds(parts, "gather", r->seconds_gather);
    add_seconds(parts, "readback", r->seconds_readback);
    add_seconds(parts, "wait_for_writer", r->seconds_sink);
}

char *cmd_sidecar_text(const track_run *run)
{
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    sidecar_add_description(root, run);
    sidecar_add_inputs(root, run);
    sidecar_add_parameters(root, run);
    add_result(root, run);
    add_run(root, run);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

static void sidecar_free(cmd_sidecar *sidecar)
{
    if (sidecar->file) fclose(sidecar->file);
    free(sidecar->path);
    free(sidecar->temporary);
    free(sidecar);
}

gls_status cmd_sidecar_create(const char *path, cmd_sidecar **out, char *error, size_t error_size)
{
    cmd_sidecar *sidecar = calloc(1, sizeof *sidecar);
    if (sidecar) sidecar->path = strdup(path);
    if (!sidecar || !sidecar->path || asprintf(&sidecar->temporary, "%s.tmp.%ld", path, (long)getpid()) < 0) {
        snprintf(error, error_size, "%s: out of memory", path);
        if (sidecar) {
            free(sidecar->path);
            free(sidecar);
        }
        return GLS_ERR_MEMORY;
    }
    sidecar->file = fopen(sidecar->temporary, "wx");
    if (!sidecar->file) {
        snprintf(error, error_size, "%s: cannot be written: %s", path, strerror(errno));
        sidecar_free(sidecar);
        return GLS_ERR_OUTPUT;
    }
    *out = sidecar;
    return GLS_OK;
}

gls_status cmd_sidecar_finish(cmd_sidecar *sidecar, const track_run *run, char *error, size_t error_size)
{
    gls_status status = GLS_ERR_OUTPUT;
    char *text = cmd_sidecar_text(run);
    if (!text) {
        snprintf(error, error_size, "%s: out of memory", sidecar->path);
        cmd_sidecar_abort(sidecar);
        return GLS_ERR_MEMORY;
    }
    bool ok = fputs(text, sidecar->file) >= 0 && fputc('\n', sidecar->file) != EOF && fflush(sidecar->file) == 0 && fsync(fileno(sidecar->file)) == 0;
    int reason = errno;
    ok = fclose(sidecar->file) == 0 && ok;
    sidecar->file = NULL;
    if (ok && rename(sidecar->temporary, sidecar->path) == 0) {
        status = GLS_OK;
    } else {
        snprintf(error, error_size, "%s: cannot be written: %s", sidecar->path, strerror(ok ? errno : reason));
        unlink(sidecar->temporary);
    }
    free(text);
    sidecar_free(sidecar);
    return status;
}

void cmd_sidecar_abort(cmd_sidecar *sidecar)
{
    if (!sidecar) return;
    unlink(sidecar->temporary);
    sidecar_free(sidecar);
}
