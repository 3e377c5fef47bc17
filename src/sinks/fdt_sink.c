/* track --fdt-paths, --fdt-lengths and --waytotal: results as FSL writes them. For each voxel, the number of
 * streamlines that visit it, or their mean length from the seed to it; and the number of all streamlines, or with
 * --fdt-network of those from each region. */
#include <inttypes.h>
#include <stdlib.h>

#include "image/image_write.h"
#include "sinks/fdt.h"
#include "sinks/fdt_network_sink.h"
#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "util/status.h"
#include "util/text.h"

/* --- Maps: each voxel counts a streamline once, however many of its points lie there. */

/* A voxel of the map. */
typedef struct visit {
    uint64_t last; /* number of the last streamline that visited the voxel, from 1 */
    /* number of streamlines that visited the voxel */
    uint64_t n;
    double length; /* sum, over these streamlines, of the length from the seed to the first point in the voxel, mm */
} visit;

/* State of --fdt-paths and --fdt-lengths. line: number of the current streamline; step: mm. */
typedef struct map_state {
    gls_fdt_numbering numbering;
    const gls_fdt_numbering *rois;
    size_t n_voxels;
    /* n_voxels elements */
    visit *voxel;
    uint64_t line;
    double step;
} map_state;

/* Whether the map is that of --fdt-paths, the first kind of this file. */
static bool is_paths(const gls_run_sink *sink)
{
    return sink->kind == gls_fdt_kinds;
}

static gls_status take_map(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    const char *path = is_paths(sink) ? o->fdt_paths : o->fdt_lengths;
    if (!path) return GLS_OK;
    sink->wanted = true;
    gls_status status = gls_fdt_check(sink, sinks, is_paths(sink) && !o->distance_correction);
    if (!status) status = gls_image_name_check(path);
    return status ? status : gls_sink_writes(sink, sinks, path);
}

/* Notes the voxels of a half-streamline that the current streamline has not visited yet. */
static void follow(map_state *m, const gls_fdt_half *half)
{
    for (size_t k = 0; k < half->n; k++) {
        const uint32_t place = gls_fdt_number_at(&m->numbering, gls_fdt_point(half, k));
        if (place == 0 || m->voxel[place - 1].last == m->line) continue;
        visit *at = &m->voxel[place - 1];
        at->last = m->line;
        at->n++;
        at->length += (double)k * m->step;
    }
}

/* Counts a block of streamlines. A streamline of a single point counts in the voxel of that point, but not with
 * --fdt-network; streamlines without points do not count. */
static gls_status append(void *user, const gls_streamlines *s)
{
    map_state *m = user;
    for (size_t i = 0; i < s->n; i++) {
        gls_fdt_half half[2];
        m->line++;
        if (!gls_fdt_halves(s, i, m->rois, half) || half[0].n + half[1].n < 2) continue;
        for (int h = 0; h < 2; h++) follow(m, &half[h]);
    }
    return GLS_OK;
}

static gls_status open_map(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    map_state *m = sink->state;
    (void)tractogram;
    gls_status status = gls_fdt_numbering_of_grid(sinks->grid, &m->numbering);
    if (status) return status;
    m->rois = gls_fdt_find_rois(sinks);
    m->step = sinks->step_size;
    m->n_voxels = gls_grid_voxels(sinks->grid);
    m->voxel = calloc(m->n_voxels, sizeof *m->voxel);
    if (!m->voxel) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a map", sink->output);
    *own = (gls_sink){.append = append, .user = m};
    return GLS_OK;
}

