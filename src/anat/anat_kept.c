/* Anatomies that are kept: a folder for each set of files, and in it a note with a hash of each result, written last.
 */
#include "anat/anat_kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_NOTE_BYTES (1 << 20)

/* The contents of the sources, the choices that runs can make, and the program. NULL: *status says why. */
static cJSON *make_key(const gls_anat_sources *s, gls_status *status)
{
    const void *const given[] = {s->t1,    s->dwi,        s->bval,  s->bvec,   s->dwi_mask,
                                 s->fixed, s->fixed_mask, s->prior, s->labels, s->lesion};
    char *path[GLS_ANAT_MAX_FILES], hash[17];
    uint64_t which = 0;
    size_t n = 0;
    cJSON *key = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) which |= (uint64_t)(given[i] != NULL) << i;
    cJSON_AddStringToObject(key, "version", gls_version());
    cJSON_AddStringToObject(key, "given", gls_hash_text(which, hash));
    cJSON_AddBoolToObject(key, "boundary", s->boundary);
    cJSON *files = cJSON_AddArrayToObject(key, "files");
    *status = gls_anat_sources_list(s, path, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        if (!*status) *status = gls_hash_file(path[i], &value);
        if (!*status) cJSON_AddItemToArray(files, cJSON_CreateString(gls_hash_text(value, hash)));
        free(path[i]);
    }
    if (!*status) return key;
    cJSON_Delete(key);
    return NULL;
}

/* Names the folder of a key. From malloc. */
static gls_status name_folder(const cJSON *key, const char *folder, char **path)
{
    char *text = gls_json_print_line(key), own[4096];
    const uint64_t hash = text ? gls_hash(text, strlen(text)) : 0;
    char digits[17];
    if (!text) return gls_no_memory();
    cJSON_free(text);
    if (folder) {
        if (gls_asprintf(path, "%s/glslines_anat_%s", folder, gls_hash_text(hash, digits)) < 0) return gls_no_memory();
    } else {
        if (!gls_kept_path("anat", hash, true, own, sizeof own))
            return gls_fail(GLS_ERR_OUTPUT,
                            "--t1: there is no cache folder to keep its results in: give --cache-dir DIR");
        *path = strdup(own);
        if (!*path) return gls_no_memory();
    }
    return GLS_OK;
}

/* Makes the hashes of all files; NULL: one cannot be read, or is none of this user's. */
static cJSON *hash_results(const gls_anat_names *names)
{
    cJSON *all = cJSON_CreateObject();
    for (int k = 0; k < GLS_ANAT_N_FILES; k++) {
        char digits[17];
        uint64_t hash;
        if (!names->path[k]) continue;
        if (!gls_kept_is_file(names->path[k], true) || gls_hash_file(names->path[k], &hash)) {
            cJSON_Delete(all);
            return NULL;
        }
        cJSON_AddStringToObject(all, gls_file_name(names->path[k]), gls_hash_text(hash, digits));
    }
    return all;
}

/* Whether all files are there as a run with this key wrote them. */
static bool are_kept(const gls_anat_names *names, const char *note, const cJSON *key)
{
    cJSON *root = gls_kept_is_file(note, true) ? gls_json_read(note, MAX_NOTE_BYTES) : NULL;
    cJSON *found = root && gls_json_same(key, gls_json_at(root, "key")) ? hash_results(names) : NULL;
    const bool kept = found && gls_json_same(found, gls_json_at(root, "files"));
    if (root && !kept) gls_log(GLS_LOG_WARNING, "%s: what it names is damaged, and is made anew", note);
    if (kept && cJSON_IsTrue(gls_json_at(root, "warned")))
        gls_log(GLS_LOG_WARNING, "%s: there were warnings when it was made: look at the images before you use them",
                names->sidecar);
    cJSON_Delete(root);
    cJSON_Delete(found);
    return kept;
}

/* Makes the files, then the note. */
static gls_status make(const gls_anat_sources *s, const gls_anat_inputs *how, const gls_anat_names *names,
                       const char *note, const cJSON *key)
{
    gls_anat_inputs in = *how;
    gls_anat anat = {.cut = false};
    gls_output_group group = {0};
    const char *const words[] = {"glslines", "anat", s->t1, "--dwi", s->dwi};
    gls_warnings warnings;
    gls_warnings_begin(&warnings);
    gls_status status = gls_anat_inputs_read(s, &in);
    if (!status) status = gls_anat_make(&in, &anat);
    if (!status) status = gls_anat_write(&anat, s, names, true, &group);
    if (!status) {
        cJSON *root = cJSON_CreateObject(), *software = cJSON_AddObjectToObject(root, "software");
        cJSON_AddStringToObject(software, "name", "glslines");
        cJSON_AddStringToObject(software, "version", gls_version());
        cJSON_AddItemToObject(root, "command_line", cJSON_CreateStringArray(words, sizeof words / sizeof *words));
        gls_anat_describe(&anat, root);
        cJSON_AddItemToObject(root, "warnings",
                              cJSON_CreateStringArray((const char *const *)warnings.line, (int)warnings.n));
        status = gls_json_write(root, names->sidecar, true, &group, "\n");
        cJSON_Delete(root);
    }
    gls_warnings_end(&warnings);
    status = gls_output_group_end(&group, status);
    cJSON *files = status ? NULL : hash_results(names);
    if (!status && files) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddItemToObject(root, "key", cJSON_Duplicate(key, true));
        cJSON_AddItemToObject(root, "files", files);
        cJSON_AddBoolToObject(root, "warned", anat.warnings > 0);
        status = gls_json_write(root, note, true, NULL, "\n");
        cJSON_Delete(root);
    }
    gls_anat_finish(&anat);
    gls_anat_inputs_finish(&in);
    return status;
}

/* Where the files of these sources are kept. */
typedef struct place {
    cJSON *key;
    char *folder, *note;
} place;

/* Names the place, and the files in it. */
static gls_status find_place(const gls_anat_sources *s, const char *folder, gls_anat_names *names, place *at)
{
    gls_status status;
    *names = (gls_anat_names){.sidecar = NULL};
    *at = (place){.key = make_key(s, &status)};
    if (!status) status = name_folder(at->key, folder, &at->folder);
    if (!status) status = gls_anat_names_init(names, s, at->folder, NULL, "dwi", NULL);
    if (!status && gls_asprintf(&at->note, "%s/kept.json", at->folder) < 0) status = gls_no_memory();
    return status;
}

static void finish_place(place *at)
{
    cJSON_Delete(at->key);
    free(at->folder);
    free(at->note);
}

gls_status gls_anat_find(const gls_anat_sources *s, const char *folder, gls_anat_names *names, bool *kept)
{
    place at;
    const gls_status status = find_place(s, folder, names, &at);
    *kept = !status && are_kept(names, at.note, at.key);
    if (*kept) gls_log(GLS_LOG_INFO, "anatomy: %s is reused: its files are the same", at.folder);
    finish_place(&at);
    return status;
}

gls_status gls_anat_keep(const gls_anat_sources *s, const gls_anat_inputs *how, const char *folder,
                         gls_anat_names *names)
{
    place at;
    gls_status status = find_place(s, folder, names, &at);
    if (!status) status = gls_folders_make(at.folder, NULL);
    if (!status) status = make(s, how, names, at.note, at.key);
    finish_place(&at);
    return status;
}
