/* The cache of fits (--cache-dir): an image and a JSON note, which are used again if key and contents agree; and FA and
 * axes of tensors, which are read from the cache or fitted. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glslines/tensor.h>
#include <glslines/workflow.h>
#include <glslines/peaks.h>

#include "dwi/fit_cache.h"
#include "dwi/fit_model_parts.h"
#include "dwi/series.h"
#include "image/image_write.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Largest size of the JSON note of a fit, bytes. A larger file is of another program, and is not read. */
#define MAX_KEY_BYTES 65536

/* Checks that this user may make the folder, without making it. */
static gls_status require_parent(const char *directory)
{
    size_t n = strlen(directory);
    while (n > 1 && directory[n - 1] == '/') n--;
    while (n > 0 && directory[n - 1] != '/') n--;
    char *parent = n > 0 ? strndup(directory, n) : strdup(".");
    if (!parent) return gls_no_memory();
    const bool good = access(parent, W_OK | X_OK) == 0;
    const int reason = errno;
    free(parent);
    return good ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "--cache-dir: %s cannot be made: %s", directory, strerror(reason));
}

/* Checks the folder of the cache before the fit, which takes minutes, so that an error comes early. A folder that
 * exists already is used as it is. */
gls_status gls_fit_cache_init(const char *directory, bool make)
{
    struct stat info;
    if (!make && access(directory, F_OK) != 0) return require_parent(directory);
    if (make && mkdir(directory, 0777) != 0 && errno != EEXIST)
        return gls_fail(GLS_ERR_OUTPUT, "--cache-dir: %s cannot be made: %s", directory, strerror(errno));
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return gls_fail(GLS_ERR_OUTPUT, "--cache-dir: %s cannot be used: %s", directory, strerror(ENOTDIR));
    if (access(directory, R_OK | W_OK | X_OK) != 0)
        return gls_fail(GLS_ERR_OUTPUT, "--cache-dir: %s cannot be used: %s", directory, strerror(errno));
    return GLS_OK;
}

void gls_fit_cache_key_number(cJSON *key, const char *name, double value)
{
    char text[40];
    /* decimal text from which the same double is read, so that equal values have equal keys */
    cJSON_AddStringToObject(key, name, gls_format_double(value, text, sizeof text));
}

void gls_fit_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes)
{
    char text[17];
    gls_hash_text(gls_hash(data, bytes), text);
    cJSON_AddStringToObject(key, name, text);
}

/* the key has everything that a fit depends on, except parameters, which the caller adds */
cJSON *gls_fit_cache_key(const char *image, const gls_image *dwi, const gls_gradients *g, const gls_image *mask)
{
    const gls_grid *grid = &dwi->grid;
    char grid_text[64];
    cJSON *key = cJSON_CreateObject();
    if (!key) return NULL;
    size_t voxels = gls_grid_voxels(grid);
    cJSON_AddStringToObject(key, "image", image);
    cJSON_AddStringToObject(key, "software", "glslines");
    cJSON_AddStringToObject(key, "version", gls_version());
    snprintf(grid_text, sizeof grid_text, "%d x %d x %d x %zu", grid->dim[0], grid->dim[1], grid->dim[2],
             dwi->n_volumes);
    cJSON_AddStringToObject(key, "dimensions", grid_text);
    gls_fit_cache_key_data(key, "affine", grid->affine, sizeof grid->affine);
    gls_fit_cache_key_data(key, "dwi", dwi->data, voxels * dwi->n_volumes * sizeof *dwi->data);
    gls_fit_cache_key_data(key, "b_values", g->bval, g->n * sizeof *g->bval);
    gls_fit_cache_key_data(key, "b_vectors", g->bvec, g->n * sizeof *g->bvec);
    gls_fit_cache_key_data(key, "b0", g->is_b0, g->n * sizeof *g->is_b0);
    gls_fit_cache_key_data(key, "mask", mask->data, voxels * sizeof *mask->data);
    return key;
}

/* the name of a file contains the hash of its key, so that fits of different inputs lie side by side */
char *gls_fit_cache_path(const char *directory, const char *name, const cJSON *key, const char *extension)
{
    char *text = gls_json_print_line(key), *path = NULL, hash[17];
    if (text)
        gls_asprintf(&path, "%s/glslines_%s_%s.%s", directory, name, gls_hash_text(gls_hash(text, strlen(text)), hash),
                     extension);
    cJSON_free(text);
    return path;
}

