/* Commands on the devices of this machine: devices, bench. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/all.h"
#include "bench/bench.h"
#include "bench/bench_json.h"
#include "bench/choose.h"
#include "bench/print.h"
#include "check/check_scene.h"
#include "check/device_check.h"
#include "check/device_list.h"
#include "check/doctor.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/help.h"
#include "record/sidecar.h"
#include "record/tract_run.h"
#include "track/track_params.h"
#include "util/clock.h"
#include "util/json_text.h"

/* `glslines devices`: lists, checks and diagnoses the devices of this machine. */
typedef struct devices_values {
    cmd_common common;
    check_options how; /* the device, and options of --check */
    /* file of --json; "" for standard output; NULL: text */
    const char *json;
    /* doctor: look for faults; check: run the test; force: replace the file of --json */
    bool doctor, check, force;
} devices_values;
#define OPTION_OWNER devices_values

static const gls_option device_rows[] = {
    GLS_CHOICE("Device", how.api, "api", GLS_GRAPHICS_CHOICES,
               "Graphics interface. gl: OpenGL. gles: OpenGL ES. auto: OpenGL where the device offers both."),
    GLS_FLAG("Output", doctor, "doctor", "Also say what was looked for, what is missing and how to fix it."),
    GLS_TEXT(
        "Output", json, "json", "[FILE.json]", "none",
        "Write the list, with --doctor also the findings, as JSON, sizes in bytes, to FILE.json. Without FILE.json, "
        "print the JSON in place of the text.",
        .writes = GLS_WRITES_TEXT),
    GLS_FLAG("Output", force, "force", "Overwrite an existing FILE.json.", .since = "0.2.0"),
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
    static const char *const of_list[] = {"doctor", "force", "json", NULL};
    static const char *const of_check[] = {"compile-only", "device", "seconds", NULL}; /* --variant: the first two */
    const devices_values *o = values;
    gls_device_info *list = NULL;
    size_t n = 0;
    const bool checks = o->check || o->how.only;
    const char *idle = checks ? cmd_options_first(arguments, of_list) : NULL;
    if (idle) return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --check or --variant: leave it out", idle);
    if (!o->check) idle = cmd_options_first(arguments, of_check + (checks ? 2 : 0));
    if (idle) return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect without --check: give --check, too", idle);
    if (checks) return cmd_finish(o->check ? check_device(&o->how) : check_one(&o->how, o->how.only));
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
    .summary = "List and check the devices that can track, and say what is missing",
    .description = "Lists every device that has OpenGL or OpenGL ES with compute shaders, best first, with the limits "
                   "that matter. The number before a device names it in --device.",
    .rows = {{.table = device_rows}},
    .examples = CMD_TEXTS("What there is, best first:", "glslines devices", "Why is my GPU not in the list?",
                          "glslines devices --doctor"),
};

#undef OPTION_OWNER

/* `glslines bench`: measures how fast the devices of this machine track, phase by phase. */

/* Values of the command's options: options of the benchmark, and texts that bench_choose() interprets. */
typedef struct bench_values {
    cmd_common common;
    /* options of the benchmark itself */
    bench_options o;
    /* texts of --shape, --dg ... as given; json: "" for standard output, NULL for no JSON; trace: file or NULL */
    const char *shape, *dg, *device, *mapping, *json, *trace;
} bench_values;
#define OPTION_OWNER bench_values

#define DATA "Data"
#define MEASURED "What is measured"
#define OUTPUT "Output"

static const gls_option data_rows[] = {
    GLS_TEXT(DATA, shape, "shape", "AxBxC", "81x106x76",
             "Number of voxels of the phantom along each axis, 16 to 512. It has voxels of 2 mm and 160 volumes, 10 "
             "of them with b = 0."),
    GLS_NUMBER(DATA, UINT64, o.nseeds, "nseeds", "N", NULL, GLS_BETWEEN(1, UINT32_MAX),
               "100000; 5000, and 100 for ptt, where a device is a software renderer",
               "Number of random seeds in white matter."),
    {.name = NULL},
};

#define GETTER_WORD(value, word) #word ", "
static const gls_option measure_rows[] = {
    GLS_TEXT(
        MEASURED, dg, "dg", "LIST", NULL,
        "Direction getters to measure: " GLS_GETTERS(GETTER_WORD) "separated by commas, or all. Each is a column of "
                                                                  "the table."),
    GLS_TEXT(MEASURED, device, "device", "LIST", NULL,
             "Devices to compare, separated by commas, each as for 'track --device'."),
    GLS_TEXT(MEASURED, mapping, "mapping", "LIST", NULL,
             "Mappings to compare: auto, single, subgroup and group, separated by commas. A device without subgroups "
             "has no column for subgroup, with a warning."),
    GLS_CHOICE(MEASURED, o.api, "api", GLS_GRAPHICS_CHOICES,
               "Graphics interface. gl: OpenGL. gles: OpenGL ES. auto: OpenGL where the device offers both."),
    GLS_CHOICE(MEASURED, o.precision, "precision", GLS_PRECISION_CHOICES,
               "Precision of the model's volumes on the device. half: float16. float: float32, which takes twice "
               "the memory."),
    GLS_CHOICE(MEASURED, o.mask_stop, "mask-stop", GLS_MASK_STOP_CHOICES,
               "Where streamlines end at the border of the brain mask, as for 'glslines track'."),
    GLS_NUMBER(MEASURED, UINT64, o.chunk_size, "chunk-size", "N", "seeds", GLS_BATCHES,
               "50000 or 100000 on a GPU, 25000 on a CPU", "Largest number of seeds in a batch."),
    GLS_NUMBER(MEASURED, INT, o.repeat, "repeat", "N", NULL, GLS_BETWEEN(1, BENCH_MAX_REPEAT), NULL,
               "Number of counted runs, after one that is not counted. The table shows the median and, in "
               "brackets, the extremes."),
    GLS_FLAG(MEASURED, o.no_write, "no-write", "Write no file: streamlines are read back and dropped."),
    GLS_TEXT(OUTPUT, json, "json", "[FILE.json]", "none",
             "Write all results as JSON, with versions, device, host, command line, and the values of each "
             "repetition, to FILE.json. Without FILE.json, print the JSON in place of the table.",
             .writes = GLS_WRITES_TEXT),
    GLS_TEXT(OUTPUT, trace, "trace", "FILE", "",
             "Write a timeline of all runs to this file: what each thread and each GPU did when, and for which seeds, "
             "as JSON for Perfetto (https://ui.perfetto.dev) or chrome://tracing.",
             .writes = GLS_WRITES_TEXT, .since = "0.2.0"),
    GLS_FLAG(OUTPUT, o.force, "force", "Overwrite existing files of --json and --trace."),
    {.name = NULL},
};

