/* track --connectome LABELS:FILE: for each pair of labels, the number of streamlines that join them, or with --weights
 * the sum of their weights. Each time that the option is given has a sink of its own. */
#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/sidecar.h"
#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "sinks/weights_sink.h"
#include "tracts/connectome_matrix.h"
#include "tracts/matrix_rows.h"
#include "tracts/metrics.h"
#include "tracts/sample_set.h"
#include "transform/bring.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "weights/weight_files.h"

/* State of --connectome. */
typedef struct matrix_state {
    /* the matrix so far */
    gls_connectome *connectome;
    gls_matrix_rows rows; /* rows by --labels and --lut, and their names */
    bool header, vector;  /* values of --header and --vector */
    gls_metric metric;    /* the metric of the matrix; without a name: count, or with --weights their sum */
    bool weighted;        /* the matrix sums weights */
    int each;             /* matrices of each image of labels */
    gls_sample_counts sampled;
    /* With --weights: the regions of the ends of each streamline, kept because weights are known only after the last
     * streamline. n: number of streamlines; capacity: number of pairs for which memory is allocated. */
    int32_t (*pair)[2];
    float (*end)[3]; /* with probabilities of regions, in place of pair: two points of each streamline */
    size_t n, capacity;
} matrix_state;

/* Number of the matrix that a sink is for, counted from 0. */
static int number_of(const gls_run_sink *sink)
{
    return (int)(sink->kind - gls_connectome_kinds);
}

/* Number of matrices of each image of labels. */
static int metrics_of(const gls_job_options *o)
{
    return o->metric.n > 0 ? o->metric.n : 1;
}

/* Adds an input whose name has no escapes. */
static gls_status add_input(gls_run_sink *sink, const char *path)
{
    sink->input[sink->n_inputs] = gls_text_copy(path);
    return sink->input[sink->n_inputs++] ? GLS_OK : gls_no_memory();
}

/* Takes the k-th of --metric: gives its file a name from that of the option, and adds its image to the
 * inputs. */
static gls_status take_metric(gls_run_sink *sink, const gls_run_sinks *sinks, int k, const char *name)
{
    const gls_job_options *o = sinks->options;
    matrix_state *s = sink->state;
    gls_metric metric[GLS_MAX_STRINGS] = {0};
    gls_status status = gls_metrics_parse(&o->metric, metric);
    s->metric = metric[k];
    metric[k] = (gls_metric){.name = NULL};
    for (int i = 0; i < o->metric.n; i++) gls_metric_finish(&metric[i]);
    if (status) return status;
    if (s->metric.column)
        return gls_fail(GLS_ERR_ARGUMENT, "--metric %s: track has the metric weight for this, with --weights",
                        o->metric.value[k]);
    if (s->metric.weighted && !o->weights) return gls_fail(GLS_ERR_ARGUMENT, "--metric weight: needs --weights");
    if (o->shard && (s->metric.scale || s->metric.path))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--metric %s: not with --shard, whose matrices 'glslines merge' adds up: merge the shards, then "
            "run 'glslines connectome'",
            o->metric.value[k]);
    s->weighted = s->metric.weighted;
    char *given = gls_names_copy(name, strlen(name)), *file = given ? gls_metric_file(&s->metric, given) : NULL;
    free(given);
    free(sink->output);
    sink->output = file && sinks->shard->count > 0 ? gls_shard_name(file, sinks->shard) : file;
    if (sink->output != file) free(file);
    if (!sink->output) return gls_no_memory();
    return s->metric.path ? add_input(sink, s->metric.path) : GLS_OK;
}

static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    matrix_state *s = sink->state;
    const char *alone = o->labels     ? "labels"
                        : o->lut      ? "lut"
                        : o->header   ? "header"
                        : o->vector   ? "vector"
                        : o->metric.n ? "metric"
                                      : NULL;
    const int k = number_of(sink), each = metrics_of(o), most = sizeof gls_connectome_kinds / sizeof(gls_sink_kind);
    if (o->connectome.n == 0 && alone) return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --connectome", alone);
    if (o->connectome.n * each > most)
        return gls_fail(GLS_ERR_ARGUMENT, "--connectome: %d matrices are asked for, but at most %d are possible",
                        o->connectome.n * each, most);
    if (k >= o->connectome.n * each) return GLS_OK;
    gls_status status = gls_sink_check_select(sink, sinks);
    if (status) return status;
    if (o->lut && o->labels != GLS_LABELS_LUT && !o->header)
        return gls_fail(GLS_ERR_ARGUMENT, "--lut: needs --labels lut, --header, or both");
    s->each = each;
    s->rows.labels = o->labels;
    s->header = o->header;
    s->vector = o->vector;
    s->weighted = o->weights;
    const char *text = o->connectome.value[k / each];
    status = gls_sink_takes_pair(sink, sinks, text, "LABELS:FILE");
    if (!status && o->lut) status = add_input(sink, o->lut);
    return status || o->metric.n == 0 ? status : take_metric(sink, sinks, k % each, gls_names_last(text, ':') + 1);
}

