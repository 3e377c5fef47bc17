/* track --density and --dec: maps of how many streamlines visit each voxel, and of the directions in which they pass.
 */
#include <glslines/density.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "tracts/density_map.h"
#include "tracts/density_values.h"
#include "util/status.h"

/* State of --density and of --dec. */
typedef struct map_state {
    /* the map so far */
    gls_density *map;
} map_state;

static gls_status take_map(gls_run_sink *sink, const gls_run_sinks *sinks, const char *path)
{
    gls_status status = gls_image_name_check(path);
    sink->wanted = true;
    return status ? status : gls_sink_writes(sink, sinks, path);
}

static gls_status take_density(gls_run_sink *sink, gls_run_sinks *sinks)
{
    if (!sinks->options->density) return GLS_OK;
    sinks->wants_visits = true;
    gls_status status = gls_sink_check_select(sink, sinks);
    return status ? status : take_map(sink, sinks, sinks->options->density);
}

static gls_status take_dec(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    if (!o->dec) return GLS_OK;
    if (o->shard)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dec: not with --shard: merge the shards, then run 'glslines density --dec'");
    return take_map(sink, sinks, o->dec);
}

/* Makes the map. For a map of counts, lets the device count the visited voxels if it can. */
static gls_status open_map(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    map_state *s = sink->state;
    gls_density_options options = gls_density_options_default();
    gls_grid plain = *sinks->grid;
    (void)tractogram;
    plain.space = 0; /* write no NIfTI code of the coordinate space: maps that `glslines density` makes of a tractogram
                      * have none, and the bytes shall be equal */
    options.directions = sink->kind->take == take_dec;
    gls_status status = gls_density_create(&plain, &options, &s->map);
    if (status) return status;
    if (!options.directions) {
        sinks->counts_visits = true;
        gls_density_use_visited(s->map, &sinks->visited);
    }
    *own = gls_density_sink(s->map);
    return GLS_OK;
}

/* Whether the sink reads points. It does not where a device counts the visited voxels. */
static bool needs_points(const gls_run_sink *sink, const gls_grid *tracked)
{
    return !gls_density_takes_visited(((const map_state *)sink->state)->map, tracked);
}

static gls_status write_map(gls_run_sink *sink, gls_run_sinks *sinks)
{
    return gls_density_write_grouped(((map_state *)sink->state)->map, sink->output, sinks->run->force,
                                     &sinks->run->group);
}

static void finish(gls_run_sink *sink)
{
    gls_density_destroy(((map_state *)sink->state)->map);
}

const gls_sink_kind gls_density_kinds[] = {{.role = "density",
                                            .size = sizeof(map_state),
                                            .take = take_density,
                                            .open = open_map,
                                            .needs_points = needs_points,
                                            .write = write_map,
                                            .finish = finish},
                                           {.role = "dec",
                                            .size = sizeof(map_state),
                                            .take = take_dec,
                                            .open = open_map,
                                            .write = write_map,
                                            .finish = finish}};
