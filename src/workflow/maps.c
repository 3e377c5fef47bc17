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
    gls_status status = o->density ? gls_image_name_check(o->density) : GLS_OK;
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
    gls_sink all[3] = {*sink};
    size_t n = 1;
    gls_image *labels = NULL;
    gls_status status = maps->density ? gls_density_create(grid, NULL, &maps->map) : GLS_OK;
    if (!status && maps->labels) {
        status = gls_image_read(maps->labels, GLS_IMAGE_3D, &labels);
        if (!status) status = gls_connectome_create(labels, maps->labels, NULL, &maps->connectome);
        gls_image_destroy(labels);
    }
    if (maps->map) all[n++] = gls_density_sink(maps->map);
    if (maps->connectome) all[n++] = gls_connectome_sink(maps->connectome);
    return status || n == 1 ? status : gls_sink_tee(all, n, sink);
}

gls_status gls_maps_write(const gls_maps *maps, bool overwrite)
{
    gls_status status = maps->map ? gls_density_write(maps->map, maps->density) : GLS_OK;
    return status || !maps->connectome ? status : gls_connectome_write(maps->connectome, maps->matrix, overwrite);
}

void gls_maps_finish(gls_maps *maps)
{
    gls_density_destroy(maps->map);
    gls_connectome_destroy(maps->connectome);
    free(maps->labels);
    *maps = (gls_maps){0};
}
