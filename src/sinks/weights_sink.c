/* track --weights: computes weights of streamlines during tracking, as a column of the tractogram or as text. SIFT2: a
 * thread segments the FODs into fixels while volumes go to the device and tracking begins. COMMIT: the thread reads the
 * series, and --weights-maps has images of the fit. Streamlines are mapped as they arrive. */
#include <cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/odf.h>

#include "sinks/weights_sink.h"
#include "dwi/model_options.h"
#include "dwi/series.h"
#include "image/image_write.h"
#include "record/run_params.h"
#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"
#include "weights/fod.h"
#include "weights/signal_fit.h"
#include "weights/weight_files.h"

/* State of --weights. */
typedef struct weights_state {
    /* the sinks of the run, borrowed */
    const gls_run_sinks *sinks;
    /* segments the FODs, or reads the series */
    gls_beside beginning;
    gls_series series; /* COMMIT: the volumes of the file */
    gls_signal signal; /* COMMIT: takes the streamlines, then solves for their weights */
    /* fixels of the FODs that are tracked */
    gls_fod fod;
    /* maps the streamlines, then solves for their weights; NULL until await_fixels() */
    gls_weights *weights;
    gls_device_set mappers; /* contexts that map streamlines while other contexts track; empty: the CPU maps */
    bool solved;
    float *alike; /* if no weights can be computed: for each streamline 1, for COMMIT 0; else NULL */
} weights_state;

/* Whether the weights come from the signal. */
static bool is_commit(const weights_state *w)
{
    return w->sinks->options->weights == GLS_RUN_WEIGHTS_COMMIT;
}

/* Checks that the run has what the weights are computed from. */
static gls_status check(const gls_job_options *o, const gls_method *method)
{
    if (o->shard)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights: not with --shard: merge the shards, then run 'glslines weights'");
    if (o->weights == GLS_RUN_WEIGHTS_COMMIT && o->phantom)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--weights commit: not with --phantom: write a phantom with 'glslines phantom', "
                        "and track its series");
    if (o->weights == GLS_RUN_WEIGHTS_COMMIT && !o->dwi)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--weights commit: needs the series DWI, but this run has none: leave it out, "
                        "then run 'glslines weights TRACKS DWI --method commit'");
    if (o->weights == GLS_RUN_WEIGHTS_SIFT2 && !gls_fod_is_tracked(o, method))
        return gls_fail(GLS_ERR_ARGUMENT, "--weights: needs fibre orientation distributions: %s",
                        method->fits ? "give --model msmt or csd, or --sh FILE"
                                     : "leave out --weights, then run 'glslines weights TRACKS FOD'");
    return GLS_OK;
}

/* Whether a matrix sums the weights. */
static bool are_summed(const gls_job_options *o)
{
    bool summed = o->connectome.n > 0 && o->metric.n == 0;
    for (int k = 0; k < o->metric.n; k++) summed = summed || strcmp(o->metric.value[k], "weight") == 0;
    return summed;
}

/* Reads --weights. A TRX file holds the weights as a column; with another format they go to a text file beside it.
 * Without a tractogram only what is made of them is written: matrices, and the maps of --weights-maps. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    if (!o->weights) return GLS_OK;
    const gls_status status = check(o, sinks->method);
    if (status) return status;
    if (sinks->no_tractogram && !are_summed(o) && !o->weights_maps)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--weights: no output has them: write a tractogram, or give --connectome, with --metric weight "
                        "if there are other metrics, or --weights-maps");
    sink->wanted = true;
    if (sinks->no_tractogram || sinks->writes_trx) return GLS_OK;
    gls_asprintf(&sink->output, "%.*s_weights.txt", (int)strlen(sinks->output) - 4, sinks->output);
    return sink->output ? GLS_OK : gls_no_memory();
}

/* Number of the map that a sink is for. */
static gls_signal_map map_of(const gls_run_sink *sink)
{
    return (gls_signal_map)(sink->kind - gls_weights_kinds - 1);
}

/* Reads --weights-maps: names the file of one map. */
static gls_status take_map(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    char *name = NULL;
    if (!o->weights_maps) return GLS_OK;
    if (o->weights != GLS_RUN_WEIGHTS_COMMIT)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights-maps: needs --weights commit");
    sink->wanted = true;
    gls_status status = gls_run_join(o->weights_maps, gls_signal_map_end(map_of(sink)), &name);
    if (!status) status = gls_sink_writes(sink, sinks, name);
    free(name);
    return status;
}

/* Contexts on each GPU that map streamlines: while one sends streamlines or reads what it has mapped, the other's
 * kernel runs. */
#define MAPPERS_PER_DEVICE 2

/* Opens further contexts on the GPUs, which map streamlines while the trackers continue. Those that cannot be opened
 * are left out; without any, as on the CPU's renderer, the CPU maps streamlines. */
