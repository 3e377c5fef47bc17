/* Everything that the benchmark found, as JSON. */
#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/bench.h"
#include "cmd/message.h"
#include "cmd/sidecar_json.h"
#include "cmd/track_run.h"

static const char *const getters[] = {
    [GLS_DG_BOOT] = "boot", [GLS_DG_PROB] = "prob", [GLS_DG_DET] = "det", [GLS_DG_PTT] = "ptt"};
static const char *const models[] = {[MODEL_OPDT] = "opdt", [MODEL_CSA] = "csa", [MODEL_CSD] = "csd"};

/* "model name" of the first CPU; the machine's name elsewhere. */
static void cpu_name(char *name, size_t size)
{
    struct utsname system;
    char line[256];
    snprintf(name, size, "%s", uname(&system) == 0 ? system.machine : "");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[1 + strcspn(colon + 1, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file) fclose(file);
}

static void add_host(cJSON *root, const bench_run *run)
{
    char name[256];
    struct utsname system;
    cJSON *host = cJSON_AddObjectToObject(root, "host");
    cpu_name(name, sizeof name);
    cJSON_AddStringToObject(host, "cpu", name);
    json_uint(host, "cores", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    json_uint(host, "memory_bytes", (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    bench_busy now = bench_busy_now();
    json_double(host, "cpus_busy_with_others", round(1000 * bench_busy_others(&run->busy, &now)) / 1000);
    if (uname(&system) == 0) {
        cJSON_AddStringToObject(host, "system", system.sysname);
        cJSON_AddStringToObject(host, "release", system.release);
        cJSON_AddStringToObject(host, "machine", system.machine);
    }
}

static void add_data(cJSON *root, const bench_run *run)
{
    const track_input *in = &run->data;
    const gls_phantom_params *p = &in->phantom->params;
    sidecar_add_grid(root, in->grid);
    cJSON *data = cJSON_AddObjectToObject(root, "data");
    json_uint(data, "volumes", in->series.dwi->n_volumes);
    json_uint(data, "b0_volumes", in->series.gradients->n_b0);
    json_double(data, "bval_s_per_mm2", p->bval[0]);
    json_double(data, "snr", p->snr);
    json_uint(data, "mask_voxels", in->mask_voxels);
    json_uint(data, "seed_voxels", in->seed_voxels);
    cJSON_AddStringToObject(data, "model", models[run->options->model.model]);
    json_uint(data, "sh_order", (uint64_t)run->options->model.sh_order);
    json_uint(data, "directions", in->sphere->n);
    json_double(data, "phantom_seconds", run->seconds_phantom);
    json_double(data, "fa_seconds", run->seconds_fa);
}

static void add_devices(cJSON *root, const bench_run *run)
{
    cJSON *devices = cJSON_AddArrayToObject(root, "devices");
    for (int i = 0; i < run->lists.n_devices; i++) {
        const bench_device *d = &run->device[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(devices, object);
        cJSON_AddStringToObject(object, "name", run->lists.device[i]);
        cJSON_AddStringToObject(object, "renderer", d->info->renderer);
        cJSON_AddStringToObject(object, "vendor", d->info->vendor);
        cJSON_AddStringToObject(object, "version", d->info->version);
        cJSON_AddBoolToObject(object, "gles", d->info->gles);
        cJSON_AddBoolToObject(object, "software", d->info->software);
        json_uint(object, "subgroup_size", d->info->subgroup_size);
        json_uint(object, "memory_bytes", d->info->memory_bytes);
        if (!d->ceilings.measured) continue;
        cJSON *ceilings = cJSON_AddObjectToObject(object, "ceilings");
        json_double(ceilings, "copy_bytes_per_second", d->ceilings.copy_bytes);
        json_double(ceilings, "multiply_add_flop_per_second", d->ceilings.fma_flops);
        json_double(ceilings, "trilinear_samples_per_second", d->ceilings.fetches);
    }
}

static void add_params(cJSON *column, const gls_track_params *p)
{
    cJSON *object = cJSON_AddObjectToObject(column, "parameters");
    json_double(object, "step_size_mm", p->step_size);
    json_double(object, "max_angle_degrees", p->max_angle);
    json_double(object, "fa_threshold", p->stop_threshold);
    json_double(object, "pmf_threshold", p->pmf_threshold);
    json_double(object, "max_length_mm", p->max_length);
    json_uint(object, "max_directions_per_seed", (uint64_t)p->max_directions_per_seed);
    cJSON_AddStringToObject(object, "precision", p->float_textures ? "float" : "half");
    json_uint(object, "rng_seed", p->rng_seed);
    if (p->dg != GLS_DG_PTT) return;
    json_double(object, "probe_length_mm", p->probe_length);
    json_uint(object, "probe_quality", (uint64_t)p->probe_quality);
    json_uint(object, "probe_count", (uint64_t)p->probe_count);
    json_double(object, "ptt_substep_mm", p->ptt_substep);
}

static void add_result(cJSON *column, const bench_column *c)
{
    const gls_track_result *r = &c->result;
    json_uint(column, "seeds", c->nseeds);
    json_uint(column, "lanes", r->lanes);
    json_uint(column, "batches", r->batches);
    json_uint(column, "batch_seeds", r->batch_seeds);
    json_uint(column, "directions", r->directions);
    json_uint(column, "streamlines", r->streamlines);
    json_uint(column, "points", r->points);
    json_uint(column, "truncated", r->truncated);
    json_uint(column, "commissural", c->commissural);
    json_double(column, "mean_length_mm", r->mean_length);
    json_double(column, "median_length_mm", r->median_length);
    json_double(column, "max_length_mm", r->max_length);
    json_uint(column, "file_bytes", c->file_bytes);
    json_uint(column, "device_bytes", c->device_bytes);
    json_uint(column, "host_bytes", c->host_bytes);
    cJSON *work = cJSON_AddObjectToObject(column, "work_per_point");
    json_double(work, "trilinear_samples", c->work.fetches);
    json_double(work, "texel_bytes", c->work.fetched_bytes);
    json_double(work, "flop", c->work.flops);
}

/* To the microsecond: more digits of a time say nothing. */
static double rounded(double seconds)
{
    return round(1e6 * seconds) / 1e6;
}

static void add_times(cJSON *column, const bench_column *c)
{
    cJSON *seconds = cJSON_AddObjectToObject(column, "seconds");
    for (int t = 0; t < BENCH_TIMES; t++) {
        bench_spread s = bench_spread_of(c->seconds[t], c->n);
        cJSON *object = cJSON_AddObjectToObject(seconds, bench_time_names[t]);
        json_double(object, "median", rounded(s.median));
        json_double(object, "min", rounded(s.min));
        json_double(object, "max", rounded(s.max));
        cJSON *values = cJSON_AddArrayToObject(object, "values");
        for (int i = 0; i < c->n; i++) json_append_double(values, rounded(c->seconds[t][i]));
    }
    json_double(seconds, "fit", rounded(c->seconds_fit));
    json_double(seconds, "upload", rounded(c->result.seconds_upload));
    json_double(seconds, "compile", rounded(c->result.seconds_compile));
    double compute = bench_median(c, BENCH_COMPUTE), whole = bench_median(c, BENCH_WHOLE);
    cJSON *rate = cJSON_AddObjectToObject(column, "points_per_second");
    json_double(rate, "kernels_and_transfers", compute > 0 ? round((double)c->result.points / compute) : NAN);
    json_double(rate, "whole", whole > 0 ? round((double)c->result.points / whole) : NAN);
}

static void add_columns(cJSON *root, const bench_run *run)
{
    cJSON *columns = cJSON_AddArrayToObject(root, "columns");
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(columns, object);
        cJSON_AddStringToObject(object, "dg", getters[c->dg]);
        json_uint(object, "device", (uint64_t)c->device);
        cJSON_AddStringToObject(object, "mapping", gls_mapping_name((gls_mapping)c->mapping));
        add_params(object, &c->params);
        add_result(object, c);
        add_times(object, c);
    }
}

static void add_peers(cJSON *root, const bench_run *run)
{
    cJSON *peers = cJSON_AddArrayToObject(root, "peers");
    for (int i = 0; i < run->n_peers; i++) {
        const bench_peer *p = &run->peer[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(peers, object);
        cJSON_AddStringToObject(object, "program", p->program);
        cJSON_AddStringToObject(object, "version",
                                strcmp(p->program, "DIPY") == 0 ? run->dipy_version : run->mrtrix_version);
        cJSON_AddStringToObject(object, "tracker", p->tracker);
        cJSON_AddStringToObject(object, "dg", getters[p->dg]);
        json_uint(object, "threads", (uint64_t)p->threads);
        json_uint(object, "seeds", p->seeds);
        json_uint(object, "streamlines", p->streamlines);
        json_uint(object, "points", p->points);
        json_double(object, "seconds", rounded(p->seconds));
        json_double(object, "points_per_second", p->seconds > 0 ? round((double)p->points / p->seconds) : NAN);
    }
    if (*run->mrtrix_version) json_double(root, "mrtrix_cutoff", run->fod_cutoff);
}

char *bench_json_text(const bench_run *run)
{
    char date[64];
    struct tm utc;
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    sidecar_add_software(root, run->arguments);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&run->started, &utc));
    cJSON_AddStringToObject(root, "started", date);
    add_host(root, run);
    add_data(root, run);
    json_uint(root, "repetitions", (uint64_t)run->options->repeat);
    cJSON_AddBoolToObject(root, "file_written", !run->options->no_write);
    add_devices(root, run);
    add_columns(root, run);
    add_peers(root, run);
    const char *const *warning;
    size_t n_warnings = cmd_message_warnings(&warning);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < n_warnings; i++) cJSON_AddItemToArray(warnings, cJSON_CreateString(warning[i]));
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}
