/* Sidecars: finds their names, reads and writes them, makes the parts that all have, and records the files that a run
 * wrote. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "record/sidecar.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/threads.h"

/* Text of the member group.name; NULL: none. */
static const char *text_in(const cJSON *object, const char *group, const char *name)
{
    return gls_json_text_at(gls_json_at(object, group), name);
}

/* The outputs that an existing sidecar names, compared with the outputs of the coming run. */
typedef struct described {
    bool own;    /* true: the sidecar names an output of the coming run */
    char *other; /* name of the first other output that still exists beside the sidecar, from malloc; NULL: none */
} described;

/* Sets d->own if this output of the sidecar is one of own[]. Otherwise, if the output still exists beside the sidecar
 * and d->other is NULL, sets d->other to its path. */
static void look_at_output(described *d, const char *sidecar, const cJSON *output, const char *const *own, size_t n_own)
{
    /* an entry that is not text names no file */
    char *place = NULL;
    if (!cJSON_IsString(output)) return;
    const char *name = gls_file_name(output->valuestring);
    for (size_t i = 0; i < n_own;
         i++) /* compare names without folders, since the sidecar and its outputs may have been moved together */
        if (own[i] && strcmp(gls_file_name(own[i]), name) == 0) {
            d->own = true;
            return;
        }
    if (d->other || gls_asprintf(&place, "%.*s%s", (int)(gls_file_name(sidecar) - sidecar), sidecar, name) < 0) return;
    if (access(place, F_OK) == 0)
        d->other = place;
    else
        free(place);
}

/* Returns an existing output outside own[] that the sidecar at `path` describes, from malloc. NULL: none, or the
 * sidecar describes an output of own[] too, so that it is from an earlier run with the same output. */
static char *other_output(const char *path, const char *const *own, size_t n_own)
{
    described d = {.own = false};
    cJSON *root = gls_json_read(path, GLS_SIDECAR_MAX_BYTES);
    const cJSON *item, *outputs = gls_json_at(root, "outputs"), *responses = gls_json_at(root, "responses"),
                       *output = gls_json_at(root, "output");
    /* the members in which sidecars name outputs: output.path, outputs.ROLE, responses.TISSUE.path */
    look_at_output(&d, path, gls_json_at(output, "path"), own, n_own);
    cJSON_ArrayForEach(item, outputs) look_at_output(&d, path, item, own, n_own);
    cJSON_ArrayForEach(item, responses) look_at_output(&d, path, gls_json_at(item, "path"), own, n_own);
    cJSON_Delete(root);
    if (!d.own) return d.other;
    free(d.other);
    return NULL;
}

/* Whether path is a regular file that is neither empty nor JSON of glslines, such as the JSON file of a scanner's
 * image. */
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

/* Returns the name of a sidecar for the output x.tck, from malloc: x.tck.json if `whole`, else x.json. */
static char *beside(const char *output, bool whole)
{
    const char *suffix = strrchr(gls_file_name(output), '.');
    size_t n = whole || !suffix ? strlen(output) : (size_t)(suffix - output);
    char *name = NULL;
    return gls_asprintf(&name, "%.*s.json", (int)n, output) < 0 ? NULL : name;
}

char *gls_sidecar_find(const char *output)
{
    char *name = beside(output, true);
    if (!name || access(name, F_OK) == 0) return name;
    free(name);
    return beside(output, false);
}

/* Whether the name is taken: by the output itself, by the sidecar of another output, or by a file of another
 * program. */
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
    /* start from the name of the sidecar that exists, usually x.json; if it is taken, try x.json, then x.tck.json */
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

gls_status gls_sidecar_write_trace(const char *path, bool force)
{
    return gls_json_write_text(gls_trace_text(), path, force, NULL, "\n");
}

gls_status gls_sidecar_read(const char *path, char **text, cJSON **sidecar)
{
    size_t n = 0;
    *text = NULL;
    *sidecar = NULL;
    gls_status status = gls_file_read(path, GLS_SIDECAR_MAX_BYTES, text, &n);
    if (status) return status;
    *sidecar = gls_json_parse_whole(*text, n, NULL);
    if (!*sidecar) return gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    const char *name = text_in(*sidecar, "software", "name"), *version = text_in(*sidecar, "software", "version");
    if (!name || !version || strcmp(name, "glslines") != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is no sidecar of glslines", path);
    /* refuse sidecars of a newer major version, which may give members another meaning */
    if (atoi(version) > atoi(gls_version()))
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: was written by glslines %s, which is newer than this version, %s",
                        path, version, gls_version());
    return GLS_OK;
}

bool gls_sidecar_describes_tracking(const cJSON *sidecar)
{
    return cJSON_HasObjectItem(sidecar, "counts") && cJSON_HasObjectItem(sidecar, "output");
}

/* --- Parts that all sidecars have. */

void gls_sidecar_add_software(cJSON *root, int argc, char *const *argv)
{
    cJSON *software = cJSON_AddObjectToObject(root, "software");
    cJSON_AddStringToObject(software, "name", "glslines");
    cJSON_AddStringToObject(software, "version", gls_version());
    cJSON *libraries = cJSON_AddObjectToObject(software, "libraries");
    cJSON_AddStringToObject(libraries, "zlib", zlibVersion());
    if (gls_blas_config()) cJSON_AddStringToObject(libraries, "openblas", gls_blas_config());
    cJSON_AddStringToObject(libraries, "cjson", cJSON_Version());
    cJSON *line = cJSON_AddArrayToObject(root, "command_line");
    for (int i = 0; i < argc; i++) cJSON_AddItemToArray(line, cJSON_CreateString(argv[i]));
}

