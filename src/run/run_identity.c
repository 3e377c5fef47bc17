/* The identity of a run of tracking: the parameters and contents on which streamlines depend. Shards, --resume and
 * --skip-existing recognise earlier results of an equal run by it. */
#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/job_create.h"
#include "run/job_inputs_parts.h"
#include "run/job_parts.h"
#include "run/run_identity.h"
#include "run/track_sidecar.h"
#include "sinks/sink_table.h"
#include "transform/bring.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "util/json_text.h"

/* largest number of hashes */
#define MAX_HASHES 32

/* --- The identity. */

/* Hash of the values of an image; 0: no image, or the run needs no values of it. */
static uint64_t hash_image(const gls_image *image)
{
    return image && image->data
               ? gls_hash(image->data, gls_grid_voxels(&image->grid) * image->n_volumes * sizeof *image->data)
               : 0;
}

/* Hashes the contents that were read. Names of files may differ between machines. */
static uint64_t hash_inputs(const gls_job_inputs *in)
{
    /* files that are hashed as files, because no array below holds their contents */
    static const int texts[] = {GLS_FILE_RESPONSE,     GLS_FILE_SEEDS,          GLS_FILE_SPHERE,
                                GLS_FILE_DIRECTIONS,   GLS_FILE_RESPONSE_WM,    GLS_FILE_RESPONSE_GM,
                                GLS_FILE_RESPONSE_CSF, GLS_FILE_SEED_REJECTION, GLS_FILE_SEED_GMWMI};
    const gls_gradients *g = in->series.gradients, *tensor = in->series.tensor_gradients;
    uint64_t part[MAX_HASHES] = {0};
    size_t n = 0;
    part[n++] = gls_hash(in->grid->dim, sizeof in->grid->dim);
    part[n++] = gls_hash(in->grid->affine, sizeof in->grid->affine);
    part[n++] = hash_image(in->series.dwi);
    part[n++] = hash_image(in->mask);
    part[n++] = hash_image(in->roi);
    part[n++] = hash_image(in->stop_map);
    part[n++] = hash_image(in->odf_image);
    part[n++] = g ? gls_hash(g->bval, g->n * sizeof *g->bval) : 0;
    part[n++] = g ? gls_hash(g->bvec, g->n * sizeof *g->bvec) : 0;
    part[n++] = hash_image(in->series.tensor_dwi);
    part[n++] = tensor ? gls_hash(tensor->bval, tensor->n * sizeof *tensor->bval) : 0;
    part[n++] = tensor ? gls_hash(tensor->bvec, tensor->n * sizeof *tensor->bvec) : 0;
    part[n++] = in->sphere ? gls_hash(in->sphere->vertex, in->sphere->n * sizeof *in->sphere->vertex) : 0;
    part[n++] = in->regions ? gls_regions_hash(in->regions) : 0;
    part[n++] = in->tissue ? gls_tissue_hash(in->tissue) : 0;
    part[n++] = gls_transform_hash(&in->space);
    /* the hash is zero for files that the run does not read */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++, n++)
        part[n] = gls_input_file_identity(&in->file[texts[i]]);
    return gls_hash(part, n * sizeof *part);
}

gls_status gls_job_identify(gls_job *job)
{
    gls_status status = gls_params_identity(&job->options, &job->inputs.method, &job->params, &job->shard.parameters);
    if (!status) job->shard.inputs = hash_inputs(&job->inputs);
    return status;
}

gls_status gls_job_hash_others(gls_job *job)
{
    const gls_job_inputs *in = &job->inputs;
    uint64_t part[4] = {in->regions ? gls_regions_hash(in->regions) : 0, in->tissue ? gls_tissue_hash(in->tissue) : 0,
                        0, gls_transform_hash(&in->space)};
    gls_status status = gls_sinks_hash(&job->sinks, &part[2]);
    if (!status && (in->regions || in->tissue || part[2] || part[3])) job->other_inputs = gls_hash(part, sizeof part);
    return status;
}

/* --- --skip-existing: whether an equal run was done before, by its outputs and their sidecar. */

/* Whether the entry `key` is missing or not the text of this hash; for hash 0: whether there is such an entry. */
static bool is_other_text(const cJSON *object, const char *key, uint64_t hash)
{
    char text[17];
    const cJSON *found = gls_json_at(object, key);
    if (hash == 0) return found;
    return !cJSON_IsString(found) || strcmp(found->valuestring, gls_hash_text(hash, text)) != 0;
}

