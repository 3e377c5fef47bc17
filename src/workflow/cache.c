#include "workflow/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/nifti.h"
#include "util/json.h"
#include "util/output.h"
#include "util/format.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/json.h"

#define MAX_KEY_BYTES 65536

gls_status gls_fit_cache_init(const char *directory)
{
    struct stat info;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
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
    cJSON_AddStringToObject(key, name, gls_format_double(value, text, sizeof text));
}

void gls_fit_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes)
{
    char text[17];
    gls_hash_text(gls_hash(data, bytes), text);
    cJSON_AddStringToObject(key, name, text);
}

cJSON *gls_fit_cache_key(const char *image, const gls_series *series, const gls_image *mask)
{
    const gls_grid *grid = &series->dwi->grid;
    const gls_gradients *g = series->gradients;
    char grid_text[64];
    cJSON *key = cJSON_CreateObject();
    if (!key) return NULL;
    size_t voxels = gls_grid_voxels(grid);
    cJSON_AddStringToObject(key, "image", image);
    cJSON_AddStringToObject(key, "software", "glslines");
    cJSON_AddStringToObject(key, "version", gls_version());
    snprintf(grid_text, sizeof grid_text, "%d x %d x %d x %zu", grid->dim[0], grid->dim[1], grid->dim[2],
             series->dwi->n_volumes);
    cJSON_AddStringToObject(key, "dimensions", grid_text);
    gls_fit_cache_key_data(key, "affine", grid->affine, sizeof grid->affine);
    gls_fit_cache_key_data(key, "dwi", series->dwi->data, voxels * series->dwi->n_volumes * sizeof *series->dwi->data);
    gls_fit_cache_key_data(key, "b_values", g->bval, g->n * sizeof *g->bval);
    gls_fit_cache_key_data(key, "b_vectors", g->bvec, g->n * sizeof *g->bvec);
    gls_fit_cache_key_data(key, "b0", g->is_b0, g->n * sizeof *g->is_b0);
    gls_fit_cache_key_data(key, "mask", mask->data, voxels * sizeof *mask->data);
    return key;
}

/* The first entry in which two keys differ, or NULL. */
static const char *difference(const cJSON *key, const cJSON *kept)
{
    const cJSON *entry, *other;
    cJSON_ArrayForEach(entry, key)
    {
        other = cJSON_GetObjectItemCaseSensitive(kept, entry->string);
        if (!cJSON_IsString(other) || strcmp(other->valuestring, entry->valuestring) != 0) return entry->string;
    }
    cJSON_ArrayForEach(entry, kept) if (!cJSON_GetObjectItemCaseSensitive(key, entry->string)) return entry->string;
    return NULL;
}

static bool paths(const char *directory, const char *name, char **image, char **json)
{
    *json = NULL;
    if (asprintf(image, "%s/glslines_%s.nii", directory, name) < 0) *image = NULL;
    if (*image && asprintf(json, "%s/glslines_%s.json", directory, name) < 0) *json = NULL;
    if (*json) return true;
    free(*image);
    return false;
}

static uint64_t contents(const gls_image *image)
{
    return gls_hash(image->data, gls_grid_voxels(&image->grid) * image->n_volumes * sizeof *image->data);
}

/* The image under path if its contents have the hash that was noted. */
static bool read_image(const char *path, const cJSON *noted, const gls_grid *grid, size_t n_volumes, gls_image **image)
{
    gls_image *read = NULL;
    char hash[17] = "";
    bool ok = gls_image_read(path, GLS_IMAGE_ANY, &read) == GLS_OK;
    if (!ok) gls_log(GLS_LOG_WARNING, "cache: %s; fitted anew", gls_last_error());
    if (ok && read->n_volumes == n_volumes && memcmp(read->grid.dim, grid->dim, sizeof grid->dim) == 0)
        gls_hash_text(contents(read), hash);
    if (ok && (!cJSON_IsString(noted) || strcmp(noted->valuestring, hash) != 0)) {
        gls_log(GLS_LOG_WARNING, "cache: %s: not as it was written; fitted anew", path);
        ok = false;
    }
    if (!ok) {
        gls_image_destroy(read);
        return false;
    }
    /* the file has the affine in single precision; it is the series' own */
    read->grid = *grid;
    *image = read;
    return true;
}

bool gls_fit_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid,
                        size_t n_volumes, gls_image **image)
{
    char *path, *json_path;
    bool found = false;
    if (!key || !paths(directory, name, &path, &json_path)) return false;
    cJSON *root = gls_json_read(json_path, MAX_KEY_BYTES);
    const char *differs = root ? difference(key, cJSON_GetObjectItemCaseSensitive(root, "key")) : NULL;
    if (access(json_path, F_OK) != 0 || access(path, F_OK) != 0)
        gls_log(GLS_LOG_DETAIL, "cache: %s is not there yet", path);
    else if (!root)
        gls_log(GLS_LOG_WARNING, "cache: %s: damaged; fitted anew", json_path);
    else if (differs)
        gls_log(GLS_LOG_INFO, "cache: %s was made with another %s; fitted anew", path, differs);
    else
        found = read_image(path, cJSON_GetObjectItemCaseSensitive(root, "contents"), grid, n_volumes, image);
    if (found) gls_log(GLS_LOG_INFO, "cache: %s is reused: inputs and parameters are the same", path);
    cJSON_Delete(root);
    free(path);
    free(json_path);
    return found;
}

void gls_fit_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image)
{
    char *path, *json_path, hash[17];
    if (!key || !paths(directory, name, &path, &json_path)) return;
    cJSON *root = cJSON_CreateObject(), *copy = cJSON_Duplicate(key, true);
    gls_hash_text(contents(image), hash);
    cJSON_AddItemToObject(root, "key", copy);
    cJSON_AddStringToObject(root, "contents", hash);
    char *text = copy ? gls_json_print(root) : NULL;
    gls_output_group group = {0};
    gls_status status = text ? gls_image_write_grouped(path, true, &group, image, GLS_IMAGE_FLOAT32)
                             : gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) status = gls_file_write(json_path, true, &group, text, strlen(text));
    if (!status) status = gls_output_group_commit(&group);
    gls_output_group_discard(&group);
    if (status)
        gls_log(GLS_LOG_WARNING, "cache: %s; nothing is kept", gls_last_error());
    else
        gls_log(GLS_LOG_INFO, "cache: kept %s", path);
    free(text);
    cJSON_Delete(root);
    free(path);
    free(json_path);
}
