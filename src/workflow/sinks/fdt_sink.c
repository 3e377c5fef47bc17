/* track --fdt-paths and --waytotal: FSL's map of how many streamlines visit each voxel, and FSL's number of
 * streamlines.
 */
#include <inttypes.h>
#include <stdio.h>

#include "image/formats.h"
#include "tracts/sink_parts.h"
#include "util/status.h"
#include "workflow/job.h"

/* --- The map: voxels of the points of streamlines, each once. A streamline of one point is in no voxel. */

typedef struct paths_state {
    gls_density *map;
    gls_sink inner; /* the sink of the map */
} paths_state;

static gls_status take_paths(gls_run_sink *sink, gls_job *job)
{
    const gls_job_options *o = &job->options;
    if (!o->fdt_paths) return GLS_OK;
    if (o->shard)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--fdt-paths: not with --shard: maps of shards are merged with --density only");
    if (o->track.downsample > 1 || o->track.compress > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--fdt-paths: not with --%s: all points are counted",
                        o->track.compress > 0 ? "compress" : "downsample");
    gls_status status = gls_image_name_check(o->fdt_paths);
    sink->wanted = true;
    return status ? status : gls_sink_writes(sink, job, o->fdt_paths);
}

/* Passes on the streamlines of several points, as many as stand together at once. */
static gls_status append(void *user, const gls_streamlines *s)
{
    const gls_sink *inner = &((paths_state *)user)->inner;
    gls_status status = GLS_OK;
    for (size_t i = 0, from = 0; i <= s->n && !status; i++) {
        const bool lone = i == s->n || s->offset[i + 1] - s->offset[i] < 2;
        if (!lone) continue;
        const gls_streamlines part = {.n = i - from, .offset = s->offset + from, .point = s->point};
        if (part.n > 0) status = inner->append(inner->user, &part);
        from = i + 1;
    }
    return status;
}

static gls_status open_paths(gls_run_sink *sink, gls_job *job, gls_output_group *group, gls_sink *tractogram,
                             gls_sink *own)
{
    paths_state *s = sink->state;
    gls_density_options options = gls_density_options_default();
    gls_grid plain = *job->inputs.grid;
    (void)group, (void)tractogram;
    plain.space = 0;
    options.mapping = GLS_DENSITY_VERTEX;
    gls_status status = gls_density_create(&plain, &options, &s->map);
    if (status) return status;
    s->inner = gls_density_sink(s->map);
    *own = (gls_sink){.append = append, .user = s};
    return GLS_OK;
}

static gls_status write_paths(gls_run_sink *sink, gls_job *job, gls_output_group *group)
{
    return gls_density_write_grouped(((paths_state *)sink->state)->map, sink->output, job->run.force, group);
}

static void finish_paths(gls_run_sink *sink)
{
    gls_density_destroy(((paths_state *)sink->state)->map);
}

const gls_sink_kind gls_fdt_paths_kind = {.role = "fdt_paths",
                                          .size = sizeof(paths_state),
                                          .take = take_paths,
                                          .open = open_paths,
                                          .write = write_paths,
                                          .finish = finish_paths};

/* --- The number of streamlines. */

typedef struct total_state {
    gls_output output;
    uint64_t n;
} total_state;

static gls_status take_total(gls_run_sink *sink, gls_job *job)
{
    if (!job->options.waytotal) return GLS_OK;
    if (job->options.shard)
        return gls_fail(GLS_ERR_ARGUMENT, "--waytotal: not with --shard: merge the shards, and 'glslines info' counts");
    ((total_state *)sink->state)->output = GLS_OUTPUT_NONE;
    sink->wanted = true;
    return gls_sink_writes(sink, job, job->options.waytotal);
}

static gls_status count(void *user, const gls_streamlines *s)
{
    ((total_state *)user)->n += s->n;
    return GLS_OK;
}

static gls_status open_total(gls_run_sink *sink, gls_job *job, gls_output_group *group, gls_sink *tractogram,
                             gls_sink *own)
{
    total_state *t = sink->state;
    (void)tractogram;
    gls_status status = gls_output_create(sink->output, job->run.force, &t->output);
    t->output.group = group;
    *own = (gls_sink){.append = count, .user = t};
    return status;
}

static bool total_needs_points(const gls_run_sink *sink, const gls_grid *tracked)
{
    (void)sink, (void)tracked;
    return false;
}

static gls_status write_total(gls_run_sink *sink, gls_job *job, gls_output_group *group)
{
    total_state *t = sink->state;
    char text[32];
    (void)job, (void)group;
    const int length = snprintf(text, sizeof text, "%" PRIu64 "\n", t->n);
    gls_status status = gls_output_write(&t->output, text, (size_t)length);
    return status ? status : gls_output_commit(&t->output);
}

static void finish_total(gls_run_sink *sink)
{
    gls_output_discard(&((total_state *)sink->state)->output);
}

const gls_sink_kind gls_waytotal_kind = {.role = "waytotal",
                                         .size = sizeof(total_state),
                                         .take = take_total,
                                         .open = open_total,
                                         .needs_points = total_needs_points,
                                         .write = write_total,
                                         .finish = finish_total};
