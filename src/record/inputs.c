/* Input files of a run: which files a text names, hashes of their contents, and a check that no output is an input. */
#include "record/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/mif_header.h"
#include "image/nifti_read.h"
#include "tractogram/tck_header.h"
#include "transform/transform.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/text.h"

/* Largest number of levels of folders that are read inside an input folder. A TRX folder has two. */
#define MAX_DEPTH 8

/* --- One file. */

gls_status gls_input_companion(const char *path, char **companion)
{
    gls_mif_header header;
    *companion = NULL;
    if (gls_mif_is_name(path)) {
        /* a header that cannot be read is no error here: the reader of the image reports it later */
        if (gls_mif_read_header(path, &header) != GLS_OK) return GLS_OK;
        *companion = header.file;
        header.file = NULL;
        gls_mif_header_finish(&header);
        return GLS_OK;
    }
    char *other = gls_nifti_pair(path);
    if (!other) return gls_tck_data_file(path, companion);
    if (access(other, F_OK) == 0)
        *companion = other;
    else
        free(other);
    return GLS_OK;
}

/* Checks that the file can be read and is a regular file, because it is read twice. *bytes: its size. */
static gls_status check_file(const char *path, const char *hint, uint64_t *bytes)
{
    struct stat info;
    if (stat(path, &info) != 0 || access(path, R_OK) != 0) {
        const int reason = errno;
        char *image = gls_file_named(path);
        if (image) hint = " (only regions, such as those of --include, are IMAGE:LABELS: make a mask of the labels)";
        free(image);
        return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s%s", path, strerror(reason),
                        hint && reason == ENOENT ? hint : "");
    }
    if (S_ISDIR(info.st_mode)) return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", path, strerror(EISDIR));
    if (!S_ISREG(info.st_mode))
        return gls_fail(GLS_ERR_INPUT, "%s: is not a regular file, but is read twice: write it to a file first", path);
    *bytes = (uint64_t)info.st_size;
    return GLS_OK;
}

/* Requires a folder that can be listed. */
static gls_status check_folder(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        return gls_fail(GLS_ERR_INPUT, "%s: is a file, not a folder: give the folder in which it lies", path);
    if (access(path, R_OK | X_OK) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s%s", path, strerror(errno),
                        errno == ENOENT ? ": give the name of a folder" : "");
    return GLS_OK;
}

gls_status gls_input_file_check(gls_input_file *file)
{
    char *companion = NULL;
    uint64_t bytes;
    if (!file->path) return GLS_OK;
    if (strcmp(file->path, "-") == 0)
        return gls_fail(GLS_ERR_INPUT, "-: inputs are not read from a pipe; write a file first, such as .mif");
    if (file->folder) return check_folder(file->path);
    gls_status status = check_file(file->path, file->hint, &file->bytes);
    if (!status) status = gls_input_companion(file->path, &companion);
    if (!status && companion) status = check_file(companion, NULL, &bytes);
    free(companion);
    return status;
}

gls_status gls_input_file_hash(gls_input_file *file)
{
    /* a folder has a single hash of everything in it, and no companion */
    char *companion = NULL;
    if (!file->path) return GLS_OK;
    if (file->folder) return gls_input_hash(file->path, &file->hash);
    gls_status status = gls_hash_file(file->path, &file->hash);
    if (!status) status = gls_input_companion(file->path, &companion);
    if (!status && companion) status = gls_hash_file(companion, &file->companion_hash);
    free(companion);
    return status;
}

uint64_t gls_input_file_identity(const gls_input_file *file)
{
    const uint64_t both[] = {file->hash, file->companion_hash};
    return file->companion_hash ? gls_hash(both, sizeof both) : file->hash;
}

/* --- Folders. */

/* Comparison for scandir(): names by bytes, so that the hash does not depend on the file system. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Filter for scandir(): accepts every name but "." and "..", also hidden files. */
static int is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static gls_status hash_folder(const char *path, int depth, uint64_t *hash);

/* Whether an entry of a folder has contents that count: a file or folder that can be read. Links that lead nowhere or
 * to folders, pipes, sockets and files without permission count by their names alone; no run reads them. */
static bool has_contents(const char *path)
{
    struct stat info, link;
    if (lstat(path, &link) != 0 || stat(path, &info) != 0) return false;
    if (S_ISDIR(info.st_mode)) return !S_ISLNK(link.st_mode) && access(path, R_OK | X_OK) == 0;
    return S_ISREG(info.st_mode) && access(path, R_OK) == 0;
}

/* Sets *hash to a hash of the contents of a file and its companion, or of all files of a folder. depth: levels of
 * folders from the input folder down to `path`; 0: `path` is the input itself. */