/* Paths of the two files of a fit. */
typedef struct kept_fit {
    /* folder of --cache-dir */
    const char *directory;
    /* owned; NULL if memory ran out */
    char *image, *json;
} kept_fit;

/* Names the files of a fit. Returns false if memory ran out. Call forget_files() afterwards in both cases. */
static bool name_files(kept_fit *fit, const char *directory, const char *name, const cJSON *key)
{
    *fit = (kept_fit){.directory = directory};
    if (!key) return false;
    fit->image = gls_fit_cache_path(directory, name, key, "nii");
    fit->json = gls_fit_cache_path(directory, name, key, "json");
    return fit->image && fit->json;
}

/* Frees the paths; the files stay. */
static void forget_files(kept_fit *fit)
{
    free(fit->image);
    free(fit->json);
}

/* Whether a file of any kind has this name; true also for a link to a file that does not exist. */
static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Returns why an existing file is not used; NULL: the file is used. In a folder in which all users may write, a file of
 * another user is not used. */
static const char *distrust(const kept_fit *fit, const char *path)
{
    struct stat info;
    const bool anybody = stat(fit->directory, &info) != 0 || (info.st_mode & S_IWOTH);
    if (!gls_kept_is_file(path, false)) return "is no regular file";
    return gls_kept_is_file(path, anybody) ? NULL : "is of another user, in a folder in which all may write";
}

/* Reads the JSON note of the fit with this key. If it cannot be used, returns NULL and sets *reason to the reason. */
static cJSON *read_note(const kept_fit *fit, const cJSON *key, const char **reason)
{
    *reason = distrust(fit, fit->json);
    cJSON *root = *reason ? NULL : gls_json_read(fit->json, MAX_KEY_BYTES);
    if (!*reason && !gls_json_same(key, gls_json_at(root, "key"))) *reason = "is damaged";
    if (!*reason) return root;
    cJSON_Delete(root);
    return NULL;
}

/* Hash of all values of an image. */
static uint64_t contents(const gls_image *image)
{
    return gls_hash(image->data, gls_grid_voxels(&image->grid) * image->n_volumes * sizeof *image->data);
}

/* Reads the image if its contents have the hash `noted`. Otherwise returns NULL and sets *reason to the reason. */
static gls_image *read_image(const kept_fit *fit, const cJSON *noted, const gls_grid *grid, size_t n_volumes,
                             const char **reason)
{
    gls_image *read = NULL;
    char hash[17] = "";
    *reason = distrust(fit, fit->image);
    if (*reason) return NULL;
    if (gls_image_read(fit->image, GLS_IMAGE_ANY, &read) != GLS_OK) gls_log(GLS_LOG_DETAIL, "%s", gls_last_error());
    if (read && read->n_volumes == n_volumes && memcmp(read->grid.dim, grid->dim, sizeof grid->dim) == 0)
        gls_hash_text(contents(read), hash);
    if (!read || !*hash || !cJSON_IsString(noted) || strcmp(noted->valuestring, hash) != 0) {
        gls_image_destroy(read);
        *reason = "is not as it was written";
        return NULL;
    }
    /* The file has the affine in single precision. Use the grid of the series instead. */
    read->grid = *grid;
    return read;
}

bool gls_fit_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid,
                        size_t n_volumes, gls_image **image)
{
    kept_fit fit;
    gls_image *read = NULL;
    if (name_files(&fit, directory, name, key)) {
        const char *reason = NULL, *path = fit.json;
        /* read the note first, because its hash decides whether the image is used */
        cJSON *root = is_there(fit.json) ? read_note(&fit, key, &reason) : NULL;
        if (root && is_there(fit.image)) {
            path = fit.image;
            read = read_image(&fit, gls_json_at(root, "contents"), grid, n_volumes, &reason);
        }
        if (read)
            gls_log(GLS_LOG_INFO, "cache: %s is reused: inputs and parameters are the same", fit.image);
        else if (reason)
            gls_log(GLS_LOG_WARNING,
                    "cache: %s %s, and is not used: the fit is made anew; delete the file to keep the new fit", path,
                    reason);
        else
            gls_log(GLS_LOG_DETAIL, "cache: %s is not there yet", fit.image);
        cJSON_Delete(root);
    }
    forget_files(&fit);
    if (read) *image = read;
    return read;
}

