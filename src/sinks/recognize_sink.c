/* track --recognize ATLAS or ATLAS:TABLE: recognises the bundles of an atlas once all streamlines are there; what was
 * found becomes columns and groups of the tractogram and, with TABLE, a table. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/recognition.h>

#include "geometry/atlas.h"
#include "geometry/recognition.h"
#include "geometry/recognition_table.h"
#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "tractogram/tractogram.h"
#include "tractogram/trx.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"

/* Threshold of all bundles, mm. */
#define THRESHOLD 8.0

/* State of --recognize. */
typedef struct recognize_state {
    gls_atlas atlas;
    gls_recognition *recognition;
    /* columns and groups of the tractogram, which borrows them until it is finished */
    uint16_t *bundle, *votes;
    float *distance, *margin;
    uint32_t **member; /* streamlines of each bundle, and of none at the end */
    uint64_t chain;    /* hash of what --recognize-transform says but the names of files; 0: no transform */
} recognize_state;

/* Adds to *hash what a transform says: its words, such as inverse, with the images that it names left out, since files
 * count by their contents. */
static gls_status hash_transform(const char *text, uint64_t *hash)
{
    char *copy = strdup(text), *rest = copy;
    if (!copy) return gls_no_memory();
    gls_names_next(&rest, ','); /* the file */
    uint64_t part[2] = {*hash, 1};
    for (const char *word; (word = gls_names_next(&rest, ','));) {
        const bool image = strncmp(word, "moving=", 7) == 0 || strncmp(word, "fixed=", 6) == 0;
        const uint64_t both[2] = {part[1], gls_hash(word, image ? strcspn(word, "=") : strlen(word))};
        part[1] = gls_hash(both, sizeof both);
    }
    free(copy);
    *hash = gls_hash(part, sizeof part);
    return GLS_OK;
}

/* Adds the files of --recognize-transform to the inputs, and hashes the rest of it. */
static gls_status take_transform(gls_run_sink *sink, const gls_strings *chain)
{
    recognize_state *s = sink->state;
    gls_status status = GLS_OK;
    for (int i = 0; i < chain->n && !status; i++) {
        char *file[3];
        status = hash_transform(chain->value[i], &s->chain);
        const size_t n = gls_transform_files(chain->value[i], file);
        for (size_t k = 0; k < n; k++) {
            if (sink->n_inputs < GLS_SINK_MAX_INPUTS) {
                sink->input[sink->n_inputs++] = file[k];
                continue;
            }
            free(file[k]);
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "--recognize-transform: has more than %d files: make one of them by 'glslines transform "
                              "compose'",
                              GLS_SINK_MAX_INPUTS - 1);
        }
    }
    return status;
}

/* Parses ATLAS or ATLAS:TABLE. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const char *text = sinks->options->recognize;
    const gls_strings *chain = &sinks->options->recognize_transform;
    if (!text && chain->n > 0) return gls_fail(GLS_ERR_ARGUMENT, "--recognize-transform: needs --recognize");
    if (!text) return GLS_OK;
    const char *colon = gls_names_last(text, ':');
    if (colon == text || (colon && !colon[1]))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--recognize: \"%s\": must be ATLAS or ATLAS:TABLE; inside a name write \\: for a colon", text);
    if (sinks->options->shard)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--recognize: not with --shard, since models are moved to all streamlines: merge the shards, then "
            "run 'glslines recognize'");
    if (!colon && !sinks->writes_trx)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--recognize: without :TABLE the bundles are groups of the tractogram, which must be a TRX file; "
            "ATLAS:TABLE writes a table");
    sink->wanted = true;
    gls_status status = gls_sink_reads(sink, text, colon ? (size_t)(colon - text) : strlen(text));
    if (!status) status = take_transform(sink, chain);
    return status || !colon ? status : gls_sink_writes(sink, sinks, colon + 1);
}

/* Reads the models. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    recognize_state *s = sink->state;
    const gls_recognition_options options = gls_recognition_options_default();
    const gls_tractogram_read_options reading = gls_tractogram_read_options_default();
    const gls_strings *chain = &sinks->options->recognize_transform;
    gls_transform space;
    gls_status status = gls_atlas_list(sink->input[0], NULL, THRESHOLD, &s->atlas);
    for (size_t k = 0; k < s->atlas.n && !status && sinks->writes_trx; k++)
        if (!gls_trx_can_name(s->atlas.bundle[k].name))
            status =
                gls_fail(GLS_ERR_INPUT,
                         "%s: bundle \"%.120s\": this name is too long for a group of a TRX file: rename the bundle",
                         s->atlas.bundle[k].path, s->atlas.bundle[k].name);
    if (!status) status = gls_recognition_create(&options, &s->recognition);
    if (!status) status = gls_transform_read(chain->value, (size_t)chain->n, &space);
    if (status) return status;
    status = gls_atlas_read(&s->atlas, &reading, NULL, &space, s->recognition);
    gls_transform_finish(&space);
    return status;
}

static gls_status open_recognition(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    recognize_state *s = sink->state;
    (void)sinks, (void)tractogram;
    *own = gls_recognition_sink(s->recognition);
    return GLS_OK;
}

/* Adds the columns to the tractogram. */
static gls_status add_columns(recognize_state *s, gls_tractogram_writer *writer)
{
    const size_t n = (size_t)gls_recognition_streamlines(s->recognition);
    s->bundle = malloc(2 * (n + 1) * sizeof *s->bundle);
    s->distance = malloc(2 * (n + 1) * sizeof *s->distance);
    if (!s->bundle || !s->distance) return gls_no_memory();
    s->votes = s->bundle + n;
    s->margin = s->distance + n;
    for (size_t i = 0; i < n; i++) {
        const gls_recognition_row row = gls_recognition_row_get(s->recognition, i);
        s->bundle[i] = row.bundle;
        s->votes[i] = row.votes;
        s->distance[i] = row.distance;
        s->margin[i] = row.margin;
    }
    const gls_column columns[] = {{GLS_DPS_BUNDLE, GLS_TYPE_UINT16, 1, s->bundle},
                                  {GLS_DPS_BUNDLE_DISTANCE, GLS_TYPE_FLOAT32, 1, s->distance},
                                  {GLS_DPS_BUNDLE_VOTES, GLS_TYPE_UINT16, 1, s->votes},
                                  {GLS_DPS_BUNDLE_MARGIN, GLS_TYPE_FLOAT32, 1, s->margin}};
    gls_status status = GLS_OK;
    for (size_t k = 0; k < sizeof columns / sizeof *columns && n > 0 && !status; k++)
        status = gls_tractogram_writer_add_dps(writer, &columns[k]);
    return status;
}

