/* The devices of this machine with their limits, as text and as JSON. */
#include "check/device_list.h"

#include <cJSON.h>
#include <string.h>

#include "track/track_params.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/text.h"

/* Writes a number of bytes in powers of 1024: 134217728 as "128 MiB". Returns buffer. */
static char *format_limit(uint64_t n, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)n;
    size_t unit = 0;
    for (; v >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) v /= 1024;
    gls_snprintf(buffer, size, "%.4g %s", v, units[unit]);
    return buffer;
}

static const char *const platforms[] = {[GLS_PLATFORM_GBM] = "GBM render node",
                                        [GLS_PLATFORM_EGL_DEVICE] = "EGL device",
                                        [GLS_PLATFORM_SURFACELESS] = "surfaceless"};
/* keys of the platforms in JSON; programs rely on these words */
static const char *const platform_keys[] = {
    [GLS_PLATFORM_GBM] = "gbm", [GLS_PLATFORM_EGL_DEVICE] = "egl_device", [GLS_PLATFORM_SURFACELESS] = "surfaceless"};

/* Writes one device with its limits and the mapping that --mapping auto chooses on the device, as lines of text. */
static void print_device(gls_text *text, const gls_device_info *d)
{
    char a[32], b[32];
    const uint32_t lanes = gls_mapping_lanes(GLS_MAPPING_AUTO, d);
    gls_text_printf(text, "%d: %s%s\n", d->index, d->renderer, d->software ? " (software, on the CPU)" : "");
    gls_text_printf(text, "   vendor       %s\n", d->vendor);
    /* drivers of OpenGL ES may leave the name of the API out of their version */
    gls_text_printf(text, "   version      %s%s\n",
                    d->gles && strncmp(d->version, "OpenGL ES", 9) != 0 ? "OpenGL ES " : "", d->version);
    gls_text_printf(text, "   platform     %s%s%s\n", platforms[d->platform], *d->node ? " " : "", d->node);
    /* 0: the driver does not report its memory */
    if (d->memory_bytes) gls_text_printf(text, "   memory       %s\n", format_limit(d->memory_bytes, a, sizeof a));
    gls_text_printf(text, "   storage      %u blocks of up to %s; uniform blocks of up to %s\n",
                    d->max_storage_bindings, format_limit(d->max_storage_bytes, a, sizeof a),
                    format_limit(d->max_uniform_bytes, b, sizeof b));
    gls_text_printf(text, "   textures     %u units, 3D up to %u texels a side%s\n", d->max_texture_units,
                    d->max_texture_3d, d->float_linear ? "" : "; in half precision only");
    gls_text_printf(text, "   work groups  up to %u invocations, %s shared, %s groups\n", d->max_work_group_size,
                    format_limit(d->max_shared_bytes, a, sizeof a), GLS_COUNT(d->max_work_groups));
    if (!d->apart) gls_text_puts(text, "   defect       invocations of a work group mix up arrays of their own\n");
    if (d->subgroup_size)
        gls_text_printf(text, "   subgroups    of %u\n", d->subgroup_size);
    else
        gls_text_printf(text, "   subgroups    none\n");
    gls_text_printf(text, "   mapping      %s: %u %s per streamline\n", gls_mapping_name(gls_mapping_auto(d)), lanes,
                    lanes == 1 ? "invocation" : "invocations");
}

char *gls_devices_text(const gls_device_info *list, size_t n)
{
    gls_text text = {0};
    const char *where, *reason;
    for (size_t i = 0; i < n; i++) print_device(&text, &list[i]);
    for (size_t i = 0; (where = gls_device_failure(i, &reason)); i++)
        gls_text_printf(&text, "%s: not usable: %s\n", where, reason);
    return gls_text_take(&text);
}

char *gls_devices_json(const gls_device_info *list, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const gls_device_info *d = &list[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "index", d->index);
        GLS_JSON_MEMBERS(o, d, renderer, vendor, version);
        cJSON_AddStringToObject(o, "platform", platform_keys[d->platform]);
        GLS_JSON_MEMBERS(o, d, node, gles, software);
        cJSON_AddStringToObject(o, "mapping", gls_mapping_name(gls_mapping_auto(d)));
        cJSON_AddNumberToObject(o, "lanes", gls_mapping_lanes(GLS_MAPPING_AUTO, d));
        GLS_JSON_MEMBERS(o, d, subgroup_size, memory_bytes, max_storage_bytes, max_storage_bindings, max_uniform_bytes,
                         max_texture_3d, max_texture_units, float_linear);
        GLS_JSON_MEMBERS(o, d, apart, max_shared_bytes, max_work_group_size, max_work_groups);
        cJSON_AddItemToArray(array, o);
    }
    /* drivers that failed come last, as objects with other keys */
    const char *where, *reason;
    for (size_t i = 0; (where = gls_device_failure(i, &reason)); i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "not_usable", where);
        cJSON_AddStringToObject(o, "reason", reason);
        cJSON_AddItemToArray(array, o);
    }
    char *text = gls_json_print(array);
    cJSON_Delete(array);
    return text;
}
