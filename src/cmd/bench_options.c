#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bench.h"
#include "cmd/message.h"

#define FIELD(f) .offset = offsetof(bench_options, f)

#define DATA "Data"
#define MEASURED "What is measured"
#define PEERS "Other programs"
#define OUTPUT "Output"

const cmd_option bench_option_table[] = {
    {.group = DATA,
     .name = "shape",
     .type = CMD_STRING,
     .metavar = "AxBxC",
     FIELD(shape),
     .default_text = "81x106x76",
     .help =
         "Voxels of the phantom, 16 to 512 along each axis. It has 160 volumes, 10 of them b = 0, and voxels of 2 mm."},
    {.group = DATA,
     .name = "nseeds",
     .type = CMD_UINT64,
     .metavar = "N",
     .min = 1,
     .max = 4294967295.0,
     FIELD(nseeds),
     .default_text = "100000; 5000, and 100 for ptt, where a device is a software renderer",
     .help = "Random seeds in white matter."},
    MODEL_ENTRIES(DATA, bench_options),

    {.group = MEASURED,
     .name = "dg",
     .type = CMD_STRING,
     .metavar = "LIST",
     FIELD(dg),
     .help = "Direction getters, a column each: boot, prob, det, ptt, commas between them, or all."},
    {.group = MEASURED,
     .name = "device",
     .type = CMD_STRING,
     .metavar = "LIST",
     FIELD(device),
     .help = "Devices side by side, commas between them, each as --device of track takes it."},
    {.group = MEASURED,
     .name = "mapping",
     .type = CMD_STRING,
     .metavar = "LIST",
     FIELD(mapping),
     .help = "Mappings side by side: auto, single, subgroup, group, commas between them. Where a device has no subgroups that "
             "column is left out with a warning."},
    {.group = MEASURED,
     .name = "api",
     .type = CMD_CHOICE,
     .choices = "auto|gl|gles",
     FIELD(api),
     .help = "OpenGL or OpenGL ES."},
    {.group = MEASURED,
     .name = "precision",
     .type = CMD_CHOICE,
     .choices = "half|float",
     FIELD(float_textures),
     .help = "Precision of the volumes on the device."},
    {.group = MEASURED,
     .name = "chunk-size",
     .type = CMD_UINT64,
     .metavar = "N",
     .min = 1,
     .max = 4294967295.0,
     .unit = "seeds",
     FIELD(chunk_size),
     .default_text = "as the device's limits allow",
     .help = "Largest batch."},
    {.group = MEASURED,
     .name = "repeat",
     .type = CMD_INT,
     .metavar = "N",
     .min = 1,
     .max = BENCH_MAX_REPEAT,
     FIELD(repeat),
     .help = "Repetitions, after one that is not counted; the table shows the median and in brackets the extremes."},
    {.group = MEASURED,
     .name = "no-write",
     .type = CMD_FLAG,
     FIELD(no_write),
     .help = "Write no file: streamlines are read back and dropped."},
    {.group = MEASURED,
     .name = "no-ceilings",
     .type = CMD_FLAG,
     FIELD(no_ceilings),
     .help = "Leave out what the device reaches in copying, multiply-adds and texture samples."},

    {.group = PEERS,
     .name = "with-dipy",
     .type = CMD_FLAG,
     FIELD(with_dipy),
     .help = "Run DIPY on the same data and seeds: LocalTracking on one core, and its compiled trackers on 1, 2 and "
             "all cores. GLSLINES_PYTHON names the "
             "interpreter; "
             "default: python3."},
    {.group = PEERS,
     .name = "with-mrtrix",
     .type = CMD_FLAG,
     FIELD(with_mrtrix),
     .help = "Run MRtrix3's tckgen, iFOD1, on the same ODFs and as many seeds in the same voxels, with 2 and all "
             "threads, beside prob."},
    {.group = PEERS,
     .name = "peer-seconds",
     .type = CMD_DOUBLE,
     .metavar = "T",
     .unit = "s",
     .min = 0.1,
     .max = 3600,
     FIELD(peer_seconds),
     .help = "Time for each of their trackers: as many seeds from the front of the list as that takes. Points per "
             "second are compared."},

    {.group = OUTPUT,
     .name = "json",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(json),
     .default_text = "",
     .help = "Write everything there: versions, device, host, command line, and the values of each repetition."},
    {.group = OUTPUT, .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite an existing FILE of --json."},
    {.name = NULL},
};

void bench_options_default(void *values)
{
    bench_options *o = values;
    *o = (bench_options){.dg = "all", .device = "auto", .mapping = "auto", .repeat = 5, .peer_seconds = 10};
    model_options_default(&o->model, MODEL_OPDT);
}

static int parse_words(const char *name, const char *list, const char *choices, bool all, int *place, int max, int *n)
{
    const char *bad;
    int bad_length;
    *n = bench_parse_list(list, choices, all, place, max, &bad, &bad_length);
    if (*n < 0)
        return cmd_error(CMD_EXIT_USAGE, "--%s: unknown value '%.*s'; takes %s%s, commas between them", name,
                         bad_length, bad, choices, all ? "|all" : "");
    return CMD_EXIT_OK;
}

static int parse_devices(const char *list, bench_lists *lists)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        if (length == 0) return cmd_error(CMD_EXIT_USAGE, "--device: an empty name in '%s'", list);
        if (lists->n_devices == BENCH_MAX_DEVICES)
            return cmd_error(CMD_EXIT_USAGE, "--device: at most %d devices", BENCH_MAX_DEVICES);
        char *name = strndup(word, length);
        if (!name) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
        lists->device[lists->n_devices++] = name;
        word += length;
        if (!*word) return CMD_EXIT_OK;
    }
}

int bench_lists_parse(const bench_options *o, bench_lists *lists)
{
    *lists = (bench_lists){.n_dg = 0};
    if (o->shape && !bench_parse_shape(o->shape, lists->shape))
        return cmd_error(CMD_EXIT_USAGE, "--shape: '%s' is not AxBxC with whole numbers from 16 to 512", o->shape);
    int code = parse_words("dg", o->dg, "boot|prob|det|ptt", true, lists->dg, BENCH_GETTERS, &lists->n_dg);
    if (!code)
        code = parse_words("mapping", o->mapping, "auto|single|subgroup|group", false, lists->mapping, BENCH_MAPPINGS,
                           &lists->n_mapping);
    if (!code) code = parse_devices(o->device, lists);
    for (int i = 0; !code && i < lists->n_dg && o->model.model == MODEL_CSD; i++)
        if (lists->dg[i] == GLS_DG_BOOT)
            code = cmd_error(CMD_EXIT_USAGE, "--dg boot: cannot use --model csd; give --dg prob,det,ptt");
    if (!code && lists->n_dg * lists->n_mapping * lists->n_devices > BENCH_MAX_COLUMNS)
        code = cmd_error(CMD_EXIT_USAGE, "%d columns asked for; at most %d",
                         lists->n_dg * lists->n_mapping * lists->n_devices, BENCH_MAX_COLUMNS);
    if (code) bench_lists_finish(lists);
    return code;
}

void bench_lists_finish(bench_lists *lists)
{
    for (int i = 0; i < lists->n_devices; i++) free(lists->device[i]);
    lists->n_devices = 0;
}
