/* Sidecars of shards: checks that they belong to one run, and makes the sidecar of the whole run. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/merge_sidecar.h"
#include "record/method.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "sinks/sinks.h"
#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "util/json_text.h"

/* Returns the entry `second` of the member `first` of root; NULL: absent. */
static const cJSON *item_at(const cJSON *root, const char *first, const char *second)
{
    return gls_json_at(gls_json_at(root, first), second);
}

/* Whether the member "shard" of the sidecar and its numbers of seeds and streamlines are those that the file states. */
static bool is_sidecar_of(const cJSON *root, const gls_shard_file *file)
{
    const gls_shard *s = &file->shard;
    const struct {
        const char *part, *key;
        uint64_t value;
    } number[] = {{"shard", "index", s->index},
                  {"shard", "count", s->count},
                  {"shard", "first_seed", s->first_seed},
                  {"shard", "seeds", s->n_seeds},
                  {"shard", "total_seeds", s->total_seeds},
                  {"counts", "streamlines", file->n_streamlines}};
    char parameters[17], inputs[17];
    const char *own = gls_json_text_at(gls_json_at(root, "shard"), "parameters_hash"),
               *data = gls_json_text_at(gls_json_at(root, "shard"), "inputs_hash");
    uint64_t value;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (!gls_json_get_uint(item_at(root, number[i].part, number[i].key), &value) || value != number[i].value)
            return false;
    /* with --select a shard may end before its last seed */
    if (s->select == 0 && (!gls_json_get_uint(item_at(root, "counts", "seeds"), &value) || value != s->n_seeds))
        return false;
    return own && data && strcmp(own, gls_hash_text(s->parameters, parameters)) == 0 &&
           strcmp(data, gls_hash_text(s->inputs, inputs)) == 0;
}

gls_status gls_merge_shard_read(gls_merge_shard *shard)
{
    struct stat info;
    gls_shard_file file;
    uint64_t bytes;
    shard->sidecar = gls_sidecar_find(shard->path);
    if (!shard->sidecar) return gls_no_memory();
    if (stat(shard->path, &info) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", shard->path, strerror(errno));
    if (stat(shard->sidecar, &(struct stat){0}) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: its sidecar %s cannot be read: %s; --sidecar none merges without sidecars",
                        shard->path, shard->sidecar, strerror(errno));
    shard->root = gls_json_read(shard->sidecar, GLS_SIDECAR_MAX_BYTES);
    if (!cJSON_IsObject(shard->root))
        return gls_fail(GLS_ERR_INPUT, "%s: is no readable JSON object; --sidecar none merges without sidecars",
                        shard->sidecar);
    if (!cJSON_IsObject(gls_json_at(shard->root, "shard")))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is not the sidecar of a shard: give files of 'track --shard'; if %s is one, --sidecar "
                        "none merges without sidecars",
                        shard->sidecar, shard->path);
    if (!gls_json_get_uint(item_at(shard->root, "output", "bytes"), &bytes))
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: no output.bytes", shard->sidecar);
    /* a file of another size than its sidecar says was cut off or changed since */
    if (bytes != (uint64_t)info.st_size)
        return gls_fail(GLS_ERR_INPUT, "%s: %s: has %lld bytes, but its sidecar says %" PRIu64, shard->path,
                        (uint64_t)info.st_size < bytes ? "truncated" : "changed", (long long)info.st_size, bytes);
    if (gls_shard_file_read(shard->path, &file)) return GLS_ERR_INPUT;
    if (!is_sidecar_of(shard->root, &file))
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: is not the sidecar of %s: its part of the run, or its number of seeds or streamlines, differs; "
            "--sidecar none merges without sidecars",
            shard->sidecar, shard->path);
    return GLS_OK;
}

void gls_merge_shard_finish(gls_merge_shard *shard)
{
    cJSON_Delete(shard->root);
    free(shard->sidecar);
    *shard = (gls_merge_shard){.path = NULL};
}

/* Text of an entry with exact numbers, from malloc. NULL: no entry. */
static char *exact_text(const cJSON *entry)
{
    cJSON *exact = entry ? gls_json_exact(entry) : NULL;
    char *text = exact ? gls_json_print_line(exact) : NULL;
    cJSON_Delete(exact);
    return text;
}

/* Returns GLS_ERR_INPUT, and says that part_a and part_b, the parts `what` of two sidecars, differ in the entry `key`.
 * If key is NULL, no entry differs: returns GLS_OK. */
