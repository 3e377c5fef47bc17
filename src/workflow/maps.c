#include "workflow/maps.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

gls_status gls_maps_init(gls_maps *maps, const gls_job_options *o)
{
    *maps = (gls_maps){.density = o->density};
    if (o->shard && (o->density || o->connectome))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: not with --shard: merge the shards, then 'glslines %s'",
                        o->density ? "density" : "connectome", o->density ? "density" : "connectome");
    gls_status status = gls_weigh_check(o);
    if (!status && o->density) status = gls_image_name_check(o->density);
    if (status || !o->connectome) return status;
    maps->labels = strdup(o->connectome);
    if (!maps->labels) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    char *colon = strrchr(maps->labels, ':');
    if (!colon || colon == maps->labels || !colon[1])
        return gls_fail(GLS_ERR_ARGUMENT, "--connectome: \"%s\": must be LABELS:FILE, two names with a colon",
                        o->connectome);
    *colon = '\0';
    maps->matrix = colon + 1;
    return GLS_OK;
}

gls_status gls_maps_add(gls_maps *maps, const gls_grid *grid, gls_sink *sink)
{
    gls_sink all[4] = {*sink};
    gls_connectome_options options = gls_connectome_options_default();
    if (maps->weigh.weights) options.weights = GLS_DPS_WEIGHTS;
    size_t n = 1;
    gls_image *labels = NULL;
    gls_status status = maps->density ? gls_density_create(grid, NULL, &maps->map) : GLS_OK;
    if (!status && maps->labels) {
        status = gls_image_read(maps->labels, GLS_IMAGE_3D, &labels);
        if (!status) status = gls_connectome_create(labels, maps->labels, &options, &maps->connectome);
        gls_image_destroy(labels);
    }
    if (maps->map) all[n++] = gls_density_sink(maps->map);
    if (maps->weigh.weights)
        all[n++] = gls_weigh_sink(&maps->weigh);
    else if (maps->connectome)
        all[n++] = gls_connectome_sink(maps->connectome);
    return status || n == 1 ? status : gls_sink_tee(all, n, sink);
}

gls_status gls_maps_weigh(gls_maps *maps, const gls_device_set *devices, gls_tractogram_writer *writer)
{
    gls_weigh *w = &maps->weigh;
    uint64_t n;
    if (!w->weights) return GLS_OK;
    gls_status status = gls_weigh_solve(w, devices);
    if (!status && maps->connectome) status = gls_weigh_connect(w, maps->connectome);
    if (status || maps->weights) return status;
    const gls_column column = {GLS_DPS_WEIGHTS, GLS_TYPE_FLOAT32, 1, gls_weights_get(w->weights, &n)};
    return gls_tractogram_writer_add_dps(writer, &column);
}

gls_status gls_maps_write(const gls_maps *maps, bool overwrite)
{
    gls_status status = maps->map ? gls_density_write(maps->map, maps->density) : GLS_OK;
    if (!status && maps->weigh.weights && maps->weights) {
        uint64_t n;
        const float *value = gls_weights_get(maps->weigh.weights, &n);
        status = gls_weights_write_text(maps->weights, overwrite, value, n, 1, "weights by glslines");
    }
    return status || !maps->connectome ? status : gls_connectome_write(maps->connectome, maps->matrix, overwrite);
}

void gls_maps_finish(gls_maps *maps)
{
    gls_density_destroy(maps->map);
    gls_connectome_destroy(maps->connectome);
    gls_weigh_finish(&maps->weigh);
    free(maps->labels);
    free(maps->weights);
    *maps = (gls_maps){0};
}
