/* glslines devices: what there is to compute on. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/glslines.h>

#include "bench/check.h"
#include "cmd/commands.h"
#include "cmd/doctor.h"
#include "cmd/message.h"
#include "util/format.h"
#include "cmd/track_report.h"

typedef struct devices_options {
    cmd_common common;
    bool doctor, json, check, compile_only;
    int api;
    const char *device, *variant;
    double seconds;
} devices_options;

static const cmd_option table[] = {
    {.group = "Device",
     .name = "api",
     .type = CMD_CHOICE,
     .choices = "auto|gl|gles",
     .offset = offsetof(devices_options, api),
     .help = "OpenGL or OpenGL ES. auto takes OpenGL where a device offers both."},
    {.group = "Output",
     .name = "doctor",
     .type = CMD_FLAG,
     .offset = offsetof(devices_options, doctor),
     .help = "Also say what was looked for, what is missing and how to fix it."},
    {.group = "Output",
     .name = "json",
     .type = CMD_FLAG,
     .offset = offsetof(devices_options, json),
     .help = "Print the list as JSON, sizes in bytes; with --doctor, also what that says."},
    {.group = "Check",
     .name = "check",
     .type = CMD_FLAG,
     .offset = offsetof(devices_options, check),
     .help = "Compile the kernels of every direction getter in every mapping, each in a process of its own, and track "
             "a small known scene with them."},
    {.group = "Check",
     .name = "compile-only",
     .type = CMD_FLAG,
     .offset = offsetof(devices_options, compile_only),
     .help = "Only compile; nothing waits for the device."},
    {.group = "Check",
     .name = "device",
     .type = CMD_STRING,
     .metavar = "NAME",
     .offset = offsetof(devices_options, device),
     .help = "The device to check, as --device of track takes it."},
    {.group = "Check",
     .name = "seconds",
     .type = CMD_DOUBLE,
     .metavar = "S",
     .offset = offsetof(devices_options, seconds),
     .min = 1,
     .max = 3600,
     .help = "Time that each of these processes gets."},
    {.group = "Check",
     .name = "variant",
     .type = CMD_STRING,
     .metavar = "NAME",
     .offset = offsetof(devices_options, variant),
     .help =
         "Check one getter only, as in boot4, or one in one mapping, as in boot4:group. Without --check it is run in "
         "this process, and what the driver said is printed."},
    {.name = NULL},
};

static const char *const platforms[] = {[GLS_PLATFORM_GBM] = "GBM render node",
                                        [GLS_PLATFORM_EGL_DEVICE] = "EGL device",
                                        [GLS_PLATFORM_SURFACELESS] = "surfaceless"};
static const char *const platform_keys[] = {
    [GLS_PLATFORM_GBM] = "gbm", [GLS_PLATFORM_EGL_DEVICE] = "egl_device", [GLS_PLATFORM_SURFACELESS] = "surfaceless"};

static void print_device(const gls_device_info *d)
{
    char a[32], b[32], c[32];
    uint32_t lanes;
    const char *mapping = cmd_device_mapping(d, GLS_MAPPING_AUTO, &lanes);
    printf("%d: %s%s\n", d->index, d->renderer, d->software ? " (software, on the CPU)" : "");
    printf("   vendor       %s\n", d->vendor);
    printf("   version      %s%s\n", d->gles && strncmp(d->version, "OpenGL ES", 9) != 0 ? "OpenGL ES " : "",
           d->version);
    printf("   platform     %s%s%s\n", platforms[d->platform], *d->node ? " " : "", d->node);
    if (d->memory_bytes) printf("   memory       %s\n", gls_format_limit(d->memory_bytes, a, sizeof a));
    printf("   storage      %u blocks of up to %s; uniform blocks of up to %s\n", d->max_storage_bindings,
           gls_format_limit(d->max_storage_bytes, a, sizeof a), gls_format_limit(d->max_uniform_bytes, b, sizeof b));
    printf("   textures     %u units, 3D up to %u texels a side%s\n", d->max_texture_units, d->max_texture_3d,
           d->float_linear ? "" : "; in half precision only");
    printf("   work groups  up to %u invocations, %s shared, %s groups\n", d->max_work_group_size,
           gls_format_limit(d->max_shared_bytes, a, sizeof a), gls_format_count(d->max_work_groups, c, sizeof c));
    if (d->subgroup_size)
        printf("   subgroups    of %u\n", d->subgroup_size);
    else
        printf("   subgroups    none\n");
    printf("   mapping      %s: %u %s per streamline\n", mapping, lanes, lanes == 1 ? "invocation" : "invocations");
}

/* report: the doctor's, or NULL. */
static int print_json(const gls_device_info *list, size_t n, cJSON *report)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const gls_device_info *d = &list[i];
        cJSON *o = cJSON_CreateObject();
        uint32_t lanes;
        cJSON_AddNumberToObject(o, "index", d->index);
        cJSON_AddStringToObject(o, "renderer", d->renderer);
        cJSON_AddStringToObject(o, "vendor", d->vendor);
        cJSON_AddStringToObject(o, "version", d->version);
        cJSON_AddStringToObject(o, "platform", platform_keys[d->platform]);
        cJSON_AddStringToObject(o, "node", d->node);
        cJSON_AddBoolToObject(o, "gles", d->gles);
        cJSON_AddBoolToObject(o, "software", d->software);
        cJSON_AddStringToObject(o, "mapping", cmd_device_mapping(d, GLS_MAPPING_AUTO, &lanes));
        cJSON_AddNumberToObject(o, "lanes", lanes);
        cJSON_AddNumberToObject(o, "subgroup_size", d->subgroup_size);
        cJSON_AddNumberToObject(o, "memory_bytes", (double)d->memory_bytes);
        cJSON_AddNumberToObject(o, "max_storage_bytes", (double)d->max_storage_bytes);
        cJSON_AddNumberToObject(o, "max_storage_bindings", d->max_storage_bindings);
        cJSON_AddNumberToObject(o, "max_uniform_bytes", d->max_uniform_bytes);
        cJSON_AddNumberToObject(o, "max_texture_3d", d->max_texture_3d);
        cJSON_AddNumberToObject(o, "max_texture_units", d->max_texture_units);
        cJSON_AddBoolToObject(o, "float_linear", d->float_linear);
        cJSON_AddNumberToObject(o, "max_shared_bytes", d->max_shared_bytes);
        cJSON_AddNumberToObject(o, "max_work_group_size", d->max_work_group_size);
        cJSON_AddNumberToObject(o, "max_work_groups", d->max_work_groups);
        cJSON_AddItemToArray(array, o);
    }
    if (report) cJSON_AddItemToObject(report, "devices", array);
    char *text = cJSON_Print(report ? report : array);
    if (!report) cJSON_Delete(array);
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    puts(text);
    free(text);
    return CMD_EXIT_OK;
}