/* Adds the groups to the tractogram: of bundles that have streamlines, and of the rest. */
static gls_status add_groups(recognize_state *s, gls_tractogram_writer *writer)
{
    const gls_recognition *r = s->recognition;
    const size_t n = gls_recognition_bundles(r);
    const uint64_t lines = gls_recognition_streamlines(r);
    size_t *count = calloc(n + 1, sizeof *count), hits;
    s->member = calloc(n + 1, sizeof *s->member);
    gls_status status = count && s->member ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k <= n && !status; k++) {
        const uint64_t size = k < n ? gls_recognition_bundle(r, k).count : lines - gls_recognition_found(r);
        s->member[k] = malloc((size_t)(size + 1) * sizeof **s->member);
        if (!s->member[k]) status = gls_no_memory();
    }
    for (uint64_t i = 0; i < lines && !status; i++) {
        const gls_hit *h = gls_recognition_hits(r, i, &hits);
        /* groups of TRX have 32-bit indices */
        for (size_t m = 0; m < hits; m++) s->member[h[m].bundle][count[h[m].bundle]++] = (uint32_t)i;
        if (hits == 0) s->member[n][count[n]++] = (uint32_t)i;
    }
    for (size_t k = 0; k <= n && !status; k++)
        if (count[k] > 0 || k == n)
            status = gls_writer_add_group(writer, k < n ? gls_recognition_bundle(r, k).name : GLS_GROUP_UNRECOGNIZED,
                                          s->member[k], count[k]);
    free(count);
    return status;
}

/* Recognises, and adds the result to the tractogram. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    recognize_state *s = sink->state;
    gls_status status = gls_recognition_complete(s->recognition);
    if (!status) status = gls_atlas_check(s->recognition, sink->input[0], "the run");
    if (status || !writer || !sinks->writes_trx) return status;
    status = add_columns(s, writer);
    return status ? status : add_groups(s, writer);
}

/* Writes the table. */
static gls_status write_table(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const recognize_state *s = sink->state;
    if (!sink->output) return GLS_OK;
    return gls_recognition_table_write(s->recognition, sink->output, sinks->run->force, &sinks->run->group);
}

/* Adds the number of streamlines of each bundle to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const gls_recognition *r = ((const recognize_state *)sink->state)->recognition;
    cJSON *object = cJSON_AddObjectToObject(gls_json_at(root, "counts"), "recognized");
    gls_json_uint(object, "in_any_bundle", gls_recognition_found(r));
    for (size_t k = 0; k < gls_recognition_bundles(r); k++) {
        const gls_recognized b = gls_recognition_bundle(r, k);
        gls_json_uint(object, b.name, b.count);
    }
}

/* Hash of what --recognize-transform says, which is not among the parameters that identify the run. */
static uint64_t choice(const gls_run_sink *sink)
{
    return ((const recognize_state *)sink->state)->chain;
}

static void finish(gls_run_sink *sink)
{
    recognize_state *s = sink->state;
    const size_t n = s->recognition ? gls_recognition_bundles(s->recognition) : 0;
    for (size_t k = 0; k <= n && s->member; k++) free(s->member[k]);
    free(s->member);
    free(s->bundle);
    free(s->distance);
    gls_recognition_destroy(s->recognition);
    gls_atlas_finish(&s->atlas);
}

const gls_sink_kind gls_recognize_kinds[] = {{.role = "recognize",
                                              .size = sizeof(recognize_state),
                                              .takes_folders = true,
                                              .take = take,
                                              .prepare = prepare,
                                              .open = open_recognition,
                                              .complete = complete,
                                              .write = write_table,
                                              .describe = describe,
                                              .choice = choice,
                                              .finish = finish}};