/* Writes the map: counts as int32, or as float64 if one is too large for int32; lengths as float32. */
static gls_status write_map(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const map_state *m = sink->state;
    const bool counts = is_paths(sink) && !sinks->options->distance_correction;
    gls_grid plain = *sinks->grid;
    gls_type type = counts ? GLS_TYPE_INT32 : GLS_TYPE_FLOAT32;
    /* write no NIfTI code of the coordinate space, as in maps that `glslines density` makes of a tractogram */
    plain.space = 0;
    for (size_t v = 0; v < m->n_voxels && counts; v++)
        if (m->voxel[v].n > INT32_MAX) type = GLS_TYPE_FLOAT64;
    void *data = calloc(m->n_voxels, gls_type_size(type));
    if (!data) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a map", sink->output);
    for (size_t v = 0; v < m->n_voxels; v++) {
        const visit *at = &m->voxel[v];
        const double mean = at->n > 0 ? at->length / (double)at->n : 0;
        if (type == GLS_TYPE_INT32)
            ((int32_t *)data)[v] = (int32_t)at->n;
        else if (type == GLS_TYPE_FLOAT64)
            ((double *)data)[v] = (double)at->n;
        else
            /* --fdt-paths with --distance-correction is the sum of lengths; the map of lengths is their mean */
            ((float *)data)[v] = (float)(is_paths(sink) ? at->length : mean);
    }
    gls_status status =
        gls_image_write_values(sink->output, sinks->run->force, &sinks->run->group, &plain, "density", 1, type, data);
    free(data);
    return status;
}

static void finish_map(gls_run_sink *sink)
{
    free(((map_state *)sink->state)->voxel);
}

/* --- Numbers of streamlines: one number, or with --fdt-network one for each region. */

/* State of --waytotal. rois: the regions of --fdt-network; NULL: none. n: number of counts, one for each region, or 1
 * without regions. */
typedef struct total_state {
    const gls_fdt_numbering *rois;
    size_t n;
    /* number of streamlines from each region, or of all streamlines */
    uint64_t *count;
} total_state;

static gls_status take_total(gls_run_sink *sink, gls_run_sinks *sinks)
{
    if (!sinks->options->waytotal) return GLS_OK;
    if (sinks->options->shard)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--waytotal: not with --shard: merge the shards, then count the streamlines by 'glslines info --count'");
    sink->wanted = true;
    return gls_sink_writes(sink, sinks, sinks->options->waytotal);
}

/* Counts the streamlines of a block; with --fdt-network those from each region that meet another region. */
static gls_status count(void *user, const gls_streamlines *s)
{
    total_state *t = user;
    if (!t->rois) t->count[0] += s->n;
    for (size_t i = 0; t->rois && i < s->n; i++) {
        gls_fdt_half half[2];
        if (gls_fdt_halves(s, i, t->rois, half)) t->count[gls_fdt_number_at(t->rois, *half[0].seed) - 1]++;
    }
    return GLS_OK;
}

static gls_status open_total(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    total_state *t = sink->state;
    (void)tractogram;
    t->rois = gls_fdt_find_rois(sinks);
    t->n = t->rois ? t->rois->n : 1;
    t->count = calloc(t->n, sizeof *t->count);
    if (!t->count) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", sink->output);
    *own = (gls_sink){.append = count, .user = t};
    return GLS_OK;
}

/* Whether the sink needs points: the count of all streamlines needs none; counts for regions need all points. */
static bool total_needs_points(const gls_run_sink *sink, const gls_grid *tracked)
{
    (void)tracked;
    return ((const total_state *)sink->state)->rois != NULL;
}

/* Writes waytotal: one number a line. */
static gls_status write_total(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const total_state *t = sink->state;
    gls_text text = {0};
    for (size_t i = 0; i < t->n; i++) gls_text_printf(&text, "%" PRIu64 "\n", t->count[i]);
    return gls_text_write(&text, sink->output, sinks->run->force, &sinks->run->group, GLS_OK);
}

static void finish_total(gls_run_sink *sink)
{
    free(((total_state *)sink->state)->count);
}

#define MAP_KIND(name, corrected)                                                                            \
    {                                                                                                        \
        .role = name, .size = sizeof(map_state), .by_length = corrected, .take = take_map, .open = open_map, \
        .write = write_map, .finish = finish_map                                                             \
    }
const gls_sink_kind gls_fdt_kinds[] = {MAP_KIND("fdt_paths", true),
                                       MAP_KIND("fdt_lengths", false),
                                       {.role = "waytotal",
                                        .size = sizeof(total_state),
                                        .take = take_total,
                                        .open = open_total,
                                        .needs_points = total_needs_points,
                                        .write = write_total,
                                        .finish = finish_total}};
