/* Whether a run was done before: its outputs are there, and the sidecar tells of the same inputs and parameters. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/regions.h"
#include "tracts/bundles.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/done.h"
#include "workflow/job_outputs.h"
#include "workflow/json.h"
#include "workflow/params.h"
#include "workflow/sidecar.h"

static const cJSON *at(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* What a path, or KIND:PATH, ends in. */
static const char *file_name(const char *text)
{
    const char *end = text + strlen(text);
    while (end > text && end[-1] != '/' && end[-1] != ':') end--;
    return end;
}

/* Whether two texts may name one file: one may be without its folders, as runs begin in different ones. */
static bool may_be_same(const char *a, const char *b)
{
    const char *x = file_name(a), *y = file_name(b);
    const bool folders = x > a && x[-1] == '/' && y > b && y[-1] == '/';
    return strcmp(folders ? a : x, folders ? b : y) == 0;
}

/* An output that the run of the sidecar did not write, or NULL: what lies under its name is of any other run. */
static const char *other_output(const gls_job *job, const cJSON *root)
{
    const gls_job_options *o = &job->options;
    const struct {
        const char *key, *name;
    } outputs[] = {{"write_mask", o->write_mask},
                   {"density", o->density},
                   {"dec", o->dec},
                   {"connectome", o->connectome},
                   {"profile", o->profile},
                   {"sample", job->maps.sample.table ? o->sample : NULL},
                   {"segment", job->maps.segment.table ? o->segment : NULL},
                   {"output_seeds", o->output_seeds}};
    const cJSON *found = at(root, "parameters");
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *written = cJSON_GetStringValue(at(found, outputs[i].key));
        if (outputs[i].name && !(written && may_be_same(outputs[i].name, written))) return outputs[i].key;
    }
    /* beside the tractogram or within */
    return o->weights == cJSON_IsTrue(at(found, "weights")) ? NULL : "weights";
}

static bool is_other_shard(const gls_job *job, const cJSON *root)
{
    const cJSON *shard = at(root, "shard"), *index = at(shard, "index"), *count = at(shard, "count");
    if (job->shard.count == 0 || !shard) return job->shard.count > 0 || shard;
    return !cJSON_IsNumber(index) || index->valuedouble != job->shard.index || !cJSON_IsNumber(count) ||
           count->valuedouble != job->shard.count;
}

/* What the run is and the sidecar does not tell, or tells of another, or NULL. */
static const char *other_parameter(const gls_job *job, const cJSON *root, char *name, size_t size)
{
    cJSON *own = cJSON_CreateObject(), *found = cJSON_Duplicate(at(root, "parameters"), true);
    gls_params_add(own, &job->options, &job->params);
    gls_params_keep_identity(own);
    gls_params_keep_identity(found);
    own = gls_json_written(own);
    const char *other = own && found ? gls_json_difference(own, found) : "parameters";
    snprintf(name, size, "%s", other ? other : "");
    cJSON_Delete(own);
    cJSON_Delete(found);
    return *name ? name : NULL;
}

/* The role of a file that was another one, or NULL. */
static const char *other_input(const gls_job *job, const cJSON *root)
{
    const cJSON *inputs = at(root, "inputs");
    if (!job->study.phantom != !at(inputs, "phantom")) return "phantom";
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
    bool all =
        exists(job->output) && job->sidecar && exists(job->sidecar) && exists(job->mask) && exists(job->maps.weights);
    for (size_t i = 0; i < n; i++) all = all && exists(map[i]);
    return all;
}

/* What tells the run of the sidecar from this one, or NULL. */
static const char *other_run(const gls_job *job, const cJSON *root, char *name, size_t size)
{
    const char *other = other_parameter(job, root, name, size);
    if (!other) other = other_input(job, root);
    if (!other && is_other_shard(job, root)) other = "shard";
    if (!other && is_other_text(root, "other_inputs_xxh3_64", job->other_inputs))
        other = "region, tissue image or input of a map";
    return other ? other : other_output(job, root);
}

/* Whether the tractogram is another file than the one that the sidecar tells of; the streamlines of that. */
static bool is_changed(const gls_job *job, const cJSON *root, uint64_t *streamlines)
{
    uint64_t bytes;
    struct stat info;
    return stat(job->output, &info) != 0 || !gls_json_get_uint(at(at(root, "output"), "bytes"), &bytes) ||
           (uint64_t)info.st_size != bytes || !gls_json_get_uint(at(at(root, "counts"), "streamlines"), streamlines);
}

gls_status gls_job_find_done(gls_job *job)
{
    char name[128];
    gls_status status = GLS_OK;
    if (!all_exist(job)) return gls_job_check_outputs(job);
    cJSON *root = gls_json_read(job->sidecar, GLS_SIDECAR_MAX_BYTES);
    const char *other = root ? other_run(job, root, name, sizeof name) : NULL;
    uint64_t streamlines = 0;
    job->result.skipped = root && !other && !is_changed(job, root, &streamlines);
    if (job->result.skipped)
        job->result.track.streamlines = streamlines;
    else if (job->options.force)
        status = gls_job_check_outputs(job);
    else if (!root)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: is no file of JSON; --force tracks anew", job->sidecar);
    else if (other)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: exists, made with another %s; --force tracks anew", job->output, other);
    else
        status = gls_fail(GLS_ERR_OUTPUT, "%s: is not the file that %s tells of; --force tracks anew", job->output,
                          job->sidecar);
    if (job->result.skipped) gls_log(GLS_LOG_INFO, "%s: was made by such a run before, nothing to do", job->output);
    cJSON_Delete(root);
    return status;
}
