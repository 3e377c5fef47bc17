#include "workflow/map_run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/parse.h"
#include "workflow/json.h"
#include "workflow/shard.h"
#include "workflow/sidecar.h"

/* Whether an option FILE or LABELS:FILE names the map of that part. */
static bool names_map(const cJSON *option, const char *map, const gls_shard *shard)
{
    const char *text = cJSON_GetStringValue(option), *colon = text ? gls_names_last(text, ':') : NULL;
    const char *last = colon ? colon + 1 : text;
    char *path = last ? gls_names_copy(last, strlen(last)) : NULL, *name = path ? gls_shard_name(path, shard) : NULL;
    const bool same = name && strcmp(gls_file_name(name), gls_file_name(map)) == 0;
    free(path);
    free(name);
    return same;
}

static void copy_hash(const cJSON *item, char hash[17])
{
    const char *text = cJSON_GetStringValue(item);
    snprintf(hash, 17, "%s", text ? text : "");
}

/* Takes what a sidecar tells where it is of the shard that wrote the map. */
static void read_run(const char *sidecar, const char *map, const gls_shard *shard, gls_map_run *run)
{
    cJSON *root = gls_json_read(sidecar, GLS_SIDECAR_MAX_BYTES);
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(root, "parameters"),
                *own = cJSON_GetObjectItemCaseSensitive(root, "shard"),
                *index = cJSON_GetObjectItemCaseSensitive(own, "index"),
                *count = cJSON_GetObjectItemCaseSensitive(own, "count");
    const bool found = cJSON_IsNumber(index) && index->valuedouble == shard->index && cJSON_IsNumber(count) &&
                       count->valuedouble == shard->count &&
                       (names_map(cJSON_GetObjectItemCaseSensitive(parameters, "density"), map, shard) ||
                        names_map(cJSON_GetObjectItemCaseSensitive(parameters, "connectome"), map, shard));
    if (found) {
        run->known = true;
        copy_hash(cJSON_GetObjectItemCaseSensitive(own, "parameters_hash"), run->parameters);
        copy_hash(cJSON_GetObjectItemCaseSensitive(own, "inputs_hash"), run->inputs);
        copy_hash(cJSON_GetObjectItemCaseSensitive(root, "other_inputs_xxh3_64"), run->others);
    }
    cJSON_Delete(root);
}

gls_map_run gls_map_run_find(const char *map, unsigned index, unsigned count)
{
    const gls_shard shard = {.index = index, .count = count};
    const int folder = (int)(gls_file_name(map) - map);
    char mark[64], *path = NULL, *name = folder ? strndup(map, (size_t)folder) : strdup(".");
    const size_t n = (size_t)snprintf(mark, sizeof mark, "_shard-%uof%u", index, count);
    DIR *directory = name ? opendir(name) : NULL;
    gls_map_run run = {.known = false};
    bool several = false; /* that name the map, of runs that differ: which of them wrote it is not told */
    for (const struct dirent *entry; directory && !several && (entry = readdir(directory));) {
        const char *at = strstr(entry->d_name, mark), *end = strrchr(entry->d_name, '.');
        if (!at || at[n] != '.' || strcmp(end, ".json") != 0) continue;
        if (asprintf(&path, "%.*s%s", folder, map, entry->d_name) < 0) break;
        gls_map_run other = {.known = false};
        read_run(path, map, &shard, &other);
        free(path);
        several = gls_map_run_difference(&run, &other) != NULL;
        if (other.known) run = other;
    }
    run.known = run.known && !several;
    if (directory) closedir(directory);
    free(name);
    return run;
}

const char *gls_map_run_difference(const gls_map_run *a, const gls_map_run *b)
{
    if (!a->known || !b->known) return NULL;
    return strcmp(a->parameters, b->parameters) != 0 ? "the parameters"
           : strcmp(a->inputs, b->inputs) != 0       ? "the input data"
           : strcmp(a->others, b->others) != 0       ? "a region, tissue image or input of a map"
                                                     : NULL;
}
