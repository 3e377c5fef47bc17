/* Files that a data set of derivatives needs: dataset_description.json, README, and what validators and pybids read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bids/dataset.h"
#include "run/series_run.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

/* Largest dataset_description.json, bytes. */
#define MAX_DESCRIPTION ((size_t)16 << 20)

/* Writes a file of the output if no file has this name. */
static gls_status write_text(const gls_dataset_options *o, const char *name, const char *text)
{
    char path[1536];
    snprintf(path, sizeof path, "%s/%s", o->output, name);
    if (access(path, F_OK) == 0) return GLS_OK;
    gls_status status = gls_file_write(path, false, NULL, text, strlen(text));
    return status && access(path, F_OK) == 0 ? GLS_OK
                                             : status; /* If the file exists, another process has made it first. */
}

/* Reads dataset_description.json of a folder. NULL: the file does not exist or cannot be read. */
static cJSON *read_description(const char *folder)
{
    char path[1536];
    snprintf(path, sizeof path, "%s/dataset_description.json", folder);
    return gls_json_read(path, MAX_DESCRIPTION);
}

/* Appends a path to a URI. Percent-encodes all characters that are not in plain[]. */
static void append_path(const char *path, char *uri, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+:@!$&'()*,;=";
    size_t n = strlen(uri);
    for (; *path && n + 4 < size; path++) {
        if (strchr(plain, *path))
            uri[n++] = *path;
        else
            n += (size_t)snprintf(uri + n, size - n, "%%%02X", (unsigned)(unsigned char)*path);
    }
    uri[n] = '\0';
}

/* Writes the URI of a path on this machine, with links resolved. */
static void file_uri(const char *path, char *uri, size_t size)
{
    char *whole = realpath(path, NULL);
    snprintf(uri, size, "file://");
    append_path(whole ? whole : path, uri, size);
    free(whole);
}

/* The part of a path that follows a folder, by whatever name the path calls the folder; NULL: the file lies elsewhere.
 */
static const char *part_below(const char *path, const char *folder)
{
    char above[GLS_DATASET_MAX_URI];
    size_t n = strlen(path);
    for (const char *slash; (slash = memrchr(path, '/', n)); n = (size_t)(slash - path)) {
        snprintf(above, sizeof above, "%.*s/", (int)(slash - path), path);
        if (gls_same_file(above, folder)) return slash + 1;
    }
    const bool climbs = strncmp(path, "../", 3) == 0 || strstr(path, "/../");
    return *path != '/' && !climbs && gls_same_file(".", folder) ? path : NULL;
}

/* Writes the BIDS URI of a file of the source data set or of the output, or a file URI of a file elsewhere. */
static void bids_uri(const gls_dataset_options *o, const char *path, char *uri, size_t size)
{
    /* schemes of BIDS URIs: bids:source: for the input, by its name in DatasetLinks; bids:: for the output itself */
    const char *const roots[] = {o->input, o->output}, *const schemes[] = {"bids:source:", "bids::"};
    const char *rest = NULL;
    file_uri(path, uri, size);
    for (int i = 0; i < 2; i++) {
        const char *part = part_below(path, roots[i]);
        /* choose the inner folder, because the output often lies in derivatives/ of the input */
        if (!part || (rest && strlen(rest) <= strlen(part))) continue;
        rest = part;
        snprintf(uri, size, "%s", schemes[i]);
    }
    if (rest) append_path(rest, uri, size);
}

void gls_dataset_add_sources(const gls_dataset_options *o, const gls_dataset_unit *u, bool series,
                             const char *const *path, size_t n, cJSON *root)
{
    char uri[GLS_DATASET_MAX_URI];
    const char *const own[] = {u ? u->dwi : NULL, u ? u->bval : NULL, u ? gls_table_path(u->bvec) : NULL};
    cJSON *sources = cJSON_CreateArray();
    for (size_t i = series ? 0 : 3; i < 3 + n; i++) {
        const char *source = i < 3 ? own[i] : path[i - 3];
        if (!source) continue;
        bids_uri(o, source, uri, sizeof uri);
        cJSON_AddItemToArray(sources, cJSON_CreateString(uri));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(root, "Sources");
    cJSON_AddItemToObject(root, "Sources", sources);
    if (!u) return;
    bids_uri(o, u->dwi, uri, sizeof uri);
    cJSON_AddStringToObject(root, "SpatialReference", uri);
}

/* Adds this version of glslines to a list GeneratedBy. */
static void add_this_version(cJSON *generated)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddItemToArray(generated, entry);
    cJSON_AddStringToObject(entry, "Name", "glslines");
    cJSON_AddStringToObject(entry, "Version", gls_version());
}