static gls_status hash_any(const char *path, int depth, uint64_t *hash)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return hash_folder(path, depth, hash);
    gls_input_file file = {.path = path};
    gls_status status = gls_input_file_hash(&file);
    *hash = gls_input_file_identity(&file);
    return status;
}

/* Hashes the names and the contents of everything in a folder. */
static gls_status hash_folder(const char *path, int depth, uint64_t *hash)
{
    struct dirent **entry = NULL;
    if (depth > MAX_DEPTH)
        return gls_fail(GLS_ERR_INPUT, "%s: lies too deep: at most %d levels of folders below an input are read", path,
                        MAX_DEPTH);
    const int n = scandir(path, &entry, is_entry, by_name);
    if (n < 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    gls_status status = GLS_OK;
    /* hash each name and each content together with the hash of all files before */
    *hash = (uint64_t)n;
    for (int i = 0; i < n; i++) {
        char *below = NULL;
        uint64_t part[3] = {*hash, gls_hash(entry[i]->d_name, strlen(entry[i]->d_name)), 0};
        if (!status && gls_asprintf(&below, "%s/%s", path, entry[i]->d_name) < 0) status = gls_no_memory();
        if (!status && has_contents(below)) status = hash_any(below, depth + 1, &part[2]);
        *hash = gls_hash(part, sizeof part);
        free(below);
        free(entry[i]);
    }
    free(entry);
    return status;
}

gls_status gls_input_hash(const char *path, uint64_t *hash)
{
    return hash_any(path, 0, hash);
}

/* --- All inputs of a run. */

/* Adds the file `path`, which the user named as `text`. Takes ownership of path. */
static gls_status add_entry(gls_inputs *inputs, char *path, const char *text)
{
    const bool room = gls_list_reserve(&inputs->entry, inputs->n, &inputs->capacity, 32, sizeof *inputs->entry);
    char *named = path && room ? strdup(text) : NULL;
    if (!named) {
        free(path);
        return gls_no_memory();
    }
    inputs->entry[inputs->n++] = (struct gls_input_entry){path, named};
    return GLS_OK;
}

gls_status gls_inputs_add(gls_inputs *inputs, const char *text)
{
    char *companion = NULL;
    if (!text) return GLS_OK;
    char *file = gls_file_named(text);
    gls_status status = file ? gls_input_companion(file, &companion) : GLS_OK;
    if (status) {
        free(file);
        return status;
    }
    /* a text that names no file is kept as it is, since an output of this name is refused, too */
    status = add_entry(inputs, file ? file : strdup(text), text);
    if (!status && companion) return add_entry(inputs, companion, text);
    free(companion);
    return status;
}

gls_status gls_inputs_add_all(gls_inputs *inputs, const char *const *text, size_t n)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) status = gls_inputs_add(inputs, text[i]);
    return status;
}

gls_status gls_inputs_add_chain(gls_inputs *inputs, const gls_strings *chain)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < chain->n && !status; i++) {
        char *paths[3];
        const size_t n = gls_transform_files(chain->value[i], paths);
        status = gls_inputs_add_all(inputs, (const char *const *)paths, n);
        for (size_t k = 0; k < n; k++) free(paths[k]);
    }
    return status;
}

/* Whether a file lies in a folder or below it. */
static bool is_within(const char *path, const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) return false;
    /* the output itself need not exist: compare the folder in which it will lie */
    const int length = (int)(gls_file_name(path) - path);
    char *directory = length > 0 ? strndup(path, (size_t)length) : strdup("."),
         *at = directory ? realpath(directory, NULL) : NULL, *root = realpath(folder, NULL);
    const size_t n = root ? strlen(root) : 0;
    const bool within = at && root && strncmp(at, root, n) == 0 && (at[n] == '/' || !at[n]);
    free(directory);
    free(at);
    free(root);
    return within;
}

gls_status gls_inputs_check(const gls_inputs *inputs, const char *output)
{
    for (size_t i = 0; inputs && i < inputs->n; i++) {
        const struct gls_input_entry *e = &inputs->entry[i];
        /* compare the output with the file, and with the text that the user gave, since a file may have this name */
        if (gls_same_file(output, e->path) || gls_same_file(output, e->named))
            return gls_fail(GLS_ERR_OUTPUT, "%s: is an input (%s): name another output", output, e->named);
        if (is_within(output, e->path))
            return gls_fail(GLS_ERR_OUTPUT, "%s: lies in the folder %s, which is an input", output, e->path);
    }
    return GLS_OK;
}

void gls_inputs_finish(gls_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        free(inputs->entry[i].path);
        free(inputs->entry[i].named);
    }
    free(inputs->entry);
    *inputs = (gls_inputs){0};
}