/* Keeps the regions of the ends of streamlines until their weights are known, or the ends if these may lie in several
 * regions. */
static gls_status keep_ends(void *user, const gls_streamlines *streamlines)
{
    matrix_state *s = user;
    const size_t n = s->n + streamlines->n;
    const bool soft = s->rows.labels == GLS_LABELS_SOFT;
    if (!(soft ? gls_list_grow(&s->end, 2 * n, &s->capacity, sizeof *s->end)
               : gls_list_grow(&s->pair, n, &s->capacity, sizeof *s->pair)))
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the ends of %zu streamlines", n);
    for (size_t i = 0; soft && i < streamlines->n; i++) {
        memcpy(s->end[2 * (s->n + i)], streamlines->point[streamlines->offset[i]], sizeof *s->end);
        memcpy(s->end[2 * (s->n + i) + 1], streamlines->point[streamlines->offset[i + 1] - 1], sizeof *s->end);
    }
    if (soft) {
        s->n = n;
        return GLS_OK;
    }
    gls_status status = gls_connectome_find_pairs(s->connectome, streamlines, s->pair + s->n);
    if (!status) s->n = n;
    return status;
}

/* Whether the matrix gets its streamlines from that of the first image of labels, which samples the image of the metric
 * for the matrices of all. */
static bool follows(const gls_run_sink *sink)
{
    const matrix_state *s = sink->state;
    return s->metric.path && number_of(sink) >= s->each;
}

/* Reads the table and the labels, and makes the matrix. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    gls_connectome_options options = gls_connectome_options_default();
    matrix_state *s = sink->state;
    options.vector = s->vector;
    if (s->weighted) options.weights = GLS_DPS_WEIGHTS;
    if (s->metric.name) gls_metric_choose(&s->metric, GLS_DPS_WEIGHTS, &options);
    gls_status status = gls_matrix_rows_read(&s->rows, s->rows.labels, sinks->options->lut ? sink->input[1] : NULL);
    if (!status) status = gls_matrix_rows_connect(&s->rows, sink->input[0], sinks->transform, &options, &s->connectome);
    if (!status && s->metric.path) {
        gls_connectome_allow_missing(s->connectome);
        if (!follows(sink)) status = gls_metric_open(&s->metric);
    }
    if (!status && s->metric.image)
        status = gls_image_bring(&s->metric.image, sinks->transform, GLS_RESAMPLE_LINEAR, NAN, s->metric.path);
    return status;
}

/* Makes the sink of the matrices of all images of labels with the image of one metric. sink: the first of them. */
static gls_status open_sampled(gls_run_sink *sink, size_t n, gls_sink *own)
{
    gls_sink all[sizeof gls_connectome_kinds / sizeof *gls_connectome_kinds];
    matrix_state *s = sink->state;
    for (size_t k = 0; k < n; k++) {
        const matrix_state *other = sink[k * (size_t)s->each].state;
        all[k] = gls_connectome_sink(other->connectome);
    }
    gls_status status = gls_sink_tee(all, n, own);
    return status ? status : gls_metrics_sink(&s->metric, 1, &s->sampled, own);
}

/* Streamlines are added to the matrix as they arrive, or with --weights by complete(). */
static gls_status open_matrix(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    matrix_state *s = sink->state;
    (void)tractogram;
    if (follows(sink)) return GLS_OK;
    if (s->metric.path) return open_sampled(sink, (size_t)sinks->options->connectome.n, own);
    *own = s->weighted ? (gls_sink){.append = keep_ends, .user = s} : gls_connectome_sink(s->connectome);
    return GLS_OK;
}

/* Whether streamlines are assigned to regions by more than their end points. */
static bool needs_points(const gls_run_sink *sink, const gls_grid *tracked)
{
    const matrix_state *s = sink->state;
    (void)tracked;
    return s->metric.path || gls_connectome_needs_points(s->connectome);
}

