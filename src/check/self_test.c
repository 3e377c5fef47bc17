/* Checks of devices: tracks the scene whose streamlines are known, and stores in the cache folder which mapping
 * works. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/device_checks.h"
#include "gpu/drivers.h"
#include "gpu/objects.h"
#include "record/run_params.h"
#include "track/getter/getter.h"
#include "track/track_params.h"
#include "track/tracker.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/numbers.h"
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

/* Stores in the file which mapping works for a variant. Keeps all other results. */
static void keep_result(const gls_device_info *device, const char *variant, gls_mapping mapping)
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
    const bool by_order = gls_getter_has(dg, GLS_FOR_BOOT) || gls_getter_has(dg, GLS_FOR_PROB_DET);
    if (by_order)
        snprintf(name, size, "%s%d", gls_getter_name(dg), sh_order > 4 ? 8 : 4);
    else
        snprintf(name, size, "%s%s", gls_getter_name(dg), gls_getter_has(dg, GLS_FOR_PTT) ? "4" : "");
}

/* Names the variant of a run: particle filtering is "pft", whatever the getter. */
static void name_run(const gls_track_params *params, int sh_order, char *name, size_t size)
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
    name_run(params, sh_order, variant, sizeof variant);
    return mapping_of(device, variant);
}

/* --- The first run on an unknown renderer. */

/* Time limit for the test of each gls_mapping, s. A renderer on the CPU may take minutes for all seeds; then only the
 * streamlines that it has made by the limit are compared, at least one. */
#define SECONDS 5
/* seeds in a batch on a software renderer, so that the first streamlines come soon */
#define SLOW_BATCH 16

/* The test ends at time `until`, or, if no streamline was compared by then, with the first comparison. */
typedef struct watch {
    /* time by gls_clock_seconds(), s */
    double until;
    /* comparison; the test goes on until it has compared a streamline */
    const gls_known_comparison *found;
} watch;

/* Returns false, which ends the run, once the time limit has passed and a streamline has been compared. */
static bool goes_on(void *user, uint64_t done, uint64_t total, uint64_t streamlines, uint64_t points)
{
    const watch *w = user;
    (void)done, (void)total, (void)streamlines, (void)points;
    return w->found->seen == 0 || gls_clock_seconds() < w->until;
}

/* Fills in *right: whether the known streamlines resulted. A mapping that the driver does not support is not right. */
static gls_status try_mapping(gls_device *device, gls_known_scene *s, gls_mapping mapping, bool *right)
{
    gls_tracker *tracker = NULL;
    gls_track_result result;
    gls_known_comparison found = {.scene = s};
    const gls_sink sink = {.append = gls_known_compare, .user = &found};
    *right = false;
    s->params.mapping = mapping;
    /* 0: the tracker chooses the number of seeds in a batch */
    s->params.batch_seeds = gls_device_get_info(device)->software ? SLOW_BATCH : 0;
    gls_status status = gls_tracker_create(device, &s->params, &s->input, &tracker);
    watch w = {.until = gls_clock_seconds() + SECONDS, .found = &found};
    if (!status) status = gls_tracker_run(tracker, s->seeds, &sink, goes_on, &w, &result);
    gls_tracker_destroy(tracker);
    /* a run that was ended early is compared up to the last seed that it reached */
    const size_t halves = gls_known_halves(s, status == GLS_ERR_CANCELLED ? found.seen : gls_seeds_count(s->seeds));
    if (status == GLS_ERR_CANCELLED) status = GLS_OK;
    if (!status) *right = gls_known_fits(found.same, halves);
    gls_log(GLS_LOG_DEBUG, "self-test of the mapping '%s': %zu of %zu half-streamlines as they must be",
            gls_mapping_name(mapping), found.same, halves);
    /* another mapping may work even if the device refuses this mapping */
    return status == GLS_ERR_DEVICE || status == GLS_ERR_UNSUPPORTED ? GLS_OK : status;
}

/* Lists all mappings of the device, beginning with the mapping that a run would use. */
static size_t list_mappings(const gls_device_info *info, const gls_getter *getter, gls_mapping list[GLS_MAPPING_COUNT])
{
    size_t n = 0;
    list[n++] = getter->one_lane ? GLS_MAPPING_SINGLE : gls_mapping_auto(info);
    static const gls_mapping all[] = {GLS_MAPPING_SUBGROUP, GLS_MAPPING_GROUP, GLS_MAPPING_SINGLE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != list[0] && gls_mapping_lanes(all[i], info) > 0) list[n++] = all[i];
    return n;
}

