/* `glslines devices`: lists, checks and diagnoses the devices of this machine. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device_check.h"
#include "check/device_checks.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "run/job.h"
#include "track/track_params.h"
#include "util/json_text.h"

/* --- Lists devices as text and as JSON. ---------------------------------- */

/* 134217728 -> "128 MiB", in powers of 1024: limits of devices */
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
    uint32_t lanes;
    const char *mapping = gls_device_mapping(d, GLS_MAPPING_AUTO, &lanes);
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
    gls_text_printf(text, "   mapping      %s: %u %s per streamline\n", mapping, lanes,
                    lanes == 1 ? "invocation" : "invocations");
}

/* Lists n devices, and the drivers that failed, as lines of text. From malloc; NULL: out of memory. */
static char *devices_text(const gls_device_info *list, size_t n)
{
    gls_text text = {0};
    const char *where, *reason;
    for (size_t i = 0; i < n; i++) print_device(&text, &list[i]);
    for (size_t i = 0; (where = gls_device_failure(i, &reason)); i++)
        gls_text_printf(&text, "%s: not usable: %s\n", where, reason);
    return gls_text_take(&text);
}

/* Lists the devices as JSON. From malloc; NULL: out of memory. */
static char *devices_json(const gls_device_info *list, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const gls_device_info *d = &list[i];
        cJSON *o = cJSON_CreateObject();
        uint32_t lanes;
        cJSON_AddNumberToObject(o, "index", d->index);
        GLS_JSON_MEMBERS(o, d, renderer, vendor, version);
        cJSON_AddStringToObject(o, "platform", platform_keys[d->platform]);
        GLS_JSON_MEMBERS(o, d, node, gles, software);
        cJSON_AddStringToObject(o, "mapping", gls_device_mapping(d, GLS_MAPPING_AUTO, &lanes));
        cJSON_AddNumberToObject(o, "lanes", lanes);
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

typedef struct devices_options {
    cmd_common common;
    check_options how; /* the device, and options of --check */
    /* file of --json; "" for standard output; NULL: text */
    const char *json;
    /* doctor: look for faults; check: run the test; force: replace the file of --json */
    bool doctor, check, force;
} devices_options;
#define OPTION_OWNER devices_options

static const gls_option table[] = {
    GLS_OPTION("Device", CHOICE, how.api, "api", 0, NULL, NULL, GLS_ANY, NULL, GLS_GRAPHICS_CHOICES,
               "OpenGL or OpenGL ES. auto takes OpenGL where a device offers both."),
    GLS_OPTION("Output", FLAG, doctor, "doctor", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Also say what was looked for, what is missing and how to fix it."),
    GLS_OPTION(
        "Output", STRING, json, "json", 0, "[FILE.json]", NULL, GLS_ANY, "none", NULL,
        "Write the results as JSON with sizes in bytes, to FILE.json. Without FILE.json, print the JSON in place of "
        "the text."),
    GLS_OPTION("Output", FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Overwrite an existing FILE of --json."),
    GLS_OPTION("Check", FLAG, check, "check", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Compile the kernels of every direction getter in every mapping, each in a process of its own, and "
               "track a small known scene with them."),
    GLS_OPTION("Check", FLAG, how.compile_only, "compile-only", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Compile the kernels and do not wait for a device to run them: for a driver without its hardware."),
    GLS_OPTION("Check", STRING, how.device, "device", 0, "NAME", NULL, GLS_ANY, NULL, NULL,
               "The device to check, as --device of track takes it."),
    GLS_OPTION("Check", DOUBLE, how.seconds, "seconds", 0, "S", NULL, GLS_BETWEEN(1, 3600), NULL, NULL,
               "End a process of --check that takes longer than S seconds; its variant counts as failed."),
    GLS_OPTION("Check", STRING, how.only, "variant", 0, "NAME", NULL, GLS_ANY, NULL, NULL,
               "Check one getter only, such as boot4 (boot with order 4), or one getter in one mapping, such as "
               "boot4:group. Without --check it runs in this process, and the messages of the driver are printed."),
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(devices_options *)values = (devices_options){.how.device = "auto", .how.seconds = 120};
}

/* Prints text or JSON. The JSON is a list; with the doctor it is an object that contains the list. */
static int list_devices(const devices_options *o, const gls_device_info *list, size_t n, cJSON *report)
{
    int code;
    if (report) gls_doctor_examine(report, list, n);
    if (o->json) {
        char *text = devices_json(list, n);
        if (text && report) {
            cJSON_AddItemToObject(report, "devices", gls_json_parse(text));
            free(text);
            text = gls_json_print(report);
        }
        code = cmd_json_to(o->json, o->force, text);
        if (code || !*o->json) return code;
    }
    code = report ? cmd_print(gls_doctor_search_text(report)) : CMD_EXIT_OK;
    if (report) puts("\nDevices:");
    if (!code) code = cmd_print(devices_text(list, n));
    if (report && n == 0) puts("none");
    return code || !report ? code : cmd_print(gls_doctor_text(report));
}

/* Entry of the command: checks a device with --check or --variant, else lists all. Exit code 5: no usable device. */
static int run_devices(void *values, const cmd_arguments *arguments)
{
    static const char *const of_checks[] = {"compile-only", "device", "seconds", NULL};
    const devices_options *o = values;
    gls_device_info *list = NULL;
    size_t n = 0;
    const char *idle = o->how.only || o->check ? NULL : cmd_options_first(arguments, of_checks);
    if (idle) return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect without --check or --variant", idle);
    if (o->json && (o->how.only || o->check))
        return cmd_error(CMD_EXIT_USAGE, "--json: has no effect with --check and --variant; they print a table");
    if (o->how.only || o->check) return cmd_finish(o->check ? check_device(&o->how) : check_one(&o->how, o->how.only));
    cJSON *report = o->doctor ? cJSON_CreateObject() : NULL;
    gls_status status = gls_device_list(o->how.api, &list, &n, report ? gls_doctor_finding : NULL, report);
    int code = status ? cmd_error_status(status) : list_devices(o, list, n, report);
    cJSON_Delete(report);
    free(list);
    if (!code && n == 0)
        code = cmd_error(CMD_EXIT_DEVICE, "no usable device%s",
                         o->doctor ? "" : "; 'glslines devices --doctor' says what is missing");
    return code;
}

const cmd_command command_devices = {
    .name = "devices",
    .synopsis = "[--doctor] [--json [FILE.json]] [--api auto|gl|gles]",
    .summary = "List the devices that can track, and say what is missing",
    .description =
        "Lists every device on which an OpenGL compute context can be made, best first, with the limits that matter. "
        "The number before a device is what --device takes.",
    .rows = {{.table = table}},
    .examples = CMD_TEXTS("What there is, best first:", "glslines devices", "Why is my GPU not in the list?",
                          "glslines devices --doctor"),
    .values_size = sizeof(devices_options),
    .set_defaults = set_defaults,
    .run = run_devices,
};
