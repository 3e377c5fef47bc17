/* Files beside the tractogram of a unit. Their sidecar has hashes of what they depend on, and notes of the
 * files, by which a later run knows its own files. */
#include "bids/dataset_derived.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bids/dataset_describe.h"
#include "bids/dataset_identity.h"
#include "record/sidecar.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

#define DONE "done" /* member of the sidecar, for later runs: inputs, outputs, and replaced files */

void gls_dataset_derived_init(gls_dataset_derived *d)
{
    *d = (gls_dataset_derived){.inputs = cJSON_CreateObject(), .parameters = cJSON_CreateObject()};
}

void gls_dataset_derived_finish(gls_dataset_derived *d)
{
    cJSON_Delete(d->inputs);
    cJSON_Delete(d->parameters);
}

gls_status gls_dataset_derived_add(gls_dataset_derived *d, const char *role, const char *path)
{
    uint64_t hash = 0;
    char text[17];
    gls_status status = path ? gls_input_hash(path, &hash) : GLS_OK;
    if (!status) cJSON_AddStringToObject(d->inputs, role, path ? gls_hash_text(hash, text) : "none");
    return status;
}

/* Copies the path of the folder of the files. */
static void folder_of(const gls_dataset_derived *d, char folder[GLS_DATASET_MAX_PATH])
{
    snprintf(folder, GLS_DATASET_MAX_PATH, "%.*s", (int)(strrchr(d->sidecar, '/') - d->sidecar), d->sidecar);
}

/* Returns the error that no run has recorded the existing file at path, which this run would replace. */
static gls_status fail_exists(const char *path)
{
    return gls_fail(GLS_ERR_OUTPUT, "%s: exists, and no run of glslines bids has recorded it; --force replaces it",
                    path);
}

/* Fills in *done: whether files of the same inputs exist. GLS_ERR_OUTPUT: the existing file is by another
 * program, or was changed. */
static gls_status look_before(const gls_dataset_derived *d, const char *folder, bool *done)
{
    bool missing = false;
    struct stat info;
    /* if there is no sidecar, then root, found, outputs and before are NULL, and no output may exist */
    cJSON *root = gls_json_read(d->sidecar, (size_t)64 << 20);
    const cJSON *found = gls_json_at(root, DONE), *outputs = gls_json_at(found, "outputs"),
                *before = gls_json_at(found, "before");
    gls_status status = found || lstat(d->sidecar, &info) != 0 ? GLS_OK : fail_exists(d->sidecar);
    for (size_t i = 0; i < d->n && !status; i++) {
        const char *name = gls_file_name(d->output[i]);
        /* `before` records files that an interrupted run was about to replace */
        if (lstat(d->output[i], &info) == 0 && !gls_dataset_note_find(outputs, name) &&
            !gls_dataset_note_find(before, name))
            status = fail_exists(d->output[i]);
    }
    if (!status) status = gls_dataset_noted(outputs, before, folder, &missing);
    *done = !status && !missing && gls_json_same(d->inputs, gls_json_at(found, "inputs"));
    cJSON_Delete(root);
    return status;
}

/* Adds to the sidecar the outputs, by which later runs recognise this run. The sidecar gets its final name before the
 * outputs. If the process is killed in between, some files of the earlier run still have their names; therefore the
 * sidecar also describes these old files. */
static gls_status note(const gls_dataset_derived *d, const char *folder, const gls_tract_run *run, cJSON *done)
{
    struct stat info;
    cJSON *outputs = cJSON_AddArrayToObject(done, "outputs"), *before = cJSON_AddArrayToObject(done, "before");
    gls_status status = GLS_OK;
    /* record the old file of this name (in `before`), then the new file that replaces it */
    for (size_t i = 0; i < d->n && !status; i++) {
        const char *name = gls_file_name(d->output[i]);
        if (stat(d->output[i], &info) == 0) status = gls_dataset_note(before, folder, name, false);
        for (size_t k = 0; k < run->files.group.n && !status; k++)
            if (gls_output_is(&run->files.group.output[k], d->output[i]))
                status = gls_dataset_note_output(outputs, name, &run->files.group.output[k]);
    }
    return status;
}

/* Makes the files. */
static gls_status make(const gls_dataset_options *o, const gls_dataset_derived *d, const char *folder)
{
    const gls_tract_common common = {.force = true};
    cJSON *root = cJSON_CreateObject(), *done;
    gls_tract_run run;
    cJSON_AddStringToObject(root, "Description", d->description);
    gls_sidecar_add_software(root, 0, NULL); /* shows later runs of glslines that they may replace the sidecar */
    /* drop the command line, because `glslines bids` has other options; the parameters describe the files */
    cJSON_DeleteItemFromObjectCaseSensitive(root, "command_line");
    gls_dataset_add_sources(o, NULL, false, d->source, GLS_DERIVED_SOURCES, root);
    cJSON_AddItemToObject(root, "parameters", cJSON_Duplicate(d->parameters, true));
    done = cJSON_AddObjectToObject(root, DONE);
    cJSON_AddItemToObject(done, "inputs", cJSON_Duplicate(d->inputs, true));
    gls_tract_run_init(&run, &common, root);
    /* the sidecar gets its name first, see note() */
    run.files.leads = true;
    gls_status status = d->make(&run, d, d->user);
    if (!status) status = note(d, folder, &run, done);
    if (!status) status = gls_tract_run_commit(&run);
    gls_tract_run_finish(&run);
    return status;
}

/* Removes a file; one that is missing is no error. */
static gls_status remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be removed, and is of other inputs: %s", path, strerror(errno));
}

gls_status gls_dataset_derived_remove_others(const gls_dataset_options *o, const gls_dataset_derived *d)
{
    char folder[GLS_DATASET_MAX_PATH];
    bool same = true, missing;
    cJSON *root = gls_json_read(d->sidecar, (size_t)64 << 20);
    const cJSON *done = gls_json_at(root, DONE), *outputs = gls_json_at(done, "outputs"),
                *before = gls_json_at(done, "before"), *own;
    gls_status status = GLS_OK;
    cJSON_ArrayForEach(own, d->inputs) same =
        same && gls_json_same(own, gls_json_at(gls_json_at(done, "inputs"), own->string));
    folder_of(d, folder);
    if (done && !same && !o->force) status = gls_dataset_noted(outputs, before, folder, &missing);
    for (size_t i = 0; i < d->n && done && !same && !status; i++) {
        const char *name = gls_file_name(d->output[i]);
        if (gls_dataset_note_find(outputs, name) || gls_dataset_note_find(before, name))
            status = remove_file(d->output[i]);
    }
    /* the sidecar goes last: until then a later run knows its files */
    if (done && !same && !status) status = remove_file(d->sidecar);
    cJSON_Delete(root);
    return status;
}

gls_status gls_dataset_derive(const gls_dataset_options *o, gls_dataset_derived *d)
{
    char folder[GLS_DATASET_MAX_PATH];
    bool done = false;
    folder_of(d, folder);
    gls_status status = o->force ? GLS_OK : look_before(d, folder, &done);
    return status || done ? status : make(o, d, folder);
}
