#include "workflow/track_segment.h"

#include <stdlib.h>
#include <string.h>

#include "tractogram/tractogram.h"
#include "tracts/bundles.h"
#include "tracts/shape.h"
#include "util/parse.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/tracts/segment_files.h"

gls_status gls_track_segment_take(gls_track_segment *s, const gls_job_options *o)
{
    *s = (gls_track_segment){.rules = NULL};
    if (!o->segment && o->segment_unique) return gls_fail(GLS_ERR_ARGUMENT, "--segment-unique: needs --segment");
    if (!o->segment) return GLS_OK;
    s->unique = o->segment_unique;
    const char *colon = gls_names_last(o->segment, ':');
    if (colon == o->segment || (colon && !colon[1]))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--segment: \"%s\": must be BUNDLES or BUNDLES:FILE, names with a colon between them (\\: is a colon in a "
            "name)",
            o->segment);
    if (colon && o->shard)
        return gls_fail(GLS_ERR_ARGUMENT, "--segment: a table not with --shard: groups of TRX files merge (--segment "
                                          "without :FILE); or merge the shards, then 'glslines segment'");
    s->rules = gls_names_copy(o->segment, colon ? (size_t)(colon - o->segment) : strlen(o->segment));
    if (colon) s->table = gls_names_copy(colon + 1, strlen(colon + 1));
    return s->rules && (!colon || s->table) ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
}

gls_status gls_track_segment_begin(gls_track_segment *s, const gls_grid *grid, bool shards, bool trx)
{
    gls_bundles_options options = gls_bundles_options_default();
    options.grid = grid;
    options.unique = s->unique;
    gls_status status = gls_bundles_read(s->rules, &options, &s->bundles);
    if (status) return status;
    const size_t n = gls_bundles_count(s->bundles);
    for (size_t k = 0; k < n && shards; k++)
        if (gls_bundles_cleans(s->bundles, k))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "%s: bundle %s: clean: not with --shard, since outliers show among all streamlines alone: "
                            "merge the shards, then 'glslines segment'",
                            s->rules, gls_bundles_get(s->bundles, k).name);
    for (size_t k = 0; k < n && trx; k++)
        if (!gls_trx_can_name(gls_bundles_get(s->bundles, k).name))
            return gls_fail(GLS_ERR_INPUT, "%s: bundle \"%.120s\": TRX files cannot name such a group", s->rules,
                            gls_bundles_get(s->bundles, k).name);
    if (!s->table) return GLS_OK;
    s->volume = calloc(n, sizeof *s->volume);
    s->waiting = calloc(n, sizeof *s->waiting);
    if (!s->volume || !s->waiting) return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
    for (size_t k = 0; k < n && !status; k++) status = gls_bundle_stats_create(grid, 0, &s->volume[k]);
    return status;
}

static bool make_room(gls_track_waiting *w, size_t n_points)
{
    if (w->n + 1 >= w->capacity) {
        const size_t capacity = 2 * w->capacity + 64;
        uint64_t *place = realloc(w->place, capacity * sizeof *place);
        if (place) w->place = place;
        size_t *offset = realloc(w->offset, capacity * sizeof *offset);
        if (offset) w->offset = offset;
        if (!place || !offset) return false;
        w->capacity = capacity;
    }
    if (w->n_points + n_points <= w->point_capacity) return true;
    const size_t capacity = 2 * (w->n_points + n_points);
    float(*point)[3] = realloc(w->point, capacity * sizeof *point);
    if (!point) return false;
    w->point = point;
    w->point_capacity = capacity;
    return true;
}

static gls_status let_wait(gls_track_waiting *w, uint64_t place, const float (*point)[3], size_t n)
{
    if (!make_room(w, n)) return gls_fail(GLS_ERR_MEMORY, "out of memory for the streamlines of a bundle");
    memcpy(w->point + w->n_points, point, n * sizeof *point);
    w->place[w->n] = place;
    w->offset[w->n++] = w->n_points;
    w->offset[w->n] = w->n_points += n;
    return GLS_OK;
}

