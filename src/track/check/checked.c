/* The memory of what checks of devices found: a file in the cache folder says which mapping works. */
#include "track/check/checked.h"

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "track/getter/getters.h"
#include "track/track_params.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

#define MAX_BYTES (1 << 20)

/* Writes the path of the file of checked devices. Returns false if the user has no cache folder, or has switched the
 * file off. */
static bool find_path(char *path, size_t size, bool make)
{
    const char *file = gls_test_variable("GLSLINES_CHECKED");
    if (file) return *file && snprintf(path, size, "%s", file) < (int)size;
    return gls_kept_file("devices.json", make, path, size);
}

/* Reads the file of checked devices. The file in the cache folder must belong to this user; a file that the test
 * variable names need not. */
static cJSON *read_note(const char *path)
{
    return gls_kept_is_file(path, !gls_test_variable("GLSLINES_CHECKED")) ? gls_json_read(path, MAX_BYTES) : NULL;
}

/* Writes the key of a device in the file: renderer, driver and version of glslines. Another driver or version may
 * compile kernels differently. */
static void device_key(const gls_device_info *device, char *key, size_t size)
{
    snprintf(key, size, "%s | %s | glslines %s", device->renderer, device->version, gls_version());
}

/* Reads the file of checked devices and finds the entry of the device, or makes one. anew: removes the old entry. */
static void open_file(gls_checked *memory, const gls_device_info *device, bool anew)
{
    char key[512];
    *memory = (gls_checked){.root = NULL};
    if (!find_path(memory->path, sizeof memory->path, true)) {
        *memory->path = '\0';
        return;
    }
    memory->root = read_note(memory->path);
    if (!cJSON_IsObject(memory->root)) {
        cJSON_Delete(memory->root);
        memory->root = cJSON_CreateObject();
    }
    device_key(device, key, sizeof key);
    if (anew) cJSON_DeleteItemFromObjectCaseSensitive(memory->root, key);
    memory->entry = gls_json_at(memory->root, key);
    if (!cJSON_IsObject(memory->entry)) {
        cJSON_DeleteItemFromObjectCaseSensitive(memory->root, key);
        memory->entry = cJSON_AddObjectToObject(memory->root, key);
    }
}

void gls_checked_begin(gls_checked *memory, const gls_device_info *device)
{
    open_file(memory, device, true);
}

void gls_checked_add(gls_checked *memory, const char *variant, gls_mapping mapping)
{
    if (memory->entry) cJSON_AddStringToObject(memory->entry, variant, gls_mapping_name(mapping));
}

/* Writes the file of checked devices and frees its contents. Warns and returns false if the file cannot be written. */
static bool write_file(gls_checked *memory)
{
    char *text = memory->entry ? gls_json_print(memory->root) : NULL;
    const bool good = text && gls_kept_write(memory->path, text, strlen(text)) == GLS_OK;
    if (!good)
        gls_log(GLS_LOG_WARNING, "the result of the check is not stored: %s",
                text ? gls_last_error() : "out of memory");
    free(text);
    cJSON_Delete(memory->root);
    return good;
}

void gls_checked_finish(gls_checked *memory)
{
    if (*memory->path && write_file(memory))
        gls_log(GLS_LOG_INFO, "stored in %s; --mapping auto now uses the fastest mapping", memory->path);
}

void gls_checked_keep(const gls_device_info *device, const char *variant, gls_mapping mapping)
{
    gls_checked memory;
    open_file(&memory, device, false);
    if (memory.entry) cJSON_DeleteItemFromObjectCaseSensitive(memory.entry, variant);
    gls_checked_add(&memory, variant, mapping);
    if (*memory.path) write_file(&memory);
}

/* Writes to name[size] the name that a variant has in the file of checked devices: the getter and, for boot, prob and
 * det, the order of the model, 4 or 8, such as "boot8". Orders above 4 count as 8. ptt is always "ptt4". */
static void name_variant(gls_direction_getter dg, int sh_order, char *name, size_t size)
{
    const bool by_order = dg == GLS_DG_BOOT || gls_getter_uses(gls_getter_row(dg), GLS_FOR_PROB_DET);
    if (by_order)
        snprintf(name, size, "%s%d", gls_getter_name(dg), sh_order > 4 ? 8 : 4);
    else
        snprintf(name, size, "%s%s", gls_getter_name(dg), dg == GLS_DG_PTT ? "4" : "");
}

void gls_checked_name(const gls_track_params *params, int sh_order, char *name, size_t size)
{
    if (params->pft)
        snprintf(name, size, "pft");
    else
        name_variant(params->dg, sh_order, name, size);
}

/* The mapping in the file for a device and a variant; GLS_MAPPING_AUTO: none, or a mapping that this device does not
 * have. */
static gls_mapping mapping_of(const gls_device_info *device, const char *variant)
{
    char path[4096], key[512];
    gls_mapping found = GLS_MAPPING_AUTO;
    cJSON *root = find_path(path, sizeof path, false) ? read_note(path) : NULL;
    if (!root) return found;
    device_key(device, key, sizeof key);
    const cJSON *entry = gls_json_at(root, key);
    const cJSON *word = gls_json_at(entry, variant);
    for (gls_mapping m = GLS_MAPPING_SINGLE; m < GLS_MAPPING_COUNT && cJSON_IsString(word); m++)
        if (strcmp(word->valuestring, gls_mapping_name(m)) == 0 && gls_mapping_lanes(m, device) > 0) found = m;
    cJSON_Delete(root);
    return found;
}

gls_mapping gls_checked_mapping(const gls_device_info *device, gls_direction_getter dg, int sh_order)
{
    char variant[32];
    name_variant(dg, sh_order, variant, sizeof variant);
    return mapping_of(device, variant);
}

gls_mapping gls_checked_mapping_of(const gls_device_info *device, const gls_track_params *params, int sh_order)
{
    char variant[32];
    gls_checked_name(params, sh_order, variant, sizeof variant);
    return mapping_of(device, variant);
}
