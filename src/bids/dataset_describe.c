/* Files of a data set as a whole: its description and what validators and pybids read; its log, logs/units.tsv; files
 * that each run rewrites; locks between processes. Also the sources, as BIDS URIs, in sidecars. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bids/dataset.h"
#include "bids/dataset_describe.h"
#include "run/series_run.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* --- The log. */

/* Largest log, bytes. */
#define MAX_LOG ((size_t)256 << 20)

/* Lines of the existing log, and lines of this run. */
typedef struct log_lines {
    struct log_line {
        const char *text; /* points into the text of all lines */
        bool fresh;       /* true: the line is of this run */
    } * line;
    /* number of lines, and of lines for which memory is allocated */
    size_t n, capacity;
} log_lines;

/* Splits a text into lines, without the header. The lines point into the text. */
static gls_status add_lines(log_lines *l, char *text, bool fresh)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strcmp(line, GLS_DATASET_LOG_HEADER) == 0) continue;
        if (!gls_list_reserve(&l->line, l->n, &l->capacity, 64, sizeof *l->line)) return gls_no_memory();
        l->line[l->n++] = (struct log_line){line, fresh};
    }
    return GLS_OK;
}

/* Compares two lines by their first cell, the name of the series. Returns a value below, equal to or above 0. */
static int compare_names(const char *a, const char *b)
{
    const size_t n = strcspn(a, "\t"), m = strcspn(b, "\t");
    const int order = memcmp(a, b, n < m ? n : m);
    return order != 0 ? order : (n > m) - (n < m);
}

/* Comparison for qsort(): lines by name, the line of this run behind the old line of the same series. */
static int by_name(const void *a, const void *b)
{
    const struct log_line *x = a, *y = b;
    const int order = compare_names(x->text, y->text);
    return order ? order : x->fresh - y->fresh;
}

/* Whether the line is of a series that another run works on. That run logs the outcome. */
static bool is_busy(const struct log_line *line)
{
    return strncmp(line->text + strcspn(line->text, "\t"), "\tbusy\t", 6) == 0;
}

/* Whether `before` is the old line and `fresh` the new line of one series. */
static bool is_pair(const struct log_line *before, const struct log_line *fresh)
{
    return !before->fresh && fresh->fresh && compare_names(before->text, fresh->text) == 0;
}

/* Joins old and new lines, sorted by name. A new line replaces the old line of its series, except a new line "busy". */
static gls_status merge(char *new_text, char *old_text, gls_text *out)
{
    log_lines l = {0};
    gls_status status = old_text ? add_lines(&l, old_text, false) : GLS_OK;
    if (!status) status = add_lines(&l, new_text, true);
    if (l.n > 0) qsort(l.line, l.n, sizeof *l.line, by_name);
    gls_text_puts(out, GLS_DATASET_LOG_HEADER "\n");
    for (size_t i = 0; i < l.n && !status; i++) {
        const struct log_line *line = &l.line[i];
        const bool replaced = i + 1 < l.n && is_pair(line, line + 1) && !is_busy(line + 1),
                   dropped = i > 0 && is_pair(line - 1, line) && is_busy(line);
        if (!replaced && !dropped) gls_text_printf(out, "%s\n", line->text);
    }
    free(l.line);
    return status;
}

/* Merges lines into the log. The caller holds the lock. */
static gls_status add_locked(const char *path, const char *lines)
{
    struct stat info;
    gls_text text = {0};
    size_t bytes;
    char *old = NULL, *fresh = gls_text_copy(lines);
    gls_status status = fresh ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status && stat(path, &info) == 0) status = gls_file_read(path, MAX_LOG, &old, &bytes);
    if (!status) status = merge(fresh, old, &text);
    if (!status && text.failed) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_dataset_rewrite(path, GLS_DATASET_LOG_HEADER, text.data, text.length, NULL);
    gls_text_finish(&text);
    free(old);
    free(fresh);
    return status;
}

gls_status gls_dataset_log_add(const gls_dataset_options *o, const char *lines)
{
    char path[GLS_DATASET_MAX_PATH], lock[GLS_DATASET_MAX_PATH];
    int fd = -1;
    snprintf(path, sizeof path, "%s/logs/units.tsv", o->output);
    snprintf(lock, sizeof lock, "%s/logs/units.lock", o->output);
    gls_status status = gls_dataset_lock(lock, true, &fd);
    if (status) return status;
    status = add_locked(path, lines);
    gls_dataset_unlock(lock, fd);
    return status;
}