/* Adds streamlines of the two points that were kept, with their weights. */
static gls_status add_ends(matrix_state *s, const float *weight)
{
    enum { BLOCK = 16384 };
    uint64_t *offset = malloc((BLOCK + 1) * sizeof *offset);
    const gls_sink sink = gls_connectome_sink(s->connectome);
    gls_status status = offset ? GLS_OK : gls_no_memory();
    for (size_t i = 0; offset && i <= BLOCK; i++) offset[i] = 2 * i;
    for (size_t first = 0; first < s->n && !status; first += BLOCK) {
        const gls_column column = {GLS_DPS_WEIGHTS, GLS_TYPE_FLOAT32, 1, weight + first};
        const gls_streamlines ends = {.n = s->n - first < BLOCK ? s->n - first : BLOCK,
                                      .offset = offset,
                                      .point = (const float(*)[3])s->end + 2 * first,
                                      .dps = &column,
                                      .n_dps = 1};
        status = gls_sink_append(&sink, &ends);
    }
    free(offset);
    return status;
}

/* With --weights: adds each streamline to the matrix with its weight. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    matrix_state *s = sink->state;
    gls_run_sink *weights = gls_sink_find(sinks, gls_weights_kinds);
    const float *weight = NULL;
    uint64_t n = 0;
    (void)writer;
    if (!weights || !s->weighted) return GLS_OK;
    gls_status status = gls_weights_sink_solve(weights, sinks, &weight, &n);
    if (status) return status;
    GLS_REQUIRE(n == s->n);
    if (s->rows.labels == GLS_LABELS_SOFT) return add_ends(s, weight);
    return gls_connectome_add_pairs(s->connectome, (const int32_t(*)[2])s->pair, weight, s->n);
}

static gls_status write_matrix(gls_run_sink *sink, gls_run_sinks *sinks)
{
    matrix_state *s = sink->state;
    gls_status status = s->header ? gls_matrix_rows_name(&s->rows, s->connectome) : GLS_OK;
    if (status) return status;
    if (s->metric.image) gls_sample_warn(&s->sampled, s->metric.path);
    return gls_connectome_write_grouped(s->connectome, sink->output, sinks->run->force, &sinks->run->group,
                                        (const char *const *)s->rows.name, "nan");
}

/* Adds the image of labels, of the first matrix also the table, to the inputs in the sidecar, unless a file can no
 * longer be read. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const matrix_state *s = sink->state;
    const int k = number_of(sink) / s->each, m = number_of(sink) % s->each;
    char labels[32] = "labels", metric[32];
    if (k > 0) snprintf(labels, sizeof labels, "labels_%d", k + 1);
    snprintf(metric, sizeof metric, "metric_%d", m + 1);
    for (size_t i = 0; i < sink->n_inputs; i++) {
        const bool image = s->metric.path && i + 1 == sink->n_inputs;
        const char *role = image ? metric : i == 0 ? labels : "lut";
        /* each file once */
        if (image ? k > 0 : m > 0 || (i > 0 && k > 0)) continue;
        gls_input_file file = {.role = role, .path = sink->input[i]};
        if (!gls_input_file_check(&file) && !gls_input_file_hash(&file))
            gls_sidecar_add_file(gls_json_at(root, "inputs"), &file);
    }
}

/* Hash of --labels, --vector, --header and --metric, 0 for the defaults. */
static uint64_t choice(const gls_run_sink *sink)
{
    const matrix_state *s = sink->state;
    const uint64_t rows = (uint64_t)s->vector << 16 | (uint64_t)s->rows.labels << 1 | s->header;
    return s->metric.name ? rows << 32 ^ gls_hash(s->metric.name, strlen(s->metric.name)) : rows;
}

static void finish(gls_run_sink *sink)
{
    matrix_state *s = sink->state;
    gls_connectome_destroy(s->connectome);
    gls_matrix_rows_finish(&s->rows);
    gls_metric_finish(&s->metric);
    free(s->pair);
    free(s->end);
}

/* clang-format off */
#define KIND {.role = "connectome", .size = sizeof(matrix_state), .take = take, \
              .prepare = prepare, .open = open_matrix, .needs_points = needs_points, .complete = complete, \
              .write = write_matrix, .describe = describe, .choice = choice, .finish = finish}
#define FOUR_KINDS KIND, KIND, KIND, KIND
#define EIGHT_KINDS FOUR_KINDS, FOUR_KINDS
const gls_sink_kind gls_connectome_kinds[] = {EIGHT_KINDS, EIGHT_KINDS, EIGHT_KINDS, EIGHT_KINDS};
/* clang-format on */