/* Whether the sidecar belongs to another shard: index or count differ, or only one of the two runs is a shard. */
static bool is_other_shard(const gls_job *job, const cJSON *root)
{
    const cJSON *shard = gls_json_at(root, "shard"), *index = gls_json_at(shard, "index"),
                *count = gls_json_at(shard, "count");
    if (job->shard.count == 0 || !shard) return job->shard.count > 0 || shard;
    return !cJSON_IsNumber(index) || index->valuedouble != job->shard.index || !cJSON_IsNumber(count) ||
           count->valuedouble != job->shard.count;
}

/* First parameter that differs between this run and the sidecar, or that the sidecar lacks; NULL: none. */
static const char *other_parameter(const gls_job *job, const cJSON *root, char *name, size_t size)
{
    cJSON *own = cJSON_CreateObject(), *found = cJSON_Duplicate(gls_json_at(root, "parameters"), true);
    gls_params_add(own, &job->options, &job->inputs.method, &job->params);
    /* write and read this run's parameters like a file, so that equal numbers compare equal */
    own = gls_json_written(own);
    const char *other = own && found ? gls_params_difference(own, found) : "parameters";
    snprintf(name, size, "%s", other ? other : "");
    cJSON_Delete(own);
    cJSON_Delete(found);
    return *name ? name : NULL;
}

/* Role of the first input file that differs between this run and the sidecar; NULL: none. */
static const char *other_input(const gls_job *job, const cJSON *root)
{
    const cJSON *inputs = gls_json_at(root, "inputs");
    if (!job->inputs.phantom != !gls_json_at(inputs, "phantom")) return "phantom";
    for (int i = 0; i < GLS_FILE_N_FILES; i++) {
        const gls_input_file *file = &job->inputs.file[i];
        if (!file->path && !gls_json_at(inputs, file->role)) continue;
        if (!file->path || is_other_text(gls_json_at(inputs, file->role), "xxh3_64", file->hash) ||
            is_other_text(gls_json_at(gls_json_at(inputs, file->role), "companion"), "xxh3_64", file->companion_hash))
            return file->role;
    }
    return NULL;
}

bool gls_job_outputs_exist(const gls_job *job)
{
    bool all = job->run.sidecar && access(job->run.sidecar, F_OK) == 0;
    for (size_t i = 0; i < job->n_files; i++) all = all && access(job->file[i].path, F_OK) == 0;
    return all;
}

/* Whether a run made other weights, by the value of --weights in its sidecar: a word, or in old ones a flag. */
static bool is_other_weights(const gls_job *job, const cJSON *value)
{
    static const char *const word[] = {"none", "sift2", "commit"};
    const char *text = cJSON_IsString(value) ? cJSON_GetStringValue(value) : word[cJSON_IsTrue(value)];
    return strcmp(text, word[job->options.weights]) != 0;
}

/* Returns the first difference between this run and the run of the sidecar; NULL: they are equal. */
static const char *other_run(const gls_job *job, const cJSON *root, char *name, size_t size)
{
    const char *other = other_parameter(job, root, name, size);
    if (!other) other = other_input(job, root);
    if (!other && is_other_shard(job, root)) other = "shard";
    if (!other && is_other_text(root, "other_inputs_xxh3_64", job->other_inputs))
        other = "region, tissue image or file for a result such as --connectome";
    /* weights may be a column of the tractogram, not a file of their own */
    if (!other && is_other_weights(job, gls_json_at(gls_json_at(root, "parameters"), "weights")))
        other = "choice of --weights";
    return other;
}

/* Returns the path of the first output that differs from what the sidecar records, or of which it records nothing;
 * NULL: none. */
static const char *changed_output(const gls_job *job, const cJSON *root)
{
    for (size_t i = 0; i < job->n_files; i++)
        if (!gls_written_is(gls_json_at(gls_json_at(root, GLS_SIDECAR_OUTPUTS), job->file[i].role), job->file[i].path))
            return job->file[i].path;
    return NULL;
}

/* Returns GLS_OK if the run of the sidecar equals this run, its outputs are unchanged, and its number of streamlines is
 * known. Otherwise returns GLS_ERR_OUTPUT; the message says why. */