static gls_status differ(const gls_merge_shard *a, const gls_merge_shard *b, const char *what, const char *key,
                         const cJSON *part_a, const cJSON *part_b)
{
    if (!key) return GLS_OK;
    char *text_a = exact_text(gls_json_at(part_a, key)), *text_b = exact_text(gls_json_at(part_b, key));
    gls_status status = gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: %s.%s is %.200s, not %.200s", b->path,
                                 a->path, what, key, text_b ? text_b : "absent", text_a ? text_a : "absent");
    cJSON_free(text_a);
    cJSON_free(text_b);
    return status;
}

/* Compares the grids, on which positions and maps depend. */
static gls_status compare_grid(const gls_merge_shard *a, const gls_merge_shard *b)
{
    const cJSON *grid_a = gls_json_at(a->root, "grid"), *grid_b = gls_json_at(b->root, "grid");
    return differ(a, b, "grid", gls_json_difference(grid_a, grid_b), grid_a, grid_b);
}

/* Compares the parameters on which the result depends. */
static gls_status compare_parameters(const gls_merge_shard *a, const gls_merge_shard *b)
{
    cJSON *copy_a = cJSON_Duplicate(gls_json_at(a->root, "parameters"), true),
          *copy_b = cJSON_Duplicate(gls_json_at(b->root, "parameters"), true);
    gls_status status = differ(a, b, "parameters", gls_params_difference(copy_a, copy_b), copy_a, copy_b);
    cJSON_Delete(copy_a);
    cJSON_Delete(copy_b);
    return status;
}

/* Compares the versions of glslines. Versions of libraries may differ between machines. */
static gls_status compare_version(const gls_merge_shard *a, const gls_merge_shard *b)
{
    const cJSON *in_a = gls_json_at(a->root, "software"), *in_b = gls_json_at(b->root, "software");
    const bool same = gls_json_same(gls_json_at(in_a, "version"), gls_json_at(in_b, "version"));
    return differ(a, b, "software", same ? NULL : "version", in_a, in_b);
}

gls_status gls_merge_shard_compare(const gls_merge_shard *a, const gls_merge_shard *b, bool *warned)
{
    gls_status status = compare_version(a, b);
    if (!status) status = compare_parameters(a, b);
    if (!status) status = compare_grid(a, b);
    if (status) return status;
    const cJSON *in_a = item_at(a->root, "shard", "inputs_hash"), *in_b = item_at(b->root, "shard", "inputs_hash");
    if (!gls_json_same(in_a, in_b))
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: the input data differ", b->path, a->path);
    /* a run without regions, tissue or inputs of maps has no such hash; if only one shard has it, the runs differ */
    in_a = gls_json_at(a->root, "other_inputs_xxh3_64");
    in_b = gls_json_at(b->root, "other_inputs_xxh3_64");
    if ((in_a || in_b) && !gls_json_same(in_a, in_b))
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: is of another run than %s: a region, tissue image or file for a result such as --connectome differs",
            b->path, a->path);
    static const char *const device[] = {"renderer", "version", "mapping", "precision"};
    for (size_t i = 0; i < sizeof device / sizeof *device && !*warned; i++) {
        in_a = item_at(a->root, "device", device[i]);
        in_b = item_at(b->root, "device", device[i]);
        if (!cJSON_IsString(in_a) || !cJSON_IsString(in_b) || strcmp(in_a->valuestring, in_b->valuestring) == 0)
            continue;
        gls_log(GLS_LOG_WARNING,
                "%s and %s were tracked on different devices (%s and %s): no single run gives the same bytes", a->path,
                b->path, in_a->valuestring, in_b->valuestring);
        *warned = true;
    }
    return GLS_OK;
}

/* Replaces the value of an existing key by `value`. Takes ownership of `value`; frees it if there is no such key. value
 * NULL: changes nothing. */
static void replace(cJSON *object, const char *key, cJSON *value)
{
    if (!cJSON_ReplaceItemInObjectCaseSensitive(object, key, value)) cJSON_Delete(value);
}

/* Replaces every number in `sum` by the sum of the numbers of the n shards under the same keys. path: the `depth` keys
 * that lead to `sum`. whole: numbers are counts, not seconds. Returns false if a shard lacks a number. */
