#include "workflow/weigh.h"

#include <stdlib.h>
#include <string.h>

#include <glslines/odf.h>

#include "util/log.h"
#include "util/status.h"
#include "workflow/params.h"

#define PARCEL 16384

gls_status gls_weigh_check(const gls_job_options *o)
{
    if (!o->weights) return GLS_OK;
    if (o->shard)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights: not with --shard: merge the shards, then 'glslines weights'");
    if (o->sh || (!gls_directions_option(o) && o->model.model != GLS_MODEL_OPDT && o->model.model != GLS_MODEL_CSA))
        return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--weights: needs fibre orientation distributions: --model msmt or csd, or --sh");
}

/* A context of its own on a GPU: the trackers go on beside it. */
static gls_status set_device(gls_weigh *w, const gls_device_set *devices)
{
    if (gls_device_get_info(devices->device[0])->software) return GLS_OK;
    gls_status status = gls_device_reopen(devices->device[0], &w->device);
    if (status) {
        gls_log(GLS_LOG_INFO, "streamlines are mapped on the CPU: %s", gls_last_error());
        return GLS_OK;
    }
    return gls_weights_set_device(w->weights, w->device);
}

gls_status gls_weigh_begin(gls_weigh *w, const gls_study *study, const gls_job_options *o,
                           const gls_device_set *devices, double step)
{
    const gls_image *from = o->sh ? study->odf_image : study->model.sh;
    gls_image *sh = NULL;
    if (!o->weights) return GLS_OK;
    GLS_REQUIRE(from);
    gls_fod_options fod = {.sh = o->sh ? o->sh : "the fit", .act = o->act, .fixel = gls_fixel_options_default()};
    gls_status status =
        gls_odf_convert_sh(from, fod.sh, o->sh ? o->model.sh_basis : GLS_SH_DESCOTEAUX07_LEGACY,
                           o->sh ? gls_model_frame(&o->model) : GLS_BVEC_IMAGE, GLS_SH_TOURNIER07, GLS_BVEC_WORLD, &sh);
    if (!status) status = gls_fod_segment(&fod, sh, &w->fod);
    gls_image_destroy(sh);
    if (!status) status = gls_weights_create(w->fod.fixels, NULL, &w->weights);
    if (!status) status = gls_weights_set_mask(w->weights, w->fod.mask, w->fod.scale);
    if (!status) status = set_device(w, devices);
    w->keeps_ends = o->connectome != NULL;
    return status ? status
                  : gls_weights_set_walk(w->weights, gls_weights_upsampling(step, gls_fixels_grid(w->fod.fixels)),
                                         GLS_WALK_CURVE);
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_weigh *w = user;
    gls_sink sink = gls_weights_sink(w->weights);
    gls_status status = gls_sink_append(&sink, s);
    if (status || !w->keeps_ends) return status;
    if (w->n + s->n > w->capacity) {
        size_t capacity = 2 * (w->n + s->n);
        float(*end)[2][3] = realloc(w->end, capacity * sizeof *end);
        if (!end) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ends of %zu streamlines", w->n + s->n);
        w->end = end;
        w->capacity = capacity;
    }
    for (size_t i = 0; i < s->n; i++) {
        memcpy(w->end[w->n][0], s->point[s->offset[i]], sizeof *s->point);
        memcpy(w->end[w->n++][1], s->point[s->offset[i + 1] - 1], sizeof *s->point);
    }
    return GLS_OK;
}

gls_sink gls_weigh_sink(gls_weigh *weigh)
{
    return (gls_sink){.append = append, .user = weigh};
}

static gls_status weigh_alike(gls_weigh *w)
{
    const uint64_t n = gls_weights_get_result(w->weights)->streamlines;
    if (n > 0) gls_log(GLS_LOG_WARNING, "no weights, each streamline gets 1: %s", gls_last_error());
    w->alike = malloc((n > 0 ? n : 1) * sizeof *w->alike);
    if (!w->alike) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    for (uint64_t i = 0; i < n; i++) w->alike[i] = 1;
    return GLS_OK;
}

gls_status gls_weigh_solve(gls_weigh *w, const gls_device_set *devices)
{
    bool software = gls_device_get_info(devices->device[0])->software;
    gls_status status = gls_weights_solve(w->weights, devices->device, software ? 0 : devices->n, NULL, NULL);
    if (status == GLS_ERR_EMPTY) return weigh_alike(w);
    if (!status) gls_weights_tell(w->weights);
    return status;
}

const float *gls_weigh_get(const gls_weigh *w, uint64_t *n)
{
    if (!w->alike) return gls_weights_get(w->weights, n);
    if (n) *n = gls_weights_get_result(w->weights)->streamlines;
    return w->alike;
}

gls_status gls_weigh_connect(const gls_weigh *w, gls_connectome *connectome)
{
    const float *weight = gls_weigh_get(w, NULL);
    gls_sink sink = gls_connectome_sink(connectome);
    uint64_t offset[PARCEL + 1];
    gls_status status = GLS_OK;
    for (size_t i = 0; i <= PARCEL; i++) offset[i] = 2 * i;
    for (size_t first = 0; first < w->n && !status; first += PARCEL) {
        const gls_column column = {GLS_DPS_WEIGHTS, GLS_TYPE_FLOAT32, 1, weight + first};
        const gls_streamlines s = {.n = w->n - first < PARCEL ? w->n - first : PARCEL,
                                   .offset = offset,
                                   .point = (const float(*)[3])w->end[first],
                                   .n_dps = 1,
                                   .dps = &column};
        status = gls_sink_append(&sink, &s);
    }
    return status;
}

void gls_weigh_finish(gls_weigh *w)
{
    gls_weights_destroy(w->weights);
    gls_device_close(w->device);
    gls_fod_finish(&w->fod);
    free(w->end);
    free(w->alike);
    *w = (gls_weigh){0};
}
