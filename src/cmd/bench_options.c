#include "cmd/bench_options.h"

#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"
#include "cmd/message.h"
#include "workflow/params.h"

#define CMD_OWNER bench_values

#define DATA "Data"
#define MEASURED "What is measured"
#define OUTPUT "Output"

const cmd_option bench_option_table[] = {
    CMD_OPTION(DATA, STRING, shape, "shape", 0, "AxBxC", NULL, GLS_ANY, "81x106x76", NULL,
               "Number of voxels of the phantom along each axis, 16 to 512. It has voxels of 2 mm and 160 volumes, 10 "
               "of them with b = 0."),
    CMD_OPTION(DATA, UINT64, nseeds, "nseeds", 0, "N", NULL, GLS_BETWEEN(1, UINT32_MAX),
               "100000; 5000, and 100 for ptt, where a device is a software renderer", NULL,
               "Number of random seeds in white matter."),
#define PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, user, \
              role, help)                                                                                           \
    BENCH_##owner(type, field, name, metavar, unit, range, default_text, choices, help)
#define BENCH_MODEL(type, field, name, metavar, unit, range, default_text, choices, help)                            \
    CMD_ENTRY(DATA, type, offsetof(bench_values, model.field), name, 0, metavar, unit, range, default_text, choices, \
              help)
#define NO_ROW(...)
#define BENCH_TRACK NO_ROW
#define BENCH_JOB NO_ROW
#define BENCH_COMMAND NO_ROW
#define BENCH_BASIS NO_ROW
#define BENCH_GRADIENTS NO_ROW
#include "track/params.def"

    CMD_OPTION(
        MEASURED, STRING, dg, "dg", 0, "LIST", NULL, GLS_ANY, NULL, NULL,
        "Direction getters, a column each: boot, prob, det, ptt, ifod1, ifod2, sdstream, commas between them, or all."),
    CMD_OPTION(MEASURED, STRING, device, "device", 0, "LIST", NULL, GLS_ANY, NULL, NULL,
               "Devices to compare, separated by commas, each as for 'track --device'."),
    CMD_OPTION(MEASURED, STRING, mapping, "mapping", 0, "LIST", NULL, GLS_ANY, NULL, NULL,
               "Mappings side by side: auto, single, subgroup, group, commas between them. Where a device has no "
               "subgroups that column is left out with a warning."),
    CMD_OPTION(MEASURED, CHOICE, api, "api", 0, NULL, NULL, GLS_ANY, NULL, GLS_GRAPHICS_CHOICES,
               "OpenGL or OpenGL ES."),
    CMD_OPTION(MEASURED, CHOICE, precision, "precision", 0, NULL, NULL, GLS_ANY, NULL, GLS_PRECISION_CHOICES,
               "Precision of the model's volumes on the device: half is float16, float is float32 and takes "
               "twice the memory."),
    CMD_OPTION(MEASURED, UINT64, chunk_size, "chunk-size", 0, "N", "seeds", GLS_LIKE("chunk-size"),
               "as the device's limits allow", NULL, "Largest number of seeds in a batch."),
    CMD_OPTION(MEASURED, INT, repeat, "repeat", 0, "N", NULL, GLS_BETWEEN(1, BENCH_MAX_REPEAT), NULL, NULL,
               "Number of counted runs, after one that is not counted. The table shows the median and, in "
               "brackets, the extremes."),
    CMD_OPTION(MEASURED, FLAG, no_write, "no-write", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Write no file: streamlines are read back and dropped."),
    CMD_OPTION(MEASURED, FLAG, no_ceilings, "no-ceilings", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Do not measure what the device reaches in copying, multiply-adds and texture samples."),
    CMD_OPTION(OUTPUT, STRING, json, "json", 0, "FILE", NULL, GLS_ANY, "", NULL,
               "Write all results to this file: versions, device, host, command line, and the values of each "
               "repetition."),
    CMD_OPTION(OUTPUT, FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Overwrite an existing FILE of --json."),
    {.name = NULL},
};

#undef PARAM

void bench_options_default(void *values)
{
    bench_values *o = values;
    gls_job_options job = gls_job_options_default();
    *o = (bench_values){.dg = "all", .device = "auto", .mapping = "auto", .repeat = 5};
    model_options_set(&o->model, &job.model);
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

static int parse_devices(const char *list, bench_options *options)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        if (length == 0) return cmd_error(CMD_EXIT_USAGE, "--device: an empty name in '%s'", list);
        if (options->n_devices == BENCH_MAX_DEVICES)
            return cmd_error(CMD_EXIT_USAGE, "--device: at most %d devices", BENCH_MAX_DEVICES);
        char *name = strndup(word, length);
        if (!name) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
        options->device[options->n_devices++] = name;
        word += length;
        if (!*word) return CMD_EXIT_OK;
    }
}

int bench_options_get(const bench_values *v, const cmd_arguments *arguments, bench_options *o)
{
    *o = (bench_options){.nseeds = v->nseeds,
                         .model = model_options_get(&v->model),
                         .api = (gls_graphics)v->api,
                         .precision = (gls_precision)v->precision,
                         .no_write = v->no_write,
                         .no_ceilings = v->no_ceilings,
                         .chunk_size = v->chunk_size,
                         .repeat = v->repeat,
                         .argc = arguments->argc,
                         .argv = arguments->argv};
    if (v->shape && !bench_parse_shape(v->shape, o->shape))
        return cmd_error(CMD_EXIT_USAGE, "--shape: '%s' is not AxBxC with whole numbers from 16 to 512", v->shape);
    int code = parse_words("dg", v->dg, GLS_GETTER_CHOICES, true, o->dg, BENCH_GETTERS, &o->n_dg);
    if (!code)
        code =
            parse_words("mapping", v->mapping, GLS_MAPPING_CHOICES, false, o->mapping, BENCH_MAPPINGS, &o->n_mapping);
    if (!code) code = parse_devices(v->device, o);
    if (!code && o->model.model > GLS_MODEL_CSD)
        code =
            cmd_error(CMD_EXIT_USAGE, "--model %s: bench measures opdt, csa and csd", gls_model_name(o->model.model));
    o->model.sh_order = gls_model_order(&o->model);
    for (int i = 0; !code && i < o->n_dg && o->model.model == GLS_MODEL_CSD; i++)
        if (o->dg[i] == GLS_DG_BOOT)
            code = cmd_error(CMD_EXIT_USAGE, "--dg boot: cannot use --model csd; give --dg prob,det,ptt,ifod2");
    int n_columns = o->n_dg * o->n_mapping * o->n_devices;
    if (!code && n_columns > BENCH_MAX_COLUMNS)
        code = cmd_error(CMD_EXIT_USAGE, "%d columns asked for; at most %d", n_columns, BENCH_MAX_COLUMNS);
    return code;
}

void bench_options_finish(bench_options *options)
{
    for (int i = 0; i < options->n_devices; i++) free((char *)options->device[i]);
    options->n_devices = 0;
}