static void open_mappers(weights_state *w, const gls_device_set *devices)
{
    gls_device_set *to = &w->mappers;
    const size_t wanted = MAPPERS_PER_DEVICE * devices->n, room = sizeof to->device / sizeof *to->device,
                 n = wanted < room ? wanted : room;
    if (gls_device_get_info(devices->device[0])->software) return;
    while (to->n < n && gls_device_reopen(devices->device[to->n % devices->n], &to->device[to->n]) == GLS_OK) to->n++;
    if (to->n < n)
        gls_log(GLS_LOG_INFO, "streamlines are mapped by %zu of %zu contexts: %s", to->n, n, gls_last_error());
}

/* Reads the series as 'glslines weights' does, beside the caller. */
static gls_status read_series(void *user)
{
    weights_state *w = user;
    const gls_job_options *o = w->sinks->options;
    gls_series *s = &w->series;
    gls_gradients_options table = gls_gradients_options_default();
    table.b0_threshold = o->model.b0_threshold;
    table.frame = (gls_bvec_frame)o->model.bvec_frame;
    table.without_b0 = true;
    s->name = o->dwi;
    gls_signal_options options = gls_signal_options_default();
    options.solver.max_iters = gls_weights_options_default().max_iters;
    gls_status status = gls_image_read(o->dwi, GLS_IMAGE_4D, &s->dwi);
    if (!status) status = gls_series_read_table(s, o->bval, o->bvec, &table);
    if (status) return status;
    const gls_signal_source source = {.name = o->dwi, .table = s->gradients};
    return gls_signal_begin(&w->signal, &options, &source, s->dwi, NULL);
}

/* Segments the FODs that are tracked into fixels, beside the caller. */
static gls_status segment_fods(void *user)
{
    weights_state *w = user;
    const gls_job_options *o = w->sinks->options;
    GLS_REQUIRE(w->sinks->fod);
    const gls_fod_options fod = gls_fod_options_of_run(o, w->sinks->transform);
    return gls_fod_segment(&fod, w->sinks->fod, &w->fod);
}

/* Waits for the series; or opens the contexts of the mapper, waits for the fixels, and makes the mapper. */
static gls_status await_beginning(weights_state *w)
{
    if (w->weights) return GLS_OK;
    if (!is_commit(w)) open_mappers(w, w->sinks->devices);
    gls_status status = gls_beside_end(&w->beginning, GLS_OK);
    if (is_commit(w)) return status;
    if (!status) status = gls_weights_create(w->fod.fixels, NULL, &w->weights);
    if (!status) status = gls_weights_set_mask(w->weights, w->fod.mask, w->fod.scale);
    if (!status) status = gls_weights_set_devices(w->weights, w->mappers.device, w->mappers.n);
    if (status) return status;
    return gls_weights_set_walk(w->weights, gls_weights_upsampling(w->sinks->step_size, gls_fixels_grid(w->fod.fixels)),
                                GLS_WALK_CURVE);
}

/* Maps streamlines. */
static gls_status append(void *user, const gls_streamlines *s)
{
    weights_state *w = user;
    gls_status status = await_beginning(w);
    if (status) return status;
    const gls_sink sink = is_commit(w) ? gls_signal_sink(&w->signal) : gls_weights_sink(w->weights);
    return gls_sink_append(&sink, s);
}

/* Starts the thread that segments the FODs or reads the series. */
static gls_status begin(gls_run_sink *sink, gls_run_sinks *sinks)
{
    weights_state *w = sink->state;
    w->sinks = sinks;
    w->beginning = is_commit(w) ? (gls_beside){.name = "read the series", .work = read_series, .user = w}
                                : (gls_beside){.name = "segment FODs", .work = segment_fods, .user = w};
    gls_beside_begin(&w->beginning);
    return GLS_OK;
}

static gls_status open_weights(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    (void)sinks;
    (void)tractogram;
    *own = (gls_sink){.append = append, .user = sink->state};
    return GLS_OK;
}

/* Number of streamlines so far. */
static uint64_t count(const weights_state *w)
{
    return is_commit(w) ? w->signal.rows.n : gls_weights_get_result(w->weights)->streamlines;
}

/* Gives each streamline the same weight, 1 or for COMMIT 0, with a warning, where no weights can be computed. */
static gls_status weigh_alike(weights_state *w)
{
    const uint64_t n = count(w);
    const int weight = is_commit(w) ? 0 : 1;
    if (n > 0)
        gls_log(GLS_LOG_WARNING, "weights cannot be computed, and each streamline gets %d: %s", weight,
                gls_last_error());
    w->alike = malloc((n > 0 ? n : 1) * sizeof *w->alike);
    if (!w->alike) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    for (uint64_t i = 0; i < n; i++) w->alike[i] = (float)weight;
    return GLS_OK;
}