/* Fills in *mapping: the first mapping that tracks the scene correctly; unchanged if none does. */
static gls_status find_mapping(gls_device *device, size_t variant, gls_mapping *mapping)
{
    const gls_device_info *info = gls_device_get_info(device);
    const char *name = gls_getter_name(gls_known_variants[variant].dg);
    gls_known_scene s;
    gls_mapping list[GLS_MAPPING_COUNT];
    bool right = false;
    gls_log(GLS_LOG_INFO,
            "%s: nobody has tracked on this renderer yet; %s first tracks a small scene whose streamlines are known",
            info->renderer, name);
    gls_log_mute_info(true);
    gls_status status = gls_known_scene_create(variant, &s);
    const size_t n = status ? 0 : list_mappings(info, gls_getter_of(&s.params), list);
    for (size_t i = 0; i < n && !status && !right; i++) {
        status = try_mapping(device, &s, list[i], &right);
        if (right) *mapping = list[i];
        if (!status && !right && i + 1 < n)
            gls_log(GLS_LOG_WARNING, "%s: the mapping '%s' of %s gives wrong streamlines: '%s' is tried",
                    info->renderer, gls_mapping_name(list[i]), name, gls_mapping_name(list[i + 1]));
    }
    gls_log_mute_info(false);
    gls_known_scene_finish(&s);
    return status;
}

/* Fills in *mapping: the mapping to use for these parameters and this order. GLS_MAPPING_AUTO on a known renderer, and
 * for seedtest, which makes no step. Otherwise the mapping that an earlier check found, or the first one that now
 * tracks the scene correctly, which is kept. GLS_ERR_DEVICE: no mapping tracks it correctly. */
static gls_status self_test_mapping(gls_device *device, const gls_track_params *params, int sh_order,
                                    gls_mapping *mapping)
{
    const gls_device_info *info = gls_device_get_info(device);
    char name[32];
    size_t v = 0;
    gls_status status = GLS_OK;
    *mapping = GLS_MAPPING_AUTO;
    if (gls_renderer_is_known(info)) return GLS_OK;
    name_run(params, sh_order, name, sizeof name);
    while (v < GLS_KNOWN_VARIANTS && strcmp(gls_known_variants[v].name, name) != 0) v++;
    if (v == GLS_KNOWN_VARIANTS) return GLS_OK;
    *mapping = gls_checked_mapping_of(info, params, sh_order);
    if (*mapping != GLS_MAPPING_AUTO) return GLS_OK;
    status = find_mapping(device, v, mapping);
    if (!status && *mapping != GLS_MAPPING_AUTO)
        keep_result(info, name, *mapping);
    else if (!status)
        status = gls_fail(GLS_ERR_DEVICE,
                          "%s: %s gives wrong streamlines on this renderer in every mapping, see 'glslines devices "
                          "--check'; choose another --device, or name a --mapping to track on this one all the same",
                          info->renderer, gls_getter_name(params->dg));
    return status;
}

/* --- Trackers. */

/* Order of the spherical harmonics of the q-ball model or of the ODFs; 0: there are none. */
static int order_of(const gls_track_params *params, const gls_track_input *input)
{
    if (gls_getter_source_of(params->dg) == GLS_FROM_QBALL) return input->qball->options.sh_order;
    return input->odf && input->odf->is_sh ? input->odf->order : 0;
}

gls_status gls_tracker_create_group(gls_device *const *devices, size_t n, const gls_track_params *params,
                                    const gls_track_input *input, gls_tracker **tracker)
{
    GLS_REQUIRE_SIZE(params);
    const gls_track_params defaults = gls_track_params_default();
    gls_mapping mapping[GLS_TRACKER_MAX_DEVICES];
    if (!params) params = &defaults;
    GLS_REQUIRE(devices && input && tracker);
    GLS_REQUIRE(n >= 1 && n <= GLS_TRACKER_MAX_DEVICES);
    for (size_t i = 0; i < n; i++) {
        /* a device may take part once only */
        GLS_REQUIRE_HANDLE(devices[i], GLS_HANDLE_DEVICE);
        for (size_t k = 0; k < i; k++) GLS_REQUIRE(devices[k] != devices[i]);
    }
    gls_status status = gls_track_params_check(params);
    if (!status) status = gls_track_input_check(params, input);
    for (size_t i = 0; i < n && !status; i++) {
        mapping[i] = params->mapping;
        /* a mapping that the user names is taken as it is */
        if (params->mapping == GLS_MAPPING_AUTO)
            status = self_test_mapping(devices[i], params, order_of(params, input), &mapping[i]);
    }
    return status ? status : gls_tracker_create_mapped(devices, n, params, input, mapping, tracker);
}

gls_status gls_tracker_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                              gls_tracker **tracker)
{
    GLS_REQUIRE_SIZE(params);
    GLS_REQUIRE(device && input && tracker);
    return gls_tracker_create_group(&device, 1, params, input, tracker);
}
