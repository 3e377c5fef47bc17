/* track --segment BUNDLES or BUNDLES:FILE: assigns streamlines to bundles by a table of rules, as groups of the
 * tractogram and, with FILE, as a table. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "tractogram/tractogram.h"
#include "tractogram/trx.h"
#include "tractogram/writers.h"
#include "tracts/bundle_parts.h"
#include "tracts/bundle_summary.h"
#include "tracts/shape.h"
#include "tracts/other_space.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"

/* Streamlines of a bundle, kept until the outliers among them are known. */
typedef struct waiting_lines {
    /* numbers of streamlines and of points that are kept, and for how many of them memory is allocated */
    size_t n, capacity, n_points, point_capacity;
    uint64_t *index; /* index of each streamline in the tractogram */
    size_t *offset;  /* index of the first point of each streamline; n + 1 elements */
    float (*point)[3];
} waiting_lines;

/* State of --segment. */
typedef struct segment_state {
    /* the bundles: their rules, and the members found so far */
    gls_bundles *bundles;
    gls_bundle_stats **volume; /* the volume of each bundle; NULL: no table is written */
    waiting_lines *waiting;    /* one for each bundle; empty without the rule clean; NULL: no table is written */
    uint32_t **member;         /* indices of the streamlines of each bundle, for the groups of the tractogram */
    /* table: write a table of the bundles; unique: each streamline belongs to one bundle at most */
    bool table, unique;
} segment_state;

/* Parses BUNDLES or BUNDLES:FILE. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    segment_state *s = sink->state;
    if (!o->segment && o->segment_unique) return gls_fail(GLS_ERR_ARGUMENT, "--segment-unique: needs --segment");
    if (!o->segment) return GLS_OK;
    const char *colon = gls_names_last(o->segment, ':');
    if (colon == o->segment || (colon && !colon[1]))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--segment: \"%s\": must be BUNDLES or BUNDLES:FILE; inside a name write \\: for a colon",
                        o->segment);
    if (colon && o->shard)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--segment: writes no table with --shard: leave out :FILE, which gives TRX files groups that "
                        "'glslines merge' joins; or merge the shards, then run 'glslines segment'");
    if (!colon && !sinks->writes_trx)
        return gls_fail(GLS_ERR_ARGUMENT, "--segment: without :FILE the bundles are groups of the tractogram, which "
                                          "must be a TRX file; BUNDLES:FILE writes a table instead");
    sink->wanted = true;
    s->unique = o->segment_unique;
    /* a file behind the colon gets the table of the bundles */
    s->table = colon;
    gls_status status = gls_sink_reads(sink, o->segment, colon ? (size_t)(colon - o->segment) : strlen(o->segment));
    return status || !colon ? status : gls_sink_writes(sink, sinks, colon + 1);
}

/* Rejects cleaning in a shard, because outliers are known only after shards are merged. If the tractogram is a TRX
 * file, also rejects names of bundles that TRX cannot hold. */
static gls_status check_bundles(const gls_bundles *bundles, const gls_run_sinks *sinks, const char *rules)
{
    for (size_t k = 0; k < gls_bundles_count(bundles); k++) {
        const char *name = gls_bundles_get(bundles, k).name;
        if (sinks->shard->count > 0 && gls_bundles_cleans(bundles, k))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "%s: bundle %s: the rule clean cannot be used with --shard, because outliers show only "
                            "among all streamlines: merge the shards, then run 'glslines segment'",
                            rules, name);
        if (sinks->writes_trx && !gls_trx_can_name(name))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: bundle \"%.120s\": this name is too long for a group of a TRX file: rename the bundle",
                            rules, name);
    }
    return GLS_OK;
}

