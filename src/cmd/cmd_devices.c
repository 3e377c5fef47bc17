/* `glslines devices`: lists, checks and diagnoses the devices of this machine. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "check/device_checks.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "track/track_params.h"
#include "util/json_text.h"

typedef struct devices_values {
    cmd_common common;
    check_options how; /* the device, and options of --check */
    /* file of --json; "" for standard output; NULL: text */
    const char *json;
    /* doctor: look for faults; check: run the test; force: replace the file of --json */
    bool doctor, check, force;
} devices_values;
#define OPTION_OWNER devices_values

static const gls_option table[] = {
    GLS_CHOICE("Device", how.api, "api", GLS_GRAPHICS_CHOICES,
               "Graphics interface. gl: OpenGL. gles: OpenGL ES. auto: OpenGL where the device offers both."),
    GLS_FLAG("Output", doctor, "doctor", "Also say what was looked for, what is missing and how to fix it."),
    GLS_TEXT(
        "Output", json, "json", "[FILE.json]", "none",
        "Write the results as JSON with sizes in bytes, to FILE.json. Without FILE.json, print the JSON in place of "
        "the text."),
    GLS_FLAG("Output", force, "force", "Overwrite an existing FILE of --json."),
    GLS_FLAG("Check", check, "check",
             "Compile the kernels of every direction getter in every mapping, each in a process of its own, and "
             "track a small known scene with them."),
    GLS_FLAG("Check", how.compile_only, "compile-only",
             "Compile the kernels and do not wait for a device to run them: for a driver without its hardware."),
    GLS_TEXT("Check", how.device, "device", "NAME", NULL, "The device to check, as --device of track takes it."),
    GLS_NUMBER("Check", DOUBLE, how.seconds, "seconds", "S", NULL, GLS_BETWEEN(1, 3600), NULL,
               "End a process of --check that takes longer than S seconds; its variant counts as failed."),
    GLS_TEXT("Check", how.only, "variant", "NAME", NULL,
             "Check one getter only, such as boot4 (boot with order 4), or one getter in one mapping, such as "
             "boot4:group. Without --check, check it in this process and print the messages of the driver."),
    {.name = NULL},
};

static void set_devices_defaults(void *values)
{
    *(devices_values *)values = (devices_values){.how.device = "auto", .how.seconds = 120};
}

/* Prints n devices as text or JSON. The JSON is a list; with --doctor it is an object that contains the list. report:
 * findings of --doctor; NULL: without. */
static int list_devices(const devices_values *o, const gls_device_info *list, size_t n, cJSON *report)
{
    int code;
    if (report) gls_doctor_examine(report, list, n);
    if (o->json) {
        char *text = gls_devices_json(list, n);
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
    if (!code) code = cmd_print(gls_devices_text(list, n));
    if (report && n == 0) puts("none");
    return code || !report ? code : cmd_print(gls_doctor_text(report));
}

/* Entry of the command: checks a device with --check or --variant, else lists all. Exit code 5: no usable device. */
static int run_devices(void *values, const cmd_arguments *arguments)
{
    static const char *const of_checks[] = {"compile-only", "device", "seconds", NULL};
    const devices_values *o = values;
    gls_device_info *list = NULL;
    size_t n = 0;
    const char *idle = o->how.only || o->check ? NULL : cmd_options_first(arguments, of_checks);
    if (idle) return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect without --check or --variant", idle);
    if (o->json && (o->how.only || o->check))
        return cmd_error(CMD_EXIT_USAGE, "--json: has no effect with --check or --variant, which print a table");
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
    CMD_ENTRY(devices),
    .synopsis = "[--doctor] [--json [FILE.json]] [--api auto|gl|gles]",
    .summary = "List the devices that can track, and say what is missing",
    .description =
        "Lists every device on which an OpenGL compute context can be made, best first, with the limits that matter. "
        "The number before a device is what --device takes.",
    .rows = {{.table = table}},
    .examples = CMD_TEXTS("What there is, best first:", "glslines devices", "Why is my GPU not in the list?",
                          "glslines devices --doctor"),
};
