#include "cmd/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/message.h"
#include "cmd/sidecar.h"
#include "cmd/text.h"

#define MAX_KEY_BYTES 65536

static uint64_t rotate(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

/* One to one in each argument while the other stays. */
static uint64_t stir(uint64_t lane, uint64_t word)
{
    return rotate(lane ^ word * UINT64_C(0x9E3779B97F4A7C15), 29) * UINT64_C(0xBF58476D1CE4E5B9);
}

uint64_t cmd_cache_hash(const void *data, size_t bytes)
{
    /* four independent lanes keep pace with memory */
    const unsigned char *at = data;
    uint64_t lane[4] = {1, 2, 3, 4}, word[4], hash = bytes;
    size_t left = bytes;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < 4; i++) lane[i] = stir(lane[i], word[i]);
    }
    memset(word, 0, sizeof word);
    if (left) memcpy(word, at, left);
    for (int i = 0; i < 4; i++) hash = stir(hash, stir(lane[i], word[i]));
    return hash ^ hash >> 31;
}

int cmd_cache_init(const char *directory)
{
    struct stat info;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return cmd_error(CMD_EXIT_OUTPUT, "--cache-dir: %s cannot be made: %s", directory, strerror(errno));
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return cmd_error(CMD_EXIT_OUTPUT, "--cache-dir: %s cannot be used: %s", directory, strerror(ENOTDIR));
    if (access(directory, R_OK | W_OK | X_OK) != 0)
        return cmd_error(CMD_EXIT_OUTPUT, "--cache-dir: %s cannot be used: %s", directory, strerror(errno));
    return CMD_EXIT_OK;
}

void cmd_cache_key_number(cJSON *key, const char *name, double value)
{
    char text[40];
    cJSON_AddStringToObject(key, name, cmd_text_double(value, text, sizeof text));
}

void cmd_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes)
{
    char text[40];
    snprintf(text, sizeof text, "%016" PRIx64, cmd_cache_hash(data, bytes));
    cJSON_AddStringToObject(key, name, text);
}

cJSON *cmd_cache_key(const char *image, const cmd_series *series, const gls_image *mask)
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
    cmd_cache_key_data(key, "affine", grid->affine, sizeof grid->affine);
    cmd_cache_key_data(key, "dwi", series->dwi->data, voxels * series->dwi->n_volumes * sizeof *series->dwi->data);
    cmd_cache_key_data(key, "b_values", g->bval, g->n * sizeof *g->bval);
    cmd_cache_key_data(key, "b_vectors", g->bvec, g->n * sizeof *g->bvec);
    cmd_cache_key_data(key, "b0", g->is_b0, g->n * sizeof *g->is_b0);
    cmd_cache_key_data(key, "mask", mask->data, voxels * sizeof *mask->data);
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

/* NULL where there is none, or none that is a key. */
static cJSON *read_key(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(MAX_KEY_BYTES) : NULL;
    size_t n = text ? fread(text, 1, MAX_KEY_BYTES, file) : 0;
    cJSON *root = n > 0 && n < MAX_KEY_BYTES ? cJSON_ParseWithLength(text, n) : NULL;
    if (file) fclose(file);
    free(text);
    return root;
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
    return cmd_cache_hash(image->data, gls_grid_voxels(&image->grid) * image->n_volumes * sizeof *image->data);
}

/* The image under path if its contents have the hash that was noted. */
static bool read_image(const char *path, const cJSON *noted, const gls_grid *grid, size_t n_volumes, gls_image **image)
{
    gls_image *read = NULL;
    char hash[40] = "";
    bool ok = gls_image_read(path, GLS_IMAGE_ANY, &read) == GLS_OK;
    if (!ok) cmd_warn("cache: %s; fitted anew", gls_last_error());
    if (ok && read->n_volumes == n_volumes && memcmp(read->grid.dim, grid->dim, sizeof grid->dim) == 0)
        snprintf(hash, sizeof hash, "%016" PRIx64, contents(read));
    if (ok && (!cJSON_IsString(noted) || strcmp(noted->valuestring, hash) != 0)) {
        cmd_warn("cache: %s: not as it was written; fitted anew", path);
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

bool cmd_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid, size_t n_volumes,
                    gls_image **image)
{
    char *path, *json_path;
    bool found = false;
    if (!key || !paths(directory, name, &path, &json_path)) return false;
    cJSON *root = read_key(json_path);
    const char *differs = root ? difference(key, cJSON_GetObjectItemCaseSensitive(root, "key")) : NULL;
    if (access(json_path, F_OK) != 0 || access(path, F_OK) != 0)
        cmd_detail("cache: %s is not there yet", path);
    else if (!root)
        cmd_warn("cache: %s: damaged; fitted anew", json_path);
    else if (differs)
        cmd_info("cache: %s was made with another %s; fitted anew", path, differs);
    else
        found = read_image(path, cJSON_GetObjectItemCaseSensitive(root, "contents"), grid, n_volumes, image);
    if (found) cmd_info("cache: %s is reused: inputs and parameters are the same", path);
    cJSON_Delete(root);
    free(path);
    free(json_path);
    return found;
}

void cmd_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image)
{
    char *path, *json_path, hash[40], error[1024] = "out of memory";
    if (!key || !paths(directory, name, &path, &json_path)) return;
    cJSON *root = cJSON_CreateObject(), *copy = cJSON_Duplicate(key, true);
    snprintf(hash, sizeof hash, "%016" PRIx64, contents(image));
    cJSON_AddItemToObject(root, "key", copy);
    cJSON_AddStringToObject(root, "contents", hash);
    char *text = copy ? cJSON_Print(root) : NULL;
    gls_status status = text ? gls_image_write(path, image, GLS_IMAGE_FLOAT32) : GLS_ERR_MEMORY;
    if (status && text) snprintf(error, sizeof error, "%s", gls_last_error());
    if (!status) status = cmd_sidecar_write(json_path, text, error, sizeof error);
    if (status)
        cmd_warn("cache: %s; nothing is kept", error);
    else
        cmd_info("cache: kept %s", path);
    free(text);
    cJSON_Delete(root);
    free(path);
    free(json_path);
}