/* Reads the rules. For a table, also allocates the volumes of the bundles and the lists of waiting streamlines. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    segment_state *s = sink->state;
    gls_bundles_options options = gls_bundles_options_default();
    options.grid = sinks->grid;
    options.unique = s->unique;
    gls_status status = gls_bundles_read_in(sink->input[0], &options, sinks->transform, &s->bundles);
    sink->bundles = s->bundles;
    if (!status) status = check_bundles(s->bundles, sinks, sink->input[0]);
    if (status || !s->table) return status;
    const size_t n = gls_bundles_count(s->bundles);
    s->volume = calloc(n, sizeof *s->volume);
    s->waiting = calloc(n, sizeof *s->waiting);
    if (!s->volume || !s->waiting) return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
    for (size_t k = 0; k < n && !status; k++) status = gls_bundle_stats_create(options.grid, 0, &s->volume[k]);
    return status;
}

/* Allocates memory for one more streamline with n_points points. Returns false if memory runs out. */
static bool make_room(waiting_lines *w, size_t n_points)
{
    if (w->n + 1 >= w->capacity) {
        const size_t capacity = 2 * w->capacity + 64;
        uint64_t *index = realloc(w->index, capacity * sizeof *index);
        if (index) w->index = index;
        size_t *offset = realloc(w->offset, capacity * sizeof *offset);
        if (offset) w->offset = offset;
        if (!index || !offset) return false;
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

/* Keeps a copy of a streamline whose membership is decided only at the end, when outliers are removed. */
static gls_status let_wait(waiting_lines *w, uint64_t index, const float (*point)[3], size_t n)
{
    if (!make_room(w, n)) return gls_fail(GLS_ERR_MEMORY, "out of memory for the streamlines of a bundle");
    memcpy(w->point + w->n_points, point, n * sizeof *point);
    w->index[w->n] = index;
    w->offset[w->n++] = w->n_points;
    w->offset[w->n] = w->n_points += n;
    return GLS_OK;
}

/* Assigns streamlines to bundles. For the table, adds the new members to the volume of their bundle, or keeps them
 * until outliers are known. */
static gls_status append(void *user, const gls_streamlines *in)
{
    segment_state *s = user;
    const uint64_t first = gls_bundles_streamlines(s->bundles);
    const gls_sink bundles = gls_bundles_sink(s->bundles);
    gls_status status = gls_sink_append(&bundles, in);
    for (size_t k = 0; k < gls_bundles_count(s->bundles) && s->table && !status; k++) {
        const gls_bundle *bundle = &s->bundles->bundle[k];
        size_t m = bundle->n;
        /* new members are the last ones, since batches come in order */
        while (m > 0 && bundle->member[m - 1].index >= first) m--;
        for (; m < bundle->n && !status; m++) {
            const uint64_t index = bundle->member[m].index;
            const float(*point)[3] = in->point + in->offset[index - first];
            const size_t n = (size_t)(in->offset[index - first + 1] - in->offset[index - first]);
            status = gls_bundles_cleans(s->bundles, k) ? let_wait(&s->waiting[k], index, point, n)
                                                       : gls_bundle_stats_add(s->volume[k], point, n, 1);
        }
    }
    return status;
}

static gls_status open_bundles(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    (void)sinks, (void)tractogram;
    *own = (gls_sink){.append = append, .user = sink->state};
    return GLS_OK;
}

/* After outliers are removed from bundle k, adds those waiting streamlines that are still members to the volume of the
 * bundle. */
static gls_status add_waiting(segment_state *s, size_t k)
{
    const gls_bundle *bundle = &s->bundles->bundle[k];
    const waiting_lines *w = &s->waiting[k];
    gls_status status = GLS_OK;
    /* waiting streamlines and members are in the same order; streamlines that are no longer members are skipped */
    for (size_t i = 0, m = 0; i < w->n && m < bundle->n && !status; i++) {
        if (w->index[i] != bundle->member[m].index) continue;
        status = gls_bundle_stats_add(s->volume[k], (const float(*)[3])(w->point + w->offset[i]),
                                      w->offset[i + 1] - w->offset[i], 1);
        m++;
    }
    return status;
}

/* Removes outliers, completes the volumes for the table, and adds the bundles to the tractogram, if there is one, as
 * groups. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    segment_state *s = sink->state;
    (void)sinks;
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
        /* groups of TRX have 32-bit indices */
        for (size_t m = 0; m < bundle->n; m++) s->member[k][m] = (uint32_t)bundle->member[m].index;
        status = gls_writer_add_group(writer, gls_bundles_get(s->bundles, k).name, s->member[k], bundle->n);
    }
    return status;
}

/* Writes the table of bundles with their volumes, mm3. */
static gls_status write_table(gls_run_sink *sink, gls_run_sinks *sinks)
{
    segment_state *s = sink->state;
    if (!s->table) return GLS_OK;
    const size_t n = gls_bundles_count(s->bundles);
    double *volume = malloc(n * sizeof *volume);
    if (!volume) return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
    for (size_t k = 0; k < n; k++) volume[k] = gls_bundle_stats_shape(s->volume[k]).volume;
    gls_status status = gls_bundle_table_write(s->bundles, volume, sink->output, sinks->run->force, &sinks->run->group);
    free(volume);
    return status;
}

/* Adds the number of streamlines of each bundle to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const gls_bundles *bundles = ((const segment_state *)sink->state)->bundles;
    cJSON *object = cJSON_AddObjectToObject(gls_json_at(root, "counts"), "bundles");
    for (size_t k = 0; k < gls_bundles_count(bundles); k++) {
        const gls_bundle_info bundle = gls_bundles_get(bundles, k);
        gls_json_uint(object, bundle.name, bundle.count);
    }
}

/* 1 with --segment-unique, else 0: the option changes the result and is not among the parameters that identify the
 * run. */
static uint64_t choice(const gls_run_sink *sink)
{
    return ((const segment_state *)sink->state)->unique;
}

/* Function `finish` of the sink, which is also called after a failure: arrays may then be NULL. */
static void finish(gls_run_sink *sink)
{
    segment_state *s = sink->state;
    const size_t n = s->bundles ? gls_bundles_count(s->bundles) : 0;
    for (size_t k = 0; k < n; k++) {
        if (s->volume) gls_bundle_stats_destroy(s->volume[k]);
        if (s->member) free(s->member[k]);
        if (!s->waiting) continue;
        free(s->waiting[k].index);
        free(s->waiting[k].offset);
        free(s->waiting[k].point);
    }
    free(s->volume);
    free(s->member);
    free(s->waiting);
    gls_bundles_destroy(s->bundles);
}

const gls_sink_kind gls_segment_kinds[] = {{.role = "segment",
                                            .size = sizeof(segment_state),
                                            .take = take,
                                            .prepare = prepare,
                                            .open = open_bundles,
                                            .complete = complete,
                                            .write = write_table,
                                            .describe = describe,
                                            .choice = choice,
                                            .finish = finish}};
