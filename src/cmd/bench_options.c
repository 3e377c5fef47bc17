#include "cmd/bench_options.h"

#include "cmd/message.h"

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
#define GETTER_WORD(value, word) #word ", "
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, \
                  user, role, help)                                                                               \
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
#include <glslines/params.def>

    CMD_OPTION(
        MEASURED, STRING, dg, "dg", 0, "LIST", NULL, GLS_ANY, NULL, NULL,
        "Direction getters to measure: " GLS_GETTERS(GETTER_WORD) "separated by commas, or all. Each is a column of "
                                                                  "the table."),
    CMD_OPTION(MEASURED, STRING, device, "device", 0, "LIST", NULL, GLS_ANY, NULL, NULL,
               "Devices to compare, separated by commas, each as for 'track --device'."),
    CMD_OPTION(MEASURED, STRING, mapping, "mapping", 0, "LIST", NULL, GLS_ANY, NULL, NULL,
               "Mappings to compare: auto, single, subgroup and group, separated by commas. A device without subgroups "
               "has no column for subgroup, with a warning."),
    CMD_OPTION(MEASURED, CHOICE, api, "api", 0, NULL, NULL, GLS_ANY, NULL, GLS_GRAPHICS_CHOICES,
               "OpenGL or OpenGL ES."),
    CMD_OPTION(MEASURED, CHOICE, precision, "precision", 0, NULL, NULL, GLS_ANY, NULL, GLS_PRECISION_CHOICES,
               "Precision of the model's volumes on the device: half is float16, float is float32 and takes "
               "twice the memory."),
    CMD_OPTION(MEASURED, CHOICE, mask_stop, "mask-stop", 0, NULL, NULL, GLS_ANY, NULL, GLS_MASK_STOP_CHOICES,
               "Where streamlines end at the border of the brain mask, as for 'glslines track'."),
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
    CMD_OPTION(
        OUTPUT, STRING, trace, "trace", 0, "FILE", NULL, GLS_ANY, "", NULL,
        "Write a timeline of all runs to this file: what each thread and each GPU did when, by seeds, as JSON for "
        "Perfetto (https://ui.perfetto.dev) or chrome://tracing."),
    CMD_OPTION(OUTPUT, FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Overwrite an existing FILE of --json and --trace."),
    {.name = NULL},
};

#undef GLS_PARAM

void bench_options_default(void *values)
{
    bench_values *o = values;
    gls_job_options job = gls_job_options_default();
    *o = (bench_values){.dg = "all", .device = "auto", .mapping = "auto", .mask_stop = (int)job.mask_stop, .repeat = 5};
    model_options_set(&o->model, &job.model);
}

int bench_options_get(const bench_values *v, const cmd_arguments *arguments, bench_options *o)
{
    *o = (bench_options){.nseeds = v->nseeds,
                         .model = model_options_get(&v->model),
                         .api = (gls_graphics)v->api,
                         .precision = (gls_precision)v->precision,
                         .mask_stop = (gls_mask_stop)v->mask_stop,
                         .no_write = v->no_write,
                         .no_ceilings = v->no_ceilings,
                         .chunk_size = v->chunk_size,
                         .repeat = v->repeat,
                         .argc = arguments->argc,
                         .argv = arguments->argv};
    return cmd_finish(bench_options_choose(o, v->shape, v->dg, v->mapping, v->device));
}