/* Defaults of the command: every getter, the best device, and the mask rule of `track`. */
static void set_bench_defaults(void *values)
{
    const gls_job_options job = gls_job_options_default();
    *(bench_values *)values = (bench_values){.dg = "all",
                                             .device = "auto",
                                             .mapping = "auto",
                                             .o.mask_stop = job.mask_stop,
                                             .o.model = gls_model_options_default(GLS_MODEL_OPDT),
                                             .o.repeat = 5};
}

/* Runs the benchmark, and writes the timeline, the JSON and the table. Returns an exit code. */
static int measure(const bench_values *v)
{
    bench_run *run = malloc(sizeof *run);
    if (!run) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    if (v->trace) gls_trace_start();
    gls_status status = bench_measure_all(run, &v->o, cmd_monitor(false));
    if (!status && v->trace) status = gls_sidecar_write_trace(v->trace, v->o.force);
    int code = status ? cmd_error_status(status) : CMD_EXIT_OK;
    if (!code && v->json) code = cmd_json_to(v->json, v->o.force, bench_json_text(run));
    if (!code && (!v->json || *v->json)) bench_print(run);
    bench_finish(run);
    free(run);
    return code;
}

/* Entry of the command: paths of --json and --trace are checked before anything is measured, because a benchmark takes
 * minutes. Returns an exit code. */
static int run_bench(void *values, const cmd_arguments *arguments)
{
    bench_values *v = values;
    v->o.argc = arguments->argc;
    v->o.argv = arguments->argv;
    int code = model_options_check(&v->o.model, arguments);
    gls_inputs inputs = {0};
    const gls_model_options *model = &v->o.model;
    gls_status status =
        code ? GLS_OK
             : gls_inputs_add_all(&inputs, GLS_PATHS(model->response, model->response_wm, model->response_gm,
                                                     model->response_csf, gls_csd_directions_file(model)));
    if (!status && !code && v->json && *v->json) status = gls_place_check(v->json, v->o.force, &inputs, NULL, 0);
    if (!status && !code && v->trace) status = gls_place_check(v->trace, v->o.force, &inputs, &v->json, 1);
    gls_inputs_finish(&inputs);
    if (!status && !code) status = bench_choose(&v->o, v->shape, v->dg, v->mapping, v->device);
    if (status) code = cmd_error_status(status);
    if (!code) code = measure(v);
    bench_options_finish(&v->o);
    return code;
}

const cmd_command command_bench = {
    CMD_ENTRY(bench),
    .synopsis = "[options]",
    .summary = "Measure how fast the devices here track, phase by phase",
    .description =
        "Makes a phantom of the size of a brain, fits it, and tracks it with each direction getter, device and mapping "
        "asked for. boot, prob, det, ptt and closest take steps of half a voxel and turn by at most 60 degrees; the "
        "other getters have their own step and angle. All end where FA is 0.1 or less and where --mask-stop says. The "
        "sphere of ODFs has 362 pairs of directions. Each combination runs once uncounted and then --repeat times; "
        "rows named device have times by the device's clock, all others by the host's.\n'kernels and transfers' is the "
        "sum of the five phases above it. 'whole' is the time from the first seed to the complete TRX file, which is "
        "written during tracking and deleted afterwards. 'commissural' is the number of streamlines whose ends lie on "
        "different sides of the plane x = 0 of world space, the middle of the phantom.",
    .rows = {{.table = data_rows},
             CMD_MODEL_ROWS(bench_values, o.model, .group = DATA, .owners = GLS_OF_MODEL),
             {.table = measure_rows}},
    .aliases = model_option_aliases,
    .examples = CMD_TEXTS(
        "Every direction getter on the best device:", "glslines bench",
        "A million seeds on the first device, two mappings, kept for a comparison:",
        "glslines bench --dg boot,prob,ptt --device 0 --mapping single,subgroup --nseeds 1000000 --json bench.json",
        "A quick look at the software renderer:",
        "glslines bench --dg boot --device llvmpipe --shape 40x52x38 --nseeds 1000 --repeat 3 --no-write"),
};