/* Computes the weights from the signal. */
static gls_status solve_signal(weights_state *w, const gls_device_set *devices)
{
    const bool software = gls_device_get_info(devices->device[0])->software;
    const gls_status status = gls_signal_end(&w->signal, devices->device, software ? 0 : devices->n);
    if (status) return status;
    gls_signal_log(&w->signal);
    if (w->signal.fit.why == GLS_SIGNAL_STOP_INFINITE)
        gls_log(GLS_LOG_WARNING,
                "--weights commit: the objective was not finite: the weights are those of the best iteration");
    return GLS_OK;
}

/* Computes the weights from the FODs. */
static gls_status solve_fixels(weights_state *w, const gls_device_set *devices)
{
    const bool software = gls_device_get_info(devices->device[0])->software;
    const gls_status status = gls_weights_solve(w->weights, devices->device, software ? 0 : devices->n, NULL, NULL);
    if (!status) gls_weights_log(w->weights);
    return status;
}

gls_status gls_weights_sink_solve(gls_run_sink *weights, gls_run_sinks *sinks, const float **weight, uint64_t *n)
{
    weights_state *w = weights->state;
    gls_status status = await_beginning(w);
    /* the connectome, the tractogram and the text ask for weights, which are computed once */
    if (!status && !w->solved) {
        status = is_commit(w) ? solve_signal(w, sinks->devices) : solve_fixels(w, sinks->devices);
        if (status == GLS_ERR_EMPTY) status = weigh_alike(w);
        w->solved = !status;
    }
    if (status) return status;
    *n = count(w);
    *weight = w->alike ? w->alike : is_commit(w) ? w->signal.weight : gls_weights_get(w->weights, n);
    return GLS_OK;
}

/* Solves for the weights and adds them as a column of the tractogram, unless they go to a text file. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    const float *weight = NULL;
    uint64_t n;
    gls_status status = gls_weights_sink_solve(sink, sinks, &weight, &n);
    if (status || sink->output || !writer) return status;
    const char *name = is_commit(sink->state) ? GLS_DPS_COMMIT : GLS_DPS_WEIGHTS;
    const gls_column column = {name, GLS_TYPE_FLOAT32, 1, weight};
    return gls_tractogram_writer_add_dps(writer, &column);
}

/* If the weights go to a text file: solves for them and writes them in the order of the streamlines. */
static gls_status write_weights(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const float *weight = NULL;
    uint64_t n;
    gls_status status = sink->output ? gls_weights_sink_solve(sink, sinks, &weight, &n) : GLS_OK;
    if (status || !sink->output) return status;
    return gls_weights_write_text(sink->output, sinks->run->force, &sinks->run->group, weight, n, 1,
                                  "weights by glslines");
}

/* Writes a map, which is 0 everywhere if there is no fit. */
static gls_status write_map(gls_run_sink *sink, gls_run_sinks *sinks)
{
    gls_run_sink *weights = gls_sink_find(sinks, gls_weights_kinds);
    const float *weight = NULL;
    gls_image *image = NULL;
    uint64_t n;
    gls_status status = gls_weights_sink_solve(weights, sinks, &weight, &n);
    const weights_state *w = weights->state;
    if (!status) status = gls_signal_map_make(&w->signal, map_of(sink), &image);
    if (!status)
        status = gls_image_write_grouped(sink->output, sinks->run->force, &sinks->run->group, image, GLS_IMAGE_FLOAT32);
    gls_image_destroy(image);
    return status;
}

/* Adds counts and the result of the fit to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const weights_state *w = sink->state;
    cJSON *object = cJSON_AddObjectToObject(root, "weights");
    if (!is_commit(w))
        gls_weights_describe(object, w->weights);
    else if (!w->alike)
        gls_signal_describe(object, &w->signal);
}

static void finish(gls_run_sink *sink)
{
    weights_state *w = sink->state;
    (void)gls_beside_end(&w->beginning, GLS_ERR_CANCELLED); /* its failure, if any, was reported */
    gls_signal_finish(&w->signal);
    gls_series_finish(&w->series);
    gls_weights_destroy(w->weights);
    gls_device_set_close(&w->mappers);
    gls_fod_finish(&w->fod);
    free(w->alike);
}

/* clang-format off */
#define MAP_KIND {.role = "weights_maps", .size = 1, .take = take_map, .write = write_map}
/* clang-format on */
const gls_sink_kind gls_weights_kinds[] = {{.role = "weights",
                                            .size = sizeof(weights_state),
                                            .take = take,
                                            .begin = begin,
                                            .open = open_weights,
                                            .complete = complete,
                                            .write = write_weights,
                                            .describe = describe,
                                            .finish = finish},
                                           MAP_KIND,
                                           MAP_KIND,
                                           MAP_KIND,
                                           MAP_KIND,
                                           MAP_KIND};
_Static_assert(sizeof gls_weights_kinds / sizeof *gls_weights_kinds == 1 + GLS_SIGNAL_N_MAPS,
               "a kind for the weights and one for each map");
