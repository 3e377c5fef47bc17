/* The identity of a tracked series, which is its options and hashes of its inputs, and the list of its outputs. A later
 * run compares them to find out whether the series has been tracked already. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <glslines/sphere.h>

#include "bids/dataset_identity.h"
#include "bids/dataset.h"
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "dwi/model_options.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "run/series_run.h"
#include "tracts/bundle_parts.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_SHARED ((size_t)64 << 20) /* largest sidecar of an image, bytes */

/* --- Options. */

/* Whether the tractogram or its columns depend on an option; threads, devices and other outputs do not matter. */
static bool matters(const gls_param *p)
{
    return gls_role_has_part(p->role) || p->role == GLS_ROLE_COLUMNS;
}

/* Fills in *item: the text, with a hash of the contents in place of a file's name. GLS_ERR_INPUT: it is a pipe. */
static gls_status name_contents(const char *text, cJSON **item)
{
    uint64_t hash;
    /* the name of a built-in sphere names no file */
    char digits[17], *named = NULL, *file = gls_sphere_is_built_in(text) ? NULL : gls_file_named(text);
    gls_status status = GLS_OK;
    if (file) {
        status = gls_input_hash(file, &hash);
        if (!status) gls_asprintf(&named, "xxh3_64 %s%s", gls_hash_text(hash, digits), text + strlen(file));
    } else {
        named = strdup(text);
    }
    free(file);
    /* the name of a file that does not exist stays as it is, since tracking then fails with a message */
    *item = status || !named ? NULL : cJSON_CreateString(named);
    free(named);
    return status || *item ? status : gls_no_memory();
}

/* Like name_contents(), for an element of a list. */
static gls_status add_contents(const char *text, cJSON *list)
{
    cJSON *item = NULL;
    gls_status status = name_contents(text, &item);
    if (!status) cJSON_AddItemToArray(list, item);
    return status;
}

/* Like name_contents() for images separated by commas. Keeps their names, which become names of columns. */
static gls_status name_images(const char *text, cJSON **list)
{
    gls_status status = GLS_OK;
    char *copy = strdup(text), *rest = copy;
    *list = cJSON_CreateArray();
    if (!copy) status = gls_no_memory();
    for (char *one; !status && (one = gls_names_next(&rest, ','));) {
        status = add_contents(one, *list);
        if (!status) cJSON_AddItemToArray(*list, cJSON_CreateString(gls_file_name(one)));
    }
    free(copy);
    return status;
}

/* Fills in *list: hashes of a table of rules and of the files that it names. */
static gls_status name_rules(const char *text, cJSON **list)
{
    gls_bundles *bundles = NULL;
    char *path = gls_names_copy(text, strlen(text));
    *list = cJSON_CreateArray();
    gls_status status = path ? add_contents(path, *list) : gls_no_memory();
    if (!status) status = gls_bundles_read(path, NULL, &bundles);
    free(path);
    size_t n = 0;
    const char *const *file = status ? NULL : gls_bundles_files(bundles, &n);
    for (size_t i = 0; i < n && !status; i++) status = add_contents(file[i], *list);
    gls_bundles_destroy(bundles);
    return status;
}

/* Fills in *named: the value of a row with all files as hashes of their contents. */
static gls_status name_item(const gls_param *p, const cJSON *value, cJSON **named)
{
    gls_status status = GLS_OK;
    if (cJSON_IsString(value)) {
        /* a table of rules and a list of images name further files */
        const bool columns = p->role == GLS_ROLE_COLUMNS;
        if (columns && strncmp(p->metavar, "BUNDLES", 7) == 0) return name_rules(value->valuestring, named);
        if (columns && strchr(p->metavar, ',')) return name_images(value->valuestring, named);
        return name_contents(value->valuestring, named);
    }
    *named = cJSON_CreateArray();
    for (const cJSON *v = value->child; v && !status; v = v->next) status = add_contents(v->valuestring, *named);
    return status;
}

/* Whether the value of a parameter is a text, or a list of texts, that may name files. */
static bool names_files(const gls_param *p, const cJSON *value)
{
    return gls_dataset_names_files(p) &&
           (cJSON_IsString(value) || (cJSON_IsArray(value) && cJSON_IsString(value->child)));
}

