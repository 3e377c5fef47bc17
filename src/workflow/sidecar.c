/* Sidecars: their names, reading, writing, and the protection of JSON files that are not sidecars of this output. */
#include "workflow/sidecar.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"

/* Text of the member group.name; NULL: none. */
static const char *text_in(const cJSON *object, const char *group, const char *name)
{
    return gls_json_text_at(gls_json_at(object, group), name);
}

/* What a sidecar describes. */
typedef struct described {
    bool own;    /* one of the outputs of the coming run */
    char *other; /* first other output that still exists beside the sidecar, from malloc */
} described;

/* Notes whether an output in the sidecar is one of own, or another file that still exists beside the sidecar. */
static void look_at_output(described *d, const char *sidecar, const cJSON *output, const char *const *own, size_t n_own)
{
    /* entries of other types than text do not name files */
    char *place = NULL;
    if (!cJSON_IsString(output)) return;
    const char *name = gls_file_name(output->valuestring);
    for (size_t i = 0; i < n_own; i++) /* by name alone: the sidecar and its outputs may have been moved together */
        if (own[i] && strcmp(gls_file_name(own[i]), name) == 0) {
            d->own = true;
            return;
        }
    if (d->other || asprintf(&place, "%.*s%s", (int)(gls_file_name(sidecar) - sidecar), sidecar, name) < 0) return;
    if (access(place, F_OK) == 0)
        d->other = place;
    else
        free(place);
}

/* An output, other than own, that the sidecar at path describes, from malloc; NULL: none. A sidecar that describes an
 * output of own is from an earlier run with the same output, and counts as none. */
static char *other_output(const char *path, const char *const *own, size_t n_own)
{
    described d = {.own = false};
    cJSON *root = gls_json_read(path, GLS_SIDECAR_MAX_BYTES);
    const cJSON *item, *outputs = gls_json_at(root, "outputs"), *responses = gls_json_at(root, "responses"),
                       *output = gls_json_at(root, "output");
    /* places where sidecars of the commands name outputs: output.path, outputs.ROLE, responses.TISSUE.path */
    look_at_output(&d, path, gls_json_at(output, "path"), own, n_own);
    cJSON_ArrayForEach(item, outputs) look_at_output(&d, path, item, own, n_own);
    cJSON_ArrayForEach(item, responses) look_at_output(&d, path, gls_json_at(item, "path"), own, n_own);
    cJSON_Delete(root);
    if (!d.own) return d.other;
    free(d.other);
    return NULL;
}

/* Whether a file exists that is no sidecar of glslines, such as the JSON file of a scanner's image. */
static bool is_foreign(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
    cJSON *root = gls_json_read(path, GLS_SIDECAR_MAX_BYTES);
    const char *name = text_in(root, "software", "name");
    const bool foreign = !name || strcmp(name, "glslines") != 0;
    cJSON_Delete(root);
    return foreign;
}

/* x.tck.json if whole is true, x.json otherwise. */
static char *beside(const char *output, bool whole)
{
    const char *suffix = strrchr(gls_file_name(output), '.');
    size_t n = whole || !suffix ? strlen(output) : (size_t)(suffix - output);
    char *name = NULL;
    return asprintf(&name, "%.*s.json", (int)n, output) < 0 ? NULL : name;
}

char *gls_sidecar_find(const char *output)
{
    char *name = beside(output, true);
    if (!name || access(name, F_OK) == 0) return name;
    free(name);
    return beside(output, false);
}

/* Whether the name is taken: by the output itself, by the sidecar of another output, or by another program. */
static bool is_taken(const char *name, const char *output)
{
    char *other = other_output(name, &output, 1);
    const bool taken = other || is_foreign(name) || strcmp(name, output) == 0;
    free(other);
    return taken;
}

char *gls_sidecar_name(const char *output)
{
    char *name = gls_sidecar_find(output);
    /* first choice: the sidecar that exists, else x.json; then x.json, at last x.tck.json */
    for (int whole = 0; whole < 2 && name && is_taken(name, output); whole++) {
        free(name);
        name = beside(output, whole);
    }
    return name;
}

char *gls_sidecar_second_name(const char *output)
{
    return beside(output, true);
}

gls_status gls_sidecar_check_free(const char *path)
{
    if (!is_foreign(path)) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT,
                    "%s: exists and is no sidecar of glslines, so that it stays: choose another name for the output",
                    path);
}

gls_status gls_sidecar_check(const char *path, const char *const *own, size_t n_own)
{
    gls_status status = gls_sidecar_check_free(path);
    char *other = status ? NULL : other_output(path, own, n_own);
    if (other)
        status =
            gls_fail(GLS_ERR_OUTPUT, "%s: is the sidecar of %s, so that it stays: choose another name for the output",
                     path, other);
    free(other);
    return status;
}

gls_status gls_sidecar_finish(gls_output *output, const char *path, const char *text)
{
    gls_status status =
        text ? gls_output_write(output, text, strlen(text)) : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_output_write(output, "\n", 1);
    if (!status) return gls_output_commit(output);
    gls_output_discard(output);
    return status;
}

gls_status gls_sidecar_write(const char *path, bool force, gls_output_group *group, const char *text)
{
    gls_output output;
    gls_status status = gls_output_create(path, force, &output);
    output.group = group;
    return status ? status : gls_sidecar_finish(&output, path, text);
}

gls_status gls_sidecar_write_trace(const char *path, bool force)
{
    char *text = gls_trace_text();
    gls_status status = gls_sidecar_write(path, force, NULL, text);
    free(text);
    return status;
}

gls_status gls_sidecar_read(const char *path, char **text, cJSON **sidecar)
{
    size_t n = 0;
    *text = NULL;
    *sidecar = NULL;
    gls_status status = gls_file_read(path, GLS_SIDECAR_MAX_BYTES, text, &n);
    if (status) return status;
    *sidecar = gls_json_parse_bytes(*text, n);
    if (!*sidecar) return gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    const char *name = text_in(*sidecar, "software", "name"), *version = text_in(*sidecar, "software", "version");
    if (!name || !version || strcmp(name, "glslines") != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is no sidecar of glslines", path);
    /* newer major versions may give members another meaning */
    if (atoi(version) > atoi(gls_version()))
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: was written by glslines %s, which is newer than this version, %s",
                        path, version, gls_version());
    return GLS_OK;
}

bool gls_sidecar_describes_tracking(const cJSON *sidecar)
{
    return cJSON_HasObjectItem(sidecar, "counts") && cJSON_HasObjectItem(sidecar, "output");
}