/* --- Locks between processes that write the same output of a data set. */

/* Whether the locked file still has its name. The previous holder of the lock may have removed the file. */
static bool has_name(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

gls_status gls_dataset_lock(const char *path, bool wait, int *fd)
{
    for (;;) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (*fd < 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be opened: %s", path, strerror(errno));
        int result;
        do result = fcntl(*fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole);
        while (result != 0 && errno == EINTR);
        if (result != 0 && (errno == EAGAIN || errno == EACCES)) {
            close(*fd);
            *fd = -1;
            return GLS_OK;
        }
        if (result != 0)
            gls_log(GLS_LOG_WARNING,
                    "%s: cannot be locked (%s): make sure that no other run works on this data set now", path,
                    strerror(errno));
        if (result != 0 || has_name(*fd, path)) return GLS_OK;
        close(*fd);
    }
}

void gls_dataset_unlock(const char *path, int fd)
{
    struct stat info;
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && info.st_size == 0) unlink(path); /* Unlink while the lock is held. */
    close(fd);
}

/* --- Files of a data set that each run rewrites, such as its tables. Only files that glslines wrote are replaced. So
 * OUT_DIR may be a data set of another program, which keeps its files; the target of a link is kept, too. */

#define BEGINNING ((size_t)64 << 10)

bool gls_dataset_owns(const char *path, const char *mark)
{
    uint64_t bytes = 0;
    int fd;
    if (access(path, F_OK) != 0) return true;
    char *first = malloc(BEGINNING);
    bool ours = false;
    if (first && !gls_regular_open(path, &fd, &bytes)) {
        const int64_t n = gls_fd_read(fd, first, BEGINNING);
        ours = n > 0 && memmem(first, (size_t)n, mark, strlen(mark));
        close(fd);
    }
    free(first);
    return ours;
}

bool gls_dataset_may_write(const char *path, const char *mark)
{
    const bool owned = gls_dataset_owns(path, mark);
    if (!owned) gls_log(GLS_LOG_WARNING, "%s: was written by another program, and is left as it is", path);
    return owned;
}

/* GLS_ERR_OUTPUT names the file if gls_dataset_owns() is false. */
static gls_status may_rewrite(const char *path, const char *mark)
{
    if (gls_dataset_owns(path, mark)) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT,
                    "%s: was not written by glslines bids, and is not replaced: move it to another place", path);
}

gls_status gls_dataset_rewrite(const char *path, const char *mark, const char *text, size_t bytes,
                               gls_output_group *group)
{
    gls_status status = may_rewrite(path, mark);
    return status ? status : gls_file_write(path, true, group, text, bytes);
}

/* --- The description. */

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

/* The part of a path that follows a folder, by whatever name the path calls the folder; NULL: it lies elsewhere. */
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
    static const char ignored[] =
        "*_tractogram.*\n*_tractography.*\n*_dwimap.*\n*_relmat.*\n*_nodes.tsv\n*_tracts.*\n*_xfm.*\n*_dwiref.*\n*_T1w."
        "*\n*.html\nlogs/"
        "\nfigures\n**/figures\ngroup.tsv\ntract_profiles.*\nconnectomes_*\nbundles.tsv\nbundle_profiles*\ncode/\n";
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
    gls_status status = gls_folders_make(logs, first[0]);
    if (!status) status = gls_folders_make(folder, first[1]);
    cJSON *root = description(o);
    char *text = gls_json_print(root);
    if (!status && !text) status = gls_no_memory();
    if (!status) status = write_text(o, "dataset_description.json", text);
    cJSON_free(text);
    cJSON_Delete(root);
    if (status) {
        gls_folders_remove(folder, first[1]);
        gls_folders_remove(logs, first[0]);
    }
    if (!status) status = add_version(o);
    if (!status) status = write_text(o, ".bidsignore", ignored);
    if (!status) status = write_text(o, "README.md", readme);
    return status ? status : write_text(o, "code/pybids.json", pybids);
}