void gls_sidecar_add_warnings(cJSON *root, const gls_warnings *warnings)
{
    cJSON *array = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < warnings->n; i++) cJSON_AddItemToArray(array, cJSON_CreateString(warnings->line[i]));
}

/* Adds an input: path as given and absolute, the XXH3 hash of its contents, and the size of a file. bytes: that size;
 * NULL: the input is a folder. */
static cJSON *add_file(cJSON *inputs, const char *role, const char *path, const uint64_t *bytes, uint64_t hash)
{
    char text[17], *absolute = realpath(path, NULL);
    cJSON *object = cJSON_AddObjectToObject(inputs, role);
    cJSON_AddStringToObject(object, "path", path);
    if (absolute) cJSON_AddStringToObject(object, "absolute_path", absolute);
    free(absolute);
    if (bytes) gls_json_uint(object, "bytes", *bytes);
    cJSON_AddStringToObject(object, "xxh3_64", gls_hash_text(hash, text));
    return object;
}

void gls_sidecar_add_file(cJSON *inputs, const gls_input_file *file)
{
    struct stat info;
    char *companion = NULL;
    if (!file->path) return;
    cJSON *object = add_file(inputs, file->role, file->path, file->folder ? NULL : &file->bytes, file->hash);
    if (!file->companion_hash || gls_input_companion(file->path, &companion) || !companion) return;
    if (stat(companion, &info) == 0)
        add_file(object, "companion", companion, &(uint64_t){(uint64_t)info.st_size}, file->companion_hash);
    free(companion);
}

void gls_sidecar_add_grid(cJSON *root, const gls_grid *grid)
{
    char axes[4];
    cJSON *object = cJSON_AddObjectToObject(root, "grid");
    cJSON *dim = cJSON_AddArrayToObject(object, "dimensions");
    cJSON *size = cJSON_AddArrayToObject(object, "voxel_size_mm");
    cJSON *affine = cJSON_AddArrayToObject(object, "voxel_to_rasmm");
    for (int a = 0; a < 3; a++) {
        cJSON *row = cJSON_CreateArray();
        cJSON_AddItemToArray(dim, cJSON_CreateNumber(grid->dim[a]));
        gls_json_append_double(size, grid->voxel_size[a]);
        for (int c = 0; c < 4; c++) gls_json_append_double(row, grid->affine[a][c]);
        cJSON_AddItemToArray(affine, row);
    }
    gls_grid_axis_codes(grid, axes);
    cJSON_AddStringToObject(object, "axes", axes);
    gls_json_double(object, "determinant", gls_grid_determinant(grid));
}

/* --- Records of files that a run wrote, in its sidecar: size, checksum, time. */

#define WHOLE "xxh3_64"
#define PARTS "xxh3_64_of_parts"
#define MAX_WHOLE ((uint64_t)64 << 20) /* largest file whose checksum is of the whole contents, bytes */

/* Stores size and XXH3 hash of a file in the entry; of a large file only parts are hashed. */
static gls_status note(cJSON *entry, const char *path, int fd, uint64_t bytes)
{
    uint64_t hash = 0;
    char text[17];
    const bool whole = bytes <= MAX_WHOLE;
    gls_status status = whole ? gls_hash_open_file(path, fd, &hash) : gls_hash_parts(path, fd, bytes, &hash);
    if (status) return status;
    gls_json_uint(entry, "bytes", bytes);
    cJSON_AddStringToObject(entry, whole ? WHOLE : PARTS, gls_hash_text(hash, text));
    return GLS_OK;
}

gls_status gls_written_note_output(cJSON *entry, const gls_output *output)
{
    return note(entry, output->path, output->fd, gls_output_size(output));
}

gls_status gls_written_note(cJSON *entry, const char *path)
{
    uint64_t bytes;
    int fd;
    gls_status status = gls_regular_open(path, &fd, &bytes);
    if (status) return status;
    status = note(entry, path, fd, bytes);
    close(fd);
    return status;
}

/* Writes the time of the last modification as seconds since 1970, to the nanosecond. */
static void time_text(const struct stat *info, char text[48])
{
    snprintf(text, 48, "%lld.%09ld", (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
}

gls_status gls_written_note_time(cJSON *entry, const char *path)
{
    struct stat info;
    char text[48];
    if (stat(path, &info) != 0) return gls_fail(GLS_ERR_OUTPUT, "%s: is gone", path);
    time_text(&info, text);
    cJSON_AddStringToObject(entry, "modified", text);
    return GLS_OK;
}

bool gls_written_is(const cJSON *entry, const char *path)
{
    char text[48];
    struct stat info;
    uint64_t noted;
    const char *modified = gls_json_text_at(entry, "modified");
    if (!gls_json_get_uint(gls_json_at(entry, "bytes"), &noted)) return false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size != noted) return false;
    time_text(&info, text);
    return (modified && strcmp(modified, text) == 0) || gls_written_is_unchanged(entry, path);
}

bool gls_written_is_unchanged(const cJSON *entry, const char *path)
{
    char text[48];
    struct stat info;
    uint64_t noted, bytes, hash = 0;
    int fd;
    const char *whole = gls_json_text_at(entry, WHOLE), *parts = gls_json_text_at(entry, PARTS);
    if ((!whole && !parts) || !gls_json_get_uint(gls_json_at(entry, "bytes"), &noted)) return false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size != noted) return false;
    if (gls_regular_open(path, &fd, &bytes)) return false;
    const gls_status status = whole ? gls_hash_open_file(path, fd, &hash) : gls_hash_parts(path, fd, bytes, &hash);
    close(fd);
    return !status && bytes == noted && strcmp(whole ? whole : parts, gls_hash_text(hash, text)) == 0;
}
