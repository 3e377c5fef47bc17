/* All results of the benchmark as JSON. */
#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench_json.h"
#include "bench/bench.h"
#include "bench/bench_stats.h"
#include "bench/measure.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "tractogram/pieces.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/threads.h"

/* Copies the "model name" of the first CPU to `name` of `size` bytes; if /proc/cpuinfo has no such line, the type of
 * the machine, such as aarch64. */
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

/* Number of CPUs that other processes kept busy between two readings, on average. NAN: not known. */
static double busy_others(const bench_busy *from, const bench_busy *to)
{
    double elapsed = to->clock - from->clock, others = (to->all - from->all) - (to->own - from->own);
    if (!from->known || !to->known || elapsed <= 0) return NAN;
    return fmax(others / elapsed, 0);
}

/* Adds CPU, memory, system and load of the host. */
static void add_host(cJSON *root, const bench_run *run)
{
    char name[256];
    struct utsname system;
    cJSON *host = cJSON_AddObjectToObject(root, "host");
    cpu_name(name, sizeof name);
    cJSON_AddStringToObject(host, "cpu", name);
    gls_json_uint(host, "cores", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    gls_json_uint(host, "memory_bytes", (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    bench_busy now = bench_busy_now();
    gls_json_double(host, "cpus_busy_with_others", round(1000 * busy_others(&run->busy, &now)) / 1000);
    if (uname(&system) == 0) {
        cJSON_AddStringToObject(host, "system", system.sysname);
        GLS_JSON_MEMBERS(host, &system, release, machine);
    }
}

/* Adds the grid and the volumes of the phantom, the model, and the times in which the phantom and FA were made. */
static void add_data(cJSON *root, const bench_run *run)
{
    const gls_job_inputs *in = &run->data;
    const gls_phantom_params *p = &in->phantom->params;
    gls_sidecar_add_grid(root, in->grid);
    cJSON *data = cJSON_AddObjectToObject(root, "data");
    gls_json_uint(data, "volumes", in->series.dwi->n_volumes);
    gls_json_uint(data, "b0_volumes", in->series.gradients->n_b0);
    gls_json_double(data, "bval_s_per_mm2", p->bval[0]);
    gls_json_double(data, "snr", p->snr);
    GLS_JSON_MEMBERS(data, in, mask_voxels, seed_voxels);
    cJSON_AddStringToObject(data, "model", gls_model_name(run->options->model.model));
    gls_json_uint(data, "sh_order", (uint64_t)run->options->model.sh_order);
    gls_json_uint(data, "directions", in->sphere->n);
    cJSON_AddStringToObject(data, "mask_stop",
                            run->job.mask_stop == GLS_MASK_STOP_NEAREST ? "nearest" : "interpolated");
    gls_json_double(data, "phantom_seconds", run->seconds_phantom);
    gls_json_double(data, "fa_seconds", run->seconds_fa);
}

/* Adds the devices. */
static void add_devices(cJSON *root, const bench_run *run)
{
    cJSON *devices = cJSON_AddArrayToObject(root, "devices");
    for (int i = 0; i < run->options->n_devices; i++) {
        const bench_device *d = &run->device[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(devices, object);
        cJSON_AddStringToObject(object, "name", run->options->device[i]);
        GLS_JSON_MEMBERS(object, d->info, renderer, vendor, version, gles, software, subgroup_size, memory_bytes);
    }
}

/* Adds the parameters of tracking of a column; parameters of ptt and cutoffs only where the getter has them. */
static void add_params(cJSON *column, const gls_track_params *p)
{
    cJSON *object = cJSON_AddObjectToObject(column, "parameters");
    gls_json_double(object, "step_size_mm", p->step_size);
    gls_json_double(object, "max_angle_degrees", p->max_angle);
    gls_json_double(object, "fa_threshold", p->stop_threshold);
    gls_json_double(object, "pmf_threshold", p->pmf_threshold);
    gls_json_double(object, "max_length_mm", p->max_length);
    gls_json_uint(object, "max_directions_per_seed", (uint64_t)p->max_directions_per_seed);
    cJSON_AddStringToObject(object, "precision", p->precision == GLS_PRECISION_FLOAT ? "float" : "half");
    gls_json_uint(object, "rng_seed", p->rng_seed);
    if (gls_getter_uses(gls_getter_of(p), GLS_FOR_CUTOFF)) gls_json_double(object, "cutoff", p->fod_cutoff);
    if (p->dg != GLS_DG_PTT) return;
    gls_json_double(object, "probe_length_mm", p->probe_length);
    gls_json_uint(object, "probe_quality", (uint64_t)p->probe_quality);
    gls_json_uint(object, "probe_count", (uint64_t)p->probe_count);
    gls_json_double(object, "ptt_substep_mm", p->ptt_substep);
}

/* Adds counts and memory of a column. */
static void add_result(cJSON *column, const bench_column *c)
{
    const gls_track_result *r = &c->result;
    gls_json_uint(column, "seeds", c->nseeds);
    GLS_JSON_MEMBERS(column, r, lanes, batches, batch_seeds, directions, streamlines, points, truncated);
    gls_json_uint(column, "commissural", c->commissural);
    gls_json_double(column, "mean_length_mm", r->mean_length);
    gls_json_double(column, "median_length_mm", r->median_length);
    gls_json_double(column, "max_length_mm", r->max_length);
    GLS_JSON_MEMBERS(column, c, file_bytes, device_bytes, host_bytes);
}

/* Rounds to the microsecond. */
static double rounded(double seconds)
{
    return round(1e6 * seconds) / 1e6;
}

/* Adds the rates, bytes per second, at which a file of the same size was written without tracking; measured once after
 * each repetition. */
static void add_plain(cJSON *column, const bench_column *c)
{
    static const char *const names[] = {"one_thread", "threads_of_the_writer"};
    if (c->n == 0 || c->plain[BENCH_PLAIN_ONE][0] <= 0) return;
    cJSON *plain = cJSON_AddObjectToObject(column, "plain_writes");
    gls_json_uint(plain, "writer_threads", (uint64_t)gls_pieces_threads());
    for (int k = 0; k < BENCH_PLAIN; k++) {
        cJSON *values = cJSON_AddArrayToObject(plain, names[k]);
        for (int i = 0; i < c->n; i++) gls_json_append_double(values, round(c->plain[k][i]));
    }
}

static const char *const time_names[BENCH_TIMES] = {"pass_1",          "prefix_sum", "pass_2",
                                                    "gather",          "readback",   "kernels_and_transfers",
                                                    "wait_for_writer", "write",      "whole"};

/* Adds times of all repetitions, times of kernels, and rates. */
static void add_times(cJSON *column, const bench_column *c)
{
    cJSON *seconds = cJSON_AddObjectToObject(column, "seconds");
    for (int t = 0; t < BENCH_TIMES; t++) {
        bench_spread s = bench_spread_of(c->seconds[t], c->n);
        cJSON *object = cJSON_AddObjectToObject(seconds, time_names[t]);
        gls_json_double(object, "median", rounded(s.median));
        gls_json_double(object, "min", rounded(s.min));
        gls_json_double(object, "max", rounded(s.max));
        cJSON *values = cJSON_AddArrayToObject(object, "values");
        for (int i = 0; i < c->n; i++) gls_json_append_double(values, rounded(c->seconds[t][i]));
    }
    add_plain(column, c);
    gls_json_double(seconds, "fit", rounded(c->seconds_fit));
    gls_json_double(seconds, "upload", rounded(c->result.seconds_upload));
    gls_json_double(seconds, "compile", rounded(c->result.seconds_compile));
    cJSON *kernels = cJSON_AddObjectToObject(column, "kernel_seconds");
    gls_json_double(kernels, "pass_1", rounded(c->kernel[GLS_TIME_INITIAL]));
    gls_json_double(kernels, "pass_2", rounded(c->kernel[GLS_TIME_TRACK]));
    gls_json_double(kernels, "gather", rounded(c->kernel[GLS_TIME_GATHER]));
    double compute = bench_median(c, BENCH_COMPUTE), whole = bench_median(c, BENCH_WHOLE);
    cJSON *rate = cJSON_AddObjectToObject(column, "points_per_second");
    gls_json_double(rate, "kernels_and_transfers", compute > 0 ? round((double)c->result.points / compute) : NAN);
    gls_json_double(rate, "whole", whole > 0 ? round((double)c->result.points / whole) : NAN);
}

/* Adds all columns with parameters, results and times. */
static void add_columns(cJSON *root, const bench_run *run)
{
    cJSON *columns = cJSON_AddArrayToObject(root, "columns");
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(columns, object);
        cJSON_AddStringToObject(object, "dg", gls_getter_name((gls_direction_getter)c->dg));
        gls_json_uint(object, "device", (uint64_t)c->device);
        cJSON_AddStringToObject(object, "mapping", gls_mapping_name((gls_mapping)c->mapping));
        add_params(object, &c->params);
        add_result(object, c);
        add_times(object, c);
    }
}

char *bench_json_text(const bench_run *run)
{
    char date[64];
    struct tm utc;
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    gls_sidecar_add_software(root, run->options->argc, run->options->argv);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&run->started, &utc));
    cJSON_AddStringToObject(root, "started", date);
    add_host(root, run);
    add_data(root, run);
    gls_json_uint(root, "repetitions", (uint64_t)run->options->repeat);
    cJSON_AddBoolToObject(root, "file_written", !run->options->no_write);
    add_devices(root, run);
    add_columns(root, run);
    gls_sidecar_add_warnings(root, &run->warnings);
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}
