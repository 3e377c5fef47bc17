/* track --weights: computes weights of streamlines (SIFT2) during tracking, as a column of the tractogram or as text.
 * A thread segments the FODs into fixels while volumes go to the device and tracking begins. Streamlines are mapped to
 * fixels as they arrive. */
#include <cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/odf.h>

#include "sinks/weights_sink.h"
#include "dwi/model_options.h"
#include "record/run_params.h"
#include "sinks/sinks.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"
#include "weights/fod.h"
#include "weights/weight_files.h"

/* State of --weights. */
typedef struct weights_state {
    /* the sinks of the run, borrowed */
    const gls_run_sinks *sinks;
    /* segments the FODs */
    gls_beside segmenting;
    /* fixels of the FODs that are tracked */
    gls_fod fod;
    /* maps the streamlines, then solves for their weights; NULL until await_fixels() */
    gls_weights *weights;
    gls_device_set mappers; /* contexts that map streamlines while other contexts track; empty: the CPU maps */
    bool solved;
    float *alike; /* if no weights can be computed: a weight of 1 for each streamline; else NULL */
} weights_state;

/* Reads --weights. A TRX file holds the weights as a column; with another format they go to a text file beside it;
 * without a tractogram they are not written. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    if (!o->weights) return GLS_OK;
    if (o->shard)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights: not with --shard: merge the shards, then run 'glslines weights'");
    if (!gls_fod_is_tracked(o, sinks->method))
        return gls_fail(GLS_ERR_ARGUMENT, "--weights: needs fibre orientation distributions: %s",
                        sinks->method->fits ? "give --model msmt or csd, or --sh FILE"
                                            : "leave out --weights, then run 'glslines weights TRACKS FOD'");
    sink->wanted = true;
    if (sinks->no_tractogram || sinks->writes_trx) return GLS_OK;
    gls_asprintf(&sink->output, "%.*s_weights.txt", (int)strlen(sinks->output) - 4, sinks->output);
    return sink->output ? GLS_OK : gls_no_memory();
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

/* Segments the FODs that are tracked into fixels, beside the caller. */
static gls_status segment_fods(void *user)
{
    weights_state *w = user;
    const gls_job_options *o = w->sinks->options;
    GLS_REQUIRE(w->sinks->fod);
    const gls_fod_options fod = gls_fod_options_of_run(o, w->sinks->transform);
    return gls_fod_segment(&fod, w->sinks->fod, &w->fod);
}

/* Opens the contexts of the mapper, waits for the fixels, and makes the mapper. */
static gls_status await_fixels(weights_state *w)
{
    if (w->weights) return GLS_OK;
    open_mappers(w, w->sinks->devices);
    gls_status status = gls_beside_end(&w->segmenting, GLS_OK);
    if (!status) status = gls_weights_create(w->fod.fixels, NULL, &w->weights);
    if (!status) status = gls_weights_set_mask(w->weights, w->fod.mask, w->fod.scale);
    if (!status) status = gls_weights_set_devices(w->weights, w->mappers.device, w->mappers.n);
    if (status) return status;
    return gls_weights_set_walk(w->weights, gls_weights_upsampling(w->sinks->step_size, gls_fixels_grid(w->fod.fixels)),
                                GLS_WALK_CURVE);
}

/* Maps streamlines to fixels. */
static gls_status append(void *user, const gls_streamlines *s)
{
    weights_state *w = user;
    gls_status status = await_fixels(w);
    if (status) return status;
    const gls_sink sink = gls_weights_sink(w->weights);
    return gls_sink_append(&sink, s);
}

/* Starts the thread that segments the FODs. */
static gls_status begin(gls_run_sink *sink, gls_run_sinks *sinks)
{
    weights_state *w = sink->state;
    w->sinks = sinks;
    w->segmenting = (gls_beside){.name = "segment FODs", .work = segment_fods, .user = w};
    gls_beside_begin(&w->segmenting);
    return GLS_OK;
}

static gls_status open_weights(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    (void)sinks;
    (void)tractogram;
    *own = (gls_sink){.append = append, .user = sink->state};
    return GLS_OK;
}

/* Gives each streamline a weight of 1, with a warning, where no weights can be computed. */
static gls_status weigh_alike(weights_state *w)
{
    const uint64_t n = gls_weights_get_result(w->weights)->streamlines;
    if (n > 0) gls_log(GLS_LOG_WARNING, "weights cannot be computed, and each streamline gets 1: %s", gls_last_error());
    w->alike = malloc((n > 0 ? n : 1) * sizeof *w->alike);
    if (!w->alike) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    for (uint64_t i = 0; i < n; i++) w->alike[i] = 1;
    return GLS_OK;
}

gls_status gls_weights_sink_solve(gls_run_sink *weights, gls_run_sinks *sinks, const float **weight, uint64_t *n)
{
    weights_state *w = weights->state;
    const gls_device_set *devices = sinks->devices;
    const bool software = gls_device_get_info(devices->device[0])->software;
    gls_status status = await_fixels(w);
    /* the connectome, the tractogram and the text ask for weights, which are computed once */
    if (!status && !w->solved) {
        status = gls_weights_solve(w->weights, devices->device, software ? 0 : devices->n, NULL, NULL);
        if (!status) gls_weights_log(w->weights);
        if (status == GLS_ERR_EMPTY) status = weigh_alike(w);
        w->solved = !status;
    }
    if (status) return status;
    *weight = w->alike ? w->alike : gls_weights_get(w->weights, n);
    if (w->alike) *n = gls_weights_get_result(w->weights)->streamlines;
    return GLS_OK;
}

/* Solves for the weights and adds them as a column of the tractogram, unless they go to a text file. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    const float *weight = NULL;
    uint64_t n;
    gls_status status = gls_weights_sink_solve(sink, sinks, &weight, &n);
    if (status || sink->output || !writer) return status;
    const gls_column column = {GLS_DPS_WEIGHTS, GLS_TYPE_FLOAT32, 1, weight};
    return gls_tractogram_writer_add_dps(writer, &column);
}

/* If the weights go to a text file: solves for them (SIFT2) and writes them in the order of the streamlines. */
static gls_status write_weights(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const float *weight = NULL;
    uint64_t n;
    gls_status status = sink->output ? gls_weights_sink_solve(sink, sinks, &weight, &n) : GLS_OK;
    if (status || !sink->output) return status;
    return gls_weights_write_text(sink->output, sinks->run->force, &sinks->run->group, weight, n, 1,
                                  "weights by glslines");
}

/* Adds counts, mu and the cost of the fit to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    gls_weights_describe(cJSON_AddObjectToObject(root, "weights"), ((const weights_state *)sink->state)->weights);
}

static void finish(gls_run_sink *sink)
{
    weights_state *w = sink->state;
    (void)gls_beside_end(&w->segmenting, GLS_ERR_CANCELLED); /* its failure, if any, was reported */
    gls_weights_destroy(w->weights);
    gls_device_set_close(&w->mappers);
    gls_fod_finish(&w->fod);
    free(w->alike);
}

const gls_sink_kind gls_weights_kinds[] = {{.role = "weights",
                                            .size = sizeof(weights_state),
                                            .take = take,
                                            .begin = begin,
                                            .open = open_weights,
                                            .complete = complete,
                                            .write = write_weights,
                                            .describe = describe,
                                            .finish = finish}};