static bool add_up(cJSON *sum, const gls_merge_shard *shards, size_t n, const char **path, int depth, bool whole)
{
    for (cJSON *entry = sum->child, *next; entry; entry = next) {
        next = entry->next;
        path[depth] = entry->string;
        if (cJSON_IsObject(entry)) {
            /* objects of counts or times are at most four keys deep in a sidecar */
            if (depth + 1 == 4 || !add_up(entry, shards, n, path, depth + 1, whole)) return false;
            continue;
        }
        uint64_t total = 0, value;
        double seconds = 0;
        for (size_t i = 0; i < n; i++) {
            const cJSON *other = shards[i].root;
            for (int d = 0; d <= depth; d++) other = gls_json_at(other, path[d]);
            /* counts beyond 2^53 are strings in the sidecar */
            if (whole ? !gls_json_get_uint(other, &value) : !cJSON_IsNumber(other)) return false;
            if (whole)
                total += value;
            else
                seconds += other->valuedouble;
        }
        if (whole)
            replace(sum, path[depth], gls_json_new_uint(total));
        else
            /* round to microseconds, as the sidecars of runs do */
            replace(sum, path[depth], gls_json_new_double(round(1e6 * seconds) / 1e6));
    }
    return true;
}

/* Replaces each number in the member `part` of root by the sum over the n shards. whole: numbers are counts, not
 * seconds. Returns false, and changes nothing, if a shard lacks a number. */
static bool sum_part(cJSON *root, const gls_merge_shard *shards, size_t n, const char *part, bool whole)
{
    const char *path[4] = {part};
    cJSON *sum = cJSON_Duplicate(gls_json_at(root, part), true);
    bool ok = cJSON_IsObject(sum) && add_up(sum, shards, n, path, 1, whole);
    if (ok)
        replace(root, part, sum);
    else
        cJSON_Delete(sum);
    return ok;
}

/* Computes mean and extremes of measured lengths from the means and extremes of the shards. Sets the median to null. */
static void join_lengths(cJSON *lengths, const gls_merge_shard *shards, size_t n)
{
    double smallest = INFINITY, largest = 0;
    uint64_t all = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        const cJSON *own = gls_json_at(shards[i].root, "lengths"), *mean = gls_json_at(own, "mean_mm"),
                    *low = gls_json_at(own, "min_mm"), *high = gls_json_at(own, "max_mm");
        if (!gls_json_get_uint(item_at(shards[i].root, "counts", "streamlines"), &count) || count == 0) continue;
        if (!cJSON_IsNumber(mean) || !cJSON_IsNumber(low) || !cJSON_IsNumber(high)) return;
        all += count;
        /* the sum of lengths was a whole number of parts of a mm, so that rounding restores it exactly */
        sum += (uint64_t)llround((double)count * mean->valuedouble * GLS_LENGTH_PARTS);
        smallest = fmin(smallest, low->valuedouble);
        largest = fmax(largest, high->valuedouble);
    }
    if (all == 0) return;
    replace(lengths, "mean_mm", gls_json_new_double((double)sum / (double)all / GLS_LENGTH_PARTS));
    replace(lengths, "min_mm", gls_json_new_double(smallest));
    replace(lengths, "max_mm", gls_json_new_double(largest));
    /* the medians of the shards do not determine the median of the whole run */
    replace(lengths, "median_mm", cJSON_CreateNull());
}

/* Sets the lengths of the whole run: from counts of steps if these give lengths, else from lengths of the shards. */
static void set_lengths(cJSON *root, const gls_merge_shard *shards, size_t n, const gls_merge_result *r)
{
    cJSON *lengths = gls_json_at(root, "lengths");
    const cJSON *step = item_at(root, "parameters", "step_size_mm");
    if (r->streamlines == 0 || !cJSON_IsNumber(step)) return;
    double mm = step->valuedouble;
    const cJSON *thinned = item_at(root, "parameters", "downsample"),
                *compress = item_at(root, "parameters", "compress_mm");
    const char *dg = cJSON_GetStringValue(item_at(root, "parameters", "dg"));
    const gls_getter *getter = dg ? gls_getter_row(gls_getter_named(dg)) : NULL;
    /* counts of steps do not give lengths, as in gls_lengths_need_points() */
    if ((getter && gls_getter_is_curved(getter)) || cJSON_IsTrue(item_at(root, "parameters", "crop_at_gmwmi")) ||
        (cJSON_IsNumber(thinned) && thinned->valuedouble > 1) ||
        (cJSON_IsNumber(compress) && compress->valuedouble > 0)) {
        join_lengths(lengths, shards, n);
    } else {
        replace(lengths, "mean_mm", gls_json_new_double(r->mean_steps * mm));
        replace(lengths, "median_mm", gls_json_new_double(r->median_steps * mm));
        replace(lengths, "min_mm", gls_json_new_double((double)r->min_steps * mm));
        replace(lengths, "max_mm", gls_json_new_double((double)r->max_steps * mm));
    }
    replace(lengths, "mean_points", gls_json_new_double(r->mean_steps + 1));
    replace(lengths, "median_points", gls_json_new_double(r->median_steps + 1));
    replace(lengths, "max_points", gls_json_new_uint(r->max_steps + 1));
}