static void set_defaults(void *values)
{
    *(devices_options *)values = (devices_options){.device = "auto", .seconds = 120};
}

static int run_devices(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const devices_options *o = values;
    gls_device_info *list = NULL;
    size_t n = 0;
    (void)command;
    (void)arguments;
    const check_options check = {o->device, (gls_graphics)o->api, o->compile_only, o->seconds, o->variant};
    if (o->variant || o->check) {
        gls_status status = o->check ? check_device(&check) : check_one(&check, o->variant);
        return status ? cmd_error_status(status) : CMD_EXIT_OK;
    }
    cJSON *report = o->doctor ? cJSON_CreateObject() : NULL;
    gls_status status = gls_device_list((gls_graphics)o->api, &list, &n, report ? cmd_doctor_finding : NULL, report);
    if (status) {
        cJSON_Delete(report);
        return cmd_error_status(status);
    }
    int code = CMD_EXIT_OK;
    if (report) cmd_doctor(report, list, n);
    if (o->json) {
        code = print_json(list, n, report);
    } else {
        if (report) cmd_doctor_print_search(report);
        if (o->doctor) puts("\nDevices:");
        for (size_t i = 0; i < n; i++) print_device(&list[i]);
        if (o->doctor && n == 0) puts("none");
        if (report) cmd_doctor_print(report);
    }
    cJSON_Delete(report);
    free(list);
    if (!code && n == 0)
        code = cmd_error(CMD_EXIT_DEVICE, "no usable device%s",
                         o->doctor ? "" : "; 'glslines devices --doctor' says what is missing");
    return code;
}

static const char *const examples[] = {
    "What there is, best first:",
    "glslines devices",
    "Why is my GPU not in the list?",
    "glslines devices --doctor",
    NULL,
};

const cmd_command cmd_devices = {
    .name = "devices",
    .synopsis = "[--doctor] [--json] [--api auto|gl|gles]",
    .summary = "List the devices that can track, and say what is missing",
    .description =
        "Lists every device on which an OpenGL compute context can be made, best first, with the limits that matter. "
        "The number before a device is what --device takes.",
    .options = table,
    .examples = examples,
    .values_size = sizeof(devices_options),
    .set_defaults = set_defaults,
    .run = run_devices,
};
