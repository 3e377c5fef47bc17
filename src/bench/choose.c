/* Chooses what `glslines bench` measures, from the texts of its options: getters, mappings, devices, the shape of the
 * data. */
#include <stdlib.h>
#include <string.h>

#include "bench/choose.h"
#include "bench/bench.h"
#include "bench/bench_stats.h"
#include "record/run_params.h"
#include "track/getter/getters.h"
#include "util/status.h"

/* Looks up the comma-separated words of the option --name in `choices` ("a|b|c"). all: the word "all" is allowed and
 * stands for every choice. index: gets the index of each word in choices, at most max; *n: number of indices. */
static gls_status parse_words(const char *name, const char *list, const char *choices, bool all, int *index, int max,
                              int *n)
{
    const char *bad;
    int bad_length;
    *n = bench_parse_list(list, choices, all, index, max, &bad, &bad_length);
    if (*n >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--%s: unknown value '%.*s': give one or more of %s%s, with commas between them",
                    name, bad_length, bad, choices, all ? "|all" : "");
}

/* Splits the comma-separated list of --device into options->device, which owns a copy of each name;
 * bench_options_finish() frees the copies. Whether a device of this name exists is found out later. */
static gls_status parse_devices(const char *list, bench_options *options)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        if (length == 0)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--device: '%s' has an empty name: give names with one comma between them", list);
        if (options->n_devices == BENCH_MAX_DEVICES)
            return gls_fail(GLS_ERR_ARGUMENT, "--device: names more than %d devices; name fewer", BENCH_MAX_DEVICES);
        char *name = strndup(word, length);
        if (!name) return gls_no_memory();
        options->device[options->n_devices++] = name;
        word += length;
        if (!*word) return GLS_OK;
    }
}

/* Requires a model that the benchmark measures and that boot, if asked for, can use; sets the order of its spherical
 * harmonics; and limits the number of columns of the table, which is getters x mappings x devices. */
static gls_status check_models(bench_options *o)
{
    if (o->model.model > GLS_MODEL_CSD)
        return gls_fail(GLS_ERR_ARGUMENT, "--model %s: bench cannot measure it; give opdt, csa or csd",
                        gls_model_name(o->model.model));
    o->model.sh_order = gls_model_order(&o->model);
    for (int i = 0; i < o->n_dg && o->model.model == GLS_MODEL_CSD; i++)
        if (gls_getter_row(o->dg[i])->source == GLS_FROM_QBALL)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--dg boot: cannot use --model csd; give --model opdt or csa, or --dg prob,det,ptt,ifod2");
    int n_columns = o->n_dg * o->n_mapping * o->n_devices;
    if (n_columns > BENCH_MAX_COLUMNS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg, --mapping and --device give %d columns, but the table has %d at most; name fewer",
                        n_columns, BENCH_MAX_COLUMNS);
    return GLS_OK;
}

gls_status bench_choose(bench_options *o, const char *shape, const char *getters, const char *mappings,
                        const char *devices)
{
    if (shape && !bench_parse_shape(shape, o->shape))
        return gls_fail(GLS_ERR_ARGUMENT, "--shape: '%s' is not AxBxC with whole numbers from 16 to 512", shape);
    gls_status status = parse_words("dg", getters, GLS_GETTER_CHOICES, true, o->dg, BENCH_GETTERS, &o->n_dg);
    if (!status)
        status =
            parse_words("mapping", mappings, GLS_MAPPING_CHOICES, false, o->mapping, BENCH_MAPPINGS, &o->n_mapping);
    if (!status) status = parse_devices(devices, o);
    return status ? status : check_models(o);
}

void bench_options_finish(bench_options *options)
{
    for (int i = 0; i < options->n_devices; i++) free((char *)options->device[i]);
    options->n_devices = 0;
}