/* Makes an object of the parameters that a run with this model has. */
static cJSON *parameters_with(const gls_job_options *given, gls_model_kind model)
{
    cJSON *object = cJSON_CreateObject();
    gls_job_options job = *given;
    job.model.model = model;
    const gls_method method = gls_method_of(&job);
    gls_params_add(object, &job, &method, &job.track);
    return object;
}

/* Makes an object of all parameters. With model AUTO it has the parameters of both models that AUTO may choose. */
static cJSON *all_parameters(const gls_job_options *job)
{
    const bool is_auto = job->model.model == GLS_MODEL_AUTO;
    /* with model AUTO the series, which is not read yet, decides between msmt and csd: take the parameters of both */
    cJSON *all = parameters_with(job, is_auto ? GLS_MODEL_MSMT : job->model.model),
          *other = is_auto ? parameters_with(job, GLS_MODEL_CSD) : NULL;
    for (cJSON *item = other ? other->child : NULL, *next; item; item = next) {
        next = item->next;
        /* take from CSD only parameters that are null for MSMT */
        if (!cJSON_IsNull(gls_json_at(all, item->string)) || cJSON_IsNull(item)) continue;
        cJSON_ReplaceItemInObjectCaseSensitive(all, item->string, cJSON_Duplicate(item, true));
    }
    cJSON_Delete(other);
    if (is_auto)
        cJSON_ReplaceItemInObjectCaseSensitive(all, "model", cJSON_CreateString(gls_model_name(GLS_MODEL_AUTO)));
    return all;
}

/* Adds the options on which the result depends. */
static gls_status add_options(cJSON *root, const gls_job_options *job)
{
    char key[96];
    cJSON *all = all_parameters(job), *options = cJSON_AddObjectToObject(root, "options");
    gls_status status = all && options ? GLS_OK : gls_no_memory();
    for (const gls_param *p = gls_params; p->name && !status; p++) {
        gls_option_key(p, key, sizeof key);
        const cJSON *value = gls_json_at(all, key);
        cJSON *copy = NULL;
        if (!value || !matters(p)) continue;
        status = names_files(p, value) ? name_item(p, value, &copy) : GLS_OK;
        if (!copy) copy = cJSON_Duplicate(value, true);
        cJSON_AddItemToObject(options, key, copy);
    }
    cJSON_Delete(all);
    return status;
}

/* --- Inputs. */

/* Adds the hash of a file's contents under its role; null if the run has no such file. */
static gls_status add_input(cJSON *inputs, const char *role, const char *path)
{
    uint64_t hash = 0;
    char text[17];
    gls_status status = path ? gls_input_hash(path, &hash) : GLS_OK;
    if (!status) gls_json_text(inputs, role, path ? gls_hash_text(hash, text) : NULL);
    return status;
}

/* Adds the rule by which seed voxels are chosen: the kind of the seed region, the FA threshold, the labels. */
static void add_seeds(cJSON *inputs, const gls_dataset_options *o, const gls_dataset_unit *u)
{
    static const char *const kinds[] = {"mask", "probability", "aseg", "labels", "fa", "file"};
    cJSON_AddStringToObject(inputs, "seeds", u->interface ? "interface" : u->region ? kinds[u->kind] : "fa");
    if (!u->region && !u->interface) gls_json_double(inputs, "seed_fa", o->fa);
    if (u->region && u->kind == GLS_DATASET_DSEG)
        cJSON_AddItemToObject(inputs, "seed_labels", cJSON_CreateIntArray(u->labels.value, u->labels.n));
}

gls_status gls_dataset_identity(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                                cJSON **identity)
{
    cJSON *root = cJSON_CreateObject(), *inputs;
    gls_status status = add_options(root, job);
    inputs = cJSON_AddObjectToObject(root, "inputs");
    if (!status) status = add_input(inputs, "dwi", u->dwi);
    if (!status) status = add_input(inputs, "bval", u->bval);
    if (!status) status = add_input(inputs, "bvec", gls_table_path(u->bvec));
    if (!status) status = add_input(inputs, "mask", u->mask);
    if (!status) status = add_input(inputs, "region", u->region);
    add_seeds(inputs, o, u);
    /* write the text and read it again, because later runs compare with numbers from a file */
    if (!status && !(root = gls_json_written(root))) status = gls_no_memory();
    if (status) {
        cJSON_Delete(root);
        root = NULL;
    }
    *identity = root;
    return status;
}