/* Contents of dataset_description.json of the output. */
static cJSON *description(const gls_dataset_options *o)
{
    char uri[GLS_DATASET_MAX_URI];
    file_uri(o->input, uri, sizeof uri);
    cJSON *root = cJSON_CreateObject(), *entry, *links;
    cJSON_AddStringToObject(root, "Name", "Tractograms by glslines");
    cJSON_AddStringToObject(root, "BIDSVersion", "1.10.0");
    cJSON_AddStringToObject(root, "DatasetType", "derivative");
    add_this_version(cJSON_AddArrayToObject(root, "GeneratedBy"));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "SourceDatasets"), entry = cJSON_CreateObject());
    cJSON_AddStringToObject(entry, "URL", uri);
    links = cJSON_AddObjectToObject(root, "DatasetLinks");
    cJSON_AddStringToObject(links, "source", uri);
    /* derived data stay under the licence of their source */
    cJSON *source = read_description(o->input), *licence = gls_json_at(source, "License");
    if (cJSON_IsString(licence)) cJSON_AddStringToObject(root, "License", licence->valuestring);
    cJSON_Delete(source);
    return root;
}

/* Adds this version to GeneratedBy, with a warning, if the list has other versions of glslines but not this one. */
static gls_status add_version(const gls_dataset_options *o)
{
    char path[1536], versions[256] = "";
    cJSON *root = read_description(o->output), *generated = gls_json_at(root, "GeneratedBy"), *entry;
    gls_status status = GLS_OK;
    /* known: this version is listed; or there is no list, because another program wrote the description */
    bool known = !cJSON_IsArray(generated);
    cJSON_ArrayForEach(entry, generated)
    {
        const char *name = gls_json_text_at(entry, "Name");
        const char *version = gls_json_text_at(entry, "Version");
        if (!name || !version || strcmp(name, "glslines") != 0) continue;
        known = known || strcmp(version, gls_version()) == 0;
        size_t n = strlen(versions);
        snprintf(versions + n, sizeof versions - n, "%s%s", n ? ", " : "", version);
    }
    /* keep the versions that have worked on the folder, and add this version */
    if (!known && *versions) {
        gls_log(GLS_LOG_WARNING, "%s was begun by glslines %s, and goes on with %s", o->output, versions,
                gls_version());
        add_this_version(generated);
        snprintf(path, sizeof path, "%s/dataset_description.json", o->output);
        status = gls_json_write(root, path, true, NULL, "");
    }
    cJSON_Delete(root);
    return status;
}

gls_status gls_dataset_describe(const gls_dataset_options *o)
{
    /* contents of .bidsignore: names that are not in BIDS yet, or never will be, and that its validator would reject */
    static const char ignored[] = "*_tractogram.*\n*_tractography.*\n*_dwimap.*\n*_relmat.*\n*_nodes.tsv\n*.html\nlogs/"
                                  "\nfigures\n**/figures\ngroup.tsv\ntract_profiles.*\ncode/\n";
    /* patterns of entities that pybids does not know */
    static const char pybids[] =
        "{\n    \"name\": \"glslines\",\n    \"entities\": [\n"
        "        {\"name\": \"tract\", \"pattern\": \"[_/\\\\\\\\]+tract-([a-zA-Z0-9]+)\"},\n"
        "        {\"name\": \"track\", \"pattern\": \"[_/\\\\\\\\]+track-([a-zA-Z0-9]+)\"}\n    ]\n}\n";
    static const char readme[] =
        "# Tractograms\n\nMade by glslines from a data set of preprocessed diffusion images. Each tractogram "
        "(`_tractogram.trx`) has a sidecar\n(`.json`) with all parameters, counts and times; `track-` names the "
        "direction getter and, where it is not the default\none, the model. `desc-seed_mask` and `desc-stop_mask` are "
        "the regions that were used. `code/pybids.json` names the\nentities `tract` and `track` for pybids.\n";
    char folder[1536];
    if (gls_same_file(o->input, o->output))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "%s: BIDS_DIR and OUT_DIR are one folder: what is derived needs a folder of its own, such as "
                        "%s/derivatives/glslines",
                        o->output, o->input);
    /* paths of the topmost folders that are made, to remove them after a failure */
    char logs[1536], first[2][1536] = {"", ""};
    snprintf(logs, sizeof logs, "%s/logs", o->output);
    snprintf(folder, sizeof folder, "%s/code", o->output);
    gls_status status = gls_bids_make_folders(logs, first[0]);
    if (!status) status = gls_bids_make_folders(folder, first[1]);
    cJSON *root = description(o);
    char *text = gls_json_print(root);
    if (!status && !text) status = gls_no_memory();
    if (!status) status = write_text(o, "dataset_description.json", text);
    cJSON_free(text);
    cJSON_Delete(root);
    if (status) {
        gls_bids_remove_folders(folder, first[1]);
        gls_bids_remove_folders(logs, first[0]);
    }
    if (!status) status = add_version(o);
    if (!status) status = write_text(o, ".bidsignore", ignored);
    if (!status) status = write_text(o, "README.md", readme);
    return status ? status : write_text(o, "code/pybids.json", pybids);
}