static gls_status compare_done(gls_job *job, const cJSON *root)
{
    char name[128];
    const char *const sidecar = job->run.sidecar;
    if (!root) return gls_fail(GLS_ERR_OUTPUT, "%s: the sidecar is not a JSON file; --force tracks anew", sidecar);
    if (!cJSON_IsObject(gls_json_at(root, GLS_SIDECAR_OUTPUTS)))
        return gls_fail(GLS_ERR_OUTPUT, "%s: has no checksums of outputs to compare; --force tracks anew", sidecar);
    const char *other = other_run(job, root, name, sizeof name), *changed = other ? NULL : changed_output(job, root);
    if (other) return gls_fail(GLS_ERR_OUTPUT, "%s: was made with another %s; --force tracks anew", job->output, other);
    if (changed)
        return gls_fail(GLS_ERR_OUTPUT, "%s: is no file that %s records, or was changed; --force tracks anew", changed,
                        sidecar);
    if (!gls_json_get_uint(gls_json_at(gls_json_at(root, "counts"), "streamlines"), &job->result.track.streamlines))
        return gls_fail(GLS_ERR_OUTPUT, "%s: has no count of streamlines; --force tracks anew", sidecar);
    return GLS_OK;
}

/* The names in the sidecar of files that are made from the outputs, and the commands that make them. */
static const struct {
    const char *role, *command;
} made[] = {[GLS_EXTRA_PICTURE] = {"picture", "render"}, [GLS_EXTRA_REPORT] = {"report", "report"}};

/* For a run that was done before: GLS_ERR_OUTPUT unless picture and report were made from its outputs. */
static gls_status find_extras(const gls_job *job)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const char *path = job->extra[i];
        const bool missing = path && access(path, F_OK) != 0;
        if (!path || (!missing && gls_written_is(gls_json_at(job->written, made[i].role), path))) continue;
        return gls_fail(GLS_ERR_OUTPUT,
                        "%s: is %s, and this run makes nothing, because %s was made before: make the file from that "
                        "tractogram with 'glslines %s'",
                        path, missing ? "missing" : "not the file that was made from this run", job->result.output,
                        made[i].command);
    }
    return GLS_OK;
}

gls_status gls_job_find_done(gls_job *job)
{
    if (!gls_job_outputs_exist(job)) return gls_job_check_outputs(job);
    cJSON *root = gls_json_read(job->run.sidecar, GLS_SIDECAR_MAX_BYTES);
    gls_status status = compare_done(job, root);
    job->result.skipped = !status;
    if (!status) {
        job->written = cJSON_DetachItemFromObjectCaseSensitive(root, GLS_SIDECAR_OUTPUTS);
        gls_log(GLS_LOG_INFO, "%s: was made by an equal run before: nothing to do", job->output);
        status = find_extras(job);
    } else if (job->options.force) {
        status = gls_job_check_outputs(job);
    }
    cJSON_Delete(root);
    return status;
}

/* Returns a new entry of a role in job->written, with the name of the file without its folder; it replaces an older
 * entry. */
static cJSON *add_entry(gls_job *job, const char *role, const char *path)
{
    if (!job->written) job->written = cJSON_CreateObject();
    cJSON_DeleteItemFromObjectCaseSensitive(job->written, role);
    cJSON *entry = cJSON_AddObjectToObject(job->written, role);
    gls_json_text(entry, GLS_WRITTEN_FILE, gls_file_name(path));
    return entry;
}

gls_status gls_job_note_outputs(gls_job *job)
{
    const gls_output_group *group = &job->run.group;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < job->n_files && !status; i++)
        /* compare final names: the outputs in the group still have temporary names */
        for (size_t k = 0; k < group->n && !status; k++)
            if (gls_output_is(&group->output[k], job->file[i].path))
                status =
                    gls_written_note_output(add_entry(job, job->file[i].role, job->file[i].path), &group->output[k]);
    return status;
}

gls_status gls_job_note_extra(gls_job *job, gls_job_extra extra)
{
    const char *path = job->extra[extra];
    if (!job->run.sidecar) return GLS_OK;
    gls_status status = gls_written_note(add_entry(job, made[extra].role, path), path);
    return status ? status : gls_json_write_text(gls_track_sidecar_text(job), job->result.sidecar, true, NULL, "\n");
}