/* Adds a line unless the list has it already. */
static void add_warning(cJSON *joined, const char *line)
{
    const cJSON *other;
    cJSON_ArrayForEach(other, joined) if (strcmp(other->valuestring, line) == 0) return;
    cJSON_AddItemToArray(joined, cJSON_CreateString(line));
}

/* Collects the warnings of all shards and of the merge, each once. */
static void join_warnings(cJSON *root, const gls_merge_shard *shards, size_t n, const gls_warnings *own)
{
    cJSON *joined = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const cJSON *warning;
        cJSON_ArrayForEach(warning, gls_json_at(shards[i].root, "warnings")) if (cJSON_IsString(warning))
            add_warning(joined, warning->valuestring);
    }
    for (size_t i = 0; i < own->n; i++) add_warning(joined, own->line[i]);
    replace(root, "warnings", joined);
}

/* Sets member "run": the earliest start (ISO dates sort as text), sum of batches, all devices, list of shards. Returns
 * false if a sidecar is damaged: it lacks the start or the batches. */
static bool set_run(cJSON *root, const gls_merge_shard *shards, size_t n)
{
    cJSON *run = gls_json_at(root, "run"), *list = cJSON_CreateArray(), *devices = cJSON_CreateArray();
    const cJSON *device;
    const char *started = NULL;
    uint64_t batches = 0, value;
    bool ok = cJSON_IsObject(run);
    for (size_t i = 0; i < n && ok; i++) {
        const cJSON *own = gls_json_at(shards[i].root, "run"), *date = gls_json_at(own, "started");
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        ok = cJSON_IsString(date) && gls_json_get_uint(gls_json_at(own, "batches"), &value);
        if (!ok) break;
        if (!started || strcmp(date->valuestring, started) < 0) started = date->valuestring;
        batches += value;
        cJSON_ArrayForEach(device, gls_json_at(own, "devices"))
            cJSON_AddItemToArray(devices, cJSON_Duplicate(device, true));
        /* each shard keeps its own path, start, device and command line */
        cJSON_AddStringToObject(entry, "path", shards[i].path);
        cJSON_AddStringToObject(entry, "started", date->valuestring);
        cJSON_AddItemToObject(entry, "device", cJSON_Duplicate(item_at(shards[i].root, "device", "renderer"), true));
        cJSON_AddItemToObject(entry, "command_line",
                              cJSON_Duplicate(gls_json_at(shards[i].root, "command_line"), true));
    }
    /* the sidecar takes ownership of the lists; after a failure they are freed here */
    if (ok) {
        replace(run, "started", cJSON_CreateString(started));
        replace(run, "batches", gls_json_new_uint(batches));
        replace(run, "devices", devices);
        cJSON_AddItemToObject(run, "shards", list);
    } else {
        cJSON_Delete(list);
        cJSON_Delete(devices);
    }
    return ok;
}

/* Sets the counts of the whole run. Without --select they are the sums of all shards. With --select they are the sums
 * up to the shard with the last selected streamline; seeds, streamlines and points are then counts of the selection,
 * and "counters_beyond_selection" says that all other counts include more. If the selection is just the first shard,
 * the counts of that shard stay. */
static bool set_counts(cJSON *root, const gls_merge_shard *shards, size_t n, const gls_merge_result *r)
{
    uint64_t own = 0;
    /* with --select, shards behind the last selected streamline do not count */
    bool ok = sum_part(root, shards, r->last_part > 0 ? (size_t)r->last_part : n, "counts", true);
    if (!ok || r->last_part == 0) return ok;
    cJSON *counts = gls_json_at(root, "counts");
    gls_json_get_uint(item_at(shards[0].root, "counts", "streamlines"), &own);
    if (r->last_part == 1 && own == r->streamlines) return true;
    /* numbers of the selection, which ends within a shard */
    if (r->last_seeds > 0) replace(counts, "seeds", gls_json_new_uint(r->last_seeds));
    replace(counts, "streamlines", gls_json_new_uint(r->streamlines));
    replace(counts, "points", gls_json_new_uint(r->points));
    cJSON_AddBoolToObject(counts, "counters_beyond_selection", true);
    return true;
}

