/* track --sample IMAGE,IMAGE or IMAGE,IMAGE:FILE: statistics of images along each streamline, as columns of the
 * tractogram or as a table. */
#include <cJSON.h>
#include <string.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "tracts/sample_set.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"

/* State of --sample. */
typedef struct sample_state {
    /* images and statistics */
    gls_sample_set set;
    /* counts of the points and streamlines that were sampled */
    gls_sample_counts counts;
    /* the table that is written; unused for columns of the tractogram */
    gls_sample_rows rows;
} sample_state;

/* Parses IMAGE,IMAGE or IMAGE,IMAGE:FILE, and --stat-tck. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    sample_state *s = sink->state;
    if (!o->sample && o->stat_tck.n > 0) return gls_fail(GLS_ERR_ARGUMENT, "--stat-tck: needs --sample");
    if (!o->sample) return GLS_OK;
    const char *colon = gls_names_last(o->sample, ':');
    s->rows.text.output = GLS_OUTPUT_NONE;
    sink->wanted = true;
    gls_status status = gls_sink_reads_images(sink, o->sample, colon ? (size_t)(colon - o->sample) : strlen(o->sample));
    if (status) return status;
    if (colon && !colon[1])
        return gls_fail(GLS_ERR_ARGUMENT, "--sample: \"%s\": needs the name of a file behind the colon", o->sample);
    if (colon && o->shard)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--sample: writes no table with --shard: leave out :FILE, which gives TRX files columns that "
                        "'glslines merge' joins; or merge the shards, then run 'glslines sample'");
    if (!colon && !sinks->writes_trx)
        return gls_fail(GLS_ERR_ARGUMENT, "--sample: without :FILE the values are columns of the tractogram, which "
                                          "must be a TRX file; IMAGE:FILE writes a table instead");
    if (colon) status = gls_sink_writes(sink, sinks, colon + 1);
    if (!status) status = gls_sample_set_choose(&s->set, &o->stat_tck);
    /* without --stat-tck use the mean, as `glslines sample` does */
    if (!status && s->set.n_stats == 0) s->set.stat[s->set.n_stats++] = GLS_TRACK_MEAN;
    return status;
}

/* Reads the images. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    return gls_sample_set_read(&((sample_state *)sink->state)->set, (const char *const *)sink->input, sink->n_inputs,
                               sinks->transform, false, false, NULL);
}

/* Puts the filter that samples in front of the table, or of the tractogram, which then gets columns. */
static gls_status open_sample(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    sample_state *s = sink->state;
    const gls_sample_options options = gls_sample_options_default();
    gls_status status = GLS_OK;
    if (sink->output)
        status = gls_sample_rows_begin(&s->rows, &s->set, sink->output, sinks->run->force, &sinks->run->group);
    const gls_sink next = sink->output ? gls_sample_rows_sink(&s->rows) : *tractogram;
    return status ? status
                  : gls_filter_sample_create(s->set.column, s->set.n_columns, &options, &s->counts, &next,
                                             sink->output ? own : tractogram);
}

/* Warns if many samples lie outside the images or are not finite, and completes the table if there is one. */
static gls_status write_sample(gls_run_sink *sink, gls_run_sinks *sinks)
{
    sample_state *s = sink->state;
    (void)sinks;
    gls_sample_warn(&s->counts, "--sample");
    return gls_sample_rows_end(&s->rows, GLS_OK);
}

/* Adds the counts of samples to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const gls_sample_counts *counts = &((const sample_state *)sink->state)->counts;
    cJSON *object = cJSON_AddObjectToObject(gls_json_at(root, "counts"), "sampled");
    GLS_JSON_MEMBERS(object, counts, points, outside, not_finite, without_value);
}

/* Hash of the statistics, because --stat-tck is not among the parameters that identify the run in the sidecar. */
static uint64_t choice(const gls_run_sink *sink)
{
    const gls_sample_set *set = &((const sample_state *)sink->state)->set;
    return gls_hash(set->stat, set->n_stats * sizeof *set->stat);
}

/* Function `finish` of the sink. A table that was not written completely is discarded. */
static void finish(gls_run_sink *sink)
{
    sample_state *s = sink->state;
    /* after write() there is nothing left to discard */
    gls_sample_rows_end(&s->rows, GLS_ERR_CANCELLED);
    gls_sample_set_finish(&s->set);
}

const gls_sink_kind gls_sample_kinds[] = {{.role = "sample",
                                           .size = sizeof(sample_state),
                                           .take = take,
                                           .prepare = prepare,
                                           .open = open_sample,
                                           .write = write_sample,
                                           .describe = describe,
                                           .choice = choice,
                                           .finish = finish}};