/* --- Outputs. */

/* Adds an entry for a file to a list of outputs. The list owns the entry. */
static cJSON *add_entry(cJSON *list, const char *name)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddItemToArray(list, entry);
    return entry;
}

/* Whether a member of a sidecar is not empty. */
static bool is_filled(const cJSON *item)
{
    if (cJSON_IsString(item)) return *item->valuestring;
    if (cJSON_IsObject(item) || cJSON_IsArray(item)) return item->child;
    return item && !cJSON_IsNull(item);
}

/* Records the names of the members in the sidecar of a shared image. Another unit may write the same sidecar with other
 * values, so later runs compare only the names. */
static void note_members(cJSON *entry, const char *path)
{
    cJSON *root = gls_json_read(path, MAX_SHARED), *keys = cJSON_AddArrayToObject(entry, "members");
    for (const cJSON *item = gls_json_members(root); item; item = item->next)
        if (is_filled(item)) cJSON_AddItemToArray(keys, cJSON_CreateString(item->string));
    cJSON_Delete(root);
}

/* Whether the JSON file at path has all members that the entry lists, with a value. */
static bool has_members(const cJSON *entry, const char *path)
{
    const cJSON *key;
    cJSON *root = gls_json_read(path, MAX_SHARED);
    bool all = gls_json_members(root);
    cJSON_ArrayForEach(key, gls_json_at(entry, "members")) all =
        all && cJSON_IsString(key) && is_filled(gls_json_at(root, key->valuestring));
    cJSON_Delete(root);
    return all;
}

gls_status gls_dataset_note(cJSON *list, const char *folder, const char *name, bool shared)
{
    char path[GLS_DATASET_MAX_PATH];
    cJSON *entry = add_entry(list, name);
    gls_bids_join(folder, name, path, sizeof path);
    if (shared) {
        note_members(entry, path);
        return GLS_OK;
    }
    /* size and hash; then the time, by which an unchanged file need not be hashed again */
    gls_status status = gls_written_note(entry, path);
    return status ? status : gls_written_note_time(entry, path);
}

gls_status gls_dataset_note_output(cJSON *list, const char *name, const gls_output *output)
{
    return gls_written_note_output(add_entry(list, name), output);
}

const cJSON *gls_dataset_note_find(const cJSON *list, const char *name)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        const char *own = cJSON_GetStringValue(gls_json_at(entry, "name"));
        if (own && strcmp(own, name) == 0) return entry;
    }
    return NULL;
}

/* Whether a file is as an entry describes it. Entries of shared sidecars have no size, see note_members(). */
static bool is_noted(const cJSON *entry, const char *path)
{
    return gls_json_at(entry, "bytes") ? gls_written_is(entry, path) : has_members(entry, path);
}

gls_status gls_dataset_noted(const cJSON *list, const cJSON *before, const char *folder, bool *missing)
{
    char path[GLS_DATASET_MAX_PATH];
    *missing = !cJSON_IsArray(list) || !list->child;
    for (const cJSON *entry = *missing ? NULL : list->child; entry; entry = entry->next) {
        struct stat info;
        const cJSON *name = gls_json_at(entry, "name");
        if (!cJSON_IsString(name)) continue;
        gls_bids_join(folder, name->valuestring, path, sizeof path);
        const cJSON *old = gls_dataset_note_find(before, name->valuestring);
        if (stat(path, &info) != 0) /* missing: the file is gone or, see below, still the file of an earlier run */
            *missing = true;
        else if (is_noted(entry, path))
            continue;
        else if (old && is_noted(old, path))
            *missing = true;
        else
            return gls_fail(GLS_ERR_OUTPUT, "%s: has changed since glslines bids wrote it; --force tracks anew", path);
    }
    return GLS_OK;
}