/* Sets the name and size of the output, the command line, and the parameters that belong to the merge. */
static void set_names(cJSON *root, const gls_merge_options *o, uint64_t output_bytes)
{
    cJSON *parameters = gls_json_at(root, "parameters"), *output = gls_json_at(root, "output");
    cJSON *line = cJSON_CreateArray();
    for (int i = 0; i < o->argc; i++) cJSON_AddItemToArray(line, cJSON_CreateString(o->argv[i]));
    replace(root, "command_line", line);
    /* the parameters of output files become those of the merge */
    replace(parameters, "output", cJSON_CreateString(o->output));
    replace(parameters, "output_prefix", cJSON_CreateNull());
    replace(parameters, "sidecar", o->sidecar ? cJSON_CreateString(o->sidecar) : cJSON_CreateNull());
    replace(parameters, "force", cJSON_CreateBool(o->force));
    replace(parameters, "resume", cJSON_CreateBool(false));
    replace(parameters, "fail_if_empty", cJSON_CreateBool(o->fail_if_empty));
    replace(parameters, "shard", cJSON_CreateNull());
    replace(output, "path", cJSON_CreateString(o->output));
    replace(output, "bytes", gls_json_new_uint(output_bytes));
}

/* Records the tractogram as the only output, because a merge writes no other results. */
static gls_status set_outputs(cJSON *root, const gls_output *output)
{
    cJSON *outputs = cJSON_CreateObject();
    gls_status status = gls_written_note_output(cJSON_AddObjectToObject(outputs, "tractogram"), output);
    if (!cJSON_ReplaceItemInObjectCaseSensitive(root, GLS_SIDECAR_OUTPUTS, outputs))
        cJSON_AddItemToObject(root, GLS_SIDECAR_OUTPUTS, outputs);
    return status;
}

/* Comparison for qsort(): shards by their index, so that the first one begins the run. */
static int by_part(const void *a, const void *b)
{
    uint64_t i = 0, j = 0;
    gls_json_get_uint(item_at(((const gls_merge_shard *)a)->root, "shard", "index"), &i);
    gls_json_get_uint(item_at(((const gls_merge_shard *)b)->root, "shard", "index"), &j);
    return (i > j) - (i < j);
}

/* Whether the summed counts agree with the tractogram. */
static bool counts_agree(const cJSON *root, const gls_merge_result *result)
{
    uint64_t streamlines = 0, points = 0;
    /* print the counts and read them again, because numbers may be strings, see gls_json_uint() */
    char *text = gls_json_print_line(gls_json_at(root, "counts"));
    cJSON *counts = text ? gls_json_parse(text) : NULL;
    bool ok = gls_json_get_uint(gls_json_at(counts, "streamlines"), &streamlines) &&
              gls_json_get_uint(gls_json_at(counts, "points"), &points) && streamlines == result->streamlines &&
              points == result->points;
    cJSON_Delete(counts);
    cJSON_free(text);
    return ok;
}

gls_status gls_merge_sidecar(gls_merge_shard *shards, size_t n, const gls_merge_options *options,
                             const gls_warnings *warnings, const gls_merge_result *result, const gls_output *output,
                             cJSON **sidecar)
{
    qsort(shards, n, sizeof *shards, by_part);
    cJSON *root = cJSON_Duplicate(shards[0].root, true);
    /* not ok: an entry is missing, or the sums differ from the tractogram: the sidecars are not of these shards */
    bool ok = root && set_counts(root, shards, n, result) && sum_part(root, shards, n, "seconds", false) &&
              set_run(root, shards, n) && counts_agree(root, result);
    gls_status status = GLS_OK;
    *sidecar = NULL;
    if (ok) {
        cJSON_DeleteItemFromObjectCaseSensitive(root, "shard");
        replace(root, "Count", gls_json_new_uint(result->streamlines));
        set_lengths(root, shards, n, result);
        join_warnings(root, shards, n, warnings);
        set_names(root, options, gls_output_size(output));
        status = set_outputs(root, output);
        /* write numbers by their shortest text, as a run does */
        if (!status && !(*sidecar = gls_json_exact(root))) status = gls_no_memory();
    } else {
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: counts in this or another sidecar are missing or differ from the shards; --sidecar none "
                          "merges without sidecars",
                          shards[0].sidecar);
    }
    cJSON_Delete(root);
    return status;
}