/* Writes the image, and the note unless it exists already with the hash of this image; never replaces a file. The note
 * gets its name first: if the process is killed before the image has its name, a later run adds the same image. */
static gls_status write_files(const kept_fit *fit, const cJSON *key, const gls_image *image)
{
    char hash[17];
    const char *reason = NULL;
    gls_output_group group = {0};
    gls_status status = GLS_OK;
    gls_hash_text(contents(image), hash);
    cJSON *root = is_there(fit->json) ? read_note(fit, key, &reason) : NULL;
    const char *noted = gls_json_text_at(root, "contents");
    if (!noted || strcmp(noted, hash) != 0) {
        cJSON *note = cJSON_CreateObject();
        cJSON_AddItemToObject(note, "key", cJSON_Duplicate(key, true));
        cJSON_AddStringToObject(note, "contents", hash);
        status = gls_json_write(note, fit->json, false, &group, "");
        cJSON_Delete(note);
    }
    if (!status) status = gls_image_write_grouped(fit->image, false, &group, image, GLS_IMAGE_FLOAT32);
    status = gls_output_group_end(&group, status);
    cJSON_Delete(root);
    return status;
}

void gls_fit_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image)
{
    kept_fit fit;
    if (name_files(&fit, directory, name, key) && !is_there(fit.image)) {
        if (write_files(&fit, key, image) == GLS_OK)
            gls_log(GLS_LOG_INFO, "cache: kept %s", fit.image);
        else if (is_there(fit.image))
            gls_log(GLS_LOG_DETAIL, "cache: %s was kept by another run meanwhile", fit.image);
        else
            gls_log(GLS_LOG_WARNING, "cache: %s; nothing is kept", gls_last_error());
    }
    forget_files(&fit);
}

/* --- The fit of tensors, whose results are kept. */

gls_status gls_series_model_fa(gls_series_model *m, const gls_image *mask, const char *cache,
                               const gls_monitor *monitor, gls_image **fa, gls_image **axes)
{
    /* both results have one key, but for their names */
    static const char *const names[] = {"fa", "axes"};
    static const size_t volumes[] = {1, 3};
    gls_image **const results[] = {fa, axes};
    const size_t n = axes ? 2 : 1;
    const gls_image *dwi = gls_series_tensor_dwi(m->series);
    const gls_gradients *gradients = gls_series_tensor_gradients(m->series);
    cJSON *key = cache ? gls_fit_cache_key(names[0], dwi, gradients, mask) : NULL;
    gls_status status = GLS_OK;
    if (key) gls_fit_cache_key_number(key, "min_signal", gls_tensor_options_default().min_signal);
    *fa = NULL;
    m->fa_kept = key;
    for (size_t i = 0; i < n && m->fa_kept; i++) {
        cJSON_ReplaceItemInObjectCaseSensitive(key, "image", cJSON_CreateString(names[i]));
        m->fa_kept = gls_fit_cache_read(cache, names[i], key, &dwi->grid, volumes[i], results[i]);
    }
    if (!m->fa_kept) {
        gls_image_destroy(*fa); /* not NULL if FA was read, and only the axes were missing */
        *fa = NULL;
        status = axes ? gls_peaks_of_tensors(dwi, gradients, mask, fa, axes)
                      : gls_tensor_fit(dwi, gradients, mask, NULL, fa, NULL, NULL);
    }
    m->fits_tensor = true;
    if (key && !m->fa_kept && !status) {
        gls_monitor_begin(monitor, GLS_PHASE_WRITE);
        for (size_t i = 0; i < n; i++) {
            cJSON_ReplaceItemInObjectCaseSensitive(key, "image", cJSON_CreateString(names[i]));
            gls_fit_cache_write(cache, names[i], key, *results[i]);
        }
        if (gls_monitor_cancelled(monitor, GLS_PHASE_WRITE)) status = gls_fail(GLS_ERR_CANCELLED, "interrupted");
        gls_monitor_end(monitor, GLS_PHASE_WRITE);
    }
    cJSON_Delete(key);
    return status;
}
