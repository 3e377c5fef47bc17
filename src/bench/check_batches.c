/* Whether a device keeps batches apart that it has in hand at the same time: small ones of unequal size give the
 * streamlines, and the map that the device counts, of one batch with all seeds. */
#include <stdlib.h>
#include <string.h>

#include "bench/check.h"
#include "track/run/journaled.h"
#include "tracts/visited.h"
#include "util/hash.h"
#include "util/status.h"

/* What a run gives: a hash of its streamlines in their order, and the map. */
typedef struct outcome {
    uint64_t hash, n;
    gls_density *map;
    const gls_visited *visited; /* what the device counted of the streamlines that are delivered */
    double *voxel;
} outcome;

static gls_status take(void *user, const gls_streamlines *s)
{
    outcome *o = user;
    const gls_sink map = gls_density_sink(o->map);
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t n = s->offset[i + 1] - s->offset[i];
        const uint64_t link[3] = {o->hash, n, gls_hash(s->point[s->offset[i]], n * sizeof *s->point)};
        o->hash = gls_hash(link, sizeof link);
    }
    o->n += s->n;
    return gls_sink_append(&map, s);
}

static gls_status run(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                      const gls_seeds *seeds, uint32_t batch, outcome *o)
{
    const gls_grid *grid = &input->stop_map->grid;
    const gls_density_options options = gls_density_options_default();
    gls_track_params own = *params;
    gls_tracker *tracker = NULL;
    gls_track_result result;
    *o = (outcome){.voxel = malloc(gls_grid_voxels(grid) * sizeof *o->voxel)};
    own.batch_seeds = batch;
    gls_status status = o->voxel ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a map");
    if (!status) status = gls_density_create(grid, &options, &o->map);
    if (!status) gls_density_use_visited(o->map, &o->visited);
    if (!status) status = gls_tracker_create(device, &own, input, &tracker);
    const gls_sink sink = {.append = take, .user = o};
    const gls_track_extras extras = {.visited = &o->visited};
    if (!status) status = gls_tracker_run_journaled(tracker, seeds, &sink, &extras, NULL, NULL, &result);
    if (!status) gls_density_get(o->map, o->voxel);
    gls_tracker_destroy(tracker);
    gls_density_destroy(o->map);
    o->map = NULL;
    return status;
}

gls_status check_batches(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                         const gls_seeds *seeds, const uint32_t *batch, size_t n, size_t *same)
{
    const size_t bytes = gls_grid_voxels(&input->stop_map->grid) * sizeof(double);
    outcome whole;
    *same = 0;
    gls_status status = run(device, params, input, seeds, (uint32_t)gls_seeds_count(seeds), &whole);
    for (size_t i = 0; i < n && !status; i++) {
        outcome parts;
        status = run(device, params, input, seeds, batch[i], &parts);
        *same +=
            !status && parts.hash == whole.hash && parts.n == whole.n && memcmp(parts.voxel, whole.voxel, bytes) == 0;
        free(parts.voxel);
    }
    free(whole.voxel);
    return status;
}