static gls_status append(void *user, const gls_streamlines *in)
{
    gls_track_segment *s = user;
    const uint64_t first = gls_bundles_streamlines(s->bundles);
    const gls_sink bundles = gls_bundles_sink(s->bundles);
    gls_status status = gls_sink_append(&bundles, in);
    for (size_t k = 0; k < gls_bundles_count(s->bundles) && s->table && !status; k++) {
        const gls_bundle *bundle = &s->bundles->bundle[k];
        size_t m = bundle->n;
        while (m > 0 && bundle->member[m - 1].place >= first) m--;
        for (; m < bundle->n && !status; m++) {
            const uint64_t place = bundle->member[m].place;
            const float(*point)[3] = in->point + in->offset[place - first];
            const size_t n = (size_t)(in->offset[place - first + 1] - in->offset[place - first]);
            status = gls_bundles_cleans(s->bundles, k) ? let_wait(&s->waiting[k], place, point, n)
                                                       : gls_bundle_stats_add(s->volume[k], point, n, 1);
        }
    }
    return status;
}

gls_sink gls_track_segment_sink(gls_track_segment *segment)
{
    return (gls_sink){.append = append, .user = segment};
}

/* What waited of a bundle and is still in it. */
static gls_status add_waiting(gls_track_segment *s, size_t k)
{
    const gls_bundle *bundle = &s->bundles->bundle[k];
    const gls_track_waiting *w = &s->waiting[k];
    gls_status status = GLS_OK;
    for (size_t i = 0, m = 0; i < w->n && m < bundle->n && !status; i++) {
        if (w->place[i] != bundle->member[m].place) continue;
        status = gls_bundle_stats_add(s->volume[k], (const float(*)[3])(w->point + w->offset[i]),
                                      w->offset[i + 1] - w->offset[i], 1);
        m++;
    }
    return status;
}

gls_status gls_track_segment_complete(gls_track_segment *s, gls_tractogram_writer *writer)
{
    if (!s->bundles) return GLS_OK;
    const size_t n = gls_bundles_count(s->bundles);
    gls_status status = gls_bundles_complete(s->bundles);
    for (size_t k = 0; k < n && s->waiting && !status; k++) status = add_waiting(s, k);
    if (status || !writer) return status;
    s->member = calloc(n, sizeof *s->member);
    if (!s->member) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    for (size_t k = 0; k < n && !status; k++) {
        const gls_bundle *bundle = &s->bundles->bundle[k];
        s->member[k] = malloc((bundle->n + 1) * sizeof *s->member[k]);
        if (!s->member[k]) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
        for (size_t m = 0; m < bundle->n; m++) s->member[k][m] = (uint32_t)bundle->member[m].place;
        status = gls_writer_add_group(writer, gls_bundles_get(s->bundles, k).name, s->member[k], bundle->n);
    }
    return status;
}

gls_status gls_track_segment_write(gls_track_segment *s, bool overwrite, gls_output_group *group)
{
    if (!s->table) return GLS_OK;
    const size_t n = gls_bundles_count(s->bundles);
    double *volume = malloc(n * sizeof *volume);
    if (!volume) return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
    for (size_t k = 0; k < n; k++) volume[k] = gls_bundle_stats_shape(s->volume[k]).volume;
    gls_status status = gls_bundle_table_write(s->bundles, volume, s->table, overwrite, group);
    free(volume);
    return status;
}

void gls_track_segment_finish(gls_track_segment *s)
{
    const size_t n = s->bundles ? gls_bundles_count(s->bundles) : 0;
    for (size_t k = 0; k < n; k++) {
        if (s->volume) gls_bundle_stats_destroy(s->volume[k]);
        if (s->member) free(s->member[k]);
        if (!s->waiting) continue;
        free(s->waiting[k].place);
        free(s->waiting[k].offset);
        free(s->waiting[k].point);
    }
    free(s->volume);
    free(s->member);
    free(s->waiting);
    gls_bundles_destroy(s->bundles);
    free(s->rules);
    free(s->table);
    *s = (gls_track_segment){.rules = NULL};
}
