/* Whether a run was done before: its outputs are there, and the sidecar tells of the same inputs and parameters. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/regions.h"
#include "tracts/bundles.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/done.h"
#include "workflow/job_outputs.h"
#include "workflow/params.h"

#define MAX_SIDECAR ((size_t)256 << 20)

static const cJSON *at(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Numbers as a file has them. */
static cJSON *written(cJSON *object)
{
    char *text = gls_json_print_line(object);
    cJSON_Delete(object);
    cJSON *read = text ? gls_json_parse(text) : NULL;
    cJSON_free(text);
    return read;
}

/* What the run is and the sidecar does not tell, or NULL. */
static const char *other_parameter(const gls_job *job, const cJSON *root, char *name, size_t size)
{
    cJSON *own = cJSON_CreateObject(), *found = cJSON_Duplicate(at(root, "parameters"), true);
    gls_params_add(own, &job->options, &job->params);
    gls_params_keep_identity(own);
    own = written(own);
    const cJSON *item;
    *name = '\0';
    cJSON_ArrayForEach(item, own)
    {
        const cJSON *other = at(found, item->string);
        if (!*name && !(other && cJSON_Compare(item, other, true))) snprintf(name, size, "%s", item->string);
    }
    if (!own || !found) snprintf(name, size, "parameters");
    cJSON_Delete(own);
    cJSON_Delete(found);
    return *name ? name : NULL;
}

/* The role of a file that was another one, or NULL. */
static const char *other_input(const gls_job *job, const cJSON *root)
{
    const cJSON *inputs = at(root, "inputs");
    if (job->study.phantom) return at(inputs, "phantom") ? NULL : "phantom";
    for (int i = 0; i < GLS_FILE_N_FILES; i++) {
        const gls_input_file *file = &job->study.file[i];
        const cJSON *hash = at(at(inputs, file->role), "xxh3_64");
        char text[17];
        if (!file->path && !hash) continue;
        if (!file->path || !cJSON_IsString(hash) || strcmp(hash->valuestring, gls_hash_text(file->hash, text)) != 0)
            return file->role;
    }
    return NULL;
}

static gls_status hash_file(const char *path, uint64_t *hash)
{
    gls_input_file file = {.path = path};
    gls_status status = gls_input_file_check(&file, NULL);
    if (!status) status = gls_input_file_hash(&file);
    *hash = file.hash;
    return status;
}

/* What the rules of bundles name: files by what is in them, folders of TRX files and spheres by their text. */
static gls_status hash_named(const gls_bundles *bundles, uint64_t *hash)
{
    size_t n = 0;
    const char *const *text = bundles ? gls_bundles_files(bundles, &n) : NULL;
    gls_status status = GLS_OK;
    *hash = n;
    for (size_t i = 0; i < n && !status; i++) {
        struct stat info;
        char *file = gls_output_input_file(text[i]);
        const bool is_file = file && stat(file, &info) == 0 && S_ISREG(info.st_mode);
        const char *rest = is_file ? text[i] + strlen(file) : text[i]; /* labels, or all */
        uint64_t part[3] = {*hash, gls_hash(rest, strlen(rest)), 0};
        if (is_file) status = hash_file(file, &part[2]);
        free(file);
        *hash = gls_hash(part, sizeof part);
    }
    return status;
}

gls_status gls_job_hash_others(gls_job *job)
{
    const char *path[GLS_MAPS_INPUTS];
    uint64_t part[5 + GLS_MAPS_INPUTS];
    const gls_study *in = &job->study;
    size_t n = gls_maps_inputs(&job->maps, path);
    if (n == 0 && !in->regions && !in->tissue) return GLS_OK;
    part[0] = in->regions ? gls_regions_hash(in->regions) : 0;
    part[1] = in->tissue ? gls_tissue_hash(in->tissue) : 0;
    for (size_t i = 0; i < n; i++) {
        gls_status status = hash_file(path[i], &part[2 + i]);
        if (status) return status;
    }
    part[2 + n++] = gls_maps_choice(&job->maps);
    gls_status status = hash_named(job->maps.bundles, &part[2 + n++]);
    if (!status) status = hash_named(job->maps.segment.bundles, &part[2 + n++]);
    job->other_inputs = gls_hash(part, (2 + n) * sizeof *part);
    return status;
}

static bool is_other_text(const cJSON *root, const char *key, uint64_t hash)
{
    char text[17];
    const cJSON *found = at(root, key);
    if (hash == 0) return found;
    return !cJSON_IsString(found) || strcmp(found->valuestring, gls_hash_text(hash, text)) != 0;
}

static bool exists(const char *path)
{
    return !path || access(path, F_OK) == 0;
}

static bool all_exist(const gls_job *job)
{
    const char *map[GLS_MAPS_OUTPUTS];
    size_t n = gls_maps_outputs(&job->maps, map);
    bool all = exists(job->output) && job->sidecar && exists(job->sidecar) && exists(job->options.write_mask) &&
               exists(job->maps.weights);
    for (size_t i = 0; i < n; i++) all = all && exists(map[i]);
    return all;
}

gls_status gls_job_find_done(gls_job *job)
{
    char *text = NULL, name[128];
    size_t n = 0;
    if (!all_exist(job)) return gls_job_check_outputs(job);
    gls_status status = gls_file_read(job->sidecar, MAX_SIDECAR, &text, &n);
    if (status) return status;
    cJSON *root = gls_json_parse(text);
    const cJSON *bytes = at(at(root, "output"), "bytes");
    const char *other = other_parameter(job, root, name, sizeof name);
    if (!other) other = other_input(job, root);
    if (!other && is_other_text(root, "other_inputs_xxh3_64", job->other_inputs))
        other = "region, tissue image or input of a map";
    struct stat info;
    if (!root)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: is no JSON; --force tracks anew", job->sidecar);
    else if (other && job->options.force)
        status = GLS_OK;
    else if (other)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: exists, made with another %s; --force tracks anew", job->output, other);
    else if (stat(job->output, &info) != 0 || !cJSON_IsNumber(bytes) || (double)info.st_size != bytes->valuedouble)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: is not the file that %s tells of; --force tracks anew", job->output,
                          job->sidecar);
    else
        job->result.skipped = true;
    if (job->result.skipped) gls_log(GLS_LOG_INFO, "%s: was made by such a run before, nothing to do", job->output);
    cJSON_Delete(root);
    free(text);
    return status;
}
